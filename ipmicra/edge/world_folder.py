"""Worlds on disk: a folder with `crawlers.csv`, `sites.csv` and `rtt.csv`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from math import isfinite
from pathlib import Path

import numpy as np

from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.errors import WorldError
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from ipmicra.simulate.world import POINT_RADIUS_KM, World

CRAWLERS, SITES, ROUND_TRIPS = "crawlers.csv", "sites.csv", "rtt.csv"
NEEDED = {
    CRAWLERS: {"name", "address"},
    SITES: {"host", "address"},
    ROUND_TRIPS: {"crawler", "address", "rtt_ms"},
}
Record = dict[str, str]


def load_world(folder: Path, findings: list[str]) -> World:
    """Read a world; rows that make no sense are left out and become findings."""
    if not folder.is_dir():
        raise WorldError(
            str(folder), f"there is no such folder; a world is a folder with {', '.join(NEEDED)}"
        )
    crawlers = _crawlers(folder, findings)
    sites, places, countries = _sites(folder, findings)
    rtt_ms = _round_trips(folder, crawlers, sites, findings)
    return World(folder.name, crawlers, sites, rtt_ms, places, countries)


def _crawlers(folder: Path, findings: list[str]) -> tuple[Crawler, ...]:
    found: dict[str, Crawler] = {}
    for line, record in _records(folder / CRAWLERS):
        name, address = record["name"], _address(record, line, findings)
        if not name or name in found:
            findings.append(f"{line}: {'no name' if not name else f'crawler {name} is there already'}")
        elif address is not None:
            found[name] = Crawler(name=name, address=address, location=_place(record, line, findings))
    if not found:
        raise WorldError(str(folder), f"{CRAWLERS} has no usable crawler")
    return tuple(found.values())


def _sites(
    folder: Path, findings: list[str]
) -> tuple[tuple[Site, ...], tuple[Location | None, ...], tuple[str | None, ...]]:
    sites: dict[IPv4Address | IPv6Address, Site] = {}
    places: list[Location | None] = []
    countries: list[str | None] = []
    for line, record in _records(folder / SITES):
        address = _address(record, line, findings)
        if address in sites:
            findings.append(f"{line}: {address} is there already")
        elif address is not None:
            sites[address] = Site(record["host"] or str(address), address)
            places.append(_place(record, line, findings))
            countries.append(record.get("country", "").upper() or None)
    if not sites:
        raise WorldError(str(folder), f"{SITES} has no usable site")
    return tuple(sites.values()), tuple(places), tuple(countries)


def _round_trips(
    folder: Path, crawlers: tuple[Crawler, ...], sites: tuple[Site, ...], findings: list[str]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Give round trips by crawler and site, NaN where there is none: the probe is lost."""
    rtt_ms = np.full((len(crawlers), len(sites)), np.nan)
    rows = {crawler.name: i for i, crawler in enumerate(crawlers)}
    columns = {site.address: i for i, site in enumerate(sites)}
    for line, record in _records(folder / ROUND_TRIPS):
        row, address = rows.get(record["crawler"]), _address(record, line, findings)
        if address is None:
            continue
        column, value = columns.get(address), _number(record["rtt_ms"])
        if row is None or column is None:
            findings.append(f"{line}: no crawler {record['crawler']} or no site at {address}")
        elif value is None or value <= 0:
            findings.append(f"{line}: {record['rtt_ms']!r} is no round trip in milliseconds")
        else:
            rtt_ms[row, column] = value
    if np.isnan(rtt_ms).all():
        raise WorldError(str(folder), f"{ROUND_TRIPS} has no usable round trip")
    return rtt_ms


def _records(path: Path) -> Iterator[tuple[str, Record]]:
    """Give rows by column, with file and line for messages."""
    try:
        with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            reader = csv.DictReader(file, restval="")
            missing = NEEDED[path.name] - set(reader.fieldnames or ())
            if missing:
                raise WorldError(str(path), f"the first line lacks the columns {', '.join(sorted(missing))}")
            for record in reader:
                cells = {key: value.strip() for key, value in record.items() if isinstance(value, str)}
                yield f"{path.name}, line {reader.line_num}", cells
    except FileNotFoundError as error:
        raise WorldError(str(path.parent), f"{path.name} is missing") from error


def _address(record: Record, line: str, findings: list[str]) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(record["address"])
    except ValueError as error:
        findings.append(f"{line}: {error}")
        return None


def _place(record: Record, line: str, findings: list[str]) -> Location | None:
    """Give a place, None if the record has none or a wrong one."""
    texts = record.get("latitude", ""), record.get("longitude", "")
    if not any(texts):
        return None
    latitude, longitude = (_number(text) for text in texts)
    if latitude is None or longitude is None or abs(latitude) > 90 or abs(longitude) > 180:  # noqa: PLR2004
        findings.append(f"{line}: {', '.join(texts)} is no place on Earth")
        return None
    country = record.get("country", "").upper() or None
    return Location(latitude=latitude, longitude=longitude, radius_km=POINT_RADIUS_KM, country=country)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


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
