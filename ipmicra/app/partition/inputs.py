"""From what a user names to a problem of partitioning.

Theory of operation
-------------------
Files, worlds, seeds and a hierarchy all describe the same two lists, sites and crawlers. `gather` merges
them into a `Problem`, which is nothing but columns. One number identifies a site everywhere: row i of
`SiteRows` is entry i of every column of `SiteTable`, row i of the round trips, and the i-th host and
address of `Gathered`. Nothing may reorder or drop sites after `_site_rows`.

Who wins where several say something:

- Sites: `--sites`, else the first seed that is a file with the header of a site table (unless there is a
  world), else the world. Seeds then select rows of that table, in their own order, and add sites that it
  does not have; without seeds the whole table counts.
- Crawlers: `--crawlers`, else the world's, else `--parts` crawlers without a place. With `--crawlers` the
  world's round trips are not used: they belong to other crawlers.
- Holders: the column of the file, else the hierarchy. Both are numbered in one space, the hierarchy's
  numbers below 2^32 and hashes of names above 2^33: a site and a crawler have the same holder if files give
  both the same name, or the hierarchy gives both the same organisation.
- Subnets: lineages of the hierarchy, narrow to wide and without the root; without a hierarchy, prefixes of
  fixed lengths.

Sites without a location are placed last, by subnet, country, or the middle of all (`place_by_subnet`):
methods that go by distance then need no special case. The delegator takes part (`_decider`) only where it
could really run: true round trips, a hierarchy, and an address for every site and crawler.

Bad rows and unusable seeds become notes. `InputError` is for what leaves nothing to partition: a file that
cannot be read, no sites, no crawlers, options that contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.partition.delegated import WorldDecider
from ipmicra.edge.dns import Resolver
from ipmicra.edge.dns.bulk import NO_SITE
from ipmicra.edge.files.crawlers import CrawlerRow, read_crawlers
from ipmicra.edge.files.links import read_links
from ipmicra.edge.files.seeds import UnresolvedSeed, parse_seed, read_seeds
from ipmicra.edge.files.sites import SiteRows, has_site_header, read_sites, sites_of
from ipmicra.edge.files.worlds.load import read_world
from ipmicra.edge.files.worlds.records import WorldFiles, WorldRecords
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import InputError
from ipmicra.model.address import Address
from ipmicra.model.site import Site
from ipmicra.partition.config import CostConfig, MetisConfig
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.links.invented import LinkConfig, generate_links
from ipmicra.partition.links.table import LinkTable, clean_links
from ipmicra.partition.names import PackedNames
from ipmicra.partition.placing import place_by_subnet
from ipmicra.partition.problem import Problem
from ipmicra.partition.sites import UNKNOWN, Grain, SiteTable, country_code

_PREFIXES = {4: (24, 20, 16, 12, 8), 6: (64, 48, 32, 24, 16)}
"""Lengths of the prefixes that stand for subnets where there is no hierarchy, narrow to wide."""
_LEVELS = 6
"""Subnets of a lineage that are looked at, from the narrowest up."""


def metis_config(preference: float, grain: str) -> MetisConfig:
    """Make the settings of METIS; `grain` names what it keeps together."""
    if grain not in list(Grain):
        raise InputError(f"--grain is one of {', '.join(Grain)}")
    return MetisConfig(preference=preference, grain=Grain(grain))


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionInputs:
    """What a user handed in."""

    seeds: Sequence[str] = ()
    sites: Path | None = None
    crawlers: Path | None = None
    world: Path | None = None
    links: Path | None = None
    generate_links: int | None = None
    """Seed of generated links."""
    locality: float = 0.0
    """Share of generated links that stay in their place."""
    parts: int | None = None
    hierarchy: Path | None = None
    resolve: bool = False
    """Ask the DNS for addresses that are in no file."""
    seed: int = 0
    costs: CostConfig = field(default_factory=CostConfig)
    metis: MetisConfig = field(default_factory=MetisConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A problem, and what the user should know about its input."""

    problem: Problem
    hosts: list[str]
    addresses: list[Address | None]
    notes: list[str]
    unusable: int
    """Seeds that are no sites."""


