"""Tables of sites: `host,address[,latitude,longitude,country,pages,holder]`, and who has which."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ipmicra.edge.files.fields import Fields
from ipmicra.edge.files.seeds import host_of
from ipmicra.edge.files.tables import Record, open_table, read_records
from ipmicra.errors import InputError
from ipmicra.model.address import Address

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


def read_sites(path: Path) -> SiteRows:
    """Read `host,address[,latitude,longitude,country,pages,holder]`."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file; a world is named with --world")
    return sites_of(record for _, record in read_records(path, ("host",)))


def sites_of(records: Iterable[Record]) -> SiteRows:
    """Take sites from records; each host once. Values that make no sense are counted and left out."""
    rows = SiteRows()
    seen: set[str] = set()
    bad: list[str] = []
    for record in records:
        host = host_of(record["host"])
        if not host or host in seen:
            rows.repeated += 1
            continue
        seen.add(host)
        fields = Fields(record, host, bad.append)
        place, pages = fields.place(0.0), fields.number("pages")
        rows.append(host, fields.address())
        rows.latitude[-1], rows.longitude[-1] = (place.latitude, place.longitude) if place else (_NAN, _NAN)
        rows.country[-1], rows.holder[-1] = fields.text("country") or "", fields.text("holder") or ""
        rows.pages[-1] = 1.0 if pages is None else pages
    rows.bad_values = len(bad)
    return rows


def read_assigned(path: Path) -> dict[str, str]:
    """Read `host,crawler`: an assignment made elsewhere."""
    return {
        host_of(record["host"]): record["crawler"].strip()
        for _, record in read_records(path, ("host", "crawler"))
    }


def has_site_header(path: Path) -> bool:
    """Return whether a file starts like a table of sites."""
    with open_table(path) as table:
        cells = table.names or next(table.rows, (1, []))[1]
    return len(cells) > 1 and cells[0].lower() == "host"
