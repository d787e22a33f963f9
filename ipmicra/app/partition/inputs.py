"""From what a user names to a problem of partitioning.

Theory of operation
-------------------
Files, worlds, seeds, a hierarchy and the store of a home all describe the same two lists, sites and crawlers.
`gather` merges them into a `Problem`, which is nothing but columns. One number identifies a site everywhere:
row i of `SiteRows` is entry i of every column of `SiteTable`, row i of the round trips, and the i-th host and
address of `Gathered`. Nothing may reorder or drop sites after `site_rows`.

Who wins where several say something:

- Sites: `--sites`, else the first seed that is a file with the header of a site table (unless there is a
  world), else the world, else the store. Seeds then select rows of that table, in their own order, and add
  sites that it does not have; without seeds the whole table counts.
- Crawlers: `--crawlers`, else the world's, else `--parts` crawlers without a place, else the home's fleet,
  else those of a kept logical table. With `--crawlers` the world's round trips are not used: they belong to
  other crawlers.
- With the home's fleet, its store fills in what files do not say: addresses, pages, places of delegations,
  and round trips, measured ones and those that the delegator's model expects.
- Places: files, then delegations, then `--locate`.
- Holders: the column of the file, else the hierarchy (`tables.py`).

Sites without a location are placed last, by subnet, country, or the middle of all (`place_by_subnet`):
methods that go by distance then need no special case. The delegator takes part (`_decider`) only where it
could really run: true round trips, a hierarchy, and an address for every site and crawler; in a home, what it
delegated already takes part instead.

Bad rows and unusable seeds become notes. `InputError` is for what leaves nothing to partition: a file that
cannot be read, no sites, no crawlers, options that contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.partition.delegated import WorldDecider
from ipmicra.app.partition.fleet import crawler_rows, uses_home
from ipmicra.app.partition.options import PartitionInputs
from ipmicra.app.partition.sites import locate_rows, site_rows
from ipmicra.app.partition.stored import StoredKnowledge, delegated_column
from ipmicra.app.partition.table_state import TablePlace
from ipmicra.app.partition.tables import crawler_table, site_table
from ipmicra.edge.files.crawlers import CrawlerRow
from ipmicra.edge.files.links import read_links
from ipmicra.edge.files.networks import read_networks
from ipmicra.edge.files.sites import SiteRows
from ipmicra.edge.files.worlds.load import read_world
from ipmicra.edge.files.worlds.records import WorldFiles, WorldRecords
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.places import is_there, shown
from ipmicra.errors import InputError
from ipmicra.model.address import Address
from ipmicra.model.site import Site
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.links.invented import LinkConfig, generate_links
from ipmicra.partition.links.table import LinkTable, clean_links
from ipmicra.partition.methods.two_level import KeptTable
from ipmicra.partition.placing import place_by_subnet
from ipmicra.partition.problem import Column, Problem
from ipmicra.partition.sites import Grain, SiteTable

DELEGATED = "delegated"
"""The method whose column a store may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A problem, and what the user should know about its input."""

    problem: Problem
    hosts: list[str]
    addresses: list[Address | None]
    notes: list[str]
    unusable: int
    """Seeds that are no sites."""
    given: Mapping[str, Column] = field(default_factory=dict)
    """Columns that the store has: what is delegated."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a method has no such column."""
    place: TablePlace = field(default_factory=TablePlace)
    """Where the logical table is kept."""
    kept: KeptTable | None = None
    """The table as it was."""
    is_supposed: bool = False
    """Whether crawlers of the home's fleet join or leave for this call only."""


@contextmanager
def gather(inputs: PartitionInputs) -> Iterator[Gathered]:
    """Read everything and make a problem of it; hierarchy and store are open until the context ends."""
    with ExitStack() as stack:
        path = inputs.hierarchy or (inputs.home.hierarchy_if_any if inputs.home else None)
        hierarchy = stack.enter_context(Hierarchy.open(path)) if path else None
        yield _Gathering(inputs, hierarchy, _stored(inputs, stack)).run()


def _stored(inputs: PartitionInputs, stack: ExitStack) -> StoredKnowledge | None:
    """Open the store of a home whose fleet counts, if there is any."""
    home = inputs.home
    if home is None or not uses_home(inputs):
        return None
    if not is_there(home.store):
        if home.named_store is not None:
            raise InputError(f"{shown(home.store)}: there is no such store")
        return None
    return StoredKnowledge(stack.enter_context(home.open_store()))


