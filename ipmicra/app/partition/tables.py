"""Columns of sites and crawlers, from rows of files and what a hierarchy says.

Holders are numbered in one space for sites and crawlers, the hierarchy's numbers below 2^32 and hashes of
names above 2^33: two have the same holder if files give both the same name, or the hierarchy gives both the
same organisation. Subnets are lineages of the hierarchy, narrow to wide and without the root; without a
hierarchy, prefixes of fixed lengths.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ipmicra.edge.files.crawlers import CrawlerRow
from ipmicra.edge.files.networks import Networks, read_system
from ipmicra.edge.files.sites import SiteRows
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.model.address import Address
from ipmicra.model.subnet import Subnet
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.names import PackedNames
from ipmicra.partition.sites import UNKNOWN, SiteTable, country_code

_PREFIXES = {4: (24, 20, 16, 12, 8), 6: (64, 48, 32, 24, 16)}
"""Lengths of the prefixes that stand for subnets where there is no hierarchy, narrow to wide."""
_LEVELS = 6
"""Subnets of a lineage that are looked at, from the narrowest up."""
_WIDEST = {4: 8, 6: 23}
"""Lengths of the prefixes that IANA hands out to registries."""


def site_table(rows: SiteRows, hierarchy: Hierarchy | None, networks: Networks | None) -> SiteTable:
    """Make the columns of the sites."""
    keys = [one or f"host {host}" for one, host in zip(rows.addresses, rows.hosts, strict=True)]
    numbers: dict[object, int] = {}
    subnets, holders = _subnets_and_holders(rows.addresses, rows.holder, hierarchy)
    return SiteTable(
        hosts=PackedNames.pack(rows.hosts),
        address=np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64),
        subnets=subnets,
        latitude=np.array(rows.latitude),
        longitude=np.array(rows.longitude),
        country=np.array([country_code(one) for one in rows.country], np.int64),
        holder=holders,
        pages=np.array(rows.pages),
        aggregate=_aggregates(rows, hierarchy, networks),
        system=_systems(rows, networks, holders),
    )


def crawler_table(crawler_rows: list[CrawlerRow], hierarchy: Hierarchy | None) -> CrawlerTable:
    """Make the columns of the crawlers; holders are numbered as those of the sites."""
    addresses, names = [row.address for row in crawler_rows], [row.holder for row in crawler_rows]
    places = [row.location for row in crawler_rows]
    return CrawlerTable(
        names=tuple(row.name for row in crawler_rows),
        latitude=np.array([place.latitude if place else np.nan for place in places]),
        longitude=np.array([place.longitude if place else np.nan for place in places]),
        country=np.array([country_code(row.country or "") for row in crawler_rows], np.int64),
        holder=_subnets_and_holders(addresses, names, hierarchy)[1],
        capacity=np.array([row.share for row in crawler_rows]),
    )


def _subnets_and_holders(
    addresses: list[Address | None], names: list[str], hierarchy: Hierarchy | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number subnets by level, and holders: by a column of names, else by the hierarchy."""
    holders = np.array([_holder_number(name) for name in names], np.int64)
    known = np.array([row for row, one in enumerate(addresses) if one is not None], np.int64)
    if hierarchy is None or not len(known):
        return _prefix_levels(addresses), holders
    rows = hierarchy.lookup_many([addresses[row] for row in known.tolist()]).astype(np.int64)
    registered = hierarchy.organisation_many(rows).astype(np.int64)
    holders[known] = np.where(
        holders[known] >= 0, holders[known], np.where(registered > 0, registered, UNKNOWN)
    )
    levels = np.full((_LEVELS, len(addresses)), UNKNOWN, np.int64)
    for level in range(_LEVELS):
        above = hierarchy.parent_many(rows)
        levels[level, known] = np.where(above >= 0, rows, UNKNOWN)  # the root holds everybody
        rows = np.where(above >= 0, above, rows)
    return levels, holders


def _holder_number(name: str) -> int:
    """Number a holder's name; beyond the numbers of a hierarchy, and the same for sites and crawlers."""
    from ipmicra.partition.hashing import hash_one

    return (hash_one(name) >> 2) + (1 << 33) if name.strip() else UNKNOWN


def _prefix_levels(addresses: list[Address | None]) -> NDArray[np.int64]:
    """Number prefixes of some lengths, narrow to wide."""
    levels = np.full((len(_PREFIXES[4]), len(addresses)), UNKNOWN, np.int64)
    for level in range(len(levels)):
        numbers: dict[tuple[int, int], int] = {}
        for row, address in enumerate(addresses):
            if address is not None:
                length = _PREFIXES[address.version][level]
                key = address.version, int(address) >> (address.max_prefixlen - length)
                levels[level, row] = numbers.setdefault(key, len(numbers))
    return levels


def _aggregates(
    rows: SiteRows, hierarchy: Hierarchy | None, networks: Networks | None
) -> NDArray[np.int64] | None:
    """Number the announced prefixes: by the file's column, else by the networks, else by the hierarchy."""
    numbers: dict[object, int] = {}
    found: list[int] = []
    for address, own in zip(rows.addresses, rows.aggregate, strict=True):
        key: object = own or None
        if key is None and address is not None and networks is not None:
            key = network[0] if (network := networks.covering(address)) else None
        elif key is None and address is not None and hierarchy is not None:
            key = _allocation(hierarchy, address)
        found.append(UNKNOWN if key is None else numbers.setdefault(key, len(numbers)))
    return np.array(found, np.int64) if numbers else None


def _allocation(hierarchy: Hierarchy, address: Address) -> int | None:
    """Return the widest subnet that is narrower than what registries themselves get, by its row.

    A provider announces what a registry allocated to it, whatever it gave to customers. IANA hands out /8 and
    /12 (earlier /23) to registries, so nothing as wide is anybody's announcement. Where all are as wide, the
    narrowest stands for it.
    """
    lineage = hierarchy.lineage(address)[1:]
    below = [one for one in lineage if one.last.max_prefixlen - _width(one) > _WIDEST[address.version]]
    chosen = below[0] if below else lineage[-1] if lineage else None
    return None if chosen is None else chosen.row


def _width(subnet: Subnet) -> int:
    """Return the bits of the addresses inside: 8 for a /24."""
    return (int(subnet.last) - int(subnet.first)).bit_length()


def _systems(
    rows: SiteRows, networks: Networks | None, holders: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Number the autonomous systems: by the file's column, else by the networks, else by the holders.

    A registration does not say who announces it; holders stand for systems only where no system is known.
    """
    found = np.full(len(rows.hosts), UNKNOWN, np.int64)
    for row, (address, own) in enumerate(zip(rows.addresses, rows.system, strict=True)):
        if own:
            found[row] = read_system(own)
        elif networks is not None and address is not None and (network := networks.covering(address)):
            found[row] = network[1]
    if (found == UNKNOWN).all():
        return holders if (holders >= 0).any() else None
    return found
