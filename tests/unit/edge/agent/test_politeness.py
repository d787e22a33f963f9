"""Limits on how often an address and its block are probed."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.pace.limiter import PolitenessConfig, RateLimiter

A = ip_address("192.0.2.1")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def limiter(clock: Clock, **more: float) -> RateLimiter:
    return RateLimiter(PolitenessConfig(**more), clock)  # type: ignore[arg-type]


def test_three_at_once_and_then_one_a_second() -> None:
    turns = limiter(Clock())
    assert [turns.reserve(A, 60) for _ in range(6)] == [0, 0, 0, 1, 2, 3]


def test_order_for_many_samples_counts_as_several_probes() -> None:
    """Three connections are one probe, so ten are a little more than the burst of three."""
    turns = limiter(Clock())
    waits = [turns.reserve(A, 60, samples) for samples in (3, 6, 1, 10, 1)]
    assert waits[:3] == [0, 0, 1]
    assert waits[3:] == pytest.approx([4, 5 + 1 / 3])


def test_order_for_more_samples_than_the_burst_waits_only_for_others() -> None:
    assert limiter(Clock(), burst=1).reserve(A, 0, 10) == 0


def test_pause_brings_the_burst_back() -> None:
    clock = Clock()
    turns = limiter(clock)
    for _ in range(3):
        turns.reserve(A, 60)
    clock.now += 10
    assert [turns.reserve(A, 60) for _ in range(4)] == [0, 0, 0, 1]


def test_turn_beyond_the_patience_is_not_taken() -> None:
    turns = limiter(Clock())
    for _ in range(3):
        turns.reserve(A, 0)
    assert turns.reserve(A, 0.5) is None
    assert turns.reserve(A, 1.0) == 1.0


def test_addresses_of_one_block_share_its_turns() -> None:
    turns = limiter(Clock())
    waits = [turns.reserve(ip_address(f"192.0.2.{i}"), 60) for i in range(5)]
    assert waits == [0, 0, 0, 1, 2]
    assert turns.reserve(ip_address("192.0.3.1"), 60) == 0
    six = [turns.reserve(ip_address(f"2001:db8:1:{i:x}::1"), 60) for i in range(4)]
    assert six == [0, 0, 0, 1]
    assert turns.reserve(ip_address("2001:db8:2::1"), 60) == 0


def test_memory_of_long_ago_is_dropped() -> None:
    clock = Clock()
    turns = limiter(clock, prune_at=10)
    for i in range(6):
        turns.reserve(ip_address(f"10.{i}.0.1"), 60)
        clock.now += 100
    assert len(turns._due) <= 10


@given(
    st.lists(
        st.tuples(st.sampled_from([A, ip_address("192.0.2.9"), ip_address("2001:db8::1")]), st.floats(0, 2)),
        max_size=40,
    )
)
def test_no_window_has_more_than_burst_and_rate_allow(
    arrivals: list[tuple[IPv4Address | IPv6Address, float]],
) -> None:
    """Slow twin: count the starts in every window."""
    clock = Clock()
    turns = limiter(clock)
    starts: dict[object, list[float]] = {}
    for address, gap in arrivals:
        clock.now += gap
        wait = turns.reserve(address, 1000)
        assert wait is not None
        starts.setdefault(address.version, []).append(clock.now + wait)
    for times in starts.values():
        ordered = sorted(times)
        for i, first in enumerate(ordered):
            for j in range(i, len(ordered)):
                assert j - i + 1 <= 3 + (ordered[j] - first) + 1e-6
