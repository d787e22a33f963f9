"""Methods that know every round trip: what better ones are measured against in worlds."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from ipmicra.partition.costs import connections, site_download_s
from ipmicra.partition.problem import Column, Problem

_ROUNDS = 10_000
"""Exchanges after which improving stops in any case."""


def rtt_best(problem: Problem) -> Column:
    """Assign each site to the crawler with the lowest round trip, however busy it gets."""
    nearest: Column = _seconds(problem)[1].argmin(axis=1).astype(np.int32)
    return nearest


def rtt_balanced(problem: Problem) -> Column:
    """Assign sites so that the slowest crawler is done early: round trips and capacities both count.

    Large sites first, each to where it would be done first; then sites of the slowest crawler are moved, or
    exchanged for others, as long as that helps. On short lists that can end in a poor corner, so a second
    search starts from the nearest crawlers and the better end counts: it is never slower than `rtt_best`.
    """
    cost, rtt_s = _seconds(problem)
    nearest = rtt_best(problem)
    starts = (_greedy(cost, rtt_s), (nearest, _load_of(cost, nearest)))
    return min((_improved(cost, *start) for start in starts), key=lambda end: float(end[1].max()))[0]


def _load_of(cost: NDArray[np.float64], column: Column) -> NDArray[np.float64]:
    """Return how long each crawler takes for its sites, in seconds."""
    own = cost[np.arange(len(cost)), column]
    return np.bincount(column, weights=own, minlength=cost.shape[1]).astype(np.float64)


def _improved(
    cost: NDArray[np.float64], column: Column, load: NDArray[np.float64]
) -> tuple[Column, NDArray[np.float64]]:
    """Relieve the slowest crawlers until nothing helps any more."""
    for _ in range(_ROUNDS):
        if not _relieve_slowest(cost, column, load):
            break
    return column, load


def _seconds(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return download time and round trip of every site by every crawler, in seconds."""
    if problem.rtt_ms is None:
        raise ValueError("round trips are needed")
    rtt_s = np.where(np.isfinite(problem.rtt_ms), problem.rtt_ms, problem.costs.unknown_rtt_ms) / 1000.0
    pages = np.maximum(problem.sites.pages, 1e-9)[:, None]  # a site of no pages goes to the nearest, too
    return site_download_s(pages, rtt_s, problem.costs) / connections(problem)[None, :], rtt_s


def _greedy(cost: NDArray[np.float64], rtt_s: NDArray[np.float64]) -> tuple[Column, NDArray[np.float64]]:
    """Go through the sites, largest first, those with the clearest preference before the others."""
    regret = np.sort(rtt_s, axis=1)[:, -1] - rtt_s.min(axis=1)
    order = np.lexsort((-regret, -cost.min(axis=1).round(6)))
    load = np.zeros(cost.shape[1])
    column = np.zeros(len(cost), np.int32)
    for site in order.tolist():
        done = load + cost[site]
        crawler = int(done.argmin())
        column[site], load[crawler] = crawler, done[crawler]
    return column, load


def _relieve_slowest(cost: NDArray[np.float64], column: Column, load: NDArray[np.float64]) -> bool:
    """Make one change that helps one of the slowest crawlers; return whether there was one."""
    slowest = heapq.nlargest(3, range(len(load)), key=load.__getitem__)
    return any(_move(cost, column, load, one) or _swap(cost, column, load, one) for one in slowest)


def _move(cost: NDArray[np.float64], column: Column, load: NDArray[np.float64], slow: int) -> bool:
    """Hand one site over, if the taker is then done before the giver was."""
    own = np.flatnonzero(column == slow)
    if not len(own):
        return False
    after = load[None, :] + cost[own]
    after[:, slow] = np.inf
    site, taker = np.unravel_index(after.argmin(), after.shape)
    if after[site, taker] >= load[slow] - 1e-9:
        return False
    moved = own[site]
    load[slow] -= cost[moved, slow]
    load[taker] += cost[moved, taker]
    column[moved] = taker
    return True


def _swap(cost: NDArray[np.float64], column: Column, load: NDArray[np.float64], slow: int) -> bool:
    """Exchange one site for another's, if both are then done before the slow one was."""
    own = np.flatnonzero(column == slow)
    others = np.flatnonzero(column != slow)
    if not len(own) or not len(others):
        return False
    theirs = column[others]
    slow_after = load[slow] - cost[own, slow][:, None] + cost[others, slow][None, :]
    taker_after = (load[theirs] - cost[others, theirs])[None, :] + cost[own][:, theirs]
    worse = np.maximum(slow_after, taker_after)
    mine, other = np.unravel_index(worse.argmin(), worse.shape)
    if worse[mine, other] >= load[slow] - 1e-9:
        return False
    taker = int(theirs[other])
    load[slow], load[taker] = slow_after[mine, other], taker_after[mine, other]
    column[own[mine]], column[others[other]] = taker, slow
    return True
