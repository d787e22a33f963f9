"""Reports from a store."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from ipmicra.app.report.data import Flag
from ipmicra.app.report.loaders.store import StoreContents
from ipmicra.edge.store.ports import DelegationRecord, Member
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Capacity, Crawler, CrawlerState
from ipmicra.model.delegation import Decision, Delegation, Evidence
from ipmicra.model.location import Location
from ipmicra.model.sample import Sample

PLACE = Location(latitude=38.0, longitude=23.7, radius_km=20.0, country="GR")


def result(host: str, number: int, crawler: str, *, probes: int = 0, rtt_ms: float | None = 5.0) -> Decision:
    return Decision(
        host=host,
        address=ip_address(f"10.0.{number}.1"),
        first=ip_address(f"10.0.{number}.0"),
        last=ip_address(f"10.0.{number}.255"),
        crawler=crawler,
        evidence=Evidence.PROBED if probes else Evidence.INHERITED,
        rtt_ms=rtt_ms,
        probes=probes,
    )


def assignment(host: str, number: int, crawler: str | None, **more: object) -> Assignment:
    address = ip_address(f"10.0.{number}.1")
    fields = {"reason": "nearest", "backend": "balance", "expected_ms": 30.0, "pages": 7, **more}
    return Assignment(host=host, address=address, crawler=crawler, **fields)  # type: ignore[arg-type]


@pytest.fixture
def store(memory_store: Store) -> Store:
    store = memory_store
    states = (CrawlerState.JOINED, CrawlerState.JOINED, CrawlerState.LEFT, CrawlerState.LEFT)
    for number, (name, state) in enumerate(zip(("ath", "ber", "old", "gone"), states, strict=True), 1):
        address = ip_address(f"192.0.2.{number}")
        capacity = Capacity(connections=number)
        member = Member(crawler=Crawler(name=name, address=address, capacity=capacity, state=state))
        store.crawlers.put(member)
    first = store.batches.begin("one", "delegate a", 10.0)
    store.results.add_many(first.id, [result("a.example", 1, "ber", probes=3), result("b.example", 2, "old")])
    store.batches.end(first.id, 11.0)
    second = store.batches.begin("two", "delegate b", 20.0)
    store.results.add_many(
        second.id,
        [result("a.example", 1, "ath", probes=1), result("c.example", 3, "ber", probes=2, rtt_ms=None)],
    )
    delegation = Delegation(
        first=ip_address("10.0.1.0"),
        last=ip_address("10.0.1.255"),
        crawler="ath",
        evidence=Evidence.PROBED,
        rtt_ms=5.0,
        probes=1,
        created_s=0.0,
        expires_s=100.0,
    )
    store.delegations.put_many([DelegationRecord(delegation=delegation, location=PLACE)])
    return store


def test_each_site_has_what_it_got_last_with_all_its_probes(store: Store) -> None:
    data = StoreContents(store=store).load()
    assert [one.name for one in data.crawlers] == ["ath", "ber", "old"], "who left counts if it has a site"
    assert data.crawlers[1].capacity.connections == 2
    a, b, c = data.sites
    assert (a.host, a.crawler, a.probes, a.place) == ("a.example", 0, 4, PLACE)
    assert (b.crawler, b.is_expected) == (2, True)
    assert (c.crawler, c.flag) == (1, Flag.UNPROBEABLE)
    assert a.subnet is not None
    assert a.subnet.label == "10.0.1.0/24"
    assert data.policy == "delegated"


def test_a_batch_has_its_own_sites_only(store: Store) -> None:
    data = StoreContents(store=store, batch=2).load()
    assert [(one.host, one.probes) for one in data.sites] == [("a.example", 1), ("c.example", 2)]


def test_last_batch_without_sites_is_not_called_an_empty_store(store: Store) -> None:
    third = store.batches.begin("three", "delegate 10.0.0.0/8", 30.0)
    with pytest.raises(InputError, match="without --last"):
        StoreContents(store=store, batch=third.id).load()


def test_assignments_have_the_last_word(store: Store) -> None:
    store.samples.add_many([Sample(crawler="ber", address=ip_address("10.0.1.1"), rtt_ms=30.0)])
    store.assignments.put_many(
        [
            assignment("a.example", 1, "ber", assigned_s=30.0),
            assignment("d.example", 4, "ath", assigned_s=30.0, expected_ms=None),
        ]
    )
    data = StoreContents(store=store).load()
    by_host = {one.host: one for one in data.sites}
    a, d = by_host["a.example"], by_host["d.example"]
    assert (a.crawler, a.rtt_ms, a.is_expected, a.evidence) == (1, 30.0, False, Evidence.PROBED)
    assert (a.probes, a.pages, a.place) == (4, 7, PLACE)
    assert (d.crawler, d.rtt_ms, d.is_expected, d.probes) == (0, None, True, None)
    assert by_host["b.example"].crawler == 2
    assert data.policy == "assigned"
    assert "2 of 4 sites" in data.notes[0]


def test_pieces_are_shown_one_by_one(store: Store) -> None:
    pieces = [
        assignment("a.example", 1, name, piece=i, of=2, pages=9) for i, name in enumerate(("ath", "ber"), 1)
    ]
    store.assignments.put_many(pieces)
    shown = [one for one in StoreContents(store=store).load().sites if one.host.startswith("a.example")]
    assert [one.host for one in shown] == ["a.example (piece 1 of 2)", "a.example (piece 2 of 2)"]
    assert [one.crawler for one in shown] == [0, 1]
    assert [one.probes for one in shown] == [4, 0], "probes count once"


def test_assignments_older_than_a_batch_do_not_change_it(store: Store) -> None:
    store.assignments.put_many(
        [
            assignment("a.example", 1, "ber", assigned_s=15.0),
            assignment("c.example", 3, "ath", assigned_s=25.0),
        ]
    )
    data = StoreContents(store=store, batch=2).load()
    assert [(one.host, one.crawler) for one in data.sites] == [("a.example", 0), ("c.example", 0)]


def test_empty_store_is_told_with_the_next_step(memory_store: Store) -> None:
    with pytest.raises(InputError, match="`ipmicra delegate SEEDS`"):
        StoreContents(store=memory_store).load()
