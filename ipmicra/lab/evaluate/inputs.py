"""The world that is evaluated: from a folder or a file of measurements, with what a hierarchy adds."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ipmicra.delegate.ports import LocationSource
from ipmicra.delegate.replay.world import LocationKind, World, WorldLocations, locations_of
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.edge.dns.bulk import BulkResolver
from ipmicra.edge.dns.client import DnsClient, DnsConfig
from ipmicra.edge.files.crawlers import import_crawlers
from ipmicra.edge.files.fields import Fields
from ipmicra.edge.files.lines import ignore
from ipmicra.edge.files.tables import read_records
from ipmicra.edge.files.worlds.load import load_world
from ipmicra.edge.files.worlds.records import SITES, WorldFiles
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.lab.worlds.trees import PrefixTree
from ipmicra.model.address import Address
from ipmicra.model.geo import km_between
from ipmicra.model.location import Location
from ipmicra.model.site import Site

NO_HIERARCHY = (
    "no hierarchy: prefixes of fixed lengths (/24 and wider) stand for subnets, and neither holders nor "
    "countries are known, so that delegating costs more probes; `ipmicra build` makes one of registry dumps"
)
NO_PLACES = (
    "no crawler has a place, so distances are unknown: "
    "pass --crawlers FILE with name,address,latitude,longitude"
)


FAR_KM = 500.0
"""A place farther than this from the true one counts as wrong in the notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSource:
    """What the user names of a world."""

    world: Path
    crawlers: Path | None = None
    sites: Path | None = None
    resolves: bool = False
    dns: DnsConfig = field(default_factory=DnsConfig)

    @property
    def is_measured(self) -> bool:
        """Whether it is a file of measurements rather than a folder."""
        return not self.world.is_dir()

    def load(self, findings: list[str], notes: list[str]) -> World:
        """Read the world; what is left out goes into `findings`."""
        known = {one.name: one for one in import_crawlers(self.crawlers)} if self.crawlers else {}
        resolve = (lambda names: resolve_names(names, self.dns)) if self.resolves else None
        files = WorldFiles(world=self.world, crawlers=known, sites=self.sites, resolve=resolve)
        return load_world(files, findings, notes=notes)


def pages_of(source: WorldSource) -> dict[str, int]:
    """Return the pages of sites, by host, where the world's file of sites has them."""
    path = source.sites or (source.world / SITES if source.world.is_dir() else None)
    found: dict[str, int] = {}
    for where, record in read_records(path, ()) if path and path.is_file() else ():
        fields = Fields(record, where, ignore)
        pages = fields.number("pages")
        if pages:
            found[fields.text("host", "address") or ""] = int(pages)
    return found


def resolve_names(names: Sequence[str], dns: DnsConfig) -> dict[str, Address]:
    """Ask the DNS for the first address of each name; names without one are missing."""

    async def ask() -> dict[str, Address]:
        async with DnsClient(dns) as client:
            return {
                answer.host: answer.address
                async for answer in BulkResolver(client).resolve(names)
                if isinstance(answer, Site)
            }

    return asyncio.run(ask())


@contextmanager
def open_tree(hierarchy: Path | None, world: World, notes: list[str]) -> Iterator[SubnetTree]:
    """Open the hierarchy, or lay prefixes around the world's addresses if there is none."""
    if hierarchy is None:
        notes.append(NO_HIERARCHY)
        yield PrefixTree([*(site.address for site in world.sites), *(one.address for one in world.crawlers)])
        return
    with Hierarchy.open(hierarchy) as tree:
        yield tree


def choose_kind(source: WorldSource, world: World, notes: list[str]) -> LocationKind:
    """Choose the source of the sites' places if the user does not: for measurements, the best available."""
    if not source.is_measured or any(world.places):
        return LocationKind.WORLD
    if not any(one.location for one in world.crawlers):
        notes.append(NO_PLACES)
        return LocationKind.NONE
    return LocationKind.LOCATE


def places_of(world: World, kind: LocationKind, tree: SubnetTree, notes: list[str]) -> LocationSource | None:
    """Return the places of that kind."""
    if kind is LocationKind.LOCATE:
        from ipmicra.app.locate.sites import LocatedSites

        located = LocatedSites(tree if isinstance(tree, Hierarchy) else None)
        found = {site.address: located.location_of(site, 0) for site in world.sites}
        places = {address: place for address, place in found.items() if place is not None}
        notes.append(f"places by host name and registration: {len(places):,} of {len(world.sites):,} sites")
        notes += places_by_source(world, places)
        return WorldLocations(places)
    if kind is LocationKind.COUNTRY:
        from ipmicra.edge.geodata.countries import country_middles

        return locations_of(_with_countries(world, tree), kind, country_middles())
    return locations_of(world, kind, {})


def places_by_source(world: World, places: Mapping[Address, Location]) -> list[str]:
    """Say how many places each source gave, and how many are far off where the world knows better."""
    given: Counter[str] = Counter()
    checked: Counter[str] = Counter()
    far: Counter[str] = Counter()
    for site, true in zip(world.sites, world.places, strict=True):
        place = places.get(site.address)
        if place is None:
            continue
        source = place.source or "unknown"
        given[source] += 1
        if true is not None:
            checked[source] += 1
            far[source] += km_between(place, true) > FAR_KM
    lines = []
    for source, count in given.most_common():
        known = (
            f", {far[source]:,} of {checked[source]:,} off by over {FAR_KM:g} km" if checked[source] else ""
        )
        lines.append(f"places by {source}: {count:,}{known}")
    return lines


def _with_countries(world: World, tree: SubnetTree) -> World:
    """Fill countries that the world does not have with those of the hierarchy."""
    known: Mapping[Address, str | None] = {
        site.address: tree.country(tree.row_of(str(site.address)))
        for site, country in zip(world.sites, world.countries, strict=True)
        if country is None
    }
    pairs = zip(world.sites, world.countries, strict=True)
    return replace(world, countries=tuple(land or known.get(site.address) for site, land in pairs))
