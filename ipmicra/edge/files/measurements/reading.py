"""Measurements that users have already: crawler, site, round trip, a row each, in whatever form they are.

Repeated rows of a pair are one measurement: the shortest round trip counts, as with our own probes, for
whatever else a packet met on its way only made it longer.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from math import isnan
from pathlib import Path
from statistics import median

from ipmicra.edge.files.cells import Row
from ipmicra.edge.files.measurements.cells import NoTime, read_place, read_time
from ipmicra.edge.files.measurements.columns import Columns, find_columns
from ipmicra.edge.files.tables import LOOKED_AT, open_table
from ipmicra.model.address import Address
from ipmicra.model.quantities import plural

SiteKey = Address | str
"""A site is an address, or a host name of which no address is known."""
BROADCAST = IPv4Address(2**32 - 1)
LINES_SHOWN = 3
LIKELY_SECONDS, LONGEST_S = 0.5, 10.0
"""A median below the one and a maximum below the other look like seconds."""


@dataclass(slots=True)
class LeftOut:
    """Rows, sites or values that are left out: counted by reason, the first few with their lines."""

    counts: dict[str, int] = field(default_factory=dict)
    shown: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, where: str) -> None:
        """Count one more."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        if self.counts[reason] <= LINES_SHOWN:
            self.shown.setdefault(reason, []).append(where)

    def texts(self, what: str) -> list[str]:
        """Say how many were left out and why, a line for each reason."""
        texts = []
        for reason, count in self.counts.items():
            more = [f"and {count - LINES_SHOWN:,} more"] if count > LINES_SHOWN else []
            some = "; ".join([*self.shown[reason], *more])
            texts.append(f"{count:,} {what if count == 1 else what + 's'} left out, {reason}: {some}")
        return texts


@dataclass(slots=True)
class Measurements:
    """What a file says, by crawler and site."""

    name: str
    columns: Columns
    crawlers: dict[str, int] = field(default_factory=dict)
    """Numbers by name, in the order of the file."""
    hosts: dict[SiteKey, str] = field(default_factory=dict)
    """Sites in the order of the file, each with the host that was first named beside its address, if any."""
    rtt_ms: dict[tuple[int, SiteKey], float] = field(default_factory=dict)
    """The shortest round trip of each pair that was measured; NaN if every probe was lost."""
    today: dict[SiteKey, str] = field(default_factory=dict)
    """The crawler that a site has today."""
    left_out: LeftOut = field(default_factory=LeftOut)
    unresolved: list[str] = field(default_factory=list)
    """Host names without a known address; their sites are left out."""
    rows: int = 0
    repeated: int = 0
    lost: int = 0

    def put(self, crawler: int, site: SiteKey, rtt_ms: float) -> None:
        """Keep a measurement; of several of a pair the shortest."""
        before = self.rtt_ms.get((crawler, site))
        self.repeated += before is not None
        if before is None or isnan(before) or rtt_ms < before:
            self.rtt_ms[crawler, site] = rtt_ms

    def names(self) -> list[str]:
        """Return the sites that have a host name and no address."""
        return [site for site in self.hosts if isinstance(site, str)]

    def notes(self) -> list[str]:
        """Say how the file was understood, and what was left out."""
        notes = [f"{plural(self.rows, 'row')} read: {self.columns.spelled()}"]
        if self.repeated:
            notes.append(
                f"rows that repeat a pair: {self.repeated:,}; the shortest round trip of each counts"
            )
        if self.lost:
            notes.append(f"rows that are lost probes: {self.lost:,}")
        known = [value for value in self.rtt_ms.values() if not isnan(value)]
        if known and not self.columns.is_unit_named and _look_like_seconds(known):
            notes.append(
                f"half of the round trips are below {median(known):.3g}: "
                "if they are seconds and not milliseconds, name the column rtt_s"
            )
        return notes + self.left_out.texts("row")

    def give_addresses(self, addresses: Mapping[str, Address]) -> None:
        """Replace host names by their addresses; sites that still have none are left out."""
        if not self.names():
            return
        pairs, self.rtt_ms = self.rtt_ms, {}
        hosts, self.hosts = self.hosts, {}
        for site, host in hosts.items():
            if not isinstance(site, str):
                self.hosts.setdefault(site, host)
            elif site in addresses:
                self.hosts[addresses[site]] = self.hosts.get(addresses[site]) or site
            else:
                self.unresolved.append(site)
        for (crawler, site), rtt_ms in pairs.items():
            at = addresses.get(site) if isinstance(site, str) else site
            if at is not None:
                self.put(crawler, at, rtt_ms)
        self.today = {
            addresses.get(site, site) if isinstance(site, str) else site: crawler
            for site, crawler in self.today.items()
        }


