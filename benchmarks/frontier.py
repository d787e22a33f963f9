"""The proxy of URLFrontier: URLs a second on one stream, one by one and in batches of 100.

Client, proxy and service are processes of their own; the service only acknowledges. Where other work keeps
the machine busy, the rate by processor time of the proxy says what it would do with a core of its own.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import grpc.aio

from benchmarks.bench import Bench
from benchmarks.measure import ROOT
from benchmarks.results import Row, Target
from ipmicra.edge.frontier.messages import PUT_DISCOVERED, PUT_URLS, DiscoveredBatch, URLInfo, URLItem

HOSTS, BATCH, ROUNDS = 10_000, 100, 3
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Rate:
    """URLs a second."""

    by_clock: float
    by_processor: float
    """By the processor time of the process that was asked."""


def measure_frontier(bench: Bench) -> list[Row]:
    """Measure both ways to put URLs."""
    count = 2_000 if bench.sizes.is_quick else 20_000
    bench.say(f"{count:,} URLs one by one, {count * 20:,} in batches, through the proxy and without it")
    with _running() as (service, service_port), _running(str(service_port)) as (proxy, port):
        rows = []
        for what, limit, method, messages, each in (
            ("URLs a second on one PutURLs stream", 2_000, PUT_URLS, _single(count), 1),
            ("URLs a second in PutDiscovered batches", 100_000, PUT_DISCOVERED, _batches(count // 5), BATCH),
        ):
            asyncio.run(_rate(port, proxy, method, messages, each))  # hosts are decided, connections are open
            through = [asyncio.run(_rate(port, proxy, method, messages, each)) for _ in range(ROUNDS)]
            direct = asyncio.run(_rate(service_port, service, method, messages, each))
            best = max(through, key=lambda one: one.by_clock)
            own = max(one.by_processor for one in through)
            rows.append(
                Row(
                    what=what,
                    value=best.by_clock,
                    unit="/s",
                    low=min(one.by_clock for one in through),
                    high=best.by_clock,
                    rounds=ROUNDS,
                    target=Target(sense="≥", limit=float(limit)),
                    figures=(
                        f"{own:,.0f}/s by processor time of the proxy",
                        f"without the proxy {direct.by_clock:,.0f}/s",
                    ),
                )
            )
        return rows


def _url(number: int) -> str:
    return f"https://www.site-{number % HOSTS}.example/articles/{number}.html"


def _single(count: int) -> list[bytes]:
    messages = []
    for number in range(count):
        item = URLItem(ID=str(number))
        item.discovered.info.url = _url(number)
        item.discovered.info.crawlID = "nyc"
        messages.append(item.SerializeToString())
    return messages


def _batches(count: int) -> list[bytes]:
    return [
        DiscoveredBatch(
            ID=str(number),
            items=[URLInfo(url=_url(number * BATCH + i), crawlID="nyc") for i in range(BATCH)],
        ).SerializeToString()
        for number in range(count)
    ]


@contextmanager
def _running(*words: str) -> Iterator[tuple[int, int]]:
    """Run a child; return its process number and port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.child_frontier", *words], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield process.pid, int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


async def _rate(port: int, pid: int, method: str, messages: list[bytes], each: int) -> Rate:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = channel.stream_stream(method)()

        async def send() -> None:
            for one in messages:
                await call.write(one)
            await call.done_writing()

        used_s, start = _processor_s(pid), time.perf_counter()
        sending = asyncio.create_task(send())
        answers = 0
        while await call.read() is not grpc.aio.EOF:
            answers += 1
        await sending
        taken_s, used_s = time.perf_counter() - start, _processor_s(pid) - used_s
    if answers != len(messages):
        raise RuntimeError(f"{answers} acknowledgements of {len(messages)} messages")
    urls = answers * each
    return Rate(urls / taken_s, urls / max(used_s, 1 / _TICKS))
