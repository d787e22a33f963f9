"""Look up arrays of addresses: small ones with numpy alone, large ones with compiled kernels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import AddressError, CorruptHierarchyError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.sections import Sections
from ipmicra.model.address import AnyAddress, read_any_address

WORTH_COMPILING = 1 << 20
"""Number of addresses from which loading the compiler pays off; `WORTH_KERNEL` once it is loaded."""
WORTH_KERNEL = 1 << 14
MAPPED_LOW = np.uint64(0xFFFF)
ONES32 = np.uint64(0xFFFFFFFF)

Addresses = NDArray[Any] | Sequence[AnyAddress]


class ManyFinder:
    """Looks up arrays of addresses in one hierarchy."""

    def __init__(self, sections: Sections) -> None:
        """Look up in the given sections."""
        self._sections = sections
        self._base6 = sections.layout.sections[names.BOUNDS4].count // 2
        self._table: NDArray[np.uint32] | None = None

    def rows_of(self, addresses: Addresses, out: NDArray[np.uint32] | None = None) -> NDArray[np.uint32]:
        """Return the row of the narrowest subnet of each address; see `Hierarchy.lookup_many`."""
        rows = np.empty(len(addresses), np.uint32) if out is None else out
        if isinstance(addresses, np.ndarray) and addresses.dtype.kind == "b":
            raise AddressError(
                "an array of booleans", "contains no addresses"
            )  # older numpy would treat them as 0 and 1
        if not isinstance(addresses, np.ndarray) or addresses.dtype.kind not in "ui":
            self._fill_texts(list(addresses), rows)
        elif addresses.ndim == 1:
            self._fill4(_narrow(addresses), rows)
        else:
            self._fill6(_wide(addresses), rows)
        return rows

    def _fill_texts(self, addresses: list[Any], rows: NDArray[np.uint32]) -> None:
        """Look up a sequence of addresses of both families."""
        parsed = [read_any_address(address) for address in addresses]
        is_wide = np.array([isinstance(address, IPv6Address) for address in parsed], np.bool_)
        narrow = [int(address) for address in parsed if isinstance(address, IPv4Address)]
        wide = [divmod(int(address), 1 << 64) for address in parsed if isinstance(address, IPv6Address)]
        rows[~is_wide] = self.rows_of(np.array(narrow, np.uint32))
        rows[is_wide] = self.rows_of(np.array(wide, np.uint64).reshape(-1, 2))

    def _fill4(self, addresses: NDArray[np.uint32], rows: NDArray[np.uint32]) -> None:
        segments = self._sections.array(names.SEGMENTS)
        if self._is_worth_kernel(len(addresses)):
            from ipmicra.hierarchy.kernels.lookup import rows_of

            rows_of(segments, self._wide_table(), addresses, rows)
            return
        keys = addresses.astype(np.uint64) << np.uint64(32) | ONES32
        found = np.maximum(np.searchsorted(segments, keys, side="right"), 1) - 1
        rows[:] = segments[found] & ONES32
        if rows.size and rows.max() >= self._base6:
            raise self._corrupt(names.SEGMENTS, "a segment does not point to a subnet")

    def _fill6(self, addresses: NDArray[np.uint64], rows: NDArray[np.uint32]) -> None:
        is_mapped = (addresses[:, 0] == 0) & (addresses[:, 1] >> np.uint64(32) == MAPPED_LOW)
        if is_mapped.any():
            rows[is_mapped] = self.rows_of((addresses[is_mapped, 1] & ONES32).astype(np.uint32))
            rows[~is_mapped] = self.rows_of(addresses[~is_mapped])
            return
        find: Any = rows_of_few
        if self._is_worth_kernel(len(addresses)):
            from ipmicra.hierarchy.kernels.lookup import rows_of_wide as find
        bounds = self._sections.array(names.BOUNDS6).reshape(-1, 4)
        parent = self._sections.array(names.PARENT)[self._base6 :]
        if not find(bounds, parent, self._base6, addresses, rows):
            raise self._corrupt(names.PARENT, "a parent follows its child")

    def _corrupt(self, section: str, reason: str) -> CorruptHierarchyError:
        return CorruptHierarchyError(self._sections.layout.sections[section].offset, reason)

    def _is_worth_kernel(self, count: int) -> bool:
        return count >= (WORTH_KERNEL if "numba" in sys.modules else WORTH_COMPILING)

    def _wide_table(self) -> NDArray[np.uint32]:
        """Build the table over the first 24 bits, once; it takes 64 MiB and a few hundredths of a second."""
        if self._table is None:
            from ipmicra.hierarchy.kernels.lookup import TABLE_BITS, are_sound, fill_table

            segments = self._sections.array(names.SEGMENTS)
            if not are_sound(segments, self._base6):
                raise self._corrupt(names.SEGMENTS, "the segments are not in order")
            table = np.empty(1 << TABLE_BITS, np.uint32)
            fill_table(segments, table)
            self._table = table
        return self._table


def rows_of_few(
    bounds: NDArray[np.uint64],
    parent: NDArray[np.uint32],
    base: int,
    addresses: NDArray[np.uint64],
    rows: NDArray[np.uint32],
) -> bool:
    """Do what `kernels.lookup.rows_of_wide` does, one step at a time for all addresses."""
    low = np.zeros(len(addresses), np.int64)
    high = np.full(len(addresses), len(bounds) - 1, np.int64)
    while (low < high).any():
        middle = (low + high + 1) >> 1
        is_before = _at_most(bounds[middle, :2], addresses)
        is_open = low < high
        low = np.where(is_open & is_before, middle, low)
        high = np.where(is_open & ~is_before, middle - 1, high)
    while (is_short := (low > 0) & ~_at_most(addresses, bounds[low, 2:])).any():
        above = parent[low[is_short]].astype(np.int64) - base
        if (above < 0).any() or (above >= low[is_short]).any():
            return False
        low[is_short] = above
    rows[:] = low + base
    return True


def _at_most(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Compare two-word numbers."""
    same = left[:, 0] == right[:, 0]
    return np.where(same, left[:, 1] <= right[:, 1], left[:, 0] < right[:, 0])


def _narrow(addresses: NDArray[Any]) -> NDArray[np.uint32]:
    """Convert integers to IPv4 addresses, or raise."""
    if addresses.dtype == np.uint32:
        return np.ascontiguousarray(addresses)
    if addresses.size and (addresses.min() < 0 or addresses.max() > 0xFFFFFFFF):  # noqa: PLR2004
        raise AddressError(
            "a number", "is no IPv4 address; IPv6 takes an array (n, 2) of uint64 or (n, 16) of bytes"
        )
    return addresses.astype(np.uint32)


def _wide(addresses: NDArray[Any]) -> NDArray[np.uint64]:
    """Convert IPv6 addresses to two words each."""
    if addresses.ndim == 2 and addresses.shape[1] == 2 and addresses.dtype == np.uint64:  # noqa: PLR2004
        return np.ascontiguousarray(addresses)
    if addresses.ndim == 2 and addresses.shape[1] == 16 and addresses.dtype == np.uint8:  # noqa: PLR2004
        return np.ascontiguousarray(addresses).view(">u8").astype(np.uint64)
    shape = f"an array {addresses.shape} of {addresses.dtype}"
    raise AddressError(shape, "holds no addresses; IPv6 takes (n, 2) of uint64 or (n, 16) of uint8")
