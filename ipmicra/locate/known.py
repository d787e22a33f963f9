"""Known places: users' tables, geofeeds (RFC 8805) and registered positions."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_network, summarize_address_range
from itertools import count

import pytricia

from ipmicra.errors import AddressError
from ipmicra.locate.gazetteer import Gazetteer
from ipmicra.locate.places import find_place, read_coordinates
from ipmicra.model.address import Address, read_range
from ipmicra.model.location import Heuristic, Hint, Location

COLUMNS = ("target", "latitude", "longitude", "radius_km", "city", "country")
"""Of a users' table; the last three may be missing or empty."""
_BITS = {4: 32, 6: 128}
_GEOFEED_FIELDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRow:
    """A place of a table, with where it stands."""

    location: Location
    source: str
    """Table and line, for people."""


@dataclass(slots=True)
class KnownTable:
    """Places by address, prefix and host name; the narrowest prefix wins, of equals the first."""

    findings: list[str] = field(default_factory=list)
    _trees: dict[int, pytricia.PyTricia] = field(
        default_factory=lambda: {family: pytricia.PyTricia(bits) for family, bits in _BITS.items()}
    )
    _hosts: dict[str, KnownRow] = field(default_factory=dict)

    def __len__(self) -> int:
        """Count prefixes and host names."""
        return len(self._hosts) + sum(len(tree) for tree in self._trees.values())

    def add_host(self, name: str, row: KnownRow) -> None:
        """Add a host name; a second row for one is a finding."""
        key = name.strip().lower().rstrip(".")
        if key in self._hosts:
            self.findings.append(f"{row.source}: {key} is listed twice; the first one counts")
        else:
            self._hosts[key] = row

    def add_range(self, first: Address, last: Address, row: KnownRow) -> None:
        """Add a range, prefix by prefix; overlaps are findings."""
        for network in summarize_address_range(first, last):
            tree, text = self._trees[network.version], str(network)
            if tree.has_key(text):
                self.findings.append(f"{row.source}: {text} is listed twice; the first one counts")
                continue
            around = tree.get_key(text)
            if around is not None:
                self.findings.append(
                    f"{row.source}: {text} overlaps {around}; the narrower one counts inside it"
                )
            tree[text] = row

    def of_address(self, address: Address) -> KnownRow | None:
        """Return the row of the narrowest prefix that holds an address."""
        plain = str(address).partition("%")[0]  # the scope of a link-local address is no part of it
        found: KnownRow | None = self._trees[address.version].get(plain)
        return found

    def hint(self, address: Address | None, names: Iterable[str]) -> Hint | None:
        """Return the vote: by host name, else by address."""
        for name in names:
            if row := self._hosts.get(name):
                return _hint(row, name)
        row = self.of_address(address) if address is not None else None
        return _hint(row, str(address)) if row else None


def _hint(row: KnownRow, key: str) -> Hint:
    return Hint(heuristic=Heuristic.KNOWN, location=row.location, evidence=f"`{key}` in {row.source}")


def read_table(
    table: KnownTable, lines: Iterable[str], source: str, default_radius_km: float
) -> dict[str, Location]:
    """Read a user's CSV into a table; return its domains of institutions (written `.example.org`)."""
    domains: dict[str, Location] = {}
    for place, cells in _rows(table, lines, source):
        if not cells or cells[0].lstrip().startswith("#") or cells[0].strip().lower() == COLUMNS[0]:
            continue
        location = _location(cells, default_radius_km)
        target = cells[0].strip()
        if isinstance(location, str):
            table.findings.append(f"{place}: {location}")
        elif target.startswith(".") and len(target) > 1:
            domains[target[1:].lower().rstrip(".")] = location
        else:
            _add(table, target, KnownRow(location=location, source=place))
    return domains


def _rows(table: KnownTable, lines: Iterable[str], source: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the position and the cells of each row; a line that is not CSV becomes a finding."""
    # A lone carriage return inside a line would stop the reader: it counts as a space.
    reader = csv.reader(" ".join(line.splitlines()) for line in lines)
    for number in count(1):
        place = f"{source}, line {number}"
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            table.findings.append(f"{place}: {error}")
        else:
            yield place, cells


def _add(table: KnownTable, target: str, row: KnownRow) -> None:
    try:
        table.add_range(*read_range(target), row)
    except AddressError:
        is_name = (
            "." in target and all(target.rstrip(".").split(".")) and " " not in target and "/" not in target
        )
        if is_name and not target.replace(".", "").isdigit():
            table.add_host(target, row)
        else:
            table.findings.append(f"{row.source}: {target!r} is no address, prefix or host name")


def _location(cells: list[str], default_radius_km: float) -> Location | str:
    """Read the place of a row; a text says what is wrong with it."""
    cells = [cell.strip() for cell in cells] + [""] * (len(COLUMNS) - len(cells))
    coordinates = read_coordinates(cells[1], cells[2])
    if coordinates is None:
        return f"{cells[1]!r}, {cells[2]!r} are no coordinates: -90 to 90 degrees north, -180 to 180 east"
    try:
        radius = float(cells[3]) if cells[3] else default_radius_km
    except ValueError:
        radius = -1.0
    if not 0 < radius < float("inf"):
        return f"{cells[3]!r} is no radius in kilometres"
    country = cells[5].upper()
    if country and not (len(country) == 2 and country.isascii() and country.isalpha()):  # noqa: PLR2004 - ISO 3166
        return f"{cells[5]!r} is no country of two letters"
    return Location(
        latitude=coordinates[0],
        longitude=coordinates[1],
        radius_km=radius,
        city=cells[4] or None,
        country=country or None,
    )


def read_geofeed(
    table: KnownTable,
    lines: Iterable[str],
    source: str,
    gazetteer: Gazetteer,
    within: tuple[Address, Address] | None = None,
) -> None:
    """Read an RFC 8805 geofeed into a table; with `within`, only prefixes inside that range are accepted."""
    for place, cells in _rows(table, lines, source):
        if not cells or not cells[0].strip() or cells[0].lstrip().startswith("#"):
            continue
        _prefix, country, region, city = [cell.strip() for cell in [*cells, "", "", ""][:_GEOFEED_FIELDS]]
        try:
            network = ip_network(cells[0].strip())
        except ValueError:
            table.findings.append(f"{place}: {cells[0].strip()!r} is no prefix")
            continue
        if within and not _is_inside(network[0], network[-1], within):
            table.findings.append(
                f"{place}: {network} lies outside {within[0]} - {within[1]}, which names the feed"
            )
            continue
        location = find_place(gazetteer, country, region, city)
        if location is None:
            if country:
                table.findings.append(f"{place}: {country!r} is no country")
            continue
        table.add_range(network[0], network[-1], KnownRow(location=location, source=place))


def _is_inside(first: Address, last: Address, within: tuple[Address, Address]) -> bool:
    return first.version == within[0].version and within[0] <= first and last <= within[1]  # type: ignore[operator]


def read_geoloc(text: str, radius_km: float) -> Location | None:
    """Read a `geoloc:` attribute: degrees north and east; None if it is neither."""
    cells = text.replace(",", " ").split()
    coordinates = read_coordinates(*cells) if len(cells) == 2 else None  # noqa: PLR2004
    if coordinates is None:
        return None
    return Location(latitude=coordinates[0], longitude=coordinates[1], radius_km=radius_km)
