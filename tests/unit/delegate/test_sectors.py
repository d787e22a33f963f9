"""Sectors deal out whole subtrees."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv4Address, ip_address

from hypothesis import given
from hypothesis import strategies as st

from ipmicra.delegate.sectors import SECTORS, sector_of
from ipmicra.delegate.subnets import bounds_of, key_of
from tests.fakes.subnet_tree import ListedTree, listed

TREE = ListedTree(
    [
        listed("10.0.0.0/8", 0),
        listed("10.1.0.0/16", 1),
        listed("10.1.2.0/25", 2),
        listed("11.0.0.0/9", 0),
        listed("11.0.7.128/25", 4),
    ]
)
REGISTERED = st.integers(int(ip_address("10.0.0.0")), int(ip_address("11.127.255.255"))).map(IPv4Address)
ANY = st.integers(0, 2**32 - 1).map(IPv4Address)


@given(one=REGISTERED, other=REGISTERED)
def test_addresses_of_one_subtree_have_one_sector(one: IPv4Address, other: IPv4Address) -> None:
    is_same = one.packed[0] == other.packed[0]
    assert not is_same or sector_of(TREE, one) == sector_of(TREE, other)


@given(ANY)
def test_what_is_delegated_for_an_unregistered_address_lies_in_its_sector(address: IPv4Address) -> None:
    key = key_of(TREE, address)
    if key < 0:
        first, last = bounds_of(TREE, key)
        assert sector_of(TREE, first) == sector_of(TREE, last) == sector_of(TREE, address)


def test_many_subtrees_are_dealt_out_evenly() -> None:
    tree = ListedTree([listed(f"{i}.{j}.0.0/16", 0) for i in range(1, 9) for j in range(256)])
    sizes = Counter(
        sector_of(tree, ip_address(f"{i}.{j}.0.1")) for i in range(1, 9) for j in range(256)
    ).values()
    assert len(sizes) == SECTORS
    assert max(sizes) <= 3 * 2048 / SECTORS
