"""Subnets as the delegator numbers them.

A key is a subnet's row, or a negative number that stands for a slice of address space (256 addresses of
IPv4, a /48 of IPv6) or for a single address. Slices serve where an address is unregistered, for the root
is never delegated as a whole, and where a site is elsewhere than the rest of its subnet.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Protocol

from ipmicra.model.address import Address

_FORMS = ((4, 8), (6, 80), (4, 0), (6, 0))
"""Family and bits below, of slices and single addresses."""
_SHIFT = 2
"""Bits of a negative key that encode its form."""


class SubnetTree(Protocol):
    """What the delegator needs of a hierarchy; `Hierarchy` has it, and so have invented worlds."""

    def row_of(self, address: str) -> int:
        """Return the row of the narrowest subnet that holds an address."""

    def parent(self, row: int) -> int | None:
        """Return the row above, None for a root."""

    def descendants(self, row: int) -> Sequence[int]:
        """Return the rows inside, however deep; they follow the row."""

    def bounds(self, row: int) -> tuple[Address, Address]:
        """Return first and last address."""

    def organisation_number(self, row: int) -> int:
        """Return the number of the organisation, 0 for none."""

    def country(self, row: int) -> str | None:
        """Return the country, two letters."""

    def registry_number(self, row: int) -> int:
        """Return the number of the registry."""

    def status_number(self, row: int) -> int:
        """Return the number of the registry's status of a row, 0 for none: alike if the status is."""


def key_of(tree: SubnetTree, address: Address) -> int:
    """Return the key of the subnet to delegate for an address."""
    row = tree.row_of(str(address))
    return slice_of(address) if tree.parent(row) is None else row


def is_narrow(tree: SubnetTree, row: int) -> bool:
    """Return whether a subnet lies within one slice."""
    first, last = tree.bounds(row)
    below = _FORMS[0 if first.version == 4 else 1][1]  # noqa: PLR2004
    return int(first) >> below == int(last) >> below


def slice_of(address: Address) -> int:
    """Return the key of the slice around an address."""
    return _negative(address, 0 if address.version == 4 else 1)  # noqa: PLR2004


def single(address: Address) -> int:
    """Return the key of an address alone."""
    return _negative(address, 2 if address.version == 4 else 3)  # noqa: PLR2004


def _negative(address: Address, form: int) -> int:
    return -1 - (int(address) >> _FORMS[form][1] << _SHIFT | form)


def row_of_key(tree: SubnetTree, key: int) -> int:
    """Return the row that a key lies in: its own, or that of the narrowest subnet around a slice's start."""
    return key if key >= 0 else tree.row_of(str(bounds_of(tree, key)[0]))


def bounds_of(tree: SubnetTree, key: int) -> tuple[Address, Address]:
    """Return first and last address of a key."""
    return tree.bounds(key) if key >= 0 else slice_bounds(key)


def slice_bounds(key: int) -> tuple[Address, Address]:
    """Return first and last address of a slice's or a single address's key, for which no tree is needed."""
    number, form = divmod(-1 - key, 1 << _SHIFT)
    family, below = _FORMS[form]
    first = number << below
    last = first | (1 << below) - 1
    return (IPv4Address(first), IPv4Address(last)) if family == 4 else (IPv6Address(first), IPv6Address(last))  # noqa: PLR2004


def key_of_bounds(tree: SubnetTree, first: Address, last: Address) -> int | None:
    """Return the key of a subnet by its addresses; None if the hierarchy has no such subnet."""
    row: int | None = tree.row_of(str(first))
    while row is not None and (above := tree.parent(row)) is not None:
        if tree.bounds(row) == (first, last):
            return row
        row = above
    for key in (single(first), slice_of(first)):
        if bounds_of(tree, key) == (first, last):
            return key
    return None
