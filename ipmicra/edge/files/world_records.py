"""The one reader of worlds on disk: a folder with three files, or one file of a user's own measurements.

Crawlers and sites are given as records of texts, each with its place in words, so that whoever needs more
columns than others finds them; round trips are read here once for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from math import nan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ipmicra.edge.files.measurements.cells import read_number, read_place
from ipmicra.edge.files.measurements.reading import LeftOut, Measurements, read_measurements
from ipmicra.edge.files.tables import read_records
from ipmicra.errors import AddressError, InputError, WorldError
from ipmicra.model.address import Address, read_address
from ipmicra.model.crawler import Crawler

Record = dict[str, str]
Placed = tuple[str, Record]
"""A record, and where it stands, in words."""
Resolve = Callable[[Sequence[str]], Mapping[str, Address]]
"""Gives the addresses of host names, of those that have one."""

CRAWLERS, SITES, ROUND_TRIPS = "crawlers.csv", "sites.csv", "rtt.csv"
NEEDED = {
    CRAWLERS: ("name", "address"),
    SITES: ("host", "address"),
    ROUND_TRIPS: ("crawler", "address", "rtt_ms"),
}
STAND_IN = int(IPv4Address("240.0.0.0"))
"""Crawlers without an address get one from here on: reserved, so that no site is near it."""
LEAST_PAIRS = 2
"""Crawlers that must have measured a site before one can be called nearer than another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldFiles:
    """What a user names: a world, and what else is known of those in a file of measurements."""

    world: Path
    """A folder, a file of measurements, or `-`."""
    crawlers: Mapping[str, Crawler] = field(default_factory=dict)
    """What is known of crawlers, by name; for measurements only, as are the others."""
    sites: Path | None = None
    """`host,address[,latitude,longitude,country,pages]`."""
    resolve: Resolve | None = None
    """Asks for addresses of hosts that neither file tells."""


