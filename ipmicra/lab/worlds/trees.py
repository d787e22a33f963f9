"""Trees for worlds that come without a hierarchy file.

`NestedRanges` is what the machine needs of a hierarchy (`SubnetTree`), over ranges that are nested and
listed in preorder: a range before those inside it, IPv4 before IPv6, as the rows of a hierarchy file. Then
the range that holds an address is the last one that starts at or before it, or one of its ancestors, and the
descendants of a row are the rows that follow it. Three trees are made of it: prefixes of fixed lengths around
a user's addresses, ranges with their registrations (`RegisteredRanges`), and of these the countries and
subnets of a synthetic world.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

import numpy as np

from ipmicra.model.address import Address
from ipmicra.model.types import Rows

LENGTHS = {4: (8, 16, 24), 6: (32, 48)}
"""Lengths of the prefixes, wide to narrow, by family; the narrowest are as wide as a slice."""
BITS = {4: 32, 6: 128}
FIRST_ADDRESS = 16 << 24
"""Of the first subnet of a synthetic world."""
SUBNET_SIZE = 256
Span = tuple[int, int, int]
"""Family, first and last address as numbers."""


class NestedRanges:
    """Nested ranges without holders, countries or registries."""

    def __init__(self, spans: Sequence[Span]) -> None:
        """Nest ranges that are listed in preorder."""
        self._spans = spans
        self._starts = [span[:2] for span in spans]
        self._parents: list[int | None] = []
        self._behind = [len(spans)] * len(spans)
        above: list[int] = []
        for row, span in enumerate(spans):
            while above and not _holds(spans[above[-1]], span):
                self._behind[above.pop()] = row
            self._parents.append(above[-1] if above else None)
            above.append(row)

    def __len__(self) -> int:
        """Count the ranges, roots included."""
        return len(self._spans)

    def __repr__(self) -> str:
        """Say how large it is."""
        return f"<{type(self).__name__}: {len(self)} subnets>"

    def row_of(self, address: str) -> int:
        """Return the row of the narrowest range that holds an address."""
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
        """Return 0: no organisation is known."""
        return 0

    def country(self, row: int) -> str | None:  # noqa: ARG002 - the interface
        """Return None: no country is known."""
        return None

    def registry_number(self, row: int) -> int:  # noqa: ARG002 - the interface
        """Return 0: no registry is known."""
        return 0

    def status_number(self, row: int) -> int:  # noqa: ARG002 - the interface
        """Return 0: no status is known."""
        return 0


class PrefixTree(NestedRanges):
    """Prefixes of fixed lengths around the addresses of a world."""

    def __init__(self, addresses: Iterable[Address]) -> None:
        """Lay prefixes around addresses."""
        spans = {(family, 0, (1 << bits) - 1) for family, bits in BITS.items()}
        for address in addresses:
            spans.update(_around(address))
        super().__init__(sorted(spans, key=lambda span: (span[0], span[1], -span[2])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Registrations:
    """What registries say of ranges; one entry per row, the root's is empty."""

    organisations: Sequence[int]
    """0 for none."""
    countries: Sequence[int]
    """-1 for none; see `country_code`."""
    registries: Sequence[int]
    """0 for none."""


class RegisteredRanges(NestedRanges):
    """Nested ranges with organisations, countries and registries."""

    def __init__(self, spans: Sequence[Span], registrations: Registrations) -> None:
        """Nest ranges that are listed in preorder."""
        super().__init__(spans)
        self._registrations = registrations

    def organisation_number(self, row: int) -> int:
        """Return the organisation's number, 0 for none."""
        return self._registrations.organisations[row]

    def country(self, row: int) -> str | None:
        """Return an invented country of two letters."""
        number = self._registrations.countries[row]
        return None if number < 0 else country_code(number)

    def registry_number(self, row: int) -> int:
        """Return the registry's number, 0 for none."""
        return self._registrations.registries[row]

    def levels(self) -> list[int]:
        """Return how many ranges lie around each range, itself included; 1 for a root."""
        found: list[int] = []
        for row in range(len(self)):
            above = self.parent(row)
            found.append(1 if above is None else found[above] + 1)
        return found


class InventedTree(RegisteredRanges):
    """Three levels: the root, a block for each country, subnets of 256 addresses."""

    def __init__(self, countries: Rows, organisations: Rows) -> None:
        """Number subnets, sorted by country; both arrays have one entry per subnet."""
        spans: list[Span] = [(4, 0, 2**32 - 1)]
        numbers, lands = [0], [-1]
        self.rows: Rows = np.empty(len(countries), np.int64)
        """Row of each subnet."""
        starts = np.flatnonzero(np.diff(countries, prepend=-1)).tolist()
        for start, end in zip(starts, [*starts[1:], len(countries)], strict=True):
            self.rows[start:end] = len(spans) + 1 + np.arange(end - start)
            spans.append(span_of_subnets(start, end))
            spans += [span_of_subnets(number, number + 1) for number in range(start, end)]
            numbers += [0, *organisations[start:end].tolist()]
            lands += [int(countries[start])] * (1 + end - start)
        registries = [land % 5 + 1 for land in lands]  # countries are assigned to registries in turn
        super().__init__(spans, Registrations(organisations=numbers, countries=lands, registries=registries))


def country_code(number: int) -> str:
    """Return two letters for a number below 676."""
    return chr(65 + number // 26) + chr(65 + number % 26)


def span_of_subnets(start: int, end: int) -> Span:
    """Return the range of the subnets from one number to before another."""
    return 4, FIRST_ADDRESS + start * SUBNET_SIZE, FIRST_ADDRESS + end * SUBNET_SIZE - 1


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
