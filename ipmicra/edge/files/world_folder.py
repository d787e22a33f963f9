"""Worlds from disk, as replays need them, and back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from math import isfinite
from pathlib import Path

import numpy as np

from ipmicra.delegate.replay.world import POINT_RADIUS_KM, World
from ipmicra.edge.files.measurements.cells import read_number
from ipmicra.edge.files.world_records import (
    CRAWLERS,
    ROUND_TRIPS,
    SITES,
    Record,
    WorldFiles,
    WorldRecords,
    read_world,
)
from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.errors import AddressError, WorldError
from ipmicra.locate.places import read_coordinates
from ipmicra.model.address import Address, read_address
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from ipmicra.model.site import Site


def load_world(
    world: Path | WorldFiles,
    findings: list[str],
    *,
    notes: list[str] | None = None,
    keeps_shared: bool = False,
) -> World:
    """Read a world; rows that make no sense are left out and become findings.

    Of hosts that share an address the first stands for all, unless `keeps_shared` makes each a site.
    `notes` take what is to be told of a file of measurements.
    """
    records = read_world(world if isinstance(world, WorldFiles) else WorldFiles(world=world))
    crawlers = _crawlers(records, findings)
    sites, places, countries = _sites(records, findings, keeps_shared=keeps_shared)
    findings += records.findings
    if notes is not None:
        notes += records.notes
    rtt_ms, measured = records.matrix([one.name for one in crawlers], [site.address for site in sites])
    if np.isnan(rtt_ms).all():
        told = f" ({records.findings[0]})" if records.findings else ""
        raise WorldError(records.name, f"{ROUND_TRIPS} has no usable round trip{told}")
    numbers = {crawler.name: i for i, crawler in enumerate(crawlers)}
    today = np.array([numbers.get(records.today.get(site.address, ""), -1) for site in sites], np.int64)
    return World(
        name=records.name,
        crawlers=crawlers,
        sites=sites,
        rtt_ms=rtt_ms,
        places=places,
        countries=countries,
        measured=measured,
        today=today if records.today else None,
    )


def _crawlers(records: WorldRecords, findings: list[str]) -> tuple[Crawler, ...]:
    found: dict[str, Crawler] = {}
    for where, record in records.crawlers:
        name, address = record["name"], _address(record, where, findings)
        if not name or name in found:
            findings.append(f"{where}: {'no name' if not name else f'crawler {name} is there already'}")
        elif address is not None:
            found[name] = Crawler(name=name, address=address, location=_place(record, where, findings))
    if not found:
        raise WorldError(records.name, f"{CRAWLERS} has no usable crawler")
    return tuple(found.values())


def _sites(
    records: WorldRecords, findings: list[str], *, keeps_shared: bool
) -> tuple[tuple[Site, ...], tuple[Location | None, ...], tuple[str | None, ...]]:
    sites: list[Site] = []
    seen: set[Address] = set()
    places: list[Location | None] = []
    countries: list[str | None] = []
    for where, record in records.sites:
        address = _address(record, where, findings)
        if address in seen and not keeps_shared:
            findings.append(f"{where}: {address} is there already")
        elif address is not None:
            seen.add(address)
            sites.append(Site(record["host"] or str(address), address))
            places.append(_place(record, where, findings))
            countries.append(record.get("country", "").upper() or None)
    if not sites:
        raise WorldError(records.name, f"{SITES} has no usable site")
    return tuple(sites), tuple(places), tuple(countries)


def _address(record: Record, where: str, findings: list[str]) -> Address | None:
    try:
        return read_address(record["address"])
    except AddressError as error:
        findings.append(f"{where}: {error}")
        return None


def _place(record: Record, where: str, findings: list[str]) -> Location | None:
    """Give a place, None if the record has none or a wrong one."""
    texts = record.get("latitude", ""), record.get("longitude", "")
    if not any(texts):
        return None
    coordinates = read_coordinates(*texts)
    if coordinates is None:
        findings.append(f"{where}: {', '.join(texts)} is no place on Earth")
        return None
    return Location(
        latitude=coordinates[0],
        longitude=coordinates[1],
        radius_km=read_number(record.get("radius_km", "")) or POINT_RADIUS_KM,
        country=record.get("country", "").upper() or None,
    )


def save_world(world: World, folder: Path, pages: Sequence[int]) -> None:
    """Write a world as `load_world` reads it, with the pages of its sites."""
    folder.mkdir(parents=True, exist_ok=True)
    crawlers = [(one.name, one.address, *_degrees(one.location)) for one in world.crawlers]
    sites = [
        (site.host, site.address, *_degrees(place), count)
        for site, place, count in zip(world.sites, world.places, pages, strict=True)
    ]
    pairs = [
        (crawler.name, site.address, f"{world.rtt_ms[i, j]:.3f}")
        for i, crawler in enumerate(world.crawlers)
        for j, site in enumerate(world.sites)
        if isfinite(world.rtt_ms[i, j])
    ]
    degrees = ("latitude", "longitude", "country")
    _write(folder / CRAWLERS, ("name", "address", *degrees), crawlers)
    _write(folder / SITES, ("host", "address", *degrees, "pages"), sites)
    _write(folder / ROUND_TRIPS, ("crawler", "address", "rtt_ms"), pairs)


def _degrees(place: Location | None) -> tuple[object, ...]:
    return (place.latitude, place.longitude, place.country or "") if place else ("", "", "")


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    write_atomically(path, [text.getvalue().encode()])
