"""Files that say what is known of sites, crawlers, links and round trips: CSV, and Parquet for links."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ipmicra.edge.files.seeds import host_of
from ipmicra.edge.files.tables import open_table, read_records
from ipmicra.errors import AddressError, InputError
from ipmicra.model.address import Address, read_address

_NAN = math.nan


@dataclass(slots=True, kw_only=True)
class SiteRows:
    """Sites of a file, column by column, in its order; each host once."""

    hosts: list[str] = field(default_factory=list)
    addresses: list[Address | None] = field(default_factory=list)
    latitude: list[float] = field(default_factory=list)
    longitude: list[float] = field(default_factory=list)
    country: list[str] = field(default_factory=list)
    holder: list[str] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    repeated: int = 0
    """Rows left out because their host was there before."""
    bad_values: int = 0
    """Addresses, places and page counts that make no sense; the site is kept without them."""

    def append(self, host: str, address: Address | None) -> None:
        """Add a site of which nothing else is known."""
        self.hosts.append(host)
        self.addresses.append(address)
        self.latitude.append(_NAN)
        self.longitude.append(_NAN)
        self.country.append("")
        self.holder.append("")
        self.pages.append(1.0)


@dataclass(slots=True, kw_only=True)
class CrawlerRows:
    """Crawlers of a file, column by column, in its order."""

    names: list[str] = field(default_factory=list)
    addresses: list[Address | None] = field(default_factory=list)
    latitude: list[float] = field(default_factory=list)
    longitude: list[float] = field(default_factory=list)
    country: list[str] = field(default_factory=list)
    holder: list[str] = field(default_factory=list)
    capacity: list[float] = field(default_factory=list)


def read_sites(path: Path) -> SiteRows:
    """Read `host,address[,latitude,longitude,country,pages,holder]`."""
    return sites_of(_records(path, ("host",)))


def sites_of(records: Iterable[Mapping[str, str]]) -> SiteRows:
    """Take sites from records; each host once."""
    rows = SiteRows()
    seen: set[str] = set()
    for record in records:
        host = host_of(record["host"])
        if not host or host in seen:
            rows.repeated += 1
            continue
        seen.add(host)
        address, bad_address = _address(record.get("address", ""))
        place, bad_place = _place(record)
        pages = _number(record.get("pages", ""), 1.0)
        rows.bad_values += bad_address + bad_place + (not pages >= 0)
        rows.hosts.append(host)
        rows.addresses.append(address)
        rows.latitude.append(place[0])
        rows.longitude.append(place[1])
        rows.country.append(record.get("country", ""))
        rows.holder.append(record.get("holder", ""))
        rows.pages.append(pages if pages >= 0 else 1.0)
    return rows


def read_crawlers(path: Path) -> CrawlerRows:
    """Read `name,address[,latitude,longitude,country,holder,capacity]`."""
    return crawlers_of(_records(path, ("name",)), str(path))


def crawlers_of(records: Iterable[Mapping[str, str]], name: str) -> CrawlerRows:
    """Take crawlers from the records of a file."""
    rows = CrawlerRows()
    for number, record in enumerate(records, 2):
        capacity = _number(record.get("capacity", ""), 1.0)
        if not record["name"].strip() or not capacity > 0:
            raise InputError(f"{name}, line {number}: a crawler needs a name and a capacity above 0")
        place, _ = _place(record)
        rows.names.append(record["name"].strip())
        rows.addresses.append(_address(record.get("address", ""))[0])
        rows.latitude.append(place[0])
        rows.longitude.append(place[1])
        rows.country.append(record.get("country", ""))
        rows.holder.append(record.get("holder", ""))
        rows.capacity.append(capacity)
    return rows


def read_links(path: Path) -> tuple[list[str], list[str], list[float]]:
    """Read sources, targets and counts: the columns `source`, `target` and, if there is one, `links`."""
    sources, targets, counts = [], [], []
    for where, record in read_records(path, ("source", "target")):
        count = _number(record.get("links", ""), 1.0)
        if not count >= 0:
            raise InputError(f"{where}: {record.get('links')!r} is no number of links")
        sources.append(host_of(record["source"]))
        targets.append(host_of(record["target"]))
        counts.append(count)
    return sources, targets, counts


def read_assigned(path: Path) -> dict[str, str]:
    """Read `host,crawler`: what somebody else worked out."""
    return {
        host_of(record["host"]): record["crawler"].strip() for record in _records(path, ("host", "crawler"))
    }


def has_site_header(path: Path) -> bool:
    """Tell whether a file starts like a table of sites."""
    with open_table(path) as table:
        cells = table.names or next(table.rows, (1, []))[1]
    return len(cells) > 1 and cells[0].lower() == "host"


def _records(path: Path, needed: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Give the rows of a table by the names of its columns."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file; a world is named with --world")
    return (record for _, record in read_records(path, needed))


def _address(text: str) -> tuple[Address | None, bool]:
    """Read an address; tell whether there was one that made no sense."""
    if not text.strip():
        return None, False
    try:
        return read_address(text), False
    except AddressError:
        return None, True


def _place(record: Mapping[str, str]) -> tuple[tuple[float, float], bool]:
    """Read latitude and longitude; tell whether they were there and made no sense."""
    texts = record.get("latitude", "").strip(), record.get("longitude", "").strip()
    if not any(texts):
        return (_NAN, _NAN), False
    latitude, longitude = (_number(text, _NAN) for text in texts)
    is_sound = abs(latitude) <= 90 and abs(longitude) <= 180  # noqa: PLR2004 - degrees
    return ((latitude, longitude), False) if is_sound else ((_NAN, _NAN), True)


def _number(text: str, default: float) -> float:
    """Read a number: the default for no text, not a number for nonsense."""
    if not text.strip():
        return default
    try:
        value = float(text)
    except ValueError:
        return _NAN
    return value if math.isfinite(value) else _NAN
