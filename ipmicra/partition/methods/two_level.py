"""Two-level mapping [2]: host name → logical crawler → crawler, so that a change moves few sites."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.hashing import hash_many
from ipmicra.partition.names import PackedNames
from ipmicra.partition.problem import Column, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicalTable:
    """Which crawler has which logical crawler; a change gives a new table."""

    owner: NDArray[np.int32]
    """For each logical crawler the number of the real one."""
    capacity: NDArray[np.float64]
    """By crawler; 0 for one that has left."""

    @classmethod
    def start(cls, logical: int, capacity: float = 1.0) -> LogicalTable:
        """Return everything to the first crawler."""
        return cls(owner=np.zeros(logical, np.int32), capacity=np.array([capacity]))

    @classmethod
    def joined(cls, crawlers: CrawlerTable, logical: int) -> LogicalTable:
        """Let crawlers join one by one."""
        if len(crawlers) > logical:
            raise InputError(f"{len(crawlers)} crawlers need as many logical ones; there are {logical}")
        table = cls.start(logical, float(crawlers.capacity[0]))
        for capacity in crawlers.capacity[1:].tolist():
            table = table.with_joined(capacity)
        return table

    def with_joined(self, capacity: float = 1.0) -> LogicalTable:
        """Let a crawler join: it gets what the others have above their new quotas, and nothing else moves."""
        capacities = np.append(self.capacity, capacity)
        return self._levelled(capacities)

    def with_left(self, crawler: int) -> LogicalTable:
        """Let a crawler leave: what it had is shared out, and nothing else moves."""
        capacities = self.capacity.copy()
        capacities[crawler] = 0.0
        if not capacities.any():
            raise InputError("the last crawler cannot leave")
        return self._levelled(capacities)

    def crawlers_of(self, names: PackedNames) -> Column:
        """Look host names up."""
        owners: Column = self.owner[hash_many(names) % np.uint64(len(self.owner))]
        return owners

    def _levelled(self, capacities: NDArray[np.float64]) -> LogicalTable:
        """Move the least number of logical crawlers that gives each crawler its quota."""
        quota = _quotas(len(self.owner), capacities, np.bincount(self.owner, minlength=len(capacities)))
        order = np.argsort(self.owner, kind="stable")
        held = np.bincount(self.owner, minlength=len(capacities))
        rank = np.arange(len(order)) - np.repeat(np.cumsum(held) - held, held)
        surplus = np.sort(order[rank >= quota[self.owner[order]]])
        owner = self.owner.copy()
        owner[surplus] = np.repeat(np.arange(len(quota)), np.maximum(quota - held, 0)).astype(np.int32)
        return LogicalTable(owner=owner, capacity=capacities)


def _quotas(logical: int, capacities: NDArray[np.float64], held: NDArray[np.int64]) -> NDArray[np.int64]:
    """Share out whole numbers by capacity; what rounding leaves goes to those who hold it already."""
    exact = logical * capacities / capacities.sum()
    quota: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    left = logical - int(quota.sum())
    wants = np.where(capacities > 0, np.minimum(held - quota, 1) + (exact - quota), -np.inf)
    quota[np.argsort(-wants, kind="stable")[:left]] += 1
    return quota


def two_level(problem: Problem) -> Column:
    """Look each host name up in the table of crawlers that joined one by one."""
    return LogicalTable.joined(problem.crawlers, problem.hashes.logical_crawlers).crawlers_of(
        problem.sites.hosts
    )


def two_level_again(before: Problem, after: Problem, _column: Column) -> Column:
    """Let the last crawler join or leave: the previous table is changed, not rebuilt."""
    table = LogicalTable.joined(before.crawlers, before.hashes.logical_crawlers)
    for capacity in after.crawlers.capacity[before.parts :].tolist():
        table = table.with_joined(capacity)
    for crawler in range(after.parts, before.parts):
        table = table.with_left(crawler)
    return table.crawlers_of(after.sites.hosts)
