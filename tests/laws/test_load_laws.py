"""Laws of loads: what is counted with every change is what a count of everything gives."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.assign.assign import AssignRequest, assign_seeds
from ipmicra.app.assign.expected_trips import StoredPlaces
from ipmicra.app.assign.recrawl import due_hosts
from ipmicra.assign.balance.load import believed_pages, fleet_loads
from ipmicra.assign.balance.recrawl import due_s, next_step
from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.keys import packed
from ipmicra.edge.store.migrations import MIGRATIONS, migrate
from ipmicra.edge.store.places import connect
from ipmicra.edge.store.ports import DelegationRecord, Member, StorePort
from ipmicra.edge.store.store import Store
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.location import Location
from ipmicra.model.recrawl import Recrawl
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site
from tests.contracts.stores import QUICK, open_store
from tests.examples import at_most

CRAWLERS = ("ath", "ber", "cdg")
HOSTS = tuple(f"{letter}.example" for letter in "abcdef")
PAGES = st.one_of(st.none(), st.integers(0, 5), st.sampled_from([7_000, 100_000_001, -3]))


@st.composite
def assignments(draw: st.DrawFn) -> list[Assignment]:
    """Return the assignments of some hosts, whole or in pieces, as one call of `put_many` keeps them."""
    found = []
    for host in draw(st.lists(st.sampled_from(HOSTS), unique=True)):
        of = draw(st.integers(1, 2))
        found += [
            Assignment(
                host=host,
                piece=piece,
                of=of,
                address=ip_address("192.0.2.1"),
                crawler=draw(st.sampled_from([None, *CRAWLERS])),
                reason="nearest",
                backend="balance",
                pages=draw(PAGES),
            )
            for piece in range(1, of + 1)
        ]
    return found


@pytest.mark.parametrize("kind", QUICK)
@at_most(25)
@given(st.lists(st.one_of(assignments(), st.sampled_from(HOSTS)), max_size=6))
def test_loads_are_those_of_all_assignments(
    kind: str,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
    steps: list[list[Assignment] | str],
) -> None:
    store = open_store(kind, Path(), request)
    try:
        for step in steps:
            if isinstance(step, str):
                store.assignments.forget([step])
            else:
                store.assignments.put_many(step)
            check_loads(store)
    finally:
        store.close()


def check_loads(store: StorePort) -> None:
    everything = store.assignments.all()
    assert store.assignments.loads() == fleet_loads(everything)
    pages = believed_pages([one.pages for one in everything]).pages
    for name in CRAWLERS:
        rows = [row for row, one in enumerate(everything) if one.crawler == name]
        sites, held = store.assignments.loads().held([name])
        assert (sites[0], held[0]) == (len(rows), pages[rows].sum())


@at_most(10)
@given(assignments())
def test_stores_of_before_are_counted_once(given_ones: list[Assignment]) -> None:
    connection = connect("sqlite://", ConnectionConfig())
    migrate(connection, tuple(one for one in MIGRATIONS if one.number < 31))
    store = Store(connection)
    columns = "host, vantage, piece, of, address, crawler, reason, backend, filters, assigned_s, pages"
    for one in given_ones:
        values = (
            one.host,
            "",
            one.piece,
            one.of,
            packed(one.address),
            one.crawler,
            "",
            "",
            "[]",
            0.0,
            one.pages,
        )
        connection.execute(f"INSERT INTO assignments ({columns}) VALUES (?,?,?,?,?,?,?,?,?,?,?)", values)
    migrate(connection)
    known = [replace(one, reason="", backend="") for one in given_ones]
    assert store.assignments.loads() == fleet_loads(known)
    store.close()


@st.composite
def schedules(draw: st.DrawFn) -> list[Recrawl]:
    hosts = draw(st.lists(st.sampled_from(HOSTS), unique=True))
    times = st.integers(0, 20).map(float)
    return [
        Recrawl(
            host=host,
            interval_s=draw(st.one_of(st.none(), st.integers(1, 9).map(float))),
            first_s=draw(times),
            submitted_s=draw(times),
            started_s=draw(st.one_of(st.none(), times)),
            crawled_s=draw(st.one_of(st.none(), times)),
        )
        for host in hosts
    ]


@at_most(30)
@given(schedules(), assignments(), st.integers(0, 30).map(float), st.sets(st.sampled_from(CRAWLERS)))
def test_due_hosts_are_those_of_all_schedules(
    schedule: list[Recrawl], known: list[Assignment], now_s: float, there: set[str]
) -> None:
    with Store.open("sqlite://") as store:
        store.recrawls.put_many(schedule)
        store.assignments.put_many(known)
        due = sorted((at, one.host) for at, one in zip(due_s(schedule).tolist(), schedule, strict=True))
        by_key = {one.key: one for one in schedule}
        orphans = [
            one.host
            for one in store.assignments.all()
            if one.crawler not in there and next_step(by_key.get(one.key), now_s, is_taken_over=True)
        ]
        slow = list(dict.fromkeys([*(host for at, host in due if at <= now_s), *orphans]))
        assert due_hosts(store, there, now_s) == slow


def fleet_store() -> Store:
    store = Store.open("sqlite://")
    for number, name in enumerate(CRAWLERS):
        store.crawlers.put(Member(crawler=Crawler(name=name, address=ip_address(f"192.0.2.{number + 1}"))))
    for number, host in enumerate(HOSTS):
        address = ip_address(f"198.51.100.{number + 1}")
        store.sites.put_many([Site(host, address)], 1.0)
        rtts = np.random.default_rng(number).uniform(5, 100, 3).tolist()
        store.samples.add_many(
            [
                Sample(crawler=name, address=address, rtt_ms=ms)
                for name, ms in zip(CRAWLERS, rtts, strict=True)
            ]
        )
    return store


class ReadingAll:
    """The slow twin of a table: whatever is asked for, everything is handed over."""

    def __init__(self, table: object) -> None:
        self._table = table

    def __getattr__(self, name: str) -> object:
        return getattr(self._table, name)

    def of_many(self, hosts: list[str]) -> dict[str, list[object]]:
        found: dict[str, list[object]] = {}
        for one in self._table.all():  # type: ignore[attr-defined]
            found.setdefault(one.host, []).append(one)
        return found

    def loads(self) -> object:
        return fleet_loads(self._table.all())  # type: ignore[attr-defined]


@at_most(15)
@given(
    assignments(),
    st.lists(st.sampled_from(HOSTS), min_size=1, unique=True),
    st.sampled_from(["balance", "lbi"]),
    st.booleans(),
)
def test_assigning_is_the_same_with_and_without_reading_what_exists(
    known: list[Assignment], asked: list[str], backend: str, is_due: bool
) -> None:
    """What is given to the rule, and so what it answers, does not depend on what else is in the store."""
    with fleet_store() as store:
        if backend == "lbi":
            mutual = [
                Sample(crawler=one, address=ip_address(f"192.0.2.{number + 1}"), rtt_ms=10.0 + 5 * number)
                for one in CRAWLERS
                for number in range(3)
                if CRAWLERS[number] != one
            ]
            store.samples.add_many(mutual)
        store.assignments.put_many(known)
        wanted = AssignRequest(texts=asked, backend=backend, is_kept=False, is_due_only=is_due)
        quick, _ = assign_seeds(store, wanted, clock=lambda: 100.0)
        quick_tables = store.assignments, store.recrawls
        store.assignments, store.recrawls = map(ReadingAll, quick_tables)  # type: ignore[assignment]
        slow, _ = assign_seeds(store, wanted, clock=lambda: 100.0)
        store.assignments, store.recrawls = quick_tables
        assert (quick.assignments, quick.findings, quick.turns) == (
            slow.assignments,
            slow.findings,
            slow.turns,
        )
        assert quick.trade == slow.trade


def test_places_are_those_of_all_delegations() -> None:
    """Of several delegations for one site the narrowest counts; one that says nothing does not."""
    site, other = ip_address("198.51.100.7"), ip_address("198.51.100.9")

    def record(first: str, last: str, latitude: float | None, rtt_ms: float | None) -> DelegationRecord:
        place = None if latitude is None else Location(latitude=latitude, longitude=1.0, radius_km=10.0)
        return DelegationRecord(
            delegation=Delegation(
                first=ip_address(first),
                last=ip_address(last),
                crawler="ath",
                evidence=Evidence.PROBED,
                rtt_ms=rtt_ms,
                probes=1,
                created_s=1.0,
                expires_s=9.0,
            ),
            address=site,
            location=place,
        )

    with Store.open("sqlite://") as store:
        wide = record("198.51.100.0", "198.51.100.255", 10.0, 5.0)
        store.delegations.put_many([wide, record("198.51.0.0", "198.51.255.255", 20.0, 5.0)])
        places = StoredPlaces(store, None)
        assert places.of_address(site) == wide.location
        assert places.of_address(other) is None
        single = record(str(site), str(site), 30.0, None)
        store.delegations.put_many([single])
        assert StoredPlaces(store, None).of_address(site) == single.location
        store.delegations.put_many([record(str(site), str(site), None, None)])
        assert StoredPlaces(store, None).of_address(site) == wide.location
