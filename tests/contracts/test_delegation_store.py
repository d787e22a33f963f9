"""The contract of every store: delegations, batches, decisions, track records and grafts."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.edge.store.ports import (
    DelegationRecord,
    EndedDelegation,
    Graft,
    OrderRecord,
    StorePort,
)
from ipmicra.model.address import Address
from ipmicra.model.crawler import TrackRecord
from ipmicra.model.delegation import Decision, Delegation, Evidence
from ipmicra.model.location import Location
from ipmicra.model.sample import ImplausibleSample, Loss, Sample
from tests.contracts.stores import QUICK, open_store
from tests.examples import at_most

A, Z = IPv4Address("192.0.2.0"), IPv4Address("192.0.2.255")
SIX, SIX_END = IPv6Address("2001:db8::"), IPv6Address("2001:db8::ffff")


def record(first: Address = A, last: Address = Z, crawler: str = "ath", **more: object) -> DelegationRecord:
    words: dict[str, object] = {
        "evidence": Evidence.PROBED,
        "rtt_ms": 12.5,
        "probes": 2,
        "created_s": 1.0,
        "expires_s": 9.0,
        **more,
    }
    return DelegationRecord(delegation=Delegation(first=first, last=last, crawler=crawler, **words))  # type: ignore[arg-type]


def result(host: str, crawler: str = "ath") -> Decision:
    return Decision(
        host=host,
        address=A,
        first=A,
        last=Z,
        crawler=crawler,
        evidence=Evidence.INHERITED,
        rtt_ms=None,
        probes=0,
    )


def test_delegation_comes_back_with_its_account(store: StorePort) -> None:
    account = (
        Considered(crawler="ath", verdict=Verdict.CHOSEN, reason="nächster", rtt_ms=3.5),
        Considered(crawler="nyc", verdict=Verdict.ASKED, reason="why", loss=Loss.TIMEOUT, expected_ms=8.0),
        Considered(crawler="fra", verdict=Verdict.NOT_ASKED, reason="", saving_ms=0.1),
    )
    place = Location(latitude=1.5, longitude=-2.5, radius_km=5.0, country="GR")
    full = replace(record(), address=IPv4Address("192.0.2.7"), location=place, account=account)
    bare = record(SIX, SIX_END, rtt_ms=None, evidence=Evidence.ANYCAST)
    store.delegations.put_many([bare, full])
    assert store.delegations.get(A, Z) == full
    assert store.delegations.get(SIX, SIX_END) == bare
    assert store.delegations.get(A, A) is None
    assert store.delegations.count() == 2
    assert store.delegations.probes() == (2, 4)
    assert list(store.delegations.all()) == [replace(full, account=()), bare]


addresses = st.sampled_from([IPv4Address(0), A, Z, IPv4Address(2**32 - 1), SIX, IPv6Address(2**128 - 1)])


@pytest.mark.parametrize("name", QUICK)
@at_most(30)
@given(bounds=st.lists(st.tuples(addresses, addresses), unique=True))
def test_delegations_are_listed_by_address_the_wider_first(
    name: str, request: pytest.FixtureRequest, bounds: list[tuple[Address, Address]]
) -> None:
    with closing(open_store(name, Path(), request)) as store:
        whole = [(first, last) for first, last in bounds if first.version == last.version and first <= last]  # type: ignore[operator]
        store.delegations.put_many(record(first, last) for first, last in whole)
        listed = [(one.delegation.first, one.delegation.last) for one in store.delegations.all()]
        assert listed == sorted(whole, key=lambda b: (b[0].version == 6, int(b[0]), -int(b[1])))


def test_replaced_delegation_goes_into_the_history(store: StorePort) -> None:
    old, new = record(), record(crawler="nyc", created_s=5.0)
    store.delegations.put_many([old])
    store.delegations.put_many([new])
    assert store.delegations.get(A, Z) == new
    assert store.delegations.history(A, Z) == [
        EndedDelegation(record=old, ended_s=5.0, reason="decided anew")
    ]


def test_renewed_delegation_lasts_longer_and_leaves_no_history(store: StorePort) -> None:
    store.delegations.put_many([record()])
    renewed = record(expires_s=99.0, checked_s=4.0)
    store.delegations.renew_many([renewed.delegation, record(A, A, expires_s=5.0).delegation])
    assert store.delegations.get(A, Z) == renewed
    assert store.delegations.history(A, Z) == []
    assert store.delegations.count() == 1


def test_ended_delegation_is_gone_and_remembered_with_its_reason(store: StorePort) -> None:
    store.delegations.put_many([record(), record(SIX, SIX_END)])
    store.delegations.end_many([((A, Z), "its crawler left"), ((A, A), "never was")], 7.0)
    store.delegations.put_many([record(crawler="fra", created_s=8.0)])
    store.delegations.end_many([((A, Z), "it expired")], 9.0)
    assert store.delegations.get(A, Z) is None
    ends = [
        (one.record.delegation.crawler, one.ended_s, one.reason) for one in store.delegations.history(A, Z)
    ]
    assert ends == [("ath", 7.0, "its crawler left"), ("fra", 9.0, "it expired")]
    assert store.delegations.history(SIX, SIX_END) == []


def test_batch_that_was_not_ended_is_taken_up_again(store: StorePort) -> None:
    first = store.batches.begin("key", "delegate a.txt", 1.0)
    assert store.batches.begin("key", "delegate a.txt", 2.0) == first
    other = store.batches.begin("other", "delegate b.txt", 2.0)
    store.batches.end(first.id, 3.0)
    again = store.batches.begin("key", "delegate a.txt", 4.0)
    assert len({first.id, other.id, again.id}) == 3
    assert [(one.key, one.ended_s) for one in store.batches.all()] == [
        ("key", 3.0),
        ("other", None),
        ("key", None),
    ]


def test_batch_whose_ending_is_taken_back_is_resumed(store: StorePort) -> None:
    first = store.batches.begin("key", "delegate a.txt", 1.0)
    store.batches.end(first.id, 3.5)
    store.batches.reopen(first.id, 3.0)
    assert store.batches.all()[0].ended_s == 3.5, "another ending is not meant"
    store.batches.reopen(first.id, 3.5)
    assert store.batches.begin("key", "delegate a.txt", 4.0) == first


def test_result_of_a_host_is_kept_once_in_a_batch(store: StorePort) -> None:
    store.results.add_many(1, [result("a.example"), result("b.example")])
    store.results.add_many(1, [result("a.example", "nyc")])
    store.results.add_many(2, [result("a.example", "fra")])
    assert store.results.of(1, ["a.example", "c.example"]) == {"a.example": result("a.example")}
    assert list(store.results.all(1)) == [result("a.example"), result("b.example")]
    assert store.results.latest("a.example") == result("a.example", "fra")
    assert store.results.latest("c.example") is None
    many = ["a.example", "b.example", "c.example"]
    found = {host: store.results.latest(host) for host in many}
    assert store.results.latest_many(many) == {host: one for host, one in found.items() if one is not None}
    assert (store.results.count(1), store.results.count(2), store.results.count(3)) == (2, 1, 0)


def test_mark_of_results_changes_when_one_is_added_or_forgotten(store: StorePort) -> None:
    marks = [store.results.mark()]
    store.results.add_many(1, [result("a.example"), result("b.example")])
    marks.append(store.results.mark())
    store.results.forget(["b.example"], [])
    marks.append(store.results.mark())
    store.results.add_many(1, [result("b.example")])  # may get the number of the one that is gone
    marks.append(store.results.mark())
    assert len(set(marks)) == len(marks)
    assert store.results.forget(["c.example"], []) == 0
    assert store.results.mark() == marks[-1]


def test_more_hosts_than_sqlite_takes_variables_are_found(store: StorePort) -> None:
    hosts = [f"{i}.example" for i in range(1500)]
    store.results.add_many(1, [result(host) for host in hosts])
    assert sorted(store.results.of(1, hosts)) == sorted(hosts)


def test_implausible_sample_of_a_pair_is_kept_once(store: StorePort) -> None:
    one = ImplausibleSample(crawler="ath", address=A, rtt_ms=0.1, least_ms=20.0, at_s=1.0)
    other = ImplausibleSample(crawler="ath", address=SIX, rtt_ms=0.2, least_ms=30.0, at_s=2.0)
    store.track_records.reject_many([one, other])
    store.track_records.reject_many([replace(one, at_s=5.0)])
    assert store.track_records.rejected() == [one, other]


def test_record_of_a_crawler_is_replaced_by_its_newer_one(store: StorePort) -> None:
    assert store.track_records.all() == {}
    ath, nyc = TrackRecord(since_s=1.0, checked=203, implausible=3), TrackRecord(checked=1)
    store.track_records.put_many([("ath", TrackRecord(since_s=1.0, checked=1)), ("nyc", nyc)])
    store.track_records.put_many([("ath", ath)])
    assert store.track_records.all() == {"ath": ath, "nyc": nyc}


def test_graft_is_replaced_by_a_newer_answer(store: StorePort) -> None:
    wide = Graft(first=A, last=Z, handle="ORG-1", name="Alpha", country="GR", asked_s=1.0)
    narrow = Graft(first=A, last=A, handle=None, name=None, country=None, asked_s=1.0)
    store.grafts.put(narrow)
    store.grafts.put(wide)
    store.grafts.put(replace(wide, asked_s=2.0))
    assert store.grafts.all() == [replace(wide, asked_s=2.0), narrow]
    assert (wide.is_known, narrow.is_known) == (True, False)


def test_orders_are_told_apart_by_whether_they_were_answered(store: StorePort) -> None:
    store.budget.open("b", None)
    orders = [OrderRecord(id=f"o{i}", crawler="ath", address=A) for i in range(3)]
    store.budget.reserve("b", orders, 1.0)
    store.budget.answer(["o1"], 2.0)
    assert [one.id for one in store.budget.answered("b")] == ["o1"]
    assert [one.id for one in store.budget.unanswered("b")] == ["o0", "o2"]


def test_newest_samples_come_oldest_first(store: StorePort) -> None:
    taken = [Sample(crawler="ath", address=A, rtt_ms=1.0, taken_s=float(i)) for i in range(5)]
    for one in taken:
        store.samples.add_many([one])
    assert store.samples.newest(2) == taken[3:]
    assert store.samples.newest(9, since_s=2.0) == taken[2:]
    assert store.samples.newest(0) == []


def test_failed_transaction_leaves_no_delegation(store: StorePort) -> None:
    with suppress(RuntimeError), store.transaction():
        store.delegations.put_many([record()])
        store.results.add_many(1, [result("a.example")])
        raise RuntimeError
    assert store.delegations.count() == 0
    assert store.results.count(1) == 0
