"""DNS LOC records as votes: RFC 1876 on the host, its reverse name, and the names above them (RFC 1101)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from ipmicra.locate.config import LocateConfig
from ipmicra.locate.hostname import HostName
from ipmicra.locate.places import read_coordinates
from ipmicra.model.address import Address
from ipmicra.model.location import Heuristic, Hint, Location

_METRES = 1000.0
_NIBBLES = (16, 12, 8)
"""Digits of IPv6 prefixes whose names are asked: /64, /48, /32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocRecord:
    """What a LOC record says, and whose it is."""

    owner: str
    """Name that was asked."""
    latitude: float
    longitude: float
    size_m: float
    """Diameter of the thing described."""
    precision_m: float
    """Horizontal precision, a diameter too."""
    is_parent: bool
    """The record stands on a name above the host's or address's own."""


@dataclass(frozen=True, slots=True)
class Question:
    """A name to ask for a LOC record."""

    name: str
    is_parent: bool
    is_network: bool = False
    """Ask for the network's name (PTR) first, and for the record of that name: RFC 1101."""


def questions(name: HostName | None, address: Address | None) -> Iterator[Question]:
    """List the names to ask, the most specific first: the host, the address, then those above them."""
    if name:
        yield Question(name.text, is_parent=False)
    reverse = address.reverse_pointer if address else ""
    if reverse:
        yield Question(reverse, is_parent=False)
    if name:
        labels = name.text.split(".")
        for cut in range(1, len(name.host) + 1):
            yield Question(".".join(labels[cut:]), is_parent=True)
    if isinstance(address, IPv4Address):
        yield from _networks(reverse.split("."))
    elif address:
        for digits in _NIBBLES:
            yield Question(".".join(reverse.split(".")[32 - digits :]), is_parent=True)


def _networks(labels: list[str]) -> Iterator[Question]:
    """List the names of networks: `2.0.192.in-addr.arpa`, and `0.2.0.192.in-addr.arpa` for its name."""
    for cut in (1, 2, 3):
        yield Question(".".join(labels[cut:]), is_parent=True)
        yield Question(".".join(["0"] * cut + labels[cut:]), is_parent=True, is_network=True)


def loc_hint(record: LocRecord, config: LocateConfig) -> Hint | None:
    """Turn a record into a vote; None if it is no place on Earth or claims nothing."""
    coordinates = read_coordinates(str(record.latitude), str(record.longitude))
    radius = max(record.size_m, record.precision_m) / 2 / _METRES
    if coordinates is None or not math.isfinite(radius) or radius < 0:
        return None
    least = config.loc_parent_km if record.is_parent else config.loc_floor_km
    return Hint(
        heuristic=Heuristic.LOC,
        location=Location(
            latitude=round(coordinates[0], 6),
            longitude=round(coordinates[1], 6),
            radius_km=max(radius, least),
        ),
        evidence=f"LOC record of `{record.owner}`",
    )