def _look_like_seconds(values: list[float]) -> bool:
    return median(values) < LIKELY_SECONDS and max(values) < LONGEST_S


def read_measurements(path: Path) -> Measurements:
    """Read a file of measurements; rows that make no sense are counted."""
    with open_table(path) as table:
        first = list(itertools.islice(table.rows, LOOKED_AT))
        columns = find_columns(table.name, table.names, [cells for _, cells in first])
        if columns.has_header and table.names is None:
            first = first[1:]
        found = Measurements(name="standard input" if str(path) == "-" else path.name, columns=columns)
        reader = _Reader(found, columns, is_comma_decimal=table.separator != ",")
        for row in itertools.chain(first, table.rows):
            reader.take(row)
    return found


class _Reader:
    """Takes rows into measurements."""

    def __init__(self, found: Measurements, columns: Columns, *, is_comma_decimal: bool) -> None:
        self._found, self._columns = found, columns
        self._is_comma_decimal = is_comma_decimal
        self._needed = columns.needed
        self._at = [one for one in (columns.address, columns.host) if one is not None]
        self._sites: dict[tuple[str, ...], SiteKey] = {}
        """Sites by their cells: each has as many rows as there are crawlers."""

    def take(self, row: Row) -> None:
        """Take in a row, or count why not."""
        line, cells = row
        found, columns = self._found, self._columns
        found.rows += 1
        if len(cells) < self._needed:
            found.left_out.add("too few cells, or no record", f"line {line}")
            return
        crawler = cells[columns.crawler]
        rtt_ms = read_time(cells[columns.time], columns.ms_per_unit, is_comma_decimal=self._is_comma_decimal)
        if not crawler:
            found.left_out.add("no crawler", f"line {line}")
        elif isinstance(rtt_ms, NoTime):
            found.left_out.add(rtt_ms.reason, f"line {line} ({cells[columns.time][:40]!r})")
        elif (site := self._site(line, cells)) is not None:
            found.lost += isnan(rtt_ms)
            found.put(found.crawlers.setdefault(crawler, len(found.crawlers)), site, rtt_ms)
            if columns.today is not None and len(cells) > columns.today and cells[columns.today]:
                found.today.setdefault(site, cells[columns.today])

    def _site(self, line: int, cells: list[str]) -> SiteKey | None:
        """Return the site's address, else its host name; None, and counted, if there is neither."""
        texts = tuple(cells[one] for one in self._at)
        known = self._sites.get(texts)
        if known is not None:
            return known
        places = [read_place(text) for text in texts]
        address = next((one for one, _ in places if one is not None), None)
        host = next((one for _, one in reversed(places) if one), "")
        if address is None and not host:
            self._found.left_out.add("no address of a site", f"line {line} ({texts[0][:40]!r})")
            return None
        if address is not None and (address.is_unspecified or address.is_multicast or address == BROADCAST):
            self._found.left_out.add("no site can have this address", f"line {line} ({address})")
            return None
        site = self._sites[texts] = address or host
        self._found.hosts[site] = self._found.hosts.get(site) or host
        return site
