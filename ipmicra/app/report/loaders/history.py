"""What a store did over time: delegations, probes, round trips and moves, in even steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ipmicra.app.report.data import HistoryStep
from ipmicra.edge.store.ports import Bounds, EndedDelegation, StorePort
from ipmicra.model.delegation import Delegation

STEPS_S = (60.0, 600.0, 3600.0, 6 * 3600.0, 24 * 3600.0, 7 * 24 * 3600.0, 30 * 24 * 3600.0)
"""Steps to choose from: a minute to a month."""
MOST_STEPS = 40
NEWEST = 50_000
"""Samples and ended delegations that are looked at."""


@dataclass(slots=True)
class _Events:
    """Times of what happened, in seconds since 1970."""

    delegated_s: list[float] = field(default_factory=list)
    probed_s: list[float] = field(default_factory=list)
    rtt_ms: list[float] = field(default_factory=list)
    """Of each probe; not-a-number for a lost one."""
    moved_s: list[float] = field(default_factory=list)

    def all(self) -> list[float]:
        return [*self.delegated_s, *self.probed_s, *self.moved_s]


def history_of(store: StorePort) -> tuple[HistoryStep, ...]:
    """Return the steps of a store's history, empty ones in between included; none for an empty store."""
    events = _events(store)
    times = events.all()
    if not times:
        return ()
    first, last = min(times), max(times)
    step_s = next((one for one in STEPS_S if (last - first) / one < MOST_STEPS), (last - first) / MOST_STEPS)
    start_s = first // step_s * step_s
    count = int((last - start_s) // step_s) + 1

    def counted(when_s: list[float]) -> list[int]:
        return [int(one) for one in np.bincount(_numbers(when_s, start_s, step_s), minlength=count)]

    return tuple(
        HistoryStep(
            start_s=start_s + i * step_s,
            length_s=step_s,
            delegations=delegations,
            probes=probes,
            mean_rtt_ms=mean_ms,
            moves=moves,
        )
        for i, (delegations, probes, mean_ms, moves) in enumerate(
            zip(
                counted(events.delegated_s),
                counted(events.probed_s),
                _means(events, start_s, step_s, count),
                counted(events.moved_s),
                strict=True,
            )
        )
    )


def _numbers(
    when_s: list[float], start_s: float, step_s: float
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return ((np.array(when_s, float) - start_s) // step_s).astype(np.int64)


def _means(events: _Events, start_s: float, step_s: float, count: int) -> Iterator[float | None]:
    rtt_ms, number = np.array(events.rtt_ms, float), _numbers(events.probed_s, start_s, step_s)
    for i in range(count):
        known = rtt_ms[(number == i) & np.isfinite(rtt_ms)]
        yield float(known.mean()) if len(known) else None


def _events(store: StorePort) -> _Events:
    events = _Events()
    current: dict[Bounds, str] = {}
    for record in store.delegations.all():
        one = record.delegation
        current[one.first, one.last] = one.crawler
        events.delegated_s.append(one.created_s)
    ended = store.delegations.ended(NEWEST)
    events.delegated_s += [one.record.delegation.created_s for one in ended]
    events.moved_s += moves_of(ended, current)
    for sample in store.samples.newest(NEWEST):
        events.probed_s.append(sample.taken_s)
        events.rtt_ms.append(np.nan if sample.rtt_ms is None else sample.rtt_ms)
    return events


def moves_of(ended: Iterable[EndedDelegation], current: dict[Bounds, str]) -> Iterator[float]:
    """Return when subnets went to another crawler; `ended` comes newest first.

    A delegation that ended and was decided anew for the same crawler moved nothing.
    """
    after = dict(current)
    for one in ended:
        delegation: Delegation = one.record.delegation
        bounds = delegation.first, delegation.last
        if after.get(bounds, delegation.crawler) != delegation.crawler:
            yield one.ended_s
        after[bounds] = delegation.crawler
