"""Load one coordinator with agents, nodes, sites and links, then as much again: `bin/torture load`.

Theory of operation
-------------------
A real coordinator; agents and nodes are stubs in this process. First the sites are asked for, in lists; then
they are crawled. Each half of either is measured for itself, by the processor time of the coordinator: what
it does for the second half, with all of the first behind it, must cost as much as the first did. Waiting, and
whatever else the machine does, does not count.

Memory is measured where a half ends. The first half fills caches. Beyond it a coordinator may keep so much
for each further site (`KEPT_BYTES`): answers and delegations, then who crawls it. Links are not kept in
memory.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from ipaddress import ip_address
from pathlib import Path

import aiohttp
import requests

from tests.patience import wait_until
from tests.servers.coordinator import RunningCoordinator
from tests.torture.coordinator import say
from tests.torture.load.loading import Client, LoadNode, ask_owners, parts_of
from tests.torture.load.world import LoadedWeb, Seen, agent_name, agent_token, make_home, trip_ms
from tests.torture.soak.sampling import process_state
from tests.torture.soak.stub_agents import StubAgent

MARKS = (5, 50, 95)
"""Per cent of the pages between which halves are measured: lanes begin, and end, with few pages at a time."""
EVERY_S = 60.0
"""Seconds between two lines that say how far it is."""
CALLING = 8
"""Agents that call for the first time at a time."""
LIMIT = 1.25
"""How much more the second half may cost."""
KEPT_BYTES, NOISE_MB = 500, 64
"""What may be kept in memory for each site of the second half, and what malloc may keep beside."""
WORDS = ("--location", "locate", "--samples", "1")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadConfig:
    """How much; the second half of the sites and of the links is on top."""

    agents: int = 1_000
    nodes: int = 50
    sites: int = 1_000_000
    urls: int = 10_000_000
    policy: str = "predict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one half cost."""

    what: str
    count: int
    sites: int
    """Sites that are new in this half: asked for, or crawled."""
    cpu_s: float
    elapsed_s: float
    rss_mb: float
    """At its end."""

    @property
    def each_us(self) -> float:
        """Processor time for each, in microseconds."""
        return 1e6 * self.cpu_s / self.count


@dataclass
class LoadReport:
    """The outcome."""

    config: LoadConfig
    parts: list[Part] = field(default_factory=list)
    idle: float = 0.0
    """Share of a core that the coordinator uses while all agents wait."""
    start_mb: float = 0.0
    problems: list[str] = field(default_factory=list)

    def ratios(self) -> dict[str, float]:
        """Return what the second half of each kind cost, × the first."""
        return {what: second.each_us / first.each_us for what, (first, second) in self._halves().items()}

    def kept_bytes(self) -> dict[str, float]:
        """Return by how much memory grew for each site of a second half, beyond what malloc may keep."""
        return {
            what: max(0.0, second.rss_mb - first.rss_mb - NOISE_MB) * 1e6 / second.sites
            for what, (first, second) in self._halves().items()
        }

    def _halves(self) -> dict[str, tuple[Part, Part]]:
        kinds: dict[str, list[Part]] = {}
        for part in self.parts:
            kinds.setdefault(part.what, []).append(part)
        return {what: (parts[0], parts[1]) for what, parts in kinds.items() if len(parts) > 1}

    @property
    def is_well(self) -> bool:
        is_linear = all(ratio <= LIMIT for ratio in self.ratios().values())
        return not self.problems and is_linear and max(self.kept_bytes().values(), default=0.0) <= KEPT_BYTES

    def add(self, part: Part) -> None:
        """Note what a half cost, and say so."""
        self.parts.append(part)
        say(self._line(part), to=sys.stderr)

    @staticmethod
    def _line(part: Part) -> str:
        return (
            f"{part.count:>12,} {part.what:<6} {part.each_us:>8,.0f} µs each, {1e6 / part.each_us:>7,.0f} "
            f"per s and core, {part.elapsed_s:>6,.0f} s by the clock, then {part.rss_mb:>6,.0f} MB"
        )

    def text(self) -> str:
        config = self.config
        lines = [
            f"{config.agents:,} agents, {config.nodes} nodes, policy {config.policy}",
            f"while they wait: {100 * self.idle:.1f} % of a core, {self.start_mb:,.0f} MB",
        ]
        lines += [self._line(part) for part in self.parts]
        lines += [
            f"second half of the {what}: {ratio:.2f} × the first, {'' if ratio <= LIMIT else 'NOT '}linear"
            for what, ratio in self.ratios().items()
        ]
        lines += [
            f"memory by the second half of the {what}: {kept:,.0f} bytes for each site beyond {NOISE_MB} MB, "
            f"{'' if kept <= KEPT_BYTES else 'NOT '}within {KEPT_BYTES}"
            for what, kept in self.kept_bytes().items()
        ]
        return "\n".join([*lines, *self.problems])

    def described(self) -> dict[str, object]:
        return {
            **asdict(self.config),
            "parts": [{**asdict(part), "each_us": round(part.each_us, 2)} for part in self.parts],
            "ratios": self.ratios(),
            "kept_bytes": self.kept_bytes(),
            "idle": self.idle,
            "problems": self.problems,
            "is_well": self.is_well,
        }


