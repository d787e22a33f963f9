"""Methods that look at the host name alone, and those that look at nothing."""

from __future__ import annotations

import numpy as np

from ipmicra.partition.hashing import hash_many
from ipmicra.partition.names import PackedNames
from ipmicra.partition.problem import Column, Problem


def by_host(problem: Problem) -> Column:
    """`hash(host) % n`: what most distributed crawlers do; knows neither places nor capacities."""
    return _modulo(problem.sites.hosts, problem.parts)


def by_subsite(problem: Problem) -> Column:
    """`hash(first label) % n`: for the hosts of one big site [2]."""
    return _modulo(problem.sites.hosts.first_labels(), problem.parts)


def at_random(problem: Problem) -> Column:
    """Assign each site to a random crawler, by the problem's seed."""
    rng = np.random.default_rng(problem.seed)
    return rng.choice(problem.parts, len(problem.sites), p=problem.crawlers.shares).astype(np.int32)


def centralised(problem: Problem) -> Column:
    """Assign all sites to the crawler that joined first."""
    return np.zeros(len(problem.sites), np.int32)


def _modulo(names: PackedNames, parts: int) -> Column:
    return (hash_many(names) % np.uint64(parts)).astype(np.int32)
