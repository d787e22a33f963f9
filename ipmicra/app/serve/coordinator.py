"""The use cases of a coordinator, as methods; the API, the web page and the commands call these.

One event loop and one thread own hierarchy, store and session (`deciding.py`). Questions that read much run
in threads of their own (`reading.py`). Whatever cannot be answered is a `RefusedError`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from types import TracebackType
from typing import Any, Self, TypeVar

from ipmicra.app.access import COORDINATOR_AUTHORITY
from ipmicra.app.assign.assign import AssignRequest, assign_seeds
from ipmicra.app.assign.incremental import IncrementalAssigner
from ipmicra.app.crawl.mailbox_config import MailboxConfig
from ipmicra.app.crawl.post import Post
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.describe.assignment import describe_assignment, describe_turn
from ipmicra.app.describe.fleet import describe_member
from ipmicra.app.fleet.fleet import PRESENT, Fleet
from ipmicra.app.forget import Forgetting, check_forgetting, drop, find_forgotten
from ipmicra.app.home import Home
from ipmicra.app.rules import SiteRules
from ipmicra.app.serve.batches import Batches, BatchesConfig
from ipmicra.app.serve.deciding import Deciding
from ipmicra.app.serve.editions import EditionWatch
from ipmicra.app.serve.looking import Looking
from ipmicra.app.serve.membership import AgentDesk, Membership
from ipmicra.app.serve.owners import Owners, OwnersConfig
from ipmicra.app.serve.peers import Peers, PeerSettings
from ipmicra.app.serve.reading import Reader
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.app.serve.rendered import Asked
from ipmicra.app.serve.shares import OwnerShares
from ipmicra.edge.coordinator.access import Access
from ipmicra.edge.coordinator.switchboard import Switchboard
from ipmicra.edge.files.seeds import parse_seed
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.log import EventLog
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.crawler import CrawlerState

events = EventLog("coordinator")
T = TypeVar("T")
HANDED_OVER = 1_000
"""Assignments of a crawler that left which are looked at together."""
CRAWLS = "crawls.db"
"""The file of running crawls, in the home folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorConfig:
    """Numbers of a coordinator."""

    owners: OwnersConfig = field(default_factory=OwnersConfig)
    batches: BatchesConfig = field(default_factory=BatchesConfig)
    mailboxes: MailboxConfig = field(default_factory=MailboxConfig)


