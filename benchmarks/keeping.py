"""What a batch writes: samples, delegations and results into SQLite on disk, side by side."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import TypeVar

from benchmarks.bench import Bench
from benchmarks.results import Row, Target
from ipmicra.delegate.account import Considered, Verdict
from ipmicra.edge.store.ports import DelegationRecord, ResultRecord
from ipmicra.edge.store.store import Store
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.sample import Rung, Sample, Timings

T = TypeVar("T")
ROWS, AT_ONCE, LIMIT = 200_000, 5_000, 100_000
"""Rows of a round, rows of a transaction as in a batch, and the rate to reach."""


def measure_keeping(bench: Bench) -> list[Row]:
    """Measure rows a second; a new store for each round, contestants in turn."""
    bench.say("keeping samples, delegations and results")
    samples, delegations, results = _samples(), _delegations(), _results()
    bare = [replace(one, account=()) for one in delegations]
    jobs: dict[str, Callable[[Store], None]] = {
        "samples": lambda store: _in_parts(store.samples.add_many, samples),
        "delegations": lambda store: _in_parts(store.delegations.put_many, bare),
        "delegations, each with its account": lambda store: _in_parts(
            store.delegations.put_many, delegations
        ),
        "results of sites": lambda store: _in_parts(lambda part: store.results.add_many(1, part), results),
    }
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for _ in range(bench.sizes.short_rounds):
        for name, job in jobs.items():
            spent[name].append(_timed(job))
    return [_row(name, times) for name, times in spent.items()]


def _timed(job: Callable[[Store], None]) -> tuple[float, float]:
    """Give the seconds of the processor and of the clock."""
    with tempfile.TemporaryDirectory() as folder, Store.open(str(Path(folder) / "state.db")) as store:
        clock, processor = time.perf_counter(), time.process_time()
        job(store)
        return time.process_time() - processor, time.perf_counter() - clock


def _row(name: str, times: list[tuple[float, float]]) -> Row:
    processor = [ROWS / one for one, _ in times]
    clock = ROWS / statistics.median(one for _, one in times)
    load = os.getloadavg()[0]
    return Row(
        what=f"{name}, written {AT_ONCE:,} at a time",
        value=statistics.median(processor),
        unit="rows/s",
        low=min(processor),
        high=max(processor),
        target=Target(sense="≥", limit=LIMIT),
        figures=(
            f"{ROWS:,} rows; by processor time, what an idle core takes",
            f"by the clock {clock:,.0f} rows/s at load {load:.1f}",
        ),
    )


def _in_parts(write: Callable[[list[T]], None], rows: list[T]) -> None:
    for start in range(0, len(rows), AT_ONCE):
        write(rows[start : start + AT_ONCE])


def _samples() -> list[Sample]:
    timings = Timings(tcp_ms=12.5)
    one = Sample(
        crawler="c1",
        address=IPv4Address(0),
        rtt_ms=12.5,
        rung=Rung.TCP,
        all_ms=(12.5, 13.5, 14.5),
        timings=timings,
        taken_s=1e9,
    )
    return [replace(one, address=IPv4Address(i << 8)) for i in range(ROWS)]


def _delegations() -> list[DelegationRecord]:
    """Two probes, and why one more was not asked: what most accounts hold."""
    why = "expected at 12.3 ms; a probe promises 1.23 ms"
    account = (
        Considered(crawler="c1", verdict=Verdict.CHOSEN, reason=why, rtt_ms=12.5),
        Considered(crawler="c1", verdict=Verdict.ASKED, reason=why, rtt_ms=12.5),
        Considered(crawler="c2", verdict=Verdict.ASKED, reason=why, rtt_ms=22.5),
        Considered(crawler="c3", verdict=Verdict.NOT_ASKED, reason=why, expected_ms=32.5, saving_ms=0.1),
    )
    one = Delegation(
        first=IPv4Address(0),
        last=IPv4Address(0),
        crawler="c1",
        evidence=Evidence.PROBED,
        rtt_ms=12.5,
        probes=2,
        created_s=1e9,
        expires_s=2e9,
    )
    return [
        DelegationRecord(
            delegation=replace(one, first=IPv4Address(i << 8), last=IPv4Address((i << 8) + 255)),
            address=IPv4Address((i << 8) + 1),
            account=account,
        )
        for i in range(ROWS)
    ]


def _results() -> list[ResultRecord]:
    return [
        ResultRecord(
            host=f"www{i}.example.org",
            address=IPv4Address((i << 8) + 1),
            first=IPv4Address(i << 8),
            last=IPv4Address((i << 8) + 255),
            crawler="c1",
            evidence=Evidence.PROBED,
            rtt_ms=12.5,
            probes=2,
        )
        for i in range(ROWS)
    ]