def gather(inputs: PartitionInputs) -> Gathered:
    """Read everything and make a problem of it."""
    notes: list[str] = []
    world = read_world(WorldFiles(world=inputs.world)) if inputs.world else None
    notes += [*world.notes, *_left_out(world.findings)] if world else []
    rows, unusable = _site_rows(inputs, world, notes)
    if not rows.hosts:
        raise InputError("there are no sites: name hosts, a file of them, --sites FILE or --world DIR")
    crawler_rows = _crawler_rows(inputs, world, notes)
    hierarchy = Hierarchy.open(inputs.hierarchy) if inputs.hierarchy else None
    sites, crawlers = _tables(rows, crawler_rows, inputs.parts, hierarchy)
    sites, placed = place_by_subnet(sites)
    if placed.missing and placed.known:
        notes.append(
            f"{placed.missing:,} sites have no location: {placed.by_subnet:,} were placed by their subnet, "
            f"{placed.by_country:,} by their country, {placed.by_all:,} in the middle of all"
        )
    if len(crawlers) > len(sites):
        notes.append(f"{len(crawlers)} crawlers for {len(sites)} sites: some get nothing")
    problem = Problem(
        sites=sites,
        crawlers=crawlers,
        links=_links(inputs, rows.hosts, sites, notes),
        rtt_ms=(rtt_ms := _round_trips(world, rows, crawlers) if world and not inputs.crawlers else None),
        decider=_decider(rows, crawler_rows, hierarchy) if rtt_ms is not None else None,
        seed=inputs.seed,
        costs=inputs.costs,
        metis=inputs.metis,
    )
    return Gathered(
        problem=problem,
        hosts=rows.hosts,
        addresses=rows.addresses,
        notes=notes,
        unusable=unusable,
    )


def _left_out(findings: list[str]) -> list[str]:
    """Describe what was left out of a world, in one line."""
    return [f"{len(findings):,} rows of the world left out, for example {findings[0]}"] if findings else []


def _decider(
    rows: SiteRows, crawler_rows: list[CrawlerRow] | None, hierarchy: Hierarchy | None
) -> WorldDecider | None:
    """Return a delegator, where there is a hierarchy for it and everybody has an address."""
    fleet = [row.address for row in crawler_rows or ()]
    if hierarchy is None or not fleet or None in fleet or None in rows.addresses:
        return None
    return WorldDecider(
        tree=hierarchy,
        sites=[
            Site(host, one) for host, one in zip(rows.hosts, rows.addresses, strict=True) if one is not None
        ],
        fleet=[one for one in fleet if one is not None],
    )


def _site_rows(inputs: PartitionInputs, world: WorldRecords | None, notes: list[str]) -> tuple[SiteRows, int]:
    """Return the named sites with what files say about them; all of a file if none was named."""
    path = inputs.sites
    words = list(inputs.seeds)
    tables = [word for word in words if _is_site_table(word)]
    if tables and path is None and world is None:
        path = Path(tables[0])
        words.remove(tables[0])
    known = (
        read_sites(path) if path else sites_of(record for _, record in world.sites) if world else SiteRows()
    )
    path = path or inputs.world
    if known.repeated:
        notes.append(f"{known.repeated:,} rows of {path} repeat a host or have none; the first one counts")
    if known.bad_values:
        notes.append(
            f"{known.bad_values:,} addresses, places or page counts of {path} make no sense: left out"
        )
    if not words:
        return known, 0
    return _named_sites(words, known, inputs, notes)


def _is_site_table(word: str) -> bool:
    """Return whether a word names a file that starts like a table of sites."""
    try:
        return "://" not in word and Path(word).is_file() and has_site_header(Path(word))
    except (OSError, ValueError):
        return False


def _named_sites(
    words: list[str], known: SiteRows, inputs: PartitionInputs, notes: list[str]
) -> tuple[SiteRows, int]:
    """Pick the named sites out of a table; add those that it does not have."""
    row_of = {host: row for row, host in enumerate(known.hosts)}
    row_of |= {str(one): row for row, one in reversed(list(enumerate(known.addresses))) if one is not None}
    resolver = Resolver()
    named = SiteRows()
    seen: set[str] = set()
    unusable = 0
    for seed in map(parse_seed, read_seeds(words)):
        if isinstance(seed, UnresolvedSeed) or seed.is_range:
            reason = seed.reason if isinstance(seed, UnresolvedSeed) else NO_SITE
            notes.append(f"{seed.text}: {reason}")
            unusable += 1
            continue
        if seed.host in seen:
            continue
        address = seed.address
        if address is None and inputs.resolve and seed.host not in row_of:
            try:
                address = resolver.addresses_of(seed.host)[0]
            except InputError as error:
                notes.append(f"{seed.text}: {error}")
                unusable += 1
                continue
        seen.add(seed.host)
        _take(named, known, row_of.get(seed.host), (seed.host, address))
    return named, unusable


def _take(
    named: SiteRows,
    known: SiteRows,
    row: int | None,
    bare: tuple[str, Address | None],
) -> None:
    """Add a site to the named ones: with all that the table has of it, else bare."""
    named.append(*bare)
    if row is not None:
        named.addresses[-1] = known.addresses[row]
        named.latitude[-1], named.longitude[-1] = known.latitude[row], known.longitude[row]
        named.country[-1], named.holder[-1] = known.country[row], known.holder[row]
        named.pages[-1] = known.pages[row]