class Coordinator:
    """Answers for one home; use as an asynchronous context."""

    def __init__(
        self,
        home: Home,
        options: DelegateOptions,
        config: CoordinatorConfig | None = None,
        clock: Callable[[], float] = time.time,
        peer: PeerSettings | None = None,
    ) -> None:
        """Nothing is opened yet; `peer` is how this one is known to others that share its database."""
        self.home, self.clock, self.config = home, clock, config or CoordinatorConfig()
        self.switchboard = Switchboard()
        reaching = replace(options.access, switchboard=self.switchboard)
        self.peers = None if peer is None else Peers(peer, home.store, options.access)
        self.deciding = Deciding(home, replace(options, access=reaching), clock, self.peers)
        self.reader = Reader(home)
        self.looking = Looking(self.deciding, self.reader)
        self._started_s = time.monotonic()
        self.is_stopping = False
        self.owners: Owners
        self.batches: Batches
        self.access: Access
        self._tasks: set[asyncio.Task[None]] = set()
        self.agents: AgentDesk
        self.post: Post
        self._stack = AsyncExitStack()

    # --- opening and closing

    async def __aenter__(self) -> Self:
        """Open everything; what keeps it from working is raised."""
        async with AsyncExitStack() as stack:
            stack.callback(self.reader.close)
            self.deciding.hold()
            stack.callback(self.deciding.release)
            rules = self.deciding.options.rules
            ruled = SiteRules(rules, self.hierarchy) if rules is not None else None
            assigner = IncrementalAssigner(self.deciding.store, ruled, self.clock)
            self.owners = Owners(self.deciding, assigner, self.config.owners)
            stack.push_async_callback(self.owners.close)
            if self.peers is not None:
                self.peers.on_change = self.owners.others_wrote
                self.peers.on_others = (
                    self.switchboard.tell
                )  # agents call all of them, and learn whom by polls
            self.access = Access(self.deciding.store, clock=self.clock)
            self.batches = Batches(self.deciding, self.config.batches)
            self.batches.load()
            self.agents = self._agent_desk()
            watch = asyncio.create_task(self.agents.membership.watch())
            stack.callback(watch.cancel)
            stack.callback(self.switchboard.close)
            # Agents that call out answer for what was ordered before, but only once they are served.
            await self.deciding.open(waits=not self.deciding.store.agents.all())
            stack.push_async_callback(self.deciding.close)
            self.batches.resume()
            stack.push_async_callback(self.batches.close)
            editions = asyncio.create_task(EditionWatch(self.deciding, self._use_edition).watch())
            stack.callback(editions.cancel)
            shares = OwnerShares(self.owners, self.deciding)
            self.post = await stack.enter_async_context(
                Post(self.home.folder / CRAWLS, shares, self.config.mailboxes)
            )
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is left and close everything."""
        self.is_stopping = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._stack.aclose()

    def stop(self) -> None:
        """Take nothing new: the server is about to stop; polls that are held are answered."""
        self.is_stopping = True
        self.switchboard.close()
        self.post.stop()

    def _agent_desk(self) -> AgentDesk:
        """Make what answers agents that call out."""
        membership = Membership(
            self.deciding.store,
            self.access,
            self.switchboard,
            self.fleet,
            paused=self.deciding.paused,
            on_state=self._note_agent,
            clock=self.clock,
            is_shared=self.peers is not None,
        )
        return AgentDesk(
            membership=membership,
            authority=self._authority,
            on_leave=self.remove_crawler,
            coordinators=self._coordinators,
        )

    def _coordinators(self) -> tuple[str, ...]:
        """Return whom agents call, if there are several."""
        urls = [] if self.peers is None else sorted(self.peers.coordinators.values())
        return tuple(urls) if len(urls) > 1 else ()

    def _note_agent(self, name: str, state: CrawlerState) -> None:
        if self.deciding.session is not None:
            self.deciding.session.note_state(name, state)

    def _authority(self) -> str:
        return self.deciding.store.meta.get(COORDINATOR_AUTHORITY) or ""

    def _use_edition(self, hierarchy: Hierarchy) -> None:
        """Let rules ask another edition who holds a site, and sectors follow its subtrees."""
        if self.peers is not None:
            self.peers.use(hierarchy)
        rules = self.deciding.options.rules
        self.owners.use_rules(SiteRules(rules, hierarchy) if rules is not None else None)

    @property
    def hierarchy(self) -> Hierarchy:
        """The edition in use."""
        return self.deciding.hierarchy

    # --- how it is

    def health(self) -> dict[str, Any]:
        """Describe the process: it lives, whatever it can do."""
        return {
            "state": "stopping" if self.is_stopping else "running",
            "ipmicra": version("ipmicra"),
            "up_s": round(time.monotonic() - self._started_s, 1),
        }

    def readiness(self) -> dict[str, Any]:
        """Describe whether questions are answered, and if not, why."""
        trouble = self.deciding.trouble
        session = self.deciding.session
        if self.is_stopping:
            trouble = "it stops"
        elif session is None:
            trouble = trouble or "the session is being opened"
        return {
            "is_ready": trouble is None,
            "trouble": trouble,
            "crawlers_to_ask": 0 if session is None else len(session.driver.machine.roster.usable()),
            "waiting": self.deciding.pending,
            **({} if self.peers is None else {"coordinators": self.peers.coordinators}),
        }

    # --- what changes answers

    async def assign(
        self,
        hosts: Sequence[str] = (),
        evenness: float | None = None,
        every_s: float | None = None,
        *,
        is_kept: bool = True,
    ) -> dict[str, Any]:
        """Assign hosts by `balance`, all together; nothing is decided meanwhile."""
        request = AssignRequest(
            texts=list(hosts),
            evenness=evenness,
            every_s=every_s,
            is_kept=is_kept,
            rules=self.deciding.options.rules,
            dns=self.deciding.options.dns,
        )
        hierarchy = self.hierarchy
        report, unresolved = await self._exclusively(lambda store: assign_seeds(store, request, hierarchy))
        return {
            "assignments": [
                {**describe_assignment(one), **describe_turn(turn)}
                for one, turn in zip(report.assignments, report.turns, strict=True)
            ],
            "findings": report.findings,
            "moved_load": report.moved_load,
            "unresolved": [{"seed": one.text, "reason": one.reason} for one in unresolved],
        }

    async def forget(
        self,
        targets: Sequence[str] = (),
        policy: str | None = None,
        *,
        samples: bool = False,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Forget hosts and subnets, or what a policy decided; nothing is decided meanwhile."""
        check_forgetting(targets, policy)
        seeds = [parse_seed(text) for text in targets]

        def forget(store: StorePort) -> Forgetting:
            found = find_forgotten(store, seeds, policy, samples=samples)
            if not dry_run:
                drop(store, found, self.clock(), samples=samples)
            return found

        found = await (self.reader.read(forget) if dry_run else self._exclusively(forget))
        return found.record()

    async def _exclusively(self, function: Callable[[StorePort], T]) -> T:
        """Run a function that changes answers, beside the loop, while no session is open."""
        async with self.deciding.paused():
            return await self.reader.read(function)

    # --- the fleet

    def fleet(self) -> Fleet:
        """Return the fleet, to be read."""
        return Fleet(self.deciding.store, self.hierarchy, self.clock)

    def crawlers(self, *, with_left: bool = False) -> list[dict[str, Any]]:
        """Describe the crawlers, by name, with what they hold."""
        loads = self.owners.loads()
        members = self.fleet().members(() if with_left else PRESENT)
        return [
            {
                **describe_member(one),
                "sites": loads.get(one.crawler.name, (0, 0.0))[0],
                "pages": loads.get(one.crawler.name, (0, 0.0))[1],
            }
            for one in members
        ]

    async def add_crawler(self, fields: Mapping[str, Any], *, replaces: bool = False) -> dict[str, Any]:
        """Let a crawler join by its fields; its own subnet is delegated to it at once."""
        labels = [f"{key}={word}" for key, word in (fields.get("labels") or {}).items()]
        plain = {key: value for key, value in fields.items() if key != "labels"}
        async with self.deciding.paused():
            member = self.fleet().add_fields(plain, labels, replaces=replaces)
        events.info("crawler_added", "{crawler} joined", crawler=member.crawler.name)
        return describe_member(member)

    async def remove_crawler(self, name: str, *, is_now: bool = False) -> dict[str, Any]:
        """Let a crawler leave; its sites get other owners when they are asked for, or at once."""
        fleet = self.fleet()
        if self.deciding.store.crawlers.get(name) is None:
            raise RefusedError("not-found", f"there is no crawler named {name[:64]!r}")
        member = fleet.remove(name)
        if self.deciding.session is not None:
            self.deciding.session.remove_crawler(name)
        self.owners.forget()
        events.info("crawler_removed", "{crawler} left", crawler=name)
        if is_now:
            task = asyncio.create_task(self._hand_over(name))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return describe_member(member)

    def drain_crawler(self, name: str) -> dict[str, Any]:
        """Assign nothing new to a crawler; it keeps what it holds."""
        if self.deciding.store.crawlers.get(name) is None:
            raise RefusedError("not-found", f"there is no crawler named {name[:64]!r}")
        member = self.fleet().drain(name)
        if self.deciding.session is not None:
            self.deciding.session.driver.join(member.crawler)
        events.info("crawler_drains", "{crawler} gets nothing new", crawler=name)
        return describe_member(member)

    async def _hand_over(self, name: str) -> None:
        """Find other owners for all sites of a crawler that left."""
        after, count = "", 0
        while True:
            part = await self.reader.read(partial(_hosts_of, name, after))
            if not part:
                break
            after, count = part[-1], count + len(part)
            async for _ in self.owners.many(Asked(host) for host in part):
                pass
        events.info("handed_over", "{sites} sites of {crawler} handed over", sites=count, crawler=name)


def _hosts_of(crawler: str, after: str, store: StorePort) -> list[str]:
    """Return the next hosts of a crawler, by name."""
    found = store.assignments.after(after, HANDED_OVER, crawler)
    return list(dict.fromkeys(one.host for one in found))
