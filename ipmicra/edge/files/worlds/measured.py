"""Worlds from one file of a user's own measurements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address
from pathlib import Path

from ipmicra.edge.files.crawlers import CrawlerRow
from ipmicra.edge.files.measurements.cells import read_place
from ipmicra.edge.files.measurements.reading import LeftOut, Measurements, read_measurements
from ipmicra.edge.files.seeds import host_of
from ipmicra.edge.files.tables import Record, read_records
from ipmicra.edge.files.worlds.records import NEEDED, SITES, Placed, WorldFiles, WorldRecords
from ipmicra.errors import AddressError, WorldError
from ipmicra.model.address import Address, read_address
from ipmicra.model.crawler import Crawler

STAND_IN = int(IPv4Address("240.0.0.0"))
"""Crawlers without an address get one from here on: reserved, so that no site is near it."""
LEAST_PAIRS = 2
"""Crawlers that must have measured a site before one can be called nearer than another."""


def read_measured(files: WorldFiles) -> WorldRecords:
    """Read a file of measurements as a world, with what else is known of those in it."""
    measured = read_measurements(files.world)
    notes: list[str] = []
    known, hosts = _known_sites(files.sites, notes) if files.sites else ({}, {})
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
        sites=[_site(address, host, known.get(address)) for address, host in sites.items()],
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
    """Return the pairs of sites that can be judged, and say which cannot be."""
    counts = Counter(site for _, site in measured.rtt_ms)
    left_out = LeftOut()
    for site, count in counts.items():
        if count < LEAST_PAIRS:
            left_out.add("measured by one crawler only, so there is nothing to compare", str(site))
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
    reasons = "; ".join([*measured.left_out.texts("row"), *alone]) or "there are no rows"
    return WorldError(
        measured.name,
        f"no site was measured by {LEAST_PAIRS} crawlers or more, so there is nothing to judge: {reasons}",
    )


def _unresolved(measured: Measurements) -> list[str]:
    left_out = LeftOut()
    for name in measured.unresolved:
        left_out.add("no address is known (use --resolve to ask the DNS, or --sites FILE)", name)
    return left_out.texts("site")


def _gaps(measured: Measurements, share: float) -> list[str]:
    """Say what cannot be compared."""
    gaps = []
    if share < 1:
        gaps.append(
            f"{100 * share:.0f} % of the pairs of crawler and site were measured; "
            "the others are neither asked nor judged"
        )
    others = sorted(set(measured.today.values()) - measured.crawlers.keys())
    if others:
        gaps.append(f"sites are with {', '.join(others[:3])} today, who measured nothing: not compared")
    return gaps


def _not_public(addresses: Iterable[Address]) -> list[str]:
    odd = [address for address in addresses if not address.is_global]
    if not odd:
        return []
    return [f"{len(odd):,} sites have addresses that are not public ({odd[0]}, …): no registry knows them"]


def _crawlers(measured: Measurements, known: Mapping[str, Crawler], notes: list[str]) -> list[CrawlerRow]:
    """Return those that measured, with what is known of them; without an address they get a stand-in."""
    rows = []
    for number, name in enumerate(measured.crawlers):
        one, address = known.get(name), read_place(name)[0]
        place = one.location if one else None
        rows.append(
            CrawlerRow(
                where=f"{measured.name}: crawler {name}",
                name=name,
                address=one.address if one else address or IPv4Address(STAND_IN + (number << 8)),
                location=place,
                country=place.country if place else None,
            )
        )
    others = [name for name in measured.crawlers if name not in known] if known else []
    if others:
        notes.append(f"{len(others)} crawlers are not in the file of crawlers: {', '.join(others[:5])}")
    return rows


def _known_sites(path: Path, notes: list[str]) -> tuple[dict[Address, Record], dict[str, Address]]:
    """Read what a file says of sites, by address, and the addresses of hosts; the first counts."""
    known: dict[Address, Record] = {}
    hosts: dict[str, Address] = {}
    left_out = LeftOut()
    for where, record in read_records(path, NEEDED[SITES]):
        try:
            address = read_address(record["address"])
        except AddressError:
            left_out.add("no address", f"{where} ({record['address'][:40]!r})")
            continue
        known.setdefault(address, record)
        hosts.setdefault(host_of(record["host"]), address)
    notes += left_out.texts("row")
    return known, hosts


def _site(address: Address, host: str, known: Record | None) -> Placed:
    record = {**(known or {}), "address": str(address)}
    record["host"] = host or record.get("host") or str(address)
    return f"site {address}", record
