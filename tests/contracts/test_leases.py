"""The contract of leases, on both databases: one holder at a time, fenced by a number."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from ipmicra.edge.store.leases import Lease, LeaseTable
from ipmicra.edge.store.store import Store
from ipmicra.errors import LeaseLostError
from tests.contracts.stores import open_store
from tests.examples import at_most

NAMES, HOLDERS = ("10.0.0.0/8", "2001:db8::/32"), ("one", "two", "three")


@dataclass
class Clock:
    now_s: float = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def leases(store: Store, clock: Clock) -> LeaseTable:
    return LeaseTable(store.connection, clock)


def test_second_holder_is_told_who_is_first(leases: LeaseTable) -> None:
    first = leases.acquire("x", "one", 10.0)
    assert (first.is_ours, first.number, first.holder, first.expires_s) == (True, 1, "one", 1010.0)
    second = leases.acquire("x", "two", 10.0)
    assert (second.is_ours, second.holder) == (False, "one")
    assert not leases.acquire("x", "one", 10.0).is_ours
    assert leases.acquire("y", "two", 10.0).is_ours


def test_lease_that_expired_goes_to_the_next_one_and_the_first_is_fenced_off(
    leases: LeaseTable, clock: Clock
) -> None:
    first = leases.acquire("x", "one", 10.0)
    clock.now_s += 10.0
    leases.check(first)
    second = leases.acquire("x", "two", 10.0)
    assert (second.is_ours, second.number) == (True, 2)
    assert not leases.renew(first, 10.0)
    assert not leases.release(first)
    with pytest.raises(LeaseLostError, match="took over"):
        leases.check(first)
    with pytest.raises(LeaseLostError, match="took over"):
        leases.note(first, "x")
    leases.check(second)


def test_lease_that_expired_unnoticed_can_be_renewed(leases: LeaseTable, clock: Clock) -> None:
    first = leases.acquire("x", "one", 10.0)
    clock.now_s += 99.0
    assert leases.renew(first, 10.0)
    assert not leases.acquire("x", "two", 10.0).is_ours


def test_note_of_a_holder_that_did_not_release_is_found_by_the_next(leases: LeaseTable, clock: Clock) -> None:
    first = leases.acquire("x", "one", 10.0)
    leases.note(first, "half done")
    clock.now_s += 10.0
    second = leases.acquire("x", "two", 10.0)
    assert second.note == "half done"
    assert leases.release(second)
    assert leases.acquire("x", "three", 10.0).note == ""


def test_write_of_a_holder_that_lost_its_lease_is_undone(
    store: Store, leases: LeaseTable, clock: Clock
) -> None:
    first = leases.acquire("x", "one", 10.0)
    store.connection.guards.append(lambda: leases.check(first))
    with store.transaction():
        store.meta.set("key", "first")
    clock.now_s += 10.0
    LeaseTable(store.connection, clock).acquire("x", "two", 10.0)
    with pytest.raises(LeaseLostError), store.transaction():
        store.meta.set("key", "too late")
    store.connection.guards.clear()
    assert store.meta.get("key") == "first"


def test_nobody_takes_over_while_a_transaction_has_checked_the_lease(postgres_url: str) -> None:
    """The row is locked: taking over waits for the end of the write, and here it gives up."""
    from ipmicra.edge.store.connection import ConnectionConfig
    from ipmicra.errors import StoreError

    impatient = ConnectionConfig(busy_s=0.2)
    with Store.open(postgres_url) as store, Store.open(postgres_url, impatient) as other:
        lease = store.leases.acquire("x", "one", 0.0)
        with store.transaction():
            store.leases.check(lease)
            with pytest.raises(StoreError, match="another process"):
                other.leases.acquire("x", "two", 10.0)
        assert other.leases.acquire("x", "two", 10.0).number == 2


class LeaseMachine(RuleBasedStateMachine):
    """Compares leases with a slow twin: a dictionary, in one process, that nobody forgets to update."""

    kind = "sqlite memory"
    request: pytest.FixtureRequest

    @initialize()
    def begin(self) -> None:
        self.open = ExitStack()
        store = open_store(self.kind, Path(), self.request)
        self.open.callback(store.close)
        self.clock = Clock()
        self.leases = LeaseTable(store.connection, self.clock)  # type: ignore[attr-defined]
        self.twin: dict[str, Lease] = {}
        self.granted: list[Lease] = []

    def teardown(self) -> None:
        if hasattr(self, "open"):
            self.open.close()

    @rule(seconds=st.sampled_from([1.0, 4.0, 20.0, -3.0]))
    def pass_time(self, seconds: float) -> None:
        self.clock.now_s += seconds

    @rule(name=st.sampled_from(NAMES), holder=st.sampled_from(HOLDERS), seconds=st.sampled_from([2.0, 9.0]))
    def acquire(self, name: str, holder: str, seconds: float) -> None:
        found = self.leases.acquire(name, holder, seconds)
        now_s, known = self.clock.now_s, self.twin.get(name)
        if known is not None and known.holder and known.expires_s > now_s:
            assert found == known
            return
        number, note = (known.number + 1, known.note) if known else (1, "")
        self.twin[name] = Lease(
            name=name, number=number, holder=holder, since_s=now_s, expires_s=now_s + seconds, note=note
        )
        assert found == replace(self.twin[name], is_ours=True)
        self.granted.append(found)

    def _is_held(self, lease: Lease) -> bool:
        known = self.twin[lease.name]
        return (known.number, known.holder) == (lease.number, lease.holder)

    @rule(data=st.data(), seconds=st.sampled_from([2.0, 9.0]))
    def renew(self, data: st.DataObject, seconds: float) -> None:
        if self.granted:
            lease = data.draw(st.sampled_from(self.granted))
            assert self.leases.renew(lease, seconds) == self._is_held(lease)
            if self._is_held(lease):
                expires_s = self.clock.now_s + seconds
                self.twin[lease.name] = replace(self.twin[lease.name], expires_s=expires_s)

    @rule(data=st.data(), text=st.sampled_from(["a", "b"]))
    def note(self, data: st.DataObject, text: str) -> None:
        if self.granted:
            lease = data.draw(st.sampled_from(self.granted))
            try:
                self.leases.note(lease, text)
            except LeaseLostError:
                assert not self._is_held(lease)
            else:
                assert self._is_held(lease)
                self.twin[lease.name] = replace(self.twin[lease.name], note=text)

    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        if self.granted:
            lease = data.draw(st.sampled_from(self.granted))
            assert self.leases.release(lease) == self._is_held(lease)
            if self._is_held(lease):
                freed = replace(self.twin[lease.name], holder="", expires_s=0.0, note="")
                self.twin[lease.name] = freed

    @rule()
    def check_all(self) -> None:
        assert self.leases.all() == [self.twin[name] for name in sorted(self.twin)]
        current = []
        for lease in self.granted:
            try:
                self.leases.check(lease)
            except LeaseLostError:
                assert not self._is_held(lease)
            else:
                current.append(lease)
        assert len({lease.name for lease in current}) == len(current)


@pytest.mark.parametrize("kind", ["sqlite memory", "postgresql"])
def test_leases_behave_as_their_slow_twin(kind: str, request: pytest.FixtureRequest) -> None:
    class Machine(LeaseMachine):
        pass

    Machine.kind, Machine.request = kind, request
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Machine, settings=at_most(25, stateful_step_count=25, deadline=None)
    )


def test_some_of_many_are_acquired_as_far_as_nobody_holds_them(leases: LeaseTable, clock: Clock) -> None:
    names = ["a", "b", "c", "d"]
    held = leases.acquire("b", "one", 10.0)
    first = leases.acquire_some(names, 2, "two", 10.0)
    assert [(one.name, one.holder, one.is_ours) for one in first] == [("a", "two", True), ("c", "two", True)]
    assert [one.name for one in leases.acquire_some(names, 9, "three", 10.0)] == ["d"]
    for one in (held, *first):
        leases.check(one)
    clock.now_s += 10.0
    (taken,) = leases.acquire_some(names, 1, "three", 10.0)
    assert (taken.name, taken.number) == ("a", first[0].number + 1)
    assert [one.name for one in leases.renew_many([held, *first], 10.0)] == ["a"]
    with pytest.raises(LeaseLostError):
        leases.check(first[0])
    leases.check(taken)


def test_two_that_ask_at_once_pass_by_each_other_s_rows(postgres_url: str) -> None:
    from ipmicra.edge.store.connection import ConnectionConfig

    names = ["a", "b", "c", "d"]
    impatient = ConnectionConfig(busy_s=0.2)
    with Store.open(postgres_url) as store, Store.open(postgres_url, impatient) as other:
        store.leases.acquire_some(names, 4, "nobody", 0.0)
        with store.connection.transaction(is_exclusive=False):
            ours = store.leases.acquire_some(names, 2, "one", 10.0)
            theirs = other.leases.acquire_some(names, 4, "two", 10.0)
        assert [one.name for one in ours] == ["a", "b"]
        assert [one.name for one in theirs] == ["c", "d"]
