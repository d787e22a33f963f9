"""Pack addresses for the store: 16 bytes that sort as numbers do."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address

from ipmicra.model.address import Address

MAPPED = bytes(10) + b"\xff\xff"
"""Prefix of an IPv4 address (RFC 4291, 2.5.5.2)."""


def packed(address: Address) -> bytes:
    """Return 16 bytes: 1.2.3.4 becomes ::ffff:1.2.3.4."""
    return MAPPED + address.packed if address.version == 4 else address.packed  # noqa: PLR2004 - IPv4


def packed_many(addresses: Iterable[Address]) -> list[bytes]:
    """Return 16 bytes of each; the same object is packed once, as where a subnet is a single address."""
    found: list[bytes] = []
    before: Address | None = None
    for address in addresses:
        found.append(found[-1] if address is before else packed(address))
        before = address
    return found


def packed_or_none(address: Address | None) -> bytes | None:
    """Return 16 bytes, or None for None."""
    return None if address is None else packed(address)


def unpacked(value: bytes) -> Address:
    """Read 16 bytes; IPv4-mapped ones are IPv4 addresses."""
    return IPv4Address(value[12:]) if value[:12] == MAPPED else IPv6Address(value)


def unpacked_or_none(value: bytes | None) -> Address | None:
    """Read 16 bytes, or None."""
    return None if value is None else unpacked(value)
