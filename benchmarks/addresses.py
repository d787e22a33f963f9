"""Random addresses to look up: inside registered subnets, outside all of them, or anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra import Hierarchy

GLOBAL_UNICAST = np.uint64(0x2000 << 48)
"""2000::/3, of which registries hand out addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One kind of addresses."""

    family: int
    kind: str
    """`hit`, `miss`, `anywhere` or `hit, sorted`."""

    @property
    def label(self) -> str:
        """Name it."""
        return f"IPv{self.family}, {self.kind}"


def drawn(rng: np.random.Generator, hierarchy: Hierarchy, case: Case, count: int) -> NDArray[Any]:
    """Draw addresses of a kind: IPv4 as uint32, IPv6 as two words of 64 bits."""
    draw_hits, draw_anywhere = (hits4, anywhere4) if case.family == 4 else (hits6, anywhere6)
    if case.kind == "anywhere":
        return draw_anywhere(rng, count)
    if case.kind == "miss":
        return misses(rng, hierarchy, case.family, count)
    found = draw_hits(rng, hierarchy.bounds_array(case.family), count)
    if case.kind == "hit":
        return found
    return np.sort(found) if case.family == 4 else found[np.lexsort((found[:, 1], found[:, 0]))]


def hits4(rng: np.random.Generator, bounds: NDArray[np.uint32], count: int) -> NDArray[np.uint32]:
    """Draw a subnet, then an address in it; the root is not drawn."""
    rows = rng.integers(1, len(bounds), count)
    first, last = bounds[rows, 0].astype(np.uint64), bounds[rows, 1].astype(np.uint64)
    inside = rng.integers(first, last, endpoint=True, dtype=np.uint64)
    return np.asarray(inside, np.uint32)


def hits6(rng: np.random.Generator, bounds: NDArray[np.uint64], count: int) -> NDArray[np.uint64]:
    """Draw a subnet, then an address in it.

    Where both words can vary the lower is free, except that it stays within bounds of one /64.
    """
    rows = rng.integers(1, len(bounds), count)
    chosen = bounds[rows]
    high = rng.integers(chosen[:, 0], chosen[:, 2], endpoint=True, dtype=np.uint64)
    low = rng.integers(0, 1 << 64, count, dtype=np.uint64)
    low = np.where(high == chosen[:, 0], np.maximum(low, chosen[:, 1]), low)
    return np.stack((high, np.where(high == chosen[:, 2], np.minimum(low, chosen[:, 3]), low)), axis=1)


def anywhere4(rng: np.random.Generator, count: int) -> NDArray[np.uint32]:
    """Draw from the whole space."""
    return rng.integers(0, 1 << 32, count, dtype=np.uint32)


def anywhere6(rng: np.random.Generator, count: int) -> NDArray[np.uint64]:
    """Draw from what is handed out by registries at all."""
    words = rng.integers(0, 1 << 64, (count, 2), dtype=np.uint64)
    words[:, 0] = (words[:, 0] >> np.uint64(3)) | GLOBAL_UNICAST
    return words


def misses(rng: np.random.Generator, hierarchy: Hierarchy, family: int, count: int) -> NDArray[Any]:
    """Draw addresses that no registered subnet holds: those that only the root holds."""
    root = 0 if family == 4 else len(hierarchy.bounds_array(4))
    parts: list[NDArray[Any]] = []
    missing = count
    while missing > 0:
        some = anywhere4(rng, count) if family == 4 else anywhere6(rng, count)
        some = some[hierarchy.lookup_many(some) == root][:missing]
        if not len(some):
            raise ValueError(f"IPv{family} has no room outside the registered subnets")
        parts.append(some)
        missing -= len(some)
    return np.concatenate(parts)


def texts(addresses: NDArray[Any]) -> list[str]:
    """Write addresses as a user would."""
    if addresses.ndim == 1:
        return [str(IPv4Address(address)) for address in addresses.tolist()]
    return [str(IPv6Address(high << 64 | low)) for high, low in addresses.tolist()]
