"""Methods that look at the host name alone, and those that look at nothing."""

from __future__ import annotations

import numpy as np

from ipmicra.partition.hashing import hash_many
from ipmicra.partition.problem import Column, Problem


def by_host(problem: Problem) -> Column:
    """`hash(host) % n`: what most distributed crawlers do; knows neither places nor capacities."""
    return (hash_many(problem.sites.hosts) % np.uint64(problem.parts)).astype(np.int32)


def at_random(problem: Problem) -> Column:
    """Assign each site to a random crawler, by the problem's seed."""
    rng = np.random.default_rng(problem.seed)
    return rng.choice(problem.parts, len(problem.sites), p=problem.crawlers.shares).astype(np.int32)


def centralised(problem: Problem) -> Column:
    """Assign all sites to the crawler that joined first."""
    return np.zeros(len(problem.sites), np.int32)
