"""The world that is evaluated: from a folder or a file of measurements, with what a hierarchy adds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

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
"""A place farther than this from the true one counts as far off."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where the sites' places come from."""

    kind: LocationKind
    tables: Sequence[Path] = ()
    """Known places, such as a GeoIP export; for places by `locate`."""

    def load(
        self, world: World, tree: SubnetTree, findings: list[str], notes: list[str]
    ) -> LocationSource | None:
        """Return the places; rows of tables that cannot be used go into `findings`."""
        if self.kind is LocationKind.LOCATE:
            return self._located(world, tree, findings, notes)
        if self.kind is LocationKind.COUNTRY:
            from ipmicra.edge.geodata.countries import country_middles

            return locations_of(_with_countries(world, tree), self.kind, country_middles())
        return locations_of(world, self.kind, {})

    def _located(
        self, world: World, tree: SubnetTree, findings: list[str], notes: list[str]
    ) -> WorldLocations:
        from ipmicra.app.locate.sites import LocatedSites

        located = LocatedSites(tree if isinstance(tree, Hierarchy) else None, tables=self.tables)
        findings += located.findings
        found = {site.address: located.location_of(site, 0) for site in world.sites}
        places = {address: place for address, place in found.items() if place is not None}
        by = "host name, registration and table" if self.tables else "host name and registration"
        notes.append(f"places by {by}: {len(places):,} of {len(world.sites):,} sites")
        return WorldLocations(places)


def count_places(world: World, kind: LocationKind, locations: LocationSource | None) -> list[dict[str, Any]]:
    """Count the places that each source gave, and those far off where the world knows better."""
    counts: dict[str, dict[str, Any]] = {}
    for site, true in zip(world.sites, world.places, strict=True):
        place = locations.location_of(site, 0) if locations else None
        if place is None:
            continue
        source = str(place.source or kind)
        one = counts.setdefault(source, {"source": source, "sites": 0, "checked": 0, "far": 0})
        one["sites"] += 1
        one["checked"] += true is not None
        one["far"] += true is not None and km_between(place, true) > FAR_KM
    return sorted(counts.values(), key=lambda one: -one["sites"])


def _with_countries(world: World, tree: SubnetTree) -> World:
    """Fill countries that the world does not have with those of the hierarchy."""
    known: Mapping[Address, str | None] = {
        site.address: tree.country(tree.row_of(str(site.address)))
        for site, country in zip(world.sites, world.countries, strict=True)
        if country is None
    }
    pairs = zip(world.sites, world.countries, strict=True)
    return replace(world, countries=tuple(land or known.get(site.address) for site, land in pairs))