def run_load(folder: Path, config: LoadConfig) -> LoadReport:
    """Load a coordinator."""
    report = LoadReport(config)
    make_home(folder / "home", 2 * config.sites, config.agents)
    words = (*WORDS, "--policy", config.policy)
    with RunningCoordinator(folder / "home", *words) as coordinator:
        asyncio.run(_load(coordinator, config, report))
    return report


async def _load(coordinator: RunningCoordinator, config: LoadConfig, report: LoadReport) -> None:
    timeout, connector = aiohttp.ClientTimeout(total=3600), aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(timeout=timeout, connector=connector) as http:
        agents = await _call_in(coordinator, config.agents, http)
        report.start_mb = process_state(coordinator.pid)["rss_mb"]
        report.idle = await _idle(coordinator.pid)
        client = Client(coordinator.url, coordinator.token, http)
        watching = asyncio.create_task(_watch(coordinator.pid, client))
        await ask_owners(client, 2 * config.sites, 2 * config.sites + 100)  # load what the first needs
        for half in range(2):
            meter = Meter(coordinator.pid)
            await ask_owners(client, half * config.sites, (half + 1) * config.sites)
            report.add(meter.part("sites", config.sites, config.sites))
        await _crawl(coordinator.pid, client, config, report)
        watching.cancel()
        for agent in agents:
            await agent.kill()


async def _watch(pid: int, client: Client) -> None:
    """Say from time to time how far it is."""
    while True:
        await asyncio.sleep(EVERY_S)
        state = process_state(pid)
        done = f"{client.named:,} sites, {client.fetched:,} pages"
        say(f"{done}; {state['cpu_s']:,.0f} s of the processor, {state['rss_mb']:,.0f} MB", to=sys.stderr)


class Meter:
    """Measures from when it is made."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._cpu_s, self._began_s = process_state(pid)["cpu_s"], time.monotonic()

    def part(self, what: str, count: int, sites: int) -> Part:
        state = process_state(self._pid)
        return Part(
            what=what,
            count=count,
            sites=sites,
            cpu_s=max(state["cpu_s"] - self._cpu_s, 1e-3),
            elapsed_s=time.monotonic() - self._began_s,
            rss_mb=state["rss_mb"],
        )


def _silent(_kind: str, **_fields: object) -> None:
    """Note nothing."""


async def _call_in(
    coordinator: RunningCoordinator, count: int, http: aiohttp.ClientSession
) -> list[StubAgent]:
    """Let all agents poll; return when the coordinator knows of each."""
    agents = []
    for number in range(count):
        address = ip_address("198.51.100.1")
        agent = StubAgent(agent_name(number), address, coordinator.url, http, _silent, trip_ms)
        agent.key = agent_token(number)
        agent.start()
        agents.append(agent)
        if number >= CALLING:  # few connections may be unauthenticated at a time
            await agents[number - CALLING].is_heard.wait()

    def is_complete() -> bool:
        time.sleep(0.5)
        with suppress(requests.RequestException):
            return bool(coordinator.get("/v1/ready").json()["crawlers_to_ask"] >= count)
        return False

    await asyncio.to_thread(wait_until, is_complete, "all agents to be there")
    return agents


async def _idle(pid: int, seconds: float = 5.0) -> float:
    before_s, began_s = process_state(pid)["cpu_s"], time.monotonic()
    await asyncio.sleep(seconds)
    return float((process_state(pid)["cpu_s"] - before_s) / (time.monotonic() - began_s))


async def _crawl(pid: int, client: Client, config: LoadConfig, report: LoadReport) -> None:
    """Crawl all sites, and note what either half of the pages cost."""
    web = LoadedWeb(hosts=2 * config.sites, pages=max(2, config.urls // config.sites))
    seen = Seen(web)
    for number in range(config.agents):  # a crawler that never had a node keeps its links waiting
        visitor = LoadNode(f"v{number}", agent_name(number), web, seen, client)
        await visitor.join()
        await visitor.leave()
    nodes = [
        LoadNode(f"n{number}", agent_name(number), web, seen, client, starts)
        for number, starts in enumerate(parts_of(web, config.nodes))
    ]
    for node in nodes:
        await node.join()
    marks, meters = [web.count * mark // 100 for mark in MARKS], [(Meter(pid), 0)]

    def look() -> None:
        client.fetched = seen.count
        if marks and seen.count >= marks[0]:
            del marks[0]
            meter, before = meters[-1]
            if before:
                pages = seen.count - before
                report.add(meter.part("links", pages, max(1, pages // web.pages)))
            meters.append((Meter(pid), seen.count))

    await asyncio.gather(*(node.crawl(look) for node in nodes))
    if seen.count != web.count:
        report.problems.append(f"{web.count - seen.count:,} of {web.count:,} pages are lost")
    if seen.again:
        report.problems.append(f"{seen.again:,} pages were fetched again")


def main() -> int:
    """Run a load from the command line."""
    parser = argparse.ArgumentParser(prog="bin/torture load", description=__doc__.splitlines()[0])
    for name, value in asdict(LoadConfig()).items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    chosen = vars(parser.parse_args())
    as_json = chosen.pop("json")
    say("again with: bin/torture load " + " ".join(f"--{n} {v}" for n, v in chosen.items()), to=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="ipmicra-load-") as folder:
        report = run_load(Path(folder), LoadConfig(**chosen))
    say(json.dumps(report.described(), indent=2) if as_json else report.text())
    return not report.is_well


if __name__ == "__main__":
    sys.exit(main())
