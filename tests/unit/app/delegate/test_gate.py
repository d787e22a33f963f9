"""Few subnets of a parent at a time."""

from __future__ import annotations

from ipaddress import ip_address

from ipmicra.app.delegate.driver import Gate
from ipmicra.model.site import Site
from tests.fakes.subnet_tree import ListedTree, listed

TREE = ListedTree(
    [listed("10.0.0.0/8", 0), listed("10.0.0.0/24", 1), listed("10.0.1.0/24", 1), listed("10.0.2.0/24", 1)]
)


def site(text: str) -> Site:
    return Site(text, ip_address(text))


def test_siblings_share_a_parent_and_top_level_subnets_do_not() -> None:
    gate = Gate(TREE, 1)
    assert gate.parent_of(site("10.0.0.1")) == gate.parent_of(site("10.0.2.1")) == 1
    assert gate.parent_of(site("10.9.9.9")) is None


def test_slices_beside_each_other_share_a_parent() -> None:
    gate = Gate(TREE, 1)
    assert gate.parent_of(site("80.1.2.3")) == gate.parent_of(site("80.1.9.9"))
    assert gate.parent_of(site("80.1.2.3")) != gate.parent_of(site("80.2.2.3"))


def test_sites_wait_until_an_attempt_of_their_parent_is_over() -> None:
    gate = Gate(TREE, 1)
    assert not gate.is_full(1)
    gate.opened(7, 1)
    gate.opened(7, 1)
    assert gate.is_full(1)
    gate.hold_back(1, site("10.0.1.1"))
    gate.hold_back(1, site("10.0.2.1"))
    assert gate.held_back == 2
    assert gate.closed(8) == []
    assert gate.closed(7) == [site("10.0.1.1"), site("10.0.2.1")]
    assert (gate.held_back, gate.is_full(1), gate.closed(7)) == (0, False, [])


def test_emptied_gate_gives_all_who_waited() -> None:
    gate = Gate(TREE, 1)
    gate.opened(1, 1)
    gate.hold_back(1, site("10.0.1.1"))
    assert gate.empty() == [site("10.0.1.1")]
    assert (gate.held_back, gate.closed(1)) == (0, [])


def test_what_has_no_parent_is_never_held_back() -> None:
    gate = Gate(TREE, 1)
    gate.opened(1, None)
    assert not gate.is_full(None)
