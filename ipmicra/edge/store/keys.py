"""Write keys in one way: addresses as 16 bytes that sort as numbers do, and short hashes of keys.

Sites of a list come in any order. In a B-tree that is sorted by host or by address, the rows of a transaction
fall on pages all over the tree. As soon as the tree has more pages than the transaction has rows, each row
costs a whole page: it is read, copied to the write-ahead log and copied back at the checkpoint. A list of
400,000 sites was written three times as slowly at its end as at its beginning.

So rows are appended in the order in which they come, and found by an index over 32 bits of a hash of their
key. An entry takes about 13 bytes where the row takes 100 to 400: the index of a million rows is 5,000 pages,
which stay in the page cache, and of which one transaction fills each several times. Rows are sorted by the
hash before they are written, so that those of one page follow each other.

Two keys may share a hash. So whoever looks for a key compares the key itself, too, and the index is not
unique: that a key has one row is ensured by looking for it first, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address
from zlib import crc32

from ipmicra.model.address import Address

MAPPED = bytes(10) + b"\xff\xff"
"""Prefix of an IPv4 address (RFC 4291, 2.5.5.2)."""
_HALF = 1 << 31
_SIZE = 16


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


def unpacked_all(value: bytes) -> tuple[Address, ...]:
    """Read addresses of 16 bytes each, one after the other."""
    return tuple(unpacked(value[i : i + _SIZE]) for i in range(0, len(value), _SIZE))


def key_hash(*parts: bytes | str) -> int:
    """Return 32 bits of a key as SQLite stores them in four bytes: with a sign."""
    number = 0
    for part in parts:
        number = crc32(part.encode() if isinstance(part, str) else part, number)
    return number - _HALF
