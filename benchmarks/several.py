"""Several coordinators on one PostgreSQL: what a decision costs two of them, beside one alone.

New hosts, real probes of a loopback world, real processes. One is asked about all hosts; of two each is asked
about half of them, whoever decides. Counted is the processor time of the coordinators; that of the database
and of the agents, which share the two cores, is not.
"""

from __future__ import annotations

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import Times
from benchmarks.results import Row, Target, as_long
from ipmicra.app.build.build import build
from ipmicra.delegate.sectors import SECTORS
from ipmicra.edge.store.store import Store
from tests.delegating_worlds import PER_SUBNET, enrol, seeds_of
from tests.patience import wait_until
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.servers.postgres import HOW, PostgresServer, binaries
from tests.service.test_several_coordinators import sectors, top_level_dump

CRAWLERS, STEP_MS = 3, 4.0
_TICKS = os.sysconf("SC_CLK_TCK")
WORDS = ("--location", "none", "--first-rung", "head", "--samples", "1")


def measure_several(bench: Bench) -> list[Row]:
    """Measure one and two in turn."""
    if binaries() is None:
        bench.say(HOW)
        return []
    sites = 100 if bench.sizes.is_quick else 1_000
    bench.say(f"{sites:,} new hosts, asked of one coordinator and of two")
    taken: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    with InternetProcess(sites, CRAWLERS, STEP_MS) as internet, PostgresServer() as server:
        for _ in range(bench.sizes.rounds):
            for count, rounds in taken.items():
                rounds.append(_decided(internet, server.new_store(), count, sites))
    alone, together = (
        Times(seconds=tuple(one for one, _ in rounds), elapsed_s=tuple(wall for _, wall in rounds))
        for rounds in taken.values()
    )
    figures = [
        f"{name} {times.median / sites * 1e3:.2f} ms of processor time per decision, "
        f"{sites / sorted(times.elapsed_s)[len(times.elapsed_s) // 2]:,.0f} decisions/s"
        for name, times in (("one", alone), ("two", together))
    ]
    what = "two coordinators on one PostgreSQL: processor time per decision, × one alone"
    return [as_long(what, together, alone, Target(sense="≤", limit=1.2), figures)]


def _decided(internet: InternetProcess, url: str, count: int, sites: int) -> tuple[float, float]:
    """Return processor time and wall clock of deciding all hosts."""
    seeds = seeds_of(sites, internet.port)
    with Store.open(url) as store:
        enrol(store, internet.fleet())
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        running = [
            stack.enter_context(_coordinator(Path(folder), f"c{number}", url, internet, sites))
            for number in range(count)
        ]
        wait_until(lambda: sorted(sectors(url)) == [SECTORS // count] * count, "the tree is dealt out")
        token = running[0].token
        wait_until(lambda: all(map(partial(_is_ready, token), running)), "sessions")
        before_s, began_s = sum(map(_processor_s, running)), time.monotonic()
        answers = list(
            pool.map(
                lambda i: running[i].ask(
                    "POST", "/v1/owners", data="\n".join(seeds[i::count]).encode(), token=token
                ),
                range(count),
            )
        )
        elapsed_s = time.monotonic() - began_s
        used_s = sum(map(_processor_s, running)) - before_s
        lines = [line for one in answers for line in one.text.splitlines()]
        assert len(lines) == sites, lines[:1]
        assert '"problem"' not in "".join(lines), next(line for line in lines if '"problem"' in line)
    return used_s, elapsed_s


def _coordinator(
    folder: Path, name: str, url: str, internet: InternetProcess, sites: int
) -> RunningCoordinator:
    home = folder / name
    home.mkdir()
    dump = home / "dump.db"
    dump.write_text(top_level_dump(sites // PER_SUBNET))
    build([dump], home / "hierarchy.ipm")
    return RunningCoordinator(home, *WORDS, "--store", url, "--name", name, token=internet.ready["token"])


def _is_ready(token: str, one: RunningCoordinator) -> bool:
    return bool(one.ask("GET", "/v1/ready", token=token).json()["is_ready"])


def _processor_s(one: RunningCoordinator) -> float:
    fields = Path(f"/proc/{one.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
