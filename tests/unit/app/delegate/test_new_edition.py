"""Delegations brought into another edition, as the store sees it."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_network

from ipmicra.app.delegate.new_edition import EDITION, carry_delegations
from ipmicra.edge.store.ports import DelegationRecord, EndedDelegation
from ipmicra.edge.store.store import Store
from ipmicra.model.delegation import Delegation, Evidence
from tests.fakes.subnet_tree import ListedTree, listed

WIDE = IPv4Address("10.0.0.0"), IPv4Address("10.0.1.255")


def record(prefix: str, crawler: str, created_s: float = 1.0) -> DelegationRecord:
    block = ip_network(prefix)
    one = Delegation(
        first=block[0],
        last=block[-1],
        crawler=crawler,
        evidence=Evidence.PROBED,
        rtt_ms=1.0,
        probes=1,
        created_s=created_s,
        expires_s=9.0,
    )
    return DelegationRecord(delegation=one, address=block[0])


def carried(store: Store, tree: ListedTree, *records: DelegationRecord) -> list[str]:
    store.meta.set(EDITION, "old")
    store.delegations.put_many(records)
    return carry_delegations(store, tree, "new", 5.0).lines()


def history_of(store: Store, one: DelegationRecord) -> list[EndedDelegation]:
    return store.delegations.history(one.delegation.first, one.delegation.last)


def test_loser_of_a_merge_is_named_and_stays_in_the_history(memory_store: Store) -> None:
    tree = ListedTree([listed("10.0.0.0/23", 0)])
    before = record("10.0.0.0/24", "ath"), record("10.0.1.0/24", "nyc", 3.0)
    store, lines = memory_store, carried(memory_store, tree, *before)
    (held,) = store.delegations.all()
    assert (held.delegation.first, held.delegation.last, held.delegation.crawler) == (*WIDE, "nyc")
    assert held.delegation.evidence is Evidence.INHERITED
    assert "2 delegations carried over (2 merged)" in lines[0]
    assert lines[1:] == [
        "10.0.0.0 - 10.0.0.255 was ath's; its range now belongs to nyc, which had the better claim"
    ]
    assert [len(history_of(store, one)) for one in before] == [1, 1]
    assert store.meta.get(EDITION) == "new"


def test_split_subnet_leaves_its_crawler_to_all_parts(memory_store: Store) -> None:
    tree = ListedTree([listed("10.0.0.0/24", 0), listed("10.0.1.0/24", 0)])
    store, lines = memory_store, carried(memory_store, tree, record("10.0.0.0/23", "ath"))
    assert [one.delegation.crawler for one in store.delegations.all()] == ["ath", "ath"]
    assert "1 split" in lines[0]
    (ended,) = store.delegations.history(*WIDE)
    assert ended.reason == "a new edition of the hierarchy: split"


def test_same_subnets_and_single_addresses_stay_as_they_are(memory_store: Store) -> None:
    tree = ListedTree([listed("10.0.0.0/24", 0)])
    before = record("10.0.0.0/24", "ath"), record("10.0.0.7/32", "nyc")
    store, lines = memory_store, carried(memory_store, tree, *before)
    assert list(store.delegations.all()) == list(before)
    assert lines == ["the hierarchy has changed: 2 delegations carried over (2 same)"]
    assert [history_of(store, one) for one in before] == [[], []]


def test_first_edition_and_the_same_edition_say_nothing(memory_store: Store) -> None:
    store, tree = memory_store, ListedTree([])
    assert carry_delegations(store, tree, "one", 1.0).lines() == []
    store.delegations.put_many([record("10.0.0.0/24", "ath")])
    assert carry_delegations(store, tree, "one", 2.0).lines() == []
    assert store.delegations.count() == 1
