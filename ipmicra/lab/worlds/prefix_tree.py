"""A stand-in where there is no hierarchy: prefixes of fixed lengths around the addresses of a world."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address

from ipmicra.model.address import Address

LENGTHS = {4: (8, 16, 24), 6: (32, 48)}
"""Lengths of the prefixes, wide to narrow, by family; the narrowest are as wide as a slice."""
BITS = {4: 32, 6: 128}
Span = tuple[int, int, int]
"""Family, first and last address as numbers."""


class PrefixTree:
    """Nested prefixes, without holders, countries or registries. Has what the delegator needs (`SubnetTree`).

    Rows are in preorder, IPv4 first, as in a hierarchy file.
    """

    def __init__(self, addresses: Iterable[Address]) -> None:
        """Lay prefixes around addresses."""
        spans = {(family, 0, (1 << bits) - 1) for family, bits in BITS.items()}
        for address in addresses:
            spans.update(_around(address))
        self._spans: list[Span] = sorted(spans, key=lambda span: (span[0], span[1], -span[2]))
        self._starts = [span[:2] for span in self._spans]
        self._parents: list[int | None] = []
        self._behind = [0] * len(self._spans)
        above: list[int] = []
        for row, span in enumerate(self._spans):
            while above and not _holds(self._spans[above[-1]], span):
                self._behind[above.pop()] = row
            self._parents.append(above[-1] if above else None)
            above.append(row)
        for row in above:
            self._behind[row] = len(self._spans)

    def __len__(self) -> int:
        """Count the prefixes, both roots included."""
        return len(self._spans)

    def __repr__(self) -> str:
        """Say how large it is."""
        return f"<PrefixTree: {len(self)} prefixes>"

    def row_of(self, address: str) -> int:
        """Return the row of the narrowest prefix that holds an address."""
        number = _number(address)
        row = bisect_right(self._starts, number) - 1
        while self._spans[row][2] < number[1]:
            above = self._parents[row]
            assert above is not None  # noqa: S101 - a root holds every address of its family
            row = above
        return row

    def parent(self, row: int) -> int | None:
        """Return the row above, None for a root."""
        return self._parents[row]

    def descendants(self, row: int) -> range:
        """Return the rows inside."""
        return range(row + 1, self._behind[row])

    def bounds(self, row: int) -> tuple[Address, Address]:
        """Return first and last address."""
        family, first, last = self._spans[row]
        if family == 4:  # noqa: PLR2004
            return IPv4Address(first), IPv4Address(last)
        return IPv6Address(first), IPv6Address(last)

    def organisation_number(self, row: int) -> int:  # noqa: ARG002 - the interface
        """Know nobody."""
        return 0

    def country(self, row: int) -> str | None:  # noqa: ARG002 - the interface
        """Know no country."""
        return None

    def registry_number(self, row: int) -> int:  # noqa: ARG002 - the interface
        """Know no registry."""
        return 0


def _around(address: Address) -> Iterable[Span]:
    for length in LENGTHS[address.version]:
        below = address.max_prefixlen - length
        first = int(address) >> below << below
        yield address.version, first, first | (1 << below) - 1


def _number(address: str) -> tuple[int, int]:
    if ":" in address:
        return 6, int(IPv6Address(address))
    return 4, int(IPv4Address(address))


def _holds(outer: Span, inner: Span) -> bool:
    return outer[0] == inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2]
