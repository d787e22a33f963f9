"""Looking into hierarchies: targets, organisations, differences between editions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ipmicra.edge.dns import Resolver
from ipmicra.edge.files.seeds import Seed, UnresolvedSeed, read_seeds
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.model.address import Address
from ipmicra.model.organisation import Organisation
from ipmicra.model.subnet import Subnet


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A target with the subnets that hold it."""

    seed: Seed
    rows: list[int]
    """Rows of the subnets, widest first; many targets share them, so they are described once."""


def look_up(hierarchy: Hierarchy, words: Sequence[str]) -> Iterator[Found | UnresolvedSeed]:
    """Look up what a user names, in order; a host name once for each of its addresses.

    Names of files are checked, and the first seed is read, before this returns; the rest is read on demand.
    """
    return _look_up(hierarchy, read_seeds(words))


def _look_up(hierarchy: Hierarchy, texts: Iterator[str]) -> Iterator[Found | UnresolvedSeed]:
    for seed in Resolver().resolve(texts):
        if isinstance(seed, UnresolvedSeed):
            yield seed
        elif seed.first is not None and seed.last is not None:  # as all that are resolved
            yield Found(seed=seed, rows=rows_of(hierarchy, seed.first, seed.last))


def rows_of(hierarchy: Hierarchy, first: Address, last: Address) -> list[int]:
    """Return the rows of the subnets that hold a whole range, widest first; ranges as registered decide."""
    rows = hierarchy.lineage_rows(hierarchy.row_of(first))
    if first == last:
        return rows
    return [row for row in rows if int(last) <= int(hierarchy.registered_range(row)[1])]


def lineage_of(hierarchy: Hierarchy, first: Address, last: Address) -> list[Subnet]:
    """Return the subnets of `rows_of`."""
    return hierarchy.subnets(rows_of(hierarchy, first, last))


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """An organisation with its subnets."""

    organisation: Organisation
    subnet_count: int
    subnets: list[Subnet]
    """The first of them, in the order of addresses."""


def find_holdings(hierarchy: Hierarchy, query: str, limit: int, subnet_limit: int) -> Iterator[Holding]:
    """Find organisations by part of a name or handle, with the first of their subnets."""
    for organisation in hierarchy.search(query, limit):
        rows = hierarchy.subnets_of(organisation)
        yield Holding(
            organisation=organisation,
            subnet_count=len(rows),
            subnets=hierarchy.subnets(rows[:subnet_limit]),
        )
