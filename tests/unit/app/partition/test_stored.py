"""Delegations by address, against a slow twin."""

from __future__ import annotations

from ipaddress import ip_address

from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.partition.stored import narrowest
from ipmicra.edge.store.ports import DelegationRecord
from ipmicra.model.address import Address
from ipmicra.model.delegation import Delegation, Evidence

SIX = int(ip_address("2001:db8::"))


def record(version: int, first: int, bits: int) -> DelegationRecord:
    base = (first >> bits) << bits
    low, high = address(version, base), address(version, base + (1 << bits) - 1)
    own = Delegation(
        first=low, last=high, crawler="a", evidence=Evidence.PROBED, rtt_ms=None, probes=0, created_s=0.0,
        expires_s=1.0,
    )  # fmt: skip
    return DelegationRecord(delegation=own)


def address(version: int, number: int) -> Address:
    return ip_address((10 << 24) + number) if version == 4 else ip_address(SIX + number)


def key(one: Address) -> tuple[int, int]:
    return one.version, int(one)


numbers = st.tuples(st.sampled_from([4, 6]), st.integers(0, 255))


@given(st.lists(st.tuples(numbers, st.integers(0, 8)), max_size=20), st.lists(numbers, max_size=30))
def test_each_address_has_the_narrowest_delegation_that_holds_it(
    prefixes: list[tuple[tuple[int, int], int]], wanted: list[tuple[int, int]]
) -> None:
    bounds = {}
    for (version, first), bits in prefixes:
        made = record(version, first, bits)
        bounds[made.delegation.first, made.delegation.last] = made
    records = sorted(bounds.values(), key=lambda one: (key(one.delegation.first), -int(one.delegation.last)))
    addresses = [address(*one) for one in wanted]
    slow = {}
    for one in addresses:
        holding = [
            kept for kept in records if key(kept.delegation.first) <= key(one) <= key(kept.delegation.last)
        ]
        if holding:
            slow[one] = min(holding, key=lambda kept: int(kept.delegation.last) - int(kept.delegation.first))
    assert narrowest(records, addresses) == slow
