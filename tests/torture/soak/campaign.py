"""A fleet that lives for hours: who comes and goes, what is asked, what an operator does meanwhile.

Theory of operation
-------------------
One real coordinator; two real agents; some twenty crawlers whose agents and nodes are stubs in this process
(`stub_agents.py`, `stub_nodes.py`). All of it is drawn from a seed: who, when and for how long.

*Sites* are addresses of loopback, ten to a /24. A window of subnets is alive: every few seconds a new subnet
is asked about, and once a minute the oldest are forgotten (`POST /v1/forget`, with samples), so that the
coordinator has as much to remember after two hours as after ten minutes; whatever still grows is a leak. No
subnet comes twice, so each site has one life, and all answers about it are the same until its owner leaves.

*Crawls* follow each other: a made-up web of some thousand pages is crawled to its end, then again, while
nodes are killed, come back and leave.

*Events* of the plan below happen one after the other, each noted before and after. The coordinator itself is
never restarted.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from random import Random
from typing import Any

import aiohttp

from tests.servers.calling_fleet import AgentProcess, CallingFleet
from tests.torture.soak.operating import BLOCKS, Operator
from tests.torture.soak.record import Record
from tests.torture.soak.stub_agents import StubAgent, invite
from tests.torture.soak.stub_nodes import MadeUpWeb, StubNode

CRAWL = "soak"


PLAN = {
    "crawler joins and another leaves": 4,
    "agent is killed": 4,
    "node is killed": 6,
    "agent joins anew": 1,
    "real agent is killed": 1,
    "token is rotated": 2,
    "hierarchy is built anew": 2,
    "log is rotated": 1,
    "batch with a budget": 2,
}
"""Events and how often each is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakConfig:
    """How much happens."""

    crawlers: int = 18
    """Stubs; their number is kept."""
    real_agents: int = 2
    subnets: int = 120
    """That are alive at a time."""
    hosts: int = 10
    """Of a subnet."""
    new_s: float = 10.0
    """Between two new subnets, once there are enough."""
    ask_s: float = 1.0
    """Between two questions about some hosts."""
    asked: int = 10
    """Hosts in a question."""
    crawl_hosts: int = 40
    pages: int = 50
    """Of a host of the crawl."""
    event_s: float = 20.0
    """Between two events, on average."""
    plan: Mapping[str, int] = field(default_factory=lambda: PLAN)
    away_s: tuple[float, float] = (2.0, 45.0)
    """How long those who were killed stay away."""


@dataclass
class Subnet:
    """A subnet that is alive, with its hosts."""

    prefix: str
    hosts: list[str]


