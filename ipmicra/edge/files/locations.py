"""Files and feeds that `locate` reads: users' tables, geofeeds, samples, crawlers with their places."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ipmicra.edge.hierarchy_file import shown
from ipmicra.errors import AddressError, FetchError, InputError
from ipmicra.locate.places import read_coordinates
from ipmicra.model.address import Address, read_address
from ipmicra.model.location import Location
from ipmicra.model.sample import Loss, Sample

CRAWLER_RADIUS_KM = 10.0
"""How far a crawler may be from the place its operator wrote down."""
SITE_RADIUS_KM = 5.0
"""How far a site may be from coordinates without a radius: as in worlds, they mean a building."""
FEED_TIMEOUT_S = 10.0
FEED_LIMIT_BYTES = 8 << 20
"""Larger geofeeds are refused."""


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a text file of a user; odd bytes are replaced, a missing file is the user's to mend."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            yield file
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise InputError(f"{shown(path)} cannot be read: {error.strerror}") from error


def read_crawlers(path: Path, findings: list[str]) -> dict[str, Location]:
    """Read crawlers and their places: `name,address,latitude,longitude[,country]`."""
    places: dict[str, Location] = {}
    for number, row in _rows(path, ("name", "latitude", "longitude")):
        coordinates = read_coordinates(row["latitude"], row["longitude"])
        if coordinates is None or not row["name"]:
            findings.append(f"{shown(path)}, line {number}: a crawler without a name or a place on Earth")
            continue
        places[row["name"]] = Location(
            latitude=coordinates[0],
            longitude=coordinates[1],
            radius_km=CRAWLER_RADIUS_KM,
            country=row.get("country") or None,
        )
    return places


def read_places(path: Path, findings: list[str]) -> dict[Address, Location]:
    """Read where addresses are: `address,latitude,longitude[,radius_km,country]`; `host` may stand beside."""
    places: dict[Address, Location] = {}
    for number, row in _rows(path, ("address", "latitude", "longitude")):
        coordinates = read_coordinates(row["latitude"], row["longitude"])
        try:
            address = read_address(row["address"])
            radius_km = float(row.get("radius_km") or SITE_RADIUS_KM)
        except (AddressError, ValueError) as error:
            findings.append(f"{shown(path)}, line {number}: {error}")
            continue
        if coordinates is None or radius_km < 0:
            findings.append(f"{shown(path)}, line {number}: {row['address']} has no place on Earth")
            continue
        places[address] = Location(
            latitude=coordinates[0],
            longitude=coordinates[1],
            radius_km=radius_km,
            country=(row.get("country") or "").upper() or None,
        )
    return places


def read_samples(path: Path, findings: list[str]) -> list[Sample]:
    """Read samples: `crawler,address,rtt_ms`; an empty round trip is a lost probe."""
    samples = []
    for number, row in _rows(path, ("crawler", "address", "rtt_ms")):
        try:
            address = read_address(row["address"])
            rtt_ms = float(row["rtt_ms"]) if row["rtt_ms"] else None
        except (AddressError, ValueError) as error:
            findings.append(f"{shown(path)}, line {number}: {error}")
            continue
        if rtt_ms is not None and not 0 < rtt_ms < float("inf"):
            findings.append(f"{shown(path)}, line {number}: {rtt_ms} ms is no round trip")
            continue
        loss = Loss.TIMEOUT if rtt_ms is None else None
        samples.append(Sample(crawler=row["crawler"], address=address, rtt_ms=rtt_ms, loss=loss))
    return samples


def _rows(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Give the rows of a CSV with their lines; the columns needed must be there."""
    with open_text(path) as file:
        reader = csv.DictReader(file)
        missing = [name for name in needed if name not in (reader.fieldnames or ())]
        if missing:
            raise InputError(
                f"{shown(path)} has no column {', '.join(missing)}; needed are {', '.join(needed)}"
            )
        for row in reader:
            yield (
                reader.line_num,
                {key: (value or "").strip() for key, value in row.items() if isinstance(key, str)},
            )


def fetch_feed(url: str, schemes: tuple[str, ...] = ("https",)) -> list[str]:
    """Download a geofeed; only over the schemes allowed, of limited size."""
    import requests  # loaded where a feed is fetched

    if url.split(":", 1)[0].lower() not in schemes:
        raise FetchError(url, f"only {' and '.join(schemes)} is fetched")
    try:
        with requests.get(url, timeout=FEED_TIMEOUT_S, stream=True, allow_redirects=False) as answer:
            if answer.status_code != requests.codes.ok:
                raise FetchError(url, f"the server answered {answer.status_code}")
            content = b""
            for piece in answer.iter_content(1 << 16):
                content += piece
                if len(content) > FEED_LIMIT_BYTES:
                    raise FetchError(url, f"the geofeed is larger than {FEED_LIMIT_BYTES >> 20} MiB")
    except requests.RequestException as error:
        raise FetchError(url, str(error)) from error
    return content.decode("utf-8", "replace").splitlines()