@dataclass(slots=True, kw_only=True)
class WorldRecords:
    """A world as its files tell it."""

    name: str
    crawlers: list[Placed]
    sites: list[Placed]
    rtt_ms: dict[tuple[str, Address], float]
    """By name and address; NaN for a probe that was lost."""
    is_partial: bool = False
    """Whether pairs that are not named were never measured, rather than lost."""
    today: dict[Address, str] = field(default_factory=dict)
    """The crawler that a site has today, by name."""
    findings: list[str] = field(default_factory=list)
    """Rows left out, a line each."""
    notes: list[str] = field(default_factory=list)
    """How a file of measurements was understood, and what was left out of it."""

    def matrix(
        self, names: Sequence[str], addresses: Sequence[Address | None]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
        """Give round trips, (crawler, site), and which pairs were measured: None if all."""
        rtt_ms = np.full((len(names), len(addresses)), nan)
        measured = np.zeros(rtt_ms.shape, np.bool_)
        rows = {name: i for i, name in enumerate(names)}
        columns: dict[Address | None, list[int]] = {}
        for i, address in enumerate(addresses):
            columns.setdefault(address, []).append(i)
        for (name, address), value in self.rtt_ms.items():
            row = rows.get(name)
            for column in columns.get(address, ()) if row is not None else ():
                rtt_ms[row, column], measured[row, column] = value, True
        return rtt_ms, measured if self.is_partial and not measured.all() else None


def read_world(files: WorldFiles) -> WorldRecords:
    """Read a world."""
    if files.world.is_dir():
        if files.crawlers or files.sites:
            raise InputError(f"{files.world} is a folder with crawlers and sites of its own: give no others")
        return _read_folder(files.world)
    if str(files.world) != "-" and not files.world.exists():
        raise WorldError(
            str(files.world),
            "there is no such folder or file; a world is a folder with "
            f"{', '.join(NEEDED)}, or a file of measurements with {', '.join(NEEDED[ROUND_TRIPS])}",
        )
    return _read_measured(files)


# --- a folder


def _read_folder(folder: Path) -> WorldRecords:
    lacking = [name for name in NEEDED if not (folder / name).is_file()]
    if lacking:
        raise WorldError(str(folder), f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} missing")
    crawlers, sites = (list(_placed(folder / name)) for name in (CRAWLERS, SITES))
    world = WorldRecords(name=folder.name, crawlers=crawlers, sites=sites, rtt_ms={})
    names = {record["name"] for _, record in crawlers}
    addresses = {record["address"] for _, record in sites}
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
    """Give the records of one of the three files."""
    try:
        for where, record in read_records(path, NEEDED[path.name]):
            yield where.removeprefix(f"{path.parent}/"), record
    except InputError as error:
        raise WorldError(str(path.parent), str(error)) from error


# --- measurements


def _read_measured(files: WorldFiles) -> WorldRecords:
    measured = read_measurements(files.world)
    notes: list[str] = []
    told, hosts = _told_sites(files.sites, notes) if files.sites else ({}, {})
    names = measured.names()
    addresses = {name: hosts[name] for name in names if name in hosts}
    if files.resolve is not None and len(addresses) < len(names):
        addresses |= files.resolve([name for name in names if name not in addresses])
    measured.give_addresses(addresses)
    pairs, alone = _judgeable(measured)
    if not pairs:
        raise _nothing_left(measured, alone)
    sites = {address: measured.hosts[address] for _, address in pairs}
    return WorldRecords(
        name=measured.name,
        crawlers=_crawlers(measured, files.crawlers, notes),
        sites=[_site(address, host, told.get(address)) for address, host in sites.items()],
        rtt_ms=pairs,
        is_partial=True,
        today={site: name for site, name in measured.today.items() if not isinstance(site, str)},
        notes=[
            *measured.notes(),
            *_unresolved(measured),
            *alone,
            *_gaps(measured, len(pairs) / (len(sites) * len(measured.crawlers))),
            *_not_public(sites),
            *notes,
        ],
    )


def _judgeable(measured: Measurements) -> tuple[dict[tuple[str, Address], float], list[str]]:
    """Give the pairs of sites that can be judged, and say which cannot be."""
    counts = Counter(site for _, site in measured.rtt_ms)
    left_out = LeftOut()
    for site, count in counts.items():
        if count < LEAST_PAIRS:
            left_out.add("measured by one crawler only, so nobody can be nearer", str(site))
    names = list(measured.crawlers)
    pairs = {
        (names[crawler], site): rtt_ms
        for (crawler, site), rtt_ms in measured.rtt_ms.items()
        if counts[site] >= LEAST_PAIRS and not isinstance(site, str)
    }
    return pairs, left_out.texts("site")


def _nothing_left(measured: Measurements, alone: list[str]) -> WorldError:
    """Say why there is no site to judge, and what to do."""
    if measured.unresolved and not alone:
        return WorldError(
            measured.name,
            f"its {len(measured.unresolved):,} sites are host names ({measured.unresolved[0]}, …) without an "
            "address: ask the DNS with --resolve, or name a file of host,address with --sites",
        )
    told = "; ".join([*measured.left_out.texts("row"), *alone]) or "there are no rows"
    return WorldError(
        measured.name,
        f"no site was measured by {LEAST_PAIRS} crawlers or more, so there is nothing to judge: {told}",
    )


def _unresolved(measured: Measurements) -> list[str]:
    left_out = LeftOut()
    for name in measured.unresolved:
        left_out.add("no address is known (--resolve asks the DNS, --sites FILE tells)", name)
    return left_out.texts("site")


def _gaps(measured: Measurements, share: float) -> list[str]:
    """Say what cannot be compared."""
    told = []
    if share < 1:
        told.append(
            f"{100 * share:.0f} % of the pairs of crawler and site were measured; "
            "the others are neither asked nor judged"
        )
    strangers = sorted(set(measured.today.values()) - measured.crawlers.keys())
    if strangers:
        told.append(f"sites are with {', '.join(strangers[:3])} today, who measured nothing: not compared")
    return told


def _not_public(addresses: Iterable[Address]) -> list[str]:
    odd = [address for address in addresses if not address.is_global]
    if not odd:
        return []
    return [f"{len(odd):,} sites have addresses that are not public ({odd[0]}, …): no registry knows them"]


def _crawlers(measured: Measurements, known: Mapping[str, Crawler], notes: list[str]) -> list[Placed]:
    """Give those that measured, with what is known of them; without an address they get a stand-in."""
    placed = []
    for number, name in enumerate(measured.crawlers):
        one, address = known.get(name), read_place(name)[0]
        stand_in = address or IPv4Address(STAND_IN + (number << 8))
        record = {"name": name, "address": str(one.address if one else stand_in)}
        if one is not None and one.location is not None:
            place = one.location
            record |= {"latitude": str(place.latitude), "longitude": str(place.longitude)}
            record |= {"country": place.country or "", "radius_km": str(place.radius_km)}
        placed.append((f"{measured.name}: crawler {name}", record))
    strangers = [name for name in measured.crawlers if name not in known] if known else []
    if strangers:
        notes.append(f"{len(strangers)} crawlers are not in the file of crawlers: {', '.join(strangers[:5])}")
    return placed


def _told_sites(path: Path, notes: list[str]) -> tuple[dict[Address, Record], dict[str, Address]]:
    """Read what a file tells of sites, by address, and the addresses of hosts; the first counts."""
    told: dict[Address, Record] = {}
    hosts: dict[str, Address] = {}
    left_out = LeftOut()
    for where, record in read_records(path, NEEDED[SITES]):
        try:
            address = read_address(record["address"])
        except AddressError:
            left_out.add("no address", f"{where} ({record['address'][:40]!r})")
            continue
        told.setdefault(address, record)
        hosts.setdefault(record["host"].lower().rstrip("."), address)
    notes += left_out.texts("row")
    return told, hosts


def _site(address: Address, host: str, told: Record | None) -> Placed:
    record = {**(told or {}), "address": str(address)}
    record["host"] = host or record.get("host") or str(address)
    return f"site {address}", record
