"""Probes: an agent beside a bare loop of connections, its accuracy, resolving names, keeping samples."""

from __future__ import annotations

import asyncio
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from ipaddress import IPv4Address
from pathlib import Path

import aiohttp

from benchmarks.bench import SEED, Bench
from benchmarks.child_sites import delay_ms
from benchmarks.measure import ROOT, Times, side_by_side
from benchmarks.results import Row, Target, against, number_text, rate, timed
from ipmicra.edge.coordinator.agent_client import AgentAccess, AgentClient, ClientConfig
from ipmicra.edge.dns import client as dns
from ipmicra.edge.dns.bulk import BulkResolver
from ipmicra.edge.store.store import Store
from ipmicra.model.sample import Rung, Sample, Timings
from ipmicra.wire.messages import Answer, ProbeOrder

TOKEN = "token-of-the-benchmarks"
SAMPLES = 3
DELAY_MS = 100.0
AT_ONCE, LEAST_MS, MOST_MS, PLACES = 25, 2.0, 80.0, 250


def measure_probing(bench: Bench) -> list[Row]:
    bench.say("probing: agent beside a bare loop, many at once, accuracy")
    rows = [_rates(bench), _at_once(bench), _accuracy(bench)]
    bench.say("probing: resolving and keeping")
    return [*rows, _resolving(bench), _keeping(bench)]


@contextmanager
def started(*words: str, says: str = r"(\d+)") -> Iterator[str]:
    """Run a child process and yield the line it prints when ready."""
    environment = {**os.environ, "IPMICRA_AGENT_TOKEN": TOKEN}
    child = subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert child.stdout is not None
        for line in child.stdout:
            found = re.search(says, line)
            if found:
                yield found[1]
                return
        raise RuntimeError(f"{words} did not start")
    finally:
        child.kill()
        child.wait()
        if child.stdout:
            child.stdout.close()


@contextmanager
def sites_and_agent(count: int, least: float, most: float) -> Iterator[tuple[int, str]]:
    with started("benchmarks.child_sites", str(count), str(least), str(most)) as port:
        words = ["ipmicra", "agent", "--listen", "127.0.0.1:0", "--allow", "127.0.0.0/8"]
        words += ["--allow-port", port, "--interval-s", "0"]
        with started(*words, says=r"listens on (http://\S+)") as url:
            yield int(port), url


@cache
def place(number: int) -> IPv4Address:
    return IPv4Address(f"127.96.{number // 250}.{number % 250 + 1}")


def orders(count: int, places: int, port: int, samples: int, rung: Rung) -> list[ProbeOrder]:
    return [
        ProbeOrder(
            id=uuid.uuid4().hex,
            address=place(i % places),
            scheme="http",
            port=port,
            samples=samples,
            first_rung=rung,
        )
        for i in range(count)
    ]


def ask(url: str, asked: list[ProbeOrder], batch: int = 1_000) -> list[Answer]:
    async def run() -> list[Answer]:
        found: list[Answer] = []
        async with aiohttp.ClientSession() as session:
            client = AgentClient(url, session, AgentAccess(token=TOKEN), ClientConfig())
            for start in range(0, len(asked), batch):
                async for answers in client.ask(asked[start : start + batch], total_s=600.0):
                    found += answers
        return found

    answers = asyncio.run(run())
    lost = [answer for answer in answers if answer.loss is not None]
    if lost:
        raise RuntimeError(f"{len(lost)} of {len(answers)} probes are lost: {lost[0].detail}")
    return answers


def bare_loop(port: int, count: int, at_once: int) -> None:
    """Connect and hang up, with asyncio's own means and nothing else."""

    async def worker(numbers: Iterator[int]) -> None:
        for number in numbers:
            _, writer = await asyncio.open_connection(str(place(number % 50)), port)
            writer.close()
            await writer.wait_closed()

    async def run() -> None:
        numbers = iter(range(count))
        await asyncio.gather(*(worker(numbers) for _ in range(at_once)))

    asyncio.run(run())


