"""Delegations go over to a new edition, and nothing is dropped without a word."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_network

from hypothesis import given
from hypothesis import strategies as st

from ipmicra.delegate.carry import Fate, carry_over
from ipmicra.model.delegation import Delegation, Evidence
from tests.fakes.subnet_tree import ListedTree, listed


def held(
    prefix: str, crawler: str = "a", created_s: float = 0.0, evidence: Evidence = Evidence.PROBED
) -> Delegation:
    network = ip_network(prefix)
    return Delegation(
        first=network[0],
        last=network[-1],
        crawler=crawler,
        evidence=evidence,
        rtt_ms=5.0,
        probes=2,
        created_s=created_s,
        expires_s=1e9,
    )


def test_subnet_with_the_same_bounds_keeps_its_delegation() -> None:
    old = held("10.0.1.0/24")
    report = carry_over([old], ListedTree([listed("10.0.0.0/16", 0), listed("10.0.1.0/24", 1)]))
    assert report.delegations == {2: old}
    assert report.counts == {Fate.SAME: 1}


def test_each_part_of_a_split_subnet_inherits() -> None:
    report = carry_over(
        [held("10.0.0.0/24")], ListedTree([listed("10.0.0.0/25", 0), listed("10.0.0.128/25", 0)])
    )
    assert report.counts == {Fate.SPLIT: 1}
    assert {key: (one.crawler, one.evidence) for key, one in report.delegations.items()} == {
        1: ("a", Evidence.INHERITED),
        2: ("a", Evidence.INHERITED),
    }


def test_wider_subnet_inherits_from_the_newer_of_two_and_the_report_names_the_other() -> None:
    tree = ListedTree([listed("10.0.0.0/16", 0)])
    report = carry_over([held("10.0.0.0/24", "old", 1.0), held("10.0.1.0/24", "new", 2.0)], tree)
    assert report.counts == {Fate.MERGED: 2}
    assert report.delegations[1].crawler == "new"
    assert str(report.delegations[1].last) == "10.0.255.255"
    assert {one.old.crawler: (one.keys, one.lost_to) for one in report.carried} == {
        "old": ((), "new"),
        "new": ((1,), None),
    }


def test_sampled_delegation_beats_a_newer_guess() -> None:
    tree = ListedTree([listed("10.0.0.0/16", 0)])
    guess = held("10.0.1.0/24", "guess", 9.0, Evidence.GEOLOCATED)
    assert carry_over([guess, held("10.0.0.0/24", "sampled", 1.0)], tree).delegations[1].crawler == "sampled"


def test_subnet_whose_bounds_moved_goes_with_its_first_address() -> None:
    report = carry_over([held("10.0.0.0/24")], ListedTree([listed("10.0.0.0 - 10.0.0.99", 0)]))
    assert report.counts == {Fate.MOVED: 1}
    assert str(report.delegations[1].last) == "10.0.0.99"


def test_slice_outside_the_hierarchy_stays_a_slice() -> None:
    old = held("203.0.113.0/24")
    report = carry_over([old], ListedTree([listed("10.0.0.0/8", 0)]))
    assert report.counts == {Fate.SAME: 1}
    assert list(report.delegations.values()) == [old]


prefixes = st.builds(
    lambda start, length: str(ip_network((IPv4Address(10 * 2**24 + start * 64), length), strict=False)),
    st.integers(0, 63),
    st.integers(22, 28),
)


@given(
    old=st.lists(st.tuples(prefixes, st.sampled_from("abc")), unique_by=lambda pair: pair[0]),
    new=st.sets(prefixes),
)
def test_every_delegation_is_accounted_for(old: list[tuple[str, str]], new: set[str]) -> None:
    tree = nested(new)
    delegations = [held(prefix, crawler, float(i)) for i, (prefix, crawler) in enumerate(old)]
    report = carry_over(delegations, tree)
    assert sorted(str(one.old.first) for one in report.carried) == sorted(
        str(one.first) for one in delegations
    )
    assert sum(report.counts.values()) == len(delegations)
    for one in report.carried:
        assert (
            one.keys
            or one.lost_to
            or one.old.crawler in {kept.crawler for kept in report.delegations.values()}
        )
    assert carry_over(delegations[::-1], tree).delegations == report.delegations


def nested(prefixes: set[str]) -> ListedTree:
    """Nest prefixes, which never overlap in part."""
    networks = sorted(
        (ip_network(prefix) for prefix in prefixes), key=lambda one: (int(one[0]), one.prefixlen)
    )
    rows = []
    for i, network in enumerate(networks):
        above = [j for j in range(i) if network.subnet_of(networks[j])]  # type: ignore[arg-type]
        rows.append(listed(str(network), above[-1] + 1 if above else 0))
    return ListedTree(rows)