@dataclass
class Campaign:
    """Everything that happens beside the coordinator; use `run`."""

    fleet: CallingFleet
    record: Record
    rng: Random
    config: SoakConfig = field(default_factory=SoakConfig)
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    operator: Operator = field(init=False)
    _agents: dict[str, StubAgent] = field(default_factory=dict)
    _nodes: dict[str, StubNode] = field(default_factory=dict)
    _window: deque[Subnet] = field(default_factory=deque)
    _asked: set[str] = field(default_factory=set)
    _unanswered: dict[str, None] = field(default_factory=dict)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a question is under way, and while something is forgotten."""
    _run: int = 0
    _sampling: asyncio.Task[None] | None = None
    _returning: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        hosts = tuple(f"127.9.{number}.1" for number in range(self.config.crawl_hosts))
        self.web = MadeUpWeb(hosts=hosts, pages=self.config.pages)

    # --- the whole

    async def run(self, sample: Callable[[], None], sample_s: float, life_s: float) -> None:
        """Live for so long once all have joined, or until `is_over` is set; then see that all is answered."""
        timeout = aiohttp.ClientTimeout(total=120)
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(timeout=timeout, connector=connector) as http:
            self.operator = Operator(self.fleet, self.record, self.rng, self.config.crawl_hosts, http)
            await self.operator.new_token()
            for _ in range(self.config.crawlers):
                await self._join_crawler()
            for name in self.fleet.agents:
                self._add_node(name)
            asyncio.get_running_loop().call_later(life_s, self.is_over.set)
            works = [self._asks(), self._grow(), self._live(), self._crawl(), self._sample(sample, sample_s)]
            tasks = [asyncio.create_task(work) for work in works]
            over = asyncio.create_task(self.is_over.wait())
            await asyncio.wait([*tasks, over], return_when=asyncio.FIRST_COMPLETED)
            failed = [task for task in tasks if task.done()]
            await self._cancelled([*tasks, *self._returning, over])
            if self._sampling is not None:  # a thread cannot be cancelled, and asks about sites
                await asyncio.gather(self._sampling, return_exceptions=True)
            for task in failed:
                task.result()
            await self._settle()
            for node in self._nodes.values():
                await node.kill()
            for agent in self._agents.values():
                await agent.kill()

    async def _cancelled(self, tasks: list[asyncio.Task[Any]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _sample(self, sample: Callable[[], None], sample_s: float) -> None:
        while True:
            await asyncio.sleep(sample_s)
            try:
                self._sampling = asyncio.create_task(asyncio.to_thread(sample))
                await asyncio.shield(self._sampling)
            except OSError as error:
                self.record.note("trouble", who="sampler", error=str(error)[:200])

    async def _settle(self) -> None:
        """Ask for what has no answer, until it has or two minutes are over."""
        for agent in self._agents.values():
            if not agent.is_running:
                agent.start()
        for process in self.fleet.agents.values():
            if not process.is_running:
                process.start()
        await asyncio.to_thread(self.fleet.wait_for, *self.fleet.agents)
        for _ in range(60):
            hosts = list(self._unanswered)
            if not hosts:
                return
            await self._ask(hosts)
            await asyncio.sleep(2.0 if self._unanswered else 0.0)

    # --- questions

    async def _asks(self) -> None:
        while True:
            await asyncio.sleep(self.config.ask_s)
            alive = [host for one in self._window for host in one.hosts]
            known = self.rng.sample(alive, min(len(alive), self.config.asked))
            fixed = self.rng.sample(self.web.hosts, 1)
            waiting = list(self._unanswered)[:50]
            await self._ask(list(dict.fromkeys([*waiting, *known, *fixed])))

    async def _ask(self, hosts: list[str]) -> None:
        for host in set(hosts) - self._asked:
            self._note_asked(host)
        async with self._asking:
            began_s = self.record.now_s
            try:
                text = await self.operator.request("POST", "/v1/owners", "\n".join(hosts))
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                self.record.note("trouble", who="questions", error=str(error)[:200])
                return
            lines = [json.loads(line) for line in text.splitlines()]
            for host, one in zip(hosts, lines, strict=False):
                if "problem" in one:
                    self.record.note("refused", host=host, reason=one["problem"].get("type", "")[-40:])
                    continue
                self._unanswered.pop(host, None)
                self.record.note("answer", host=host, who=one["crawler"], began=began_s)

    # --- sites come and are forgotten

    async def _grow(self) -> None:
        forgotten_s = self.record.now_s
        for number in range(BLOCKS * 256):
            self._open_subnet(number)
            if self.record.now_s - forgotten_s >= 60.0:
                forgotten_s = self.record.now_s
                await self._forget()
            is_full = len(self._window) >= self.config.subnets
            await asyncio.sleep(self.config.new_s if is_full else self.config.new_s / 10)
        await self.is_over.wait()

    def _open_subnet(self, number: int) -> None:
        prefix = f"127.{1 + number % BLOCKS}.{number // BLOCKS}"
        hosts = [f"{prefix}.{1 + last}" for last in range(self.config.hosts)]
        self._window.append(Subnet(f"{prefix}.0/24", hosts))
        for host in hosts:
            self._note_asked(host)

    def _note_asked(self, host: str) -> None:
        self._asked.add(host)
        self._unanswered[host] = None
        self.record.note("asked", host=host)

    async def _forget(self) -> None:
        """Forget the oldest subnets, those beyond the window."""
        old = [self._window.popleft() for _ in range(len(self._window) - self.config.subnets)]
        if not old:
            return
        hosts = [host for one in old for host in one.hosts]
        for host in hosts:
            self._unanswered.pop(host, None)
        async with self._asking:
            self.record.note("forgotten", hosts=hosts)
            targets = [one.prefix for one in old] + hosts
            body = json.dumps({"targets": targets, "samples": True})
            await self.operator.request("POST", "/v1/forget", body, token=self.fleet.coordinator.token)

    # --- crawls

    async def _crawl(self) -> None:
        """Crawl the made-up web to its end, again and again."""
        while True:
            for node in self._nodes.values():
                if not node.is_running:
                    node.start(None)
            await asyncio.sleep(1.0)
            while not self._has_ended():  # noqa: ASYNC110 - killed nodes tell nobody
                await asyncio.sleep(0.2)
            self.record.note("run_ended", run=self._run, pages=self.web.count)

    def _has_ended(self) -> bool:
        """Return whether all nodes stopped, and one of them by itself: all may be killed at the same time."""
        nodes = list(self._nodes.values())
        return not any(node.is_running for node in nodes) and any(node.task is not None for node in nodes)

    def _note(self, kind: str, **fields: object) -> None:
        """Note what a stub says; a node that joins says which run it is."""
        if kind == "node" and fields.get("state") == "joined":
            self._run = int(str(fields["run"]))
        self.record.note(kind, **fields)

    # --- events

    async def _live(self) -> None:
        actions: dict[str, Callable[[], Awaitable[None]]] = {
            "crawler joins and another leaves": self._replace_crawler,
            "agent is killed": self._kill_agent,
            "node is killed": self._kill_node,
            "agent joins anew": self._renew_agent,
            "real agent is killed": self._kill_real_agent,
            "token is rotated": self.operator.new_token,
            "hierarchy is built anew": self.operator.new_edition,
            "log is rotated": self.operator.rotate_log,
            "batch with a budget": self.operator.start_batch,
        }
        while True:
            await asyncio.sleep(self.rng.uniform(0.0, 2 * self.config.event_s))
            name = self.rng.choices(list(self.config.plan), list(self.config.plan.values()))[0]
            self.record.note("event", name=name)
            try:
                await actions[name]()
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                self.record.note("trouble", who=name, error=str(error)[:200])

    async def _join_crawler(self) -> None:
        """Let a crawler join: an agent and a node."""
        number = self.operator.number("crawler")
        name = f"s{number}"
        address = ip_address(f"198.18.{number // 250}.{number % 250 + 1}")
        agent = StubAgent(name, address, self.fleet.coordinator.url, self.operator.http, self._note)
        await agent.join(await asyncio.to_thread(invite, self.operator.home, name))
        agent.start()
        self._agents[name] = agent
        self._add_node(name)

    def _add_node(self, crawler: str) -> None:
        node = StubNode(
            name=f"n-{crawler}",
            crawler=crawler,
            crawl=CRAWL,
            web=self.web,
            url=self.fleet.coordinator.url,
            http=self.operator.http,
            note=self._note,
            token=lambda: self.operator.token,
            now_s=lambda: self.record.now_s,
        )
        self._nodes[node.name] = node
        node.start(self._run or None)

    async def _replace_crawler(self) -> None:
        """Let a crawler join and another leave: by itself, or because an operator removes it."""
        await self._join_crawler()
        name = self.rng.choice(sorted(self._agents))
        agent, node = self._agents.pop(name), self._nodes.pop(f"n-{name}")
        await node.leave()
        self.record.note("leaves", name=name)
        if agent.is_running and self.rng.random() < 0.5:
            await agent.leave()
            return
        now = "?now=true" if self.rng.random() < 0.5 else ""
        await self.operator.request("DELETE", f"/v1/crawlers/{name}{now}", token=self.fleet.coordinator.token)
        await agent.kill()

    def _later(self, action: Callable[[], None]) -> None:
        """Do something after those who were killed have been away for a while."""

        async def wait() -> None:
            await asyncio.sleep(self.rng.uniform(*self.config.away_s))
            action()

        task = asyncio.create_task(wait())
        self._returning.add(task)
        task.add_done_callback(self._returning.discard)

    async def _kill_agent(self) -> None:
        agent = self._agents[self.rng.choice(sorted(self._agents))]
        if agent.is_running:
            await agent.kill()
            self._later(lambda: None if agent.is_running or agent.name not in self._agents else agent.start())

    async def _kill_node(self) -> None:
        node = self._nodes[self.rng.choice(sorted(self._nodes))]
        if not node.is_running:
            return
        run = self._run
        await node.kill()
        self._later(lambda: None if node.is_running or node.name not in self._nodes else node.start(run))

    async def _renew_agent(self) -> None:
        """Rotate the token of an agent: it joins with a new key, and the old one is refused."""
        agent = self._agents[self.rng.choice(sorted(self._agents))]
        await agent.kill()
        old = agent.key
        await agent.join(await asyncio.to_thread(invite, self.operator.home, agent.name))
        await self.operator.expect_refused(agent.name, "/v1/agents/poll", old)
        agent.start()

    async def _kill_real_agent(self) -> None:
        if not self.fleet.agents:
            return
        agent: AgentProcess = self.fleet.agents[self.rng.choice(sorted(self.fleet.agents))]
        await asyncio.to_thread(agent.end, signal.SIGKILL)
        self._later(lambda: None if agent.is_running else agent.start())
