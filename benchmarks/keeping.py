"""What a batch writes: samples, delegations and results into SQLite on disk, side by side."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path
from typing import Self, TypeVar

from benchmarks.bench import Bench
from benchmarks.measure import Times, run, side_by_side
from benchmarks.results import Row, Target, rate
from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.edge.store.ports import DelegationRecord
from ipmicra.edge.store.store import Store
from ipmicra.model.delegation import Decision, Delegation, Evidence
from ipmicra.model.sample import Rung, Sample, Timings

T = TypeVar("T")
_CHILD = "benchmarks.child_at_once"
AT_ONCE, LIMIT = 5_000, 100_000
"""Rows of a transaction as in a batch, and the rate to reach."""


class FreshStore:
    """A store on disk that can be changed for an empty one."""

    def __init__(self) -> None:
        self._opened = ExitStack()
        self.store: Store

    def renew(self) -> None:
        self._opened.close()
        folder = self._opened.enter_context(tempfile.TemporaryDirectory())
        self.store = self._opened.enter_context(Store.open(str(Path(folder) / "state.db")))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()


def measure_keeping(bench: Bench) -> list[Row]:
    """Measure rows per second, with a new store for each turn."""
    bench.say("keeping samples, delegations and results")
    count = bench.sizes.kept
    samples, delegations, results = make_samples(count), make_delegations(count), make_results(count)
    bare = [replace(one, account=()) for one in delegations]
    jobs: dict[str, Callable[[Store], None]] = {
        "samples": lambda store: write_in_parts(store.samples.add_many, samples),
        "delegations": lambda store: write_in_parts(store.delegations.put_many, bare),
        "delegations, each with its account": lambda store: write_in_parts(
            store.delegations.put_many, delegations
        ),
        "results of sites": lambda store: write_in_parts(
            lambda part: store.results.add_many(1, part), results
        ),
    }
    with FreshStore() as fresh:
        actions = {name: partial(_done, job, fresh) for name, job in jobs.items()}
        times = side_by_side(actions, bench.sizes.short_rounds, clock=time.process_time, before=fresh.renew)
    return [*(_row(name, one, count) for name, one in times.items()), *_streamed(bench)]


def _streamed(bench: Bench) -> list[Row]:
    """Run a whole batch that asks nobody, beside a bare `executemany` of what it wrote."""
    sites = bench.sizes.listed
    bench.say(f"delegating {sites:,} addresses by their hash")
    told = json.loads(run([sys.executable, "-m", _CHILD, str(sites)]))
    what = f"`delegate --policy hash`, {sites:,} addresses in any order"
    figures = (
        f"{told['sites_per_s']:,.0f} sites/s by processor time",
        f"executemany {told['appended_per_s']:,.0f} sites/s, each a result and a delegation",
        f"into tables keyed by host and address {told['keyed_per_s']:,.0f} sites/s",
        f"{told['sites_per_s'] / told['keyed_per_s']:.2f} times those",
    )
    return [
        Row(
            what=f"{what}: speed, times a bare `executemany` of its rows into the store's own tables",
            value=told["sites_per_s"] / told["appended_per_s"],
            unit="×",
            target=Target(sense="≥", limit=0.3),
            figures=figures,
        ),
        Row(
            what=f"{what}: time of the last tenth, times the first",
            value=told["last_tenth_s"] / told["first_tenth_s"],
            unit="×",
            target=Target(sense="≤", limit=1.1),
            figures=(
                f"executemany {told['appended_tenths']:.2f}",
                f"into tables keyed by host and address {told['keyed_tenths']:.2f}",
            ),
        ),
        Row(
            what=f"{what}: memory that the last seven tenths add",
            value=told["grown_bytes"] / 1e6,
            unit="MB",
            target=Target(sense="≤", limit=10.0),
            figures=(f"peak {told['peak_bytes'] / 1e6:,.0f} MB",),
        ),
    ]


def _done(job: Callable[[Store], None], fresh: FreshStore) -> None:
    job(fresh.store)


def _row(name: str, times: Times, count: int) -> Row:
    what = f"{name}, written {AT_ONCE:,} at a time"
    figures = (
        f"{count:,} rows; by processor time, what an idle core takes",
        f"by the clock {count / times.median_elapsed:,.0f} rows/s",
    )
    return rate(what, times, count, "rows/s", Target(sense="≥", limit=LIMIT), figures)


def write_in_parts(write: Callable[[list[T]], None], rows: list[T]) -> None:
    for start in range(0, len(rows), AT_ONCE):
        write(rows[start : start + AT_ONCE])


def make_samples(count: int) -> list[Sample]:
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
    return [replace(one, address=IPv4Address(i << 8)) for i in range(count)]


def make_delegations(count: int) -> list[DelegationRecord]:
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
        for i in range(count)
    ]


def make_results(count: int) -> list[Decision]:
    return [
        Decision(
            host=f"www{i}.example.org",
            address=IPv4Address((i << 8) + 1),
            first=IPv4Address(i << 8),
            last=IPv4Address((i << 8) + 255),
            crawler="c1",
            evidence=Evidence.PROBED,
            rtt_ms=12.5,
            probes=2,
        )
        for i in range(count)
    ]
