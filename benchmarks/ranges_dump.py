"""A dump of bare ranges, for hierarchies of an exact number of subnets."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address
from pathlib import Path

import numpy as np

from benchmarks.dump_styles import STYLES
from benchmarks.generate import subnets
from benchmarks.nested_ranges import IPV6, grown, pools_of

POOL_BITS6 = 44
"""A pool of IPv6 is a /20; sizes are counted in prefixes of 64 bits."""
MOST_POOLS6 = 256
RANGES_A_POOL6 = 500


def dotted(address: int) -> str:
    """Write an IPv4 address, quicker than `ipaddress` does."""
    return f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}"


def paragraphs4(count: int, seed: int) -> Iterator[str]:
    """Return registrations of IPv4 ranges that nest, in random order."""
    first, last = subnets(count, seed)
    for start, end in zip(first.tolist(), last.tolist(), strict=True):
        yield f"inetnum: {dotted(start)} - {dotted(end)}\nnetname: NET-{start % 1000}\nsource: RIPE\n\n"


def paragraphs6(count: int, seed: int) -> Iterator[str]:
    """Return registrations of IPv6 prefixes that nest."""
    numbers = np.arange(min(MOST_POOLS6, 1 + count // RANGES_A_POOL6), dtype=np.uint64)
    pools = (np.uint64(STYLES["ripe"].pool6) << np.uint64(52)) + (numbers << np.uint64(POOL_BITS6))
    nest = grown(np.random.default_rng(seed), pools_of(pools, POOL_BITS6), count, IPV6)
    for first, bits in zip(nest.first.tolist(), nest.bits.tolist(), strict=True):
        prefix = f"{IPv6Address(first << 64)}/{64 - bits}"
        yield f"inet6num: {prefix}\nnetname: NET-{first % 1000}\nsource: RIPE\n\n"


def write_ranges(path: Path, count4: int, count6: int, seed: int) -> None:
    """Write a plain dump of so many ranges of each family."""
    with path.open("w", encoding="ascii") as file:
        file.writelines(paragraphs4(count4, seed))
        file.writelines(paragraphs6(count6, seed))
