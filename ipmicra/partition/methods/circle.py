"""Host names and crawlers on a circle of 64-bit numbers: a site belongs to the next crawler on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ipmicra.partition.hashing import hash_many
from ipmicra.partition.names import PackedNames
from ipmicra.partition.problem import Column, Problem


def consistent(problem: Problem) -> Column:
    """Consistent hashing as UbiCrawler's [3]: many points per crawler, by capacity."""
    crawlers = problem.crawlers
    points = np.maximum(np.round(problem.hashes.replicas * crawlers.shares * len(crawlers)), 1)
    return _next_on_circle(problem, points.astype(np.int64))


def chord(problem: Problem) -> Column:
    """Chord as in Apoidea [4]: one point per crawler, so shares are uneven."""
    return _next_on_circle(problem, np.ones(problem.parts, np.int64))


def _next_on_circle(problem: Problem, points: NDArray[np.int64]) -> Column:
    """Assign each host to the crawler whose point is the first at or after its own, around the circle."""
    labels = [
        f"{name}#{replica}"
        for name, count in zip(problem.crawlers.names, points.tolist(), strict=True)
        for replica in range(count)
    ]
    owner = np.repeat(np.arange(problem.parts, dtype=np.int32), points)
    at = hash_many(PackedNames.pack(labels))
    order = np.argsort(at, kind="stable")
    found = np.searchsorted(at[order], hash_many(problem.sites.hosts))
    owners: Column = owner[order][found % len(order)]
    return owners
