"""Two-level mapping [2]: host name → logical crawler → crawler, so that a change moves few sites.

Theory of operation
-------------------
A name is hashed to one of many logical crawlers, and a table says which real crawler has it. The hash never
changes; a join or a leave rewrites entries of the table. So the table is state: built again from a list of
crawlers it would be another table, and sites would move that need not. A `KeptTable` therefore travels from
call to call (a file, or the store), and `for_fleet` brings it up to date *by name*: crawlers that are no
longer in the fleet have left, those that are new have joined, in whatever order the list has them.

All changes at once are one levelling: what a leaver had goes straight to those below their quota, so that a
replaced crawler moves one share, not two. A crawler above its new quota gives away its last entries; nothing
else moves.

For the hosts of one big site the first label is hashed instead of the host (`subsite`, algorithm 2 of [2]);
the table is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.hashing import hash_many, hash_one
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
        return self.levelled(capacities)

    def with_left(self, crawler: int) -> LogicalTable:
        """Let a crawler leave: what it had is shared out, and nothing else moves."""
        capacities = self.capacity.copy()
        capacities[crawler] = 0.0
        if not capacities.any():
            raise InputError("the last crawler cannot leave")
        return self.levelled(capacities)

    def crawlers_of(self, names: PackedNames) -> Column:
        """Look host names up."""
        owners: Column = self.owner[hash_many(names) % np.uint64(len(self.owner))]
        return owners

    def levelled(self, capacities: NDArray[np.float64]) -> LogicalTable:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTable:
    """A logical table whose crawlers have names, so that it outlives the list that it was made for."""

    names: tuple[str, ...]
    """Of the crawlers, in the numbering of the table."""
    table: LogicalTable

    @classmethod
    def start(cls, crawlers: CrawlerTable, logical: int) -> KeptTable:
        """Let crawlers join one by one."""
        return cls(names=crawlers.names, table=LogicalTable.joined(crawlers, logical))

    def for_fleet(self, crawlers: CrawlerTable) -> KeptTable:
        """Bring the table up to date with a fleet: who is not in it leaves, who is new joins.

        Crawlers are numbered as in the fleet. Only what must move does.
        """
        numbers = {name: number for number, name in enumerate(crawlers.names)}
        gone = [name for name in self.names if name not in numbers]
        if len(gone) == len(self.names):
            few = ", ".join(self.names[:3]) + (", …" if len(self.names) > 3 else "")  # noqa: PLR2004
            raise InputError(f"the logical table is that of another fleet: it has {few}, and none of these")
        if len(crawlers) > len(self.table.owner):
            raise InputError(
                f"{len(crawlers)} crawlers need as many logical ones; there are {len(self.table.owner)}"
            )
        numbers |= {name: len(numbers) + number for number, name in enumerate(gone)}
        own = np.array([numbers[name] for name in self.names], np.int32)
        old = LogicalTable(owner=own[self.table.owner], capacity=np.zeros(len(numbers)))
        capacity = np.concatenate((crawlers.capacity, np.zeros(len(gone))))
        new = old.levelled(capacity)
        return KeptTable(
            names=crawlers.names, table=LogicalTable(owner=new.owner, capacity=crawlers.capacity)
        )

    def owner_of(self, host: str) -> str:
        """Return the crawler of one host, by name: what a crawler asks for each link that it finds."""
        return self.names[int(self.table.owner[hash_one(host) % len(self.table.owner)])]

    def moved_from(self, before: KeptTable) -> int:
        """Count the logical crawlers that have another crawler than before."""
        here, there = np.array(self.names, object), np.array(before.names, object)
        return int(np.count_nonzero(here[self.table.owner] != there[before.table.owner]))


def table_of(problem: Problem) -> KeptTable:
    """Return the table of a problem: the kept one, brought up to date, else one of its own."""
    if problem.logical is None:
        return KeptTable.start(problem.crawlers, problem.hashes.logical_crawlers)
    return problem.logical.for_fleet(problem.crawlers)


def two_level(problem: Problem) -> Column:
    """Look each host name up in the table."""
    return table_of(problem).table.crawlers_of(problem.sites.hosts)


def two_level_again(before: Problem, after: Problem, _column: Column) -> Column:
    """Let crawlers join or leave: the previous table is changed, not rebuilt."""
    return table_of(before).for_fleet(after.crawlers).table.crawlers_of(after.sites.hosts)


def by_subsite(problem: Problem) -> Column:
    """Look the first label of each host name up in the table: for the hosts of one big site."""
    return table_of(problem).table.crawlers_of(problem.sites.hosts.first_labels())


def by_subsite_again(before: Problem, after: Problem, _column: Column) -> Column:
    """Let crawlers join or leave, as `two_level_again` does."""
    changed = table_of(before).for_fleet(after.crawlers)
    return changed.table.crawlers_of(after.sites.hosts.first_labels())