def _rates(bench: Bench) -> Row:
    count = bench.sizes.connections
    with sites_and_agent(50, 0, 0) as (port, url):
        times = side_by_side(
            {
                "agent": lambda: ask(url, orders(count // SAMPLES, 50, port, SAMPLES, Rung.TCP)),
                "bare": lambda: bare_loop(port, count, 200),
            },
            bench.sizes.short_rounds,
        )
    agent, bare = (number_text(count / times[name].median) for name in ("agent", "bare"))
    note = f"{count:,} handshakes: agent {agent} a second (orders and samples over HTTP), loop {bare}"
    what = "agent beside a bare asyncio connect loop"
    return against(what, times["agent"], times["bare"], Target(sense="≥", limit=0.5), [note])


def _at_once(bench: Bench) -> Row:
    count = bench.sizes.at_once
    ideal_s = SAMPLES * DELAY_MS / 1e3
    with sites_and_agent(50, DELAY_MS, DELAY_MS) as (port, url):
        times = side_by_side(
            {"agent": lambda: ask(url, orders(count, 50, port, SAMPLES, Rung.HEAD))},
            bench.sizes.short_rounds,
        )["agent"]
    what = f"{count:,} probes at once, {DELAY_MS:g} ms away, beside the ideal time"
    note = f"{times.median * 1e3:.0f} ms; ideal {ideal_s * 1e3:.0f} ms ({SAMPLES} round trips each)"
    return timed(what, times.scaled(1 / ideal_s), "× ideal", Target(sense="≤", limit=1.5), [note])


def _accuracy(bench: Bench) -> Row:
    count = bench.sizes.accurate
    with sites_and_agent(PLACES, LEAST_MS, MOST_MS) as (port, url):
        asked = orders(count, PLACES, port, SAMPLES, Rung.HEAD)
        random.Random(SEED).shuffle(asked)
        answers = ask(url, asked, AT_ONCE)
    first = int(place(0))
    errors, shares = [], []
    for answer in answers:
        assert answer.address is not None
        assert answer.rtt_ms is not None
        high, low = divmod(int(answer.address) - first, 256)
        truth = delay_ms(high * 250 + low, PLACES, LEAST_MS, MOST_MS)
        errors.append(abs(answer.rtt_ms - truth))
        shares.append(errors[-1] / max(1.0, truth * 0.05))
    middle, most = statistics.median(errors), sorted(errors)[int(0.95 * count)]
    note = f"{count:,} probes of {LEAST_MS:g}–{MOST_MS:g} ms, {AT_ONCE} at a time: median {middle:.2f} ms"
    return Row(
        what="error of measured round trips, in parts of max(1 ms, 5 %), median",
        value=statistics.median(shares),
        unit="× allowed",
        target=Target(sense="≤", limit=1.0),
        figures=(note, f"95 of 100 below {most:.2f} ms"),
    )


def _resolving(bench: Bench) -> Row:
    count = bench.sizes.names
    with started("benchmarks.child_dns") as port:

        def resolve() -> None:
            async def run() -> None:
                config = dns.DnsConfig(servers=(("127.0.0.1", int(port)),))
                with Store.open("sqlite://") as store:
                    async with dns.DnsClient(config) as client:
                        names = (f"host{i}.example{i % 7}.com" for i in range(count))
                        found = [one async for one in BulkResolver(client, store.names).resolve(names)]
                assert len(found) == count

            asyncio.run(run())

        times = side_by_side({"resolver": resolve}, bench.sizes.short_rounds)["resolver"]
    return _rate_row("names resolved, local server, cache written", times, count, 3_000)


def _keeping(bench: Bench) -> Row:
    count, rounds = bench.sizes.kept, bench.sizes.short_rounds
    chance = random.Random(SEED)
    timings = Timings(tcp_ms=12.5)
    samples = [
        Sample(
            crawler=f"c{chance.randrange(12)}",
            address=IPv4Address(chance.randrange(1 << 32)),
            rtt_ms=12.5,
            rung=Rung.TCP,
            all_ms=(12.5, 13.5, 14.5),
            timings=timings,
            taken_s=time.time(),
        )
        for _ in range(count)
    ]
    with tempfile.TemporaryDirectory() as folder, Store.open(str(Path(folder) / "state.db")) as store:
        times = side_by_side({"store": lambda: store.samples.add_many(samples)}, rounds)["store"]
    return _rate_row("samples written into SQLite on disk, addresses at random", times, count, 100_000)


def _rate_row(what: str, times: Times, count: int, limit: float) -> Row:
    note = f"{count:,} in {times.median:.2f} s"
    return rate(what, times, count, "a second", Target(sense="≥", limit=limit), [note])
