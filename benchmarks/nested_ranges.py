"""Random ranges that nest as those of the registries do: pools, allocations, and assignments inside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

POOL_BITS = 24
"""A pool of IPv4 is what IANA gives to a registry: 2 ** 24 addresses."""
RANGES_A_POOL = 50_000
"""Ranges for which one pool more is opened, so that few ranges nest as deeply as many."""
RANGES_A_SPREAD_POOL = 4_000
"""Ranges that a /8 has at least where the whole space is used."""
NOT_A_PREFIX = 0.015
"""Share of the ranges that are cut short and so are no prefix."""
FEW_RANGES = 5000
FEW_BITS = 18
"""Size of the pool for a few ranges, as a power of two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How ranges are divided."""

    steps: tuple[int, ...]
    """Bits by which a child may be shorter than its parent."""
    fullest: int
    """Most children of one range."""
    smallest_bits: int
    """A range of this size (as a power of two) or less is not divided into smaller ones."""
    owner_level: int
    """Depth at which a range belongs to one holder, with all that is inside."""


IPV4 = Growth(steps=(2, 3, 4), fullest=16, smallest_bits=1, owner_level=3)
IPV6 = Growth(steps=(4, 8, 12), fullest=9, smallest_bits=0, owner_level=2)
"""Sizes of IPv6 are counted in prefixes of 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nest:
    """Ranges, each a power of two in size and aligned to it; children behind their parents."""

    first: NDArray[np.uint64]
    bits: NDArray[np.int8]
    """Logarithm of the size to the base 2."""
    owner: NDArray[np.int32]
    """Number of the holder; ranges above the owners' level have one of their own."""
    is_leaf: NDArray[np.bool_]
    """No other range is inside."""

    def __len__(self) -> int:
        """Count the ranges."""
        return len(self.first)

    @property
    def last(self) -> NDArray[np.uint64]:
        """Last address of each range."""
        return self.first + (np.uint64(1) << self.bits.astype(np.uint64)) - np.uint64(1)

    def taken(self, rows: NDArray[np.int64]) -> Nest:
        """Return some of the ranges."""
        return Nest(
            first=self.first[rows],
            bits=self.bits[rows],
            owner=self.owner[rows],
            is_leaf=self.is_leaf[rows],
        )


def joined(nests: list[Nest]) -> Nest:
    """Put nests one behind the other."""
    return Nest(
        first=np.concatenate([nest.first for nest in nests]),
        bits=np.concatenate([nest.bits for nest in nests]),
        owner=np.concatenate([nest.owner for nest in nests]),
        is_leaf=np.concatenate([nest.is_leaf for nest in nests]),
    )


def divided(rng: np.random.Generator, parents: Nest, most: int, growth: Growth) -> Nest:
    """Draw children of some ranges, at most so many in all; siblings never overlap. Marks the parents.

    Slots of a parent are visited in odd steps modulo their number, a power of two, so that none comes twice:
    of 8 slots, from 5 in steps of 3: 5, 0, 3, 6, 1, 4, 7, 2.
    """
    steps = rng.choice(np.array(growth.steps, np.int8), len(parents))
    fits = np.flatnonzero(parents.bits - steps >= growth.smallest_bits)
    fits = fits[rng.permutation(len(fits))]
    slots = np.int64(1) << steps[fits].astype(np.int64)
    fullness = rng.uniform(0.4, 1.0, len(fits))
    counts = np.maximum(1, np.minimum(slots, growth.fullest) * fullness).astype(np.int64)
    enough = int(np.searchsorted(np.cumsum(counts), most)) + 1
    fits, slots, counts = fits[:enough], slots[:enough], counts[:enough]
    start, stride = rng.integers(0, slots), 2 * rng.integers(0, slots) + 1
    row = np.repeat(np.arange(len(fits)), counts)[:most]
    nth = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
    slot = (start[row] + nth * stride[row]) & (slots[row] - 1)
    parent = fits[row]
    parents.is_leaf[parent] = False
    bits = parents.bits[parent] - steps[parent]
    return Nest(
        first=parents.first[parent] + (slot.astype(np.uint64) << bits.astype(np.uint64)),
        bits=bits,
        owner=parents.owner[parent],
        is_leaf=np.ones(len(parent), np.bool_),
    )


def grown(rng: np.random.Generator, pools: Nest, count: int, growth: Growth) -> Nest:
    """Divide pools until there are so many ranges, the pools included."""
    levels = [pools.taken(np.arange(min(len(pools), count)))]
    missing = count - len(levels[0])
    while missing:
        children = divided(rng, levels[-1], missing, growth)
        if not len(children):
            raise ValueError(f"{len(pools)} pools do not hold {count} ranges")
        if len(levels) <= growth.owner_level:
            children.owner[:] = np.arange(len(children))
        levels.append(children)
        missing -= len(children)
    return joined(levels)


def ipv4_pools(
    rng: np.random.Generator, octets: tuple[int, ...], count: int, ranges_a_pool: int = RANGES_A_POOL
) -> Nest:
    """Open as many pools as so many ranges need; a few ranges share a small pool, so that they nest too."""
    wanted = min(len(octets), count // ranges_a_pool + 1)
    chosen = np.sort(rng.permutation(np.array(octets, np.uint64))[:wanted]) << np.uint64(POOL_BITS)
    return pools_of(chosen, POOL_BITS if count > FEW_RANGES else FEW_BITS)


def pools_of(first: NDArray[np.uint64], bits: int) -> Nest:
    """Make pools of one size."""
    return Nest(
        first=first,
        bits=np.full(len(first), bits, np.int8),
        owner=np.arange(len(first), dtype=np.int32),
        is_leaf=np.ones(len(first), np.bool_),
    )


def cut_short(
    rng: np.random.Generator, nest: Nest, share: float
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return the last addresses, those of some leaves cut by up to a quarter of the range; also tell which.

    Of 8 addresses 6 or 7 are left, which is no prefix.
    """
    last = nest.last
    fit = np.flatnonzero(nest.is_leaf & (nest.bits >= 3))
    rows = rng.permutation(fit)[: round(share * len(nest))]
    quarter = np.uint64(1) << (nest.bits[rows] - 2).astype(np.uint64)
    last[rows] -= rng.integers(1, quarter, endpoint=True, dtype=np.uint64)
    is_cut = np.zeros(len(nest), np.bool_)
    is_cut[rows] = True
    return last, is_cut


def subnets(count: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Draw IPv4 ranges that nest, no two alike, in random order: first and last addresses.

    A million of them lie in all /8s that hosts can have, as IANA has handed all of those out.
    """
    rng = np.random.default_rng(seed)
    octets = tuple(octet for octet in range(1, 224) if octet not in (10, 127))
    nest = grown(rng, ipv4_pools(rng, octets, count, RANGES_A_SPREAD_POOL), count, IPV4)
    last, _ = cut_short(rng, nest, NOT_A_PREFIX)
    order = rng.permutation(count)
    return nest.first.astype(np.uint32)[order], last.astype(np.uint32)[order]
