"""Worlds from disk and back.

Coordinates in a world are where its crawlers and sites are known to be, so a place without a radius gets
`POINT_RADIUS_KM`, not the 25 km of a list of crawlers, whose operators mean a city: the published figures of
`evaluate` rest on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from pathlib import Path

import numpy as np

from ipmicra.delegate.replay.world import POINT_RADIUS_KM, World
from ipmicra.edge.files.crawlers import crawler_rows
from ipmicra.edge.files.fields import Fields
from ipmicra.edge.files.measurements.cells import read_number
from ipmicra.edge.files.tables import read_records
from ipmicra.edge.files.worlds.measured import read_measured
from ipmicra.edge.files.worlds.records import (
    CRAWLERS,
    NEEDED,
    ROUND_TRIPS,
    SITES,
    Placed,
    WorldFiles,
    WorldRecords,
)
from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.errors import AddressError, InputError, WorldError
from ipmicra.model.address import Address, read_address
from ipmicra.model.crawler import Crawler
from ipmicra.model.foreign_text import csv_text
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from ipmicra.model.types import Floats


def read_world(files: WorldFiles) -> WorldRecords:
    """Read a world."""
    if files.world.is_dir():
        if files.crawlers or files.sites:
            raise InputError(
                f"{files.world} is a folder with crawlers and sites of its own: do not pass others"
            )
        return _read_folder(files.world)
    if str(files.world) != "-" and not files.world.exists():
        raise WorldError(
            str(files.world),
            "there is no such folder or file; a world is a folder with "
            f"{', '.join(NEEDED)}, or a file of measurements with {', '.join(NEEDED[ROUND_TRIPS])}",
        )
    return read_measured(files)


def _read_folder(folder: Path) -> WorldRecords:
    lacking = [name for name in NEEDED if not (folder / name).is_file()]
    if lacking:
        raise WorldError(str(folder), f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} missing")
    findings: list[str] = []
    crawlers = crawler_rows(_placed(folder / CRAWLERS), findings.append, radius_km=POINT_RADIUS_KM)
    sites = list(_placed(folder / SITES))
    world = WorldRecords(name=folder.name, crawlers=crawlers, sites=sites, rtt_ms={}, findings=findings)
    names = {row.name for row in crawlers}
    addresses = {record["address"] for _, record in sites} | {str(row.address) for row in crawlers}
    known: dict[str, Address] = {}
    for where, record in _placed(folder / ROUND_TRIPS):
        text, value = record["address"], read_number(record["rtt_ms"])
        try:
            address = known.get(text) or known.setdefault(text, read_address(text))
        except AddressError as error:
            world.findings.append(f"{where}: {error}")
            continue
        if record["crawler"] not in names or (text not in addresses and str(address) not in addresses):
            world.findings.append(f"{where}: no crawler {record['crawler']} or no site at {address}")
        elif value is None or value <= 0:
            world.findings.append(f"{where}: {record['rtt_ms']!r} is no round trip in milliseconds")
        else:
            world.rtt_ms[record["crawler"], address] = value
    return world


def _placed(path: Path) -> Iterator[Placed]:
    """Read the records of one of the three files."""
    try:
        for where, record in read_records(path, NEEDED[path.name]):
            yield where.removeprefix(f"{path.parent}/"), record
    except InputError as error:
        raise WorldError(str(path.parent), str(error)) from error


def load_world(
    world: Path | WorldFiles,
    findings: list[str],
    *,
    notes: list[str] | None = None,
    keeps_shared: bool = False,
) -> World:
    """Read a world; rows that make no sense are left out and become findings.

    Of hosts that share an address the first stands for all, unless `keeps_shared` makes each a site.
    `notes` take how a file of measurements was understood.
    """
    records = read_world(world if isinstance(world, WorldFiles) else WorldFiles(world=world))
    crawlers = _crawlers(records, findings)
    sites, places, countries = _sites(records, findings, keeps_shared=keeps_shared)
    findings += records.findings
    if notes is not None:
        notes += records.notes
    rtt_ms, measured = records.matrix([one.name for one in crawlers], [site.address for site in sites])
    if np.isnan(rtt_ms).all():
        example = f" ({records.findings[0]})" if records.findings else ""
        raise WorldError(records.name, f"{ROUND_TRIPS} has no usable round trip{example}")
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
        mutual_ms=_mutual(records, crawlers),
    )


def _mutual(records: WorldRecords, crawlers: Sequence[Crawler]) -> Floats | None:
    """Return the round trips between crawlers; None if no file has any."""
    found, _ = records.matrix([one.name for one in crawlers], [one.address for one in crawlers])
    return None if np.isnan(found).all() else found


def _crawlers(records: WorldRecords, findings: list[str]) -> tuple[Crawler, ...]:
    found = []
    for row in records.crawlers:
        if row.address is not None:
            found.append(row.crawler)
        elif not any(finding.startswith(f"{row.where}: ") for finding in records.findings):
            findings.append(f"{row.where}: crawler {row.name} has no address")
    if not found:
        raise WorldError(records.name, f"{CRAWLERS} has no usable crawler")
    return tuple(found)


def _sites(
    records: WorldRecords, findings: list[str], *, keeps_shared: bool
) -> tuple[tuple[Site, ...], tuple[Location | None, ...], tuple[str | None, ...]]:
    sites: list[Site] = []
    seen: set[Address] = set()
    places: list[Location | None] = []
    countries: list[str | None] = []
    for where, record in records.sites:
        fields = Fields(record, where, findings.append)
        address = fields.address()
        if address is None or (address in seen and not keeps_shared):
            if address or not record["address"]:
                findings.append(f"{where}: {f'{address} is there already' if address else 'no address'}")
            continue
        seen.add(address)
        country = record.get("country", "").upper() or None
        sites.append(Site(record["host"] or str(address), address))
        places.append(fields.place(POINT_RADIUS_KM, country))
        countries.append(country)
    if not sites:
        raise WorldError(records.name, f"{SITES} has no usable site")
    return tuple(sites), tuple(places), tuple(countries)


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
    if world.mutual_ms is not None:
        pairs += [
            (one.name, other.address, f"{world.mutual_ms[i, j]:.3f}")
            for i, one in enumerate(world.crawlers)
            for j, other in enumerate(world.crawlers)
            if isfinite(world.mutual_ms[i, j])
        ]
    degrees = ("latitude", "longitude", "country")
    _write(folder / CRAWLERS, ("name", "address", *degrees), crawlers)
    _write(folder / SITES, ("host", "address", *degrees, "pages"), sites)
    _write(folder / ROUND_TRIPS, ("crawler", "address", "rtt_ms"), pairs)


def _degrees(place: Location | None) -> tuple[object, ...]:
    return (place.latitude, place.longitude, place.country or "") if place else ("", "", "")


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    write_atomically(path, [csv_text(columns, rows).encode()])