def _crawler_rows(
    inputs: PartitionInputs, world: WorldRecords | None, notes: list[str]
) -> list[CrawlerRow] | None:
    path = inputs.crawlers or inputs.world
    if path is None and inputs.parts is None:
        raise InputError("say how many parts there are to be: --parts N, --crawlers FILE or --world DIR")
    if inputs.parts is not None and inputs.parts < 1:
        raise InputError(f"{inputs.parts} parts make no sense: one at least")
    rows = read_crawlers(inputs.crawlers, notes.append) if inputs.crawlers else None
    if rows is None and world is not None:
        rows = world.crawlers
    if rows is not None and not rows:
        raise InputError(f"{path}: there are no crawlers in it")
    if rows and inputs.parts and inputs.parts > len(rows):
        raise InputError(f"{path} has {len(rows)} crawlers, fewer than {inputs.parts} parts")
    return rows


def _tables(
    rows: SiteRows, crawler_rows: list[CrawlerRow] | None, parts: int | None, hierarchy: Hierarchy | None
) -> tuple[SiteTable, CrawlerTable]:
    """Make tables; holders are numbered for sites and crawlers together."""
    keys = [one or f"host {host}" for one, host in zip(rows.addresses, rows.hosts, strict=True)]
    numbers: dict[object, int] = {}
    subnets, holders = _subnets_and_holders(rows.addresses, rows.holder, hierarchy)
    sites = SiteTable(
        hosts=PackedNames.pack(rows.hosts),
        address=np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64),
        subnets=subnets,
        latitude=np.array(rows.latitude),
        longitude=np.array(rows.longitude),
        country=np.array([country_code(one) for one in rows.country], np.int64),
        holder=holders,
        pages=np.array(rows.pages),
    )
    if crawler_rows is None:
        return sites, CrawlerTable.floating(parts or 1)
    addresses, names = [row.address for row in crawler_rows], [row.holder for row in crawler_rows]
    places = [row.location for row in crawler_rows]
    crawlers = CrawlerTable(
        names=tuple(row.name for row in crawler_rows),
        latitude=np.array([place.latitude if place else np.nan for place in places]),
        longitude=np.array([place.longitude if place else np.nan for place in places]),
        country=np.array([country_code(row.country or "") for row in crawler_rows], np.int64),
        holder=_subnets_and_holders(addresses, names, hierarchy)[1],
        capacity=np.array([row.share for row in crawler_rows]),
    )
    return sites, crawlers.first(parts or len(crawlers))


def _subnets_and_holders(
    addresses: list[Address | None], names: list[str], hierarchy: Hierarchy | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number subnets by level, and holders: by a column of names, else by the hierarchy."""
    holders = np.array([_holder_number(name) for name in names], np.int64)
    known = np.array([row for row, one in enumerate(addresses) if one is not None], np.int64)
    if hierarchy is None or not len(known):
        return _prefix_levels(addresses), holders
    rows = hierarchy.lookup_many([addresses[row] for row in known.tolist()]).astype(np.int64)
    registered = hierarchy.organisation_many(rows).astype(np.int64)
    holders[known] = np.where(
        holders[known] >= 0, holders[known], np.where(registered > 0, registered, UNKNOWN)
    )
    levels = np.full((_LEVELS, len(addresses)), UNKNOWN, np.int64)
    for level in range(_LEVELS):
        above = hierarchy.parent_many(rows)
        levels[level, known] = np.where(above >= 0, rows, UNKNOWN)  # the root holds everybody
        rows = np.where(above >= 0, above, rows)
    return levels, holders


def _holder_number(name: str) -> int:
    """Number a holder's name; beyond the numbers of a hierarchy, and the same for sites and crawlers."""
    from ipmicra.partition.hashing import hash_one

    return (hash_one(name) >> 2) + (1 << 33) if name.strip() else UNKNOWN


def _prefix_levels(addresses: list[Address | None]) -> NDArray[np.int64]:
    """Number prefixes of some lengths, narrow to wide."""
    levels = np.full((len(_PREFIXES[4]), len(addresses)), UNKNOWN, np.int64)
    for level in range(len(levels)):
        numbers: dict[tuple[int, int], int] = {}
        for row, address in enumerate(addresses):
            if address is not None:
                length = _PREFIXES[address.version][level]
                key = address.version, int(address) >> (address.max_prefixlen - length)
                levels[level, row] = numbers.setdefault(key, len(numbers))
    return levels


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
