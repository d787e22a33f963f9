"""Tables of sites: `host,address[,latitude,longitude,country,pages,holder,as,aggregate]`, and who has which.

What `ipmicra locate` writes is such a table as well: there the host is called `target`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path

from ipmicra.edge.files.fields import Fields
from ipmicra.edge.files.seeds import host_of
from ipmicra.edge.files.tables import Record, open_table, read_records
from ipmicra.errors import InputError
from ipmicra.model.address import Address

_NAN = math.nan
ALIASES = {"target": "host"}
"""What `ipmicra locate` calls the host."""


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
    system: list[str] = field(default_factory=list)
    """Number of the autonomous system that announces the address, as text; empty if unknown."""
    aggregate: list[str] = field(default_factory=list)
    """Prefix under which it is announced; empty if unknown."""
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
        self.system.append("")
        self.aggregate.append("")

    def copy(self, other: SiteRows, row: int) -> None:
        """Let the last site have all that another table has of one; its name stays."""
        for column in fields(self):
            own, others = getattr(self, column.name), getattr(other, column.name)
            if column.name != "hosts" and isinstance(own, list):
                own[-1] = others[row]


def read_sites(path: Path) -> SiteRows:
    """Read a table of sites, or what `ipmicra locate` has written."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file; a world is named with --world")
    return sites_of(record for _, record in read_records(path, ("host",), aliases=ALIASES))


def sites_of(records: Iterable[Record]) -> SiteRows:
    """Take sites from records; each host once. Values that make no sense are counted and left out."""
    rows = SiteRows()
    seen: set[str] = set()
    bad: list[str] = []
    for record in map(_flat, records):
        host = host_of(record["host"])
        if not host or host in seen:
            rows.repeated += 1
            continue
        seen.add(host)
        cells = Fields(record, host, bad.append)
        place, pages = cells.place(0.0), cells.number("pages")
        rows.append(host, cells.address())
        rows.latitude[-1], rows.longitude[-1] = (place.latitude, place.longitude) if place else (_NAN, _NAN)
        rows.country[-1], rows.holder[-1] = cells.text("country") or "", cells.text("holder") or ""
        rows.system[-1] = cells.text("as", "asn") or ""
        rows.aggregate[-1] = cells.text("aggregate") or ""
        rows.pages[-1] = 1.0 if pages is None else pages
    rows.bad_values = len(bad)
    return rows


def _flat(record: Record) -> Record:
    """Take the place out of its own object, as `ipmicra locate --json` writes it."""
    text = record.get("location", "")
    if not text.startswith("{"):
        return record
    try:
        place = json.loads(text)
    except (ValueError, RecursionError):
        return record
    known = {key: str(value) for key, value in place.items() if value is not None}
    return {**record, **known}


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
    return len(cells) > 1 and cells[0].lower() in {"host", *ALIASES}
