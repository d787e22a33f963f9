"""Who owns a host: the question that crawlers ask most.

Theory of operation
-------------------
The owner of a site is its stored assignment, else the crawler to which its subnet is delegated. A host that
was never seen is delegated first and then assigned by `balance`; both are written in one transaction, before
anybody hears of it. Under rules a site always has an assignment, one for each vantage.

    asked ─ rendered before ─────────────────────────────────────────────▶ the same bytes
      └─ assigned, and its crawlers are there ───────────────────────────▶ by assignment
           └─ resolve ─ seen before, no rule ─ ask the machine ──────────▶ by delegation
                └─ new, or its crawler left ── ask the machine, assign ──▶ by assignment

Two things make this quick. Rendered answers are kept, by what was asked, and given again as they are: answers
by assignment until an assignment changes, answers by delegation until any delegation ends, and both an hour
at most, so that delegations in use are renewed. And a list is looked up in parts, several of which are under
way at a time, while answers leave in order.

A crawler that left hands over lazily: its sites get another owner when they are asked for.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeVar

from ipmicra.app.assign.incremental import IncrementalAssigner
from ipmicra.app.delegate.session import Session
from ipmicra.app.rules import SiteRules
from ipmicra.app.serve.deciding import Deciding
from ipmicra.app.serve.peers import MovedError, NotDecidedError
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.app.serve.rendered import Asked, RenderedAnswers
from ipmicra.delegate.actions import AnsweredMany
from ipmicra.edge.dns.bulk import BulkResolver, NamesOnDemand
from ipmicra.edge.files.seeds import Seed, UnresolvedSeed, parse_seed, plain_address
from ipmicra.edge.log import EventLog
from ipmicra.errors import IpmicraError
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.delegation import Decision
from ipmicra.model.owner import Owner, owner_by_assignment, owner_by_delegation
from ipmicra.model.site import Site
from ipmicra.wire.peers import PeerAnswer, PeerWish

events = EventLog("coordinator")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnersConfig:
    """How much is kept and under way."""

    rendered: int = 200_000
    """Answers that are kept as bytes; about 0.5 kB each."""
    rendered_s: float = 3_600.0
    """How long they are kept at most."""
    recount_s: float = 30.0
    """How old the loads may be that other coordinators have changed."""
    waiting: int = 20_000
    """Hosts that may wait for a decision; beyond that questions are refused."""
    deadline_s: float = 60.0
    """How long a question may wait for a decision."""
    tries: int = 4
    """How often a host is decided whose new owner leaves before anybody has heard of it."""
    part: int = 250
    """Hosts of a list that are looked up at a time."""
    parts: int = 8
    """Parts of a list that are under way at a time."""


Answer = Owner | RefusedError


class _Decided(NamedTuple):
    """A host that was decided."""

    decision: Decision
    is_ruled: bool


class Owners:
    """Answers who owns which host."""

    def __init__(
        self, deciding: Deciding, assigner: IncrementalAssigner, config: OwnersConfig | None = None
    ) -> None:
        """Use the session of a coordinator."""
        self.config = config or OwnersConfig()
        self._deciding, self._assigner = deciding, assigner
        self._rendered = RenderedAnswers(self.config.rendered)
        self._counted_s = time.monotonic()
        self._to_assign: dict[str, Site] = {}
        self._present: frozenset[str] = frozenset()
        self._stack = AsyncExitStack()
        self._names = NamesOnDemand(deciding.options.dns, self._stack)
        deciding.is_to_assign = self._to_assign.__contains__
        deciding.on_end = self._release
        deciding.beside.append(self._beside)
        deciding.on_open.append(lambda _session: self.recount())

    async def close(self) -> None:
        """Close the sockets of the resolver."""
        await self._stack.aclose()

    # --- what is kept

    def recount(self) -> None:
        """Count loads anew and forget rendered answers: assignments or crawlers have changed."""
        self._assigner.count()
        self._counted_s = time.monotonic()
        self.forget()

    def use_rules(self, rules: SiteRules | None) -> None:
        """Use other rules, or the same with another hierarchy."""
        self._assigner.rules = rules
        self.forget()

    def others_wrote(self) -> None:
        """Forget rendered answers, and now and then count loads anew: others may have assigned sites."""
        if time.monotonic() - self._counted_s < self.config.recount_s:
            self.forget()
        else:
            self.recount()

    def loads(self) -> dict[str, tuple[int, float]]:
        """Return the sites and pages that are assigned to each crawler."""
        return self._assigner.loads()

    def forget(self) -> None:
        """Forget rendered answers, and see who is there."""
        self._rendered.forget()
        self._look_who_is_there()

    def _look_who_is_there(self) -> None:
        members = self._deciding.store.crawlers.all()
        self._present = frozenset(
            one.crawler.name for one in members if one.crawler.state is not CrawlerState.LEFT
        )

    def _held(self, hosts: list[str]) -> dict[str, list[Assignment]]:
        """Return the assignments of hosts; whoever joined at another coordinator is known from then on."""
        held = self._deciding.store.assignments.of_many(hosts)
        if not self._present.issuperset(one.crawler for found in held.values() for one in found):
            self._look_who_is_there()
        return held

    def _fresh(self) -> RenderedAnswers:
        """Return what is kept, unless it is too old to hold."""
        if self._rendered.age_s > self.config.rendered_s:
            self.forget()
        return self._rendered

    def kept(self, query: bytes) -> bytes | None:
        """Return the answer to a query that was asked before, if it still holds."""
        return self._fresh().of_query(query)

    def keep_query(self, query: bytes, body: bytes) -> None:
        """Keep an answer by the query that asked for it."""
        self._rendered.keep_query(query, body)

    # --- in the transaction that writes decisions

    def _beside(self, session: Session) -> Callable[[float], object]:
        def write(_now_s: float) -> None:
            writes = session.driver.writes
            if writes.ended:
                self._rendered.forget_delegated()
            if self._to_assign:
                self._assign(session, writes.decisions)

        return write

    def _assign(self, session: Session, decided: Iterable[Decision | AnsweredMany]) -> None:
        """Assign hosts that are new, in the transaction of their decisions."""
        decisions = [
            each
            for one in decided
            for each in (one.decisions() if isinstance(one, AnsweredMany) else (one,))
            if each.host in self._to_assign
        ]
        pairs = [(self._to_assign[one.host], one) for one in decisions]
        try:
            self._assigner.assign(pairs, session.driver.machine.expecting)
        except IpmicraError:
            raise
        except Exception as error:  # noqa: BLE001 - the delegations are good: they answer instead
            events.warning("not_assigned", "{error}", error=f"{type(error).__name__}: {error}")

    # --- one host

    async def owner(self, asked: Asked) -> bytes:
        """Return the owner of a host, as JSON; `RefusedError` if there is none."""
        kept = self._fresh().get(asked)
        if kept is not None:
            return kept
        (answer,) = await self._answers([asked])
        if isinstance(answer, RefusedError):
            raise answer
        return answer

    # --- many

    async def many(self, asked: Iterable[Asked]) -> AsyncIterator[list[bytes | RefusedError]]:
        """Return the owners of hosts as JSON, in order, as many at a time as are ready."""
        under_way: deque[asyncio.Task[list[bytes | RefusedError]]] = deque()
        source = iter(asked)
        try:
            while True:
                while len(under_way) < self.config.parts:
                    part = list(islice(source, self.config.part))
                    if not part:
                        break
                    under_way.append(asyncio.create_task(self._answers(part)))
                if not under_way:
                    return
                yield await under_way.popleft()
        finally:
            for task in under_way:
                task.cancel()

    async def decisions(
        self, texts: Sequence[str]
    ) -> AsyncIterator[list[tuple[str, Decision | RefusedError]]]:
        """Return the delegation of each text, in order; nothing is assigned."""
        for start in range(0, len(texts), self.config.part * self.config.parts):
            part = texts[start : start + self.config.part * self.config.parts]
            yield list(zip(part, await asyncio.gather(*map(self._delegated_to, part)), strict=True))

    async def _delegated_to(self, text: str) -> Decision | RefusedError:
        return await self._in_time(text, self._deciding.ask)

    async def _in_time(self, text: str, decide: Callable[[Site], Awaitable[_T]]) -> _T | RefusedError:
        """Resolve a host and have it decided, unless that takes too long."""
        if self._deciding.pending >= self.config.waiting:
            return RefusedError("busy", f"{self.config.waiting:,} hosts wait for a decision")
        try:
            async with asyncio.timeout(self.config.deadline_s):
                site = await self._resolved(text)
                return site if isinstance(site, RefusedError) else await decide(site)
        except NotDecidedError as error:
            return RefusedError("nobody", str(error))
        except TimeoutError:
            trouble = self._deciding.trouble or f"no decision within {self.config.deadline_s:g} s"
            return RefusedError("not-ready", f"{text[:200]}: {trouble}")

    async def _answers(self, asked: Sequence[Asked]) -> list[bytes | RefusedError]:
        """Return the owners of some hosts, in order."""
        found: dict[Asked, bytes | RefusedError] = {}
        open_: dict[Asked, Seed] = {}
        for one in asked:
            kept = self._fresh().get(one)
            if kept is not None:
                found[one] = kept
                continue
            seed = parse_seed(one.text)
            if isinstance(seed, UnresolvedSeed):
                found[one] = RefusedError("bad-input", f"{seed.text[:200]}: {seed.reason}")
            else:
                open_[one] = seed
        if open_:
            self._answer_held(open_, found)
        if open_:
            await self._answer_new(open_, found)
        return [found[one] for one in asked]

    def _answer_held(self, open_: dict[Asked, Seed], found: dict[Asked, bytes | RefusedError]) -> None:
        """Answer what is assigned."""
        held = self._held([seed.host for seed in open_.values()])
        latest = self._deciding.store.results.latest_many(list(held))
        for one, seed in list(open_.items()):
            answer = self._by_assignment(one, held.get(seed.host, []), latest.get(seed.host))
            if answer is not None:
                found[one] = self._rendered.keep(one, answer) if isinstance(answer, Owner) else answer
                del open_[one]

    async def _answer_new(self, open_: dict[Asked, Seed], found: dict[Asked, bytes | RefusedError]) -> None:
        """Have the rest decided, and read at once what was written of it.

        A new owner may leave before anybody has heard of it: then there is another decision.
        """
        store = self._deciding.store
        for tries_left in reversed(range(self.config.tries)):
            hosts = [seed.host for seed in open_.values()]
            assigned, known = store.assignments.of_many(hosts), store.results.latest_many(hosts)
            assigns = frozenset(host for host in hosts if host in assigned or host not in known)
            decide = partial(self._decided, assigns=assigns)
            decided = await asyncio.gather(*(self._in_time(one.text, decide) for one in open_))
            hosts = [one.decision.host for one in decided if isinstance(one, _Decided)]
            held, latest = self._held(hosts), store.results.latest_many(hosts)
            for asked, one in zip(list(open_), decided, strict=True):
                answer: Answer
                if isinstance(one, RefusedError):
                    answer = one
                else:
                    host = one.decision.host
                    if tries_left and self._has_left(one.decision, held.get(host, [])):
                        continue
                    answer = self._answer(asked, one, held.get(host, []), latest.get(host))
                found[asked] = self._rendered.keep(asked, answer) if isinstance(answer, Owner) else answer
                del open_[asked]
            if not open_:
                return

    def _has_left(self, decision: Decision, held: list[Assignment]) -> bool:
        """Return whether somebody who was to have a site has left."""
        names = {one.crawler for one in held if one.crawler is not None} or {decision.crawler}
        return not self._present.issuperset(names)

    def _by_assignment(self, asked: Asked, held: list[Assignment], result: Decision | None) -> Answer | None:
        """Return the owner by the assignments of a host; None if it has none that holds."""
        if any(one.crawler not in self._present for one in held):
            return None
        vantages = dict.fromkeys(one.vantage for one in held)
        if asked.vantage is not None:
            vantages = {asked.vantage: None} if asked.vantage in vantages else {}
        if not vantages:
            return None
        if len(vantages) > 1:
            return RefusedError("vantage-needed", f"{held[0].host}: {', '.join(vantages)}")
        (vantage,) = vantages
        pieces = tuple(one for one in held if one.vantage == vantage)
        return owner_by_assignment(pieces, result)

    async def _resolved(self, text: str) -> Site | RefusedError:
        if address := plain_address(text):
            return Site(text, address)
        store = self._deciding.store
        resolver = BulkResolver(self._names, store.names, store.sites, clock=self._deciding.clock)
        (found,) = [one async for one in resolver.resolve([text])]
        if isinstance(found, Site):
            return found
        return RefusedError("unresolved", f"{found.text[:200]}: {found.reason}")

    async def _decided(self, site: Site, assigns: frozenset[str]) -> _Decided:
        """Have a host decided, and assigned if it is one of those or rules want it."""
        rules = self._assigner.rules
        is_ruled = rules is not None and bool(self._assigner.choices(site, self._assigner.crawlers()))
        if is_ruled or site.host in assigns:
            self._to_assign[site.host] = site
        try:
            decision = await self._deciding.ask(site)
        finally:
            self._release(site.host)
        return _Decided(decision, is_ruled)

    def _answer(self, asked: Asked, one: _Decided, held: list[Assignment], result: Decision | None) -> Answer:
        """Return the owner of a host that was just decided, by what was written of it."""
        answer = self._by_assignment(asked, held, result) if held else None
        if answer is not None:
            return answer
        if one.is_ruled or asked.vantage is not None:
            return self._unruled(asked, held)
        return owner_by_delegation(one.decision, self._since_s(one.decision))

    def _release(self, host: str) -> None:
        """Forget that a host is to be assigned, once nobody waits for it."""
        if not self._deciding.is_waiting(host):
            self._to_assign.pop(host, None)

    async def decide_for_peer(self, wish: PeerWish) -> PeerAnswer:
        """Decide a site for another coordinator."""
        site, peers = wish.site, self._deciding.peers
        if peers is None or not peers.is_ours(site.address):
            return PeerAnswer(host=site.host)
        if wish.assigns:
            self._to_assign[site.host] = site
        try:
            async with asyncio.timeout(self.config.deadline_s):
                decision = await self._deciding.ask_here(site, wish.batch)
        except NotDecidedError as error:
            return PeerAnswer(host=site.host, reason=error.reason)
        except (MovedError, TimeoutError):
            return PeerAnswer(host=site.host)
        finally:
            self._release(site.host)
        return PeerAnswer(host=site.host, decision=decision)

    def _unruled(self, asked: Asked, held: list[Assignment]) -> RefusedError:
        """Say why rules leave a host without an owner, or without the vantage that was asked for."""
        vantages = ", ".join(dict.fromkeys(one.vantage for one in held if one.vantage)) or "none"
        if asked.vantage is not None and not any(one.vantage == asked.vantage for one in held):
            return RefusedError(
                "bad-input", f"{asked.text[:200]} has no vantage {asked.vantage[:64]!r}: {vantages}"
            )
        reasons = "; ".join(dict.fromkeys(one.reason for one in held if one.crawler is None))
        return RefusedError("nobody", f"{asked.text[:200]}: {reasons or 'rules leave no crawler for it'}")

    def _since_s(self, decision: Decision) -> float:
        found = self._deciding.store.delegations.get(decision.first, decision.last)
        return found.delegation.created_s if found is not None else self._deciding.clock()
