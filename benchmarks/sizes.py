"""How much is measured: in earnest, and quickly to see that all of it works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Sizes of everything that is generated or looked up."""

    dumps: dict[str, int]
    """Objects of each dump that is read and built, by style."""
    large: dict[str, int]
    """Objects of the dumps that together give ten million subnets."""
    large_subnets: int
    """Subnets that `large` must give at least."""
    subnets4: int
    """IPv4 subnets of the hierarchy in which peers look up too."""
    subnets6: int
    addresses: int
    """Addresses that are looked up at once."""
    single: int
    """Addresses that are looked up one by one."""
    ranges: int
    """Shuffled ranges that are nested."""
    loop_bytes: int
    """Text that a plain loop of Python goes through."""
    irrd_bytes: int
    """Text that IRRd's parser goes through."""
    web_hosts: int
    """Hosts of the invented national web that is partitioned."""
    cost_hosts: int
    """Hosts whose costs are worked out at once."""
    rounds: int
    """Times that each contestant has its turn."""
    short_rounds: int
    """The same where a turn takes little time."""
    is_quick: bool = False


FULL = Sizes(
    dumps={"ripe": 1_600_000, "apnic": 2_400_000, "arin": 600_000, "lacnic": 600_000, "statistics": 600_000},
    large={"ripe": 4_000_000, "apnic": 3_200_000, "arin": 2_400_000, "lacnic": 1_200_000},
    large_subnets=10_000_000,
    subnets4=1_000_000,
    subnets6=200_000,
    addresses=10_000_000,
    single=100_000,
    ranges=10_000_000,
    loop_bytes=100_000_000,
    irrd_bytes=20_000_000,
    web_hosts=100_000,
    cost_hosts=1_000_000,
    rounds=5,
    short_rounds=11,
)
QUICK = Sizes(
    dumps={"ripe": 20_000, "apnic": 20_000, "arin": 5000, "lacnic": 5000, "statistics": 5000},
    large={"ripe": 20_000, "apnic": 16_000, "arin": 12_000, "lacnic": 6000},
    large_subnets=50_000,
    subnets4=20_000,
    subnets6=4000,
    addresses=1_200_000,
    single=10_000,
    ranges=200_000,
    loop_bytes=4_000_000,
    irrd_bytes=1_000_000,
    web_hosts=10_000,
    cost_hosts=100_000,
    rounds=3,
    short_rounds=3,
    is_quick=True,
)