@dataclass(frozen=True, slots=True)
class _Gathering:
    """The steps of one call."""

    inputs: PartitionInputs
    hierarchy: Hierarchy | None
    stored: StoredKnowledge | None
    notes: list[str] = field(default_factory=list)

    def run(self) -> Gathered:
        """Read sites, crawlers and links, in this order."""
        inputs, notes = self.inputs, self.notes
        world = read_world(WorldFiles(world=inputs.world)) if inputs.world else None
        notes += [*world.notes, *_left_out(world.findings)] if world else []
        place = TablePlace(path=inputs.logical, store=self.stored.store if self.stored else None)
        kept = place.read(inputs.hashes.logical_crawlers, notes)
        rows, unusable = site_rows(inputs, world, self.stored, notes)
        if not rows.hosts:
            raise InputError("there are no sites: name hosts, a file of them, --sites FILE or --world DIR")
        fleet = crawler_rows(inputs, world, self.stored, kept, notes)
        kept = place.read_for([row.name for row in fleet], kept, notes)
        held = self.stored.fill(rows, notes) if self.stored else {}
        if inputs.locate:
            locate_rows(rows, inputs, self.hierarchy, notes)
        sites, crawlers = self._sites(rows), crawler_table(fleet, self.hierarchy)
        if len(crawlers) > len(sites):
            notes.append(f"{len(crawlers)} crawlers for {len(sites)} sites: some get nothing")
        rtt_ms = None
        if world is not None and not inputs.crawlers:
            rtt_ms = _round_trips(world, rows, crawlers)
        elif self.stored is not None:
            rtt_ms = self.stored.round_trips(rows, fleet, held, self.hierarchy, notes)
        problem = Problem(
            sites=sites,
            crawlers=crawlers,
            links=_links(inputs, rows.hosts, sites, notes),
            rtt_ms=rtt_ms,
            decider=_decider(rows, fleet, self.hierarchy) if world and rtt_ms is not None else None,
            logical=kept,
            seed=inputs.seed,
            costs=inputs.costs,
            metis=inputs.metis,
            hashes=inputs.hashes,
        )
        column = delegated_column(rows, fleet, held) if self.stored else "nothing is delegated"
        return Gathered(
            problem=problem,
            hosts=rows.hosts,
            addresses=rows.addresses,
            notes=notes,
            unusable=unusable,
            given={} if isinstance(column, str) else {DELEGATED: column},
            reasons={DELEGATED: column} if self.stored and isinstance(column, str) else {},
            place=place,
            kept=kept,
            is_supposed=place.path is None and bool(inputs.joining or inputs.leaving),
        )

    def _sites(self, rows: SiteRows) -> SiteTable:
        """Make the table of sites, and place those without a location."""
        inputs, notes = self.inputs, self.notes
        networks = read_networks(inputs.networks, notes.append) if inputs.networks else None
        sites = site_table(rows, self.hierarchy, networks)
        _check_grain(inputs.metis.grain, sites, rows, notes, has_networks=networks is not None)
        sites, placed = place_by_subnet(sites)
        if placed.missing and placed.known:
            notes.append(
                f"{placed.missing:,} sites have no location: {placed.by_subnet:,} were placed by their "
                f"subnet, {placed.by_country:,} by their country, {placed.by_all:,} in the middle of all"
            )
        return sites


def _check_grain(
    grain: Grain, sites: SiteTable, rows: SiteRows, notes: list[str], *, has_networks: bool
) -> None:
    """Refuse a grain of which nothing is known, and say what stands for what."""
    how = "--networks FILE with prefix,as; --sites with a column `{}`; or a hierarchy (`ipmicra build`)"
    if grain is Grain.AGGREGATE and sites.aggregate is None:
        raise InputError(f"the grain {grain} needs aggregates: {how.format('aggregate')}")
    if grain is Grain.AS and sites.system is None:
        raise InputError(f"the grain {grain} needs autonomous systems: {how.format('as')}")
    if grain is Grain.AGGREGATE and not has_networks and not any(rows.aggregate):
        notes.append("no announced prefixes are known: allocations of the hierarchy stand for aggregates")
    if grain is Grain.AS and not has_networks and not any(rows.system):
        notes.append("no autonomous systems are known: holders of the hierarchy stand for them")


def _left_out(findings: list[str]) -> list[str]:
    """Describe what was left out of a world, in one line."""
    return [f"{len(findings):,} rows of the world left out, for example {findings[0]}"] if findings else []


def _decider(
    rows: SiteRows, fleet_rows: list[CrawlerRow], hierarchy: Hierarchy | None
) -> WorldDecider | None:
    """Return a delegator, where there is a hierarchy for it and everybody has an address."""
    fleet = [row.address for row in fleet_rows]
    if hierarchy is None or not fleet or None in fleet or None in rows.addresses:
        return None
    return WorldDecider(
        tree=hierarchy,
        sites=[
            Site(host, one) for host, one in zip(rows.hosts, rows.addresses, strict=True) if one is not None
        ],
        fleet=[one for one in fleet if one is not None],
    )


def _links(inputs: PartitionInputs, hosts: list[str], sites: SiteTable, notes: list[str]) -> LinkTable | None:
    path = inputs.links
    if path is None and inputs.world and (inputs.world / "links.csv").is_file():
        path = inputs.world / "links.csv"
    if path is not None and inputs.generate_links is not None:
        raise InputError("links come from a file or are generated, not both")
    if inputs.generate_links is not None:
        rng = np.random.default_rng(inputs.generate_links)
        return generate_links(sites, LinkConfig(locality=inputs.locality), inputs.costs, rng)
    if path is None:
        return None
    sources, targets, counts = read_links(path)
    row_of = {host: row for row, host in enumerate(hosts)}
    source, target = (
        np.array([row_of.get(host, -1) for host in ends], np.int64) for ends in (sources, targets)
    )
    table, tally = clean_links(source, target, np.array(counts), len(hosts))
    reasons = {
        "to or from unknown hosts": tally.unknown,
        "self links": tally.inside,
        "of no weight": tally.empty,
    }
    left_out = ", ".join(f"{count:,} {what}" for what, count in reasons.items() if count)
    if left_out:
        notes.append(f"links left out of {path}: {left_out}")
    return table


def _round_trips(world: WorldRecords, rows: SiteRows, crawlers: CrawlerTable) -> NDArray[np.float64]:
    """Return a world's round trips, (site, crawler); a pair that is missing stands for a lost probe."""
    rtt_ms, _ = world.matrix(crawlers.names, rows.addresses)
    if np.isnan(rtt_ms).all():
        raise InputError(f"{world.name}: there is no round trip between its crawlers and these sites")
    return rtt_ms.T
