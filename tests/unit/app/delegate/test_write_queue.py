"""The write queue: one transaction, and decisions handed on only after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address

import pytest

from ipmicra.app.delegate.write_queue import WriteQueue
from ipmicra.delegate.actions import CrawlerChecked
from ipmicra.edge.store.ports import DelegationRecord
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import TrackRecord
from ipmicra.model.delegation import Decision, Delegation, Evidence
from ipmicra.model.sample import ImplausibleSample

FIRST, LAST = IPv4Address("10.0.0.0"), IPv4Address("10.0.0.255")
ONE = Delegation(
    first=FIRST,
    last=LAST,
    crawler="ath",
    evidence=Evidence.PROBED,
    rtt_ms=4.0,
    probes=1,
    created_s=1.0,
    expires_s=9.0,
)
DECISION = Decision(
    host="a.example",
    address=FIRST,
    first=FIRST,
    last=LAST,
    crawler="ath",
    evidence=Evidence.PROBED,
    rtt_ms=4.0,
    probes=1,
)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open("sqlite://") as opened:
        yield opened


def test_decision_is_handed_on_only_after_it_is_written(store: Store) -> None:
    seen: list[tuple[Decision, int]] = []
    queue = WriteQueue(store, 1, lambda one: seen.append((one, store.results.count(1))))
    queue.delegate(DelegationRecord(delegation=ONE))
    queue.decisions.append(DECISION)
    assert (queue.rows, seen, store.results.count(1)) == (2, [], 0)
    queue.flush(2.0)
    assert seen == [(DECISION, 1)]
    assert store.delegations.get(FIRST, LAST) == DelegationRecord(delegation=ONE)
    queue.flush(3.0)
    assert len(seen) == 1


def test_nothing_is_written_and_nothing_handed_on_if_the_store_fails(store: Store) -> None:
    seen: list[Decision] = []
    queue = WriteQueue(store, 1, seen.append)
    queue.delegate(DelegationRecord(delegation=ONE))
    queue.decisions.append(DECISION)
    store.connection.execute("DROP TABLE track_records")
    with pytest.raises(Exception, match="track_records"):
        queue.flush(2.0)
    assert (seen, store.delegations.count()) == ([], 0)


def test_delegation_that_ends_before_it_was_written_is_in_the_history(store: Store) -> None:
    queue = WriteQueue(store, 1, lambda _: None)
    queue.delegate(DelegationRecord(delegation=ONE))
    queue.end(ONE, "it expired", 5.0)
    queue.flush(6.0)
    assert store.delegations.count() == 0
    (ended,) = store.delegations.history(FIRST, LAST)
    assert (ended.record.delegation, ended.reason) == (ONE, "it expired")


def test_renewal_changes_the_end_and_never_stores_what_was_not_stored(store: Store) -> None:
    queue = WriteQueue(store, 1, lambda _: None)
    queue.renew(replace(ONE, expires_s=99.0))
    queue.flush(2.0)
    assert store.delegations.count() == 0
    queue.delegate(DelegationRecord(delegation=ONE))
    queue.renew(replace(ONE, expires_s=99.0))
    queue.flush(3.0)
    found = store.delegations.get(FIRST, LAST)
    assert found is not None
    assert found.delegation.expires_s == 99.0


def test_last_record_of_a_crawler_and_all_its_implausible_samples_are_kept(store: Store) -> None:
    queue = WriteQueue(store, 1, lambda _: None)
    sample = ImplausibleSample(crawler="ath", address=FIRST, rtt_ms=1.0, least_ms=9.0, at_s=2.0)
    queue.check(CrawlerChecked("ath", TrackRecord(checked=1, implausible=1), sample))
    queue.check(CrawlerChecked("ath", TrackRecord(checked=2, implausible=1)))
    queue.flush(3.0)
    assert store.track_records.all() == {"ath": TrackRecord(checked=2, implausible=1)}
    assert store.track_records.rejected() == [sample]
