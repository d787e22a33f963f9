"""A hierarchy written down as a list: what the delegator needs, and nothing behind it."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address, ip_network

from ipmicra.model.address import Address


@dataclass(frozen=True)
class Listed:
    """One subnet: bounds, parent and registration."""

    first: int
    last: int
    parent: int
    organisation: int = 0
    country: str | None = None
    registry: int = 0


class ListedTree:
    """Rows in the order in which they are listed, which must be preorder; row 0 is the root."""

    def __init__(self, rows: list[Listed]) -> None:
        self._rows = [Listed(0, 2**32 - 1, 0), *rows]

    def row_of(self, address: str) -> int:
        number = int(ip_address(address))
        holding = [row for row, one in enumerate(self._rows) if one.first <= number <= one.last]
        return min(holding, key=lambda row: self._rows[row].last - self._rows[row].first)

    def parent(self, row: int) -> int | None:
        return self._rows[row].parent if row else None

    def descendants(self, row: int) -> range:
        behind = row + 1
        while behind < len(self._rows) and self._rows[behind].first <= self._rows[row].last:
            behind += 1
        return range(row + 1, behind)

    def bounds(self, row: int) -> tuple[Address, Address]:
        return IPv4Address(self._rows[row].first), IPv4Address(self._rows[row].last)

    def organisation_number(self, row: int) -> int:
        return self._rows[row].organisation

    def country(self, row: int) -> str | None:
        return self._rows[row].country

    def registry_number(self, row: int) -> int:
        return self._rows[row].registry

    def status_number(self, row: int) -> int:
        return 0


def listed(text: str, parent: int, organisation: int = 0, country: str | None = None) -> Listed:
    """Write a subnet as a prefix or as `first - last`."""
    if "-" in text:
        first, last = (int(IPv4Address(part.strip())) for part in text.split("-"))
    else:
        network = ip_network(text)
        first, last = int(network.network_address), int(network.broadcast_address)
    return Listed(first, last, parent, organisation, country)


def flat_tree(count: int, organisations: int = 0) -> ListedTree:
    """A root with /24 subnets from 10.0.0.0 on, side by side."""
    return ListedTree(
        [
            listed(f"10.{i // 256}.{i % 256}.0/24", 0, 1 + i % organisations if organisations else 0)
            for i in range(count)
        ]
    )
