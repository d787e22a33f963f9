"""`ipmicra store`: what it holds, copies in both directions, backups while others write, and pruning."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from ipmicra.app.store import copy_store
from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.edge.store.copying import COPIED
from ipmicra.edge.store.lock import one_at_a_time
from ipmicra.edge.store.ports import DelegationRecord, Member, OrderRecord, SubnetTrips
from ipmicra.edge.store.store import Store
from ipmicra.errors import StoreBusyError, StoreError
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.delegation import Decision, Delegation, Evidence
from ipmicra.model.name import NameAnswer, NameStatus
from ipmicra.model.recrawl import Recrawl
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site
from tests.cli.command_line import ROOT, invoked
from tests.patience import wait_until

A, DAY_S = IPv4Address("192.0.2.1"), 86_400.0


def fill(store: Store, samples: int = 7_000) -> None:
    """Put something into most tables."""
    store.crawlers.put(Member(crawler=Crawler(name="ath", address=A, joined_s=1.0, changed_s=1.0)))
    store.sites.put_many([Site(host=f"{9 - i}.example", address=A) for i in range(9)], 1.0)
    store.samples.add_many(
        Sample(crawler="ath", address=IPv4Address(i), rtt_ms=float(i + 1)) for i in range(samples)
    )
    first = store.batches.begin("one", "ipmicra delegate one", 1.0)
    store.batches.end(first.id, 2.0)
    second = store.batches.begin("two", "ipmicra delegate two", 3.0)
    for batch in (first.id, second.id):
        store.results.add_many(batch, [decision(i) for i in range(3)])
        store.budget.open(f"delegate {batch}", None)
        orders = [OrderRecord(id=f"{batch}-{i}", crawler="ath", address=A) for i in range(3)]
        store.budget.reserve(f"delegate {batch}", orders, 1.0)
    for created_s in (1.0, 2.0, 3.0):
        store.delegations.put_many([delegation(created_s)])
    store.names.put_many([NameAnswer(name="a.example", status=NameStatus.NXDOMAIN, expires_s=10.0)])
    store.assignments.put_many([assignment("a.example"), assignment("b.example")])
    store.assignments.forget(["b.example"], 4.0)
    store.recrawls.put_many([Recrawl(host="a.example", first_s=1.0, submitted_s=2.0)])
    store.subnet_trips.put_many([SubnetTrips(first=A, last=A, crawler="ath", last_ms=(1.0,), taken_s=1.0)])
    store.states.put("space", b"\0\1", 1.0)
    store.meta.set("edition", "one")


def decision(number: int) -> Decision:
    host = f"{number}.example"
    return Decision(
        host=host, address=A, first=A, last=A, crawler="ath", evidence=Evidence.PROBED, rtt_ms=1.0, probes=1
    )


def delegation(created_s: float) -> DelegationRecord:
    made = Delegation(
        first=A,
        last=A,
        crawler="ath",
        evidence=Evidence.PROBED,
        rtt_ms=1.0,
        probes=1,
        created_s=created_s,
        expires_s=9.0,
    )
    why = Considered(crawler="ath", verdict=Verdict.CHOSEN, reason="nearest", rtt_ms=1.0)
    return DelegationRecord(delegation=made, address=A, account=(why,))


def assignment(host: str) -> Assignment:
    return Assignment(
        host=host,
        piece=1,
        of=1,
        address=A,
        crawler="ath",
        reason="nearest",
        backend="balance",
        expected_ms=1.5,
        pages=None,
        filters=(),
        assigned_s=2.0,
    )


def content(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Everything in a store, in an order that does not depend on the database."""
    found = {}
    for table in COPIED:
        rest = "WHERE key NOT LIKE 'writer %'" if table.name == "meta" else ""
        rows = store.connection.read(table.shape(), tuple, rest)
        found[table.name] = sorted(rows, key=repr)
    return found


@pytest.fixture
def filled(tmp_path: Path) -> str:
    path = str(tmp_path / "state.db")
    with Store.open(path) as store:
        fill(store)
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of each kind."""
    return str(tmp_path / "to.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")


# --- copy


def test_copy_has_the_same_content_and_goes_on_numbering(filled: str, target: str, tmp_path: Path) -> None:
    there = invoked("store", "copy", filled, target, "--json")
    assert there.exit_code == 0, there.output
    counts = json.loads(there.stdout)
    assert (counts["samples"], counts["results"], counts["delegation_history"]) == (7_000, 6, 2)
    back = str(tmp_path / "back.db")
    assert invoked("store", "copy", target, back).exit_code == 0
    with Store.open(filled) as one, Store.open(target) as other, Store.open(back) as again:
        expected = content(one)
        assert content(other) == expected
        assert content(again) == expected
        assert other.sites.all() == one.sites.all()
        assert other.batches.begin("three", "x", 9.0).id == one.batches.begin("three", "x", 9.0).id
        other.samples.add_many([Sample(crawler="ath", address=A, rtt_ms=1.0)])
        assert other.samples.after(7_000, 10)[0] == 7_001
        other.assignments.put_many([assignment("c.example")])
        assert other.assignments.last_change() == one.assignments.last_change() + 1


def test_copy_does_not_overwrite_a_store_unless_told_to(filled: str, target: str) -> None:
    with Store.open(target) as store:
        store.meta.set("mine", "here")
    refused = invoked("store", "copy", filled, target)
    assert refused.exit_code == 1
    assert "--replace" in str(refused.exception)
    with Store.open(target) as store:
        assert store.meta.get("mine") == "here"
    assert invoked("store", "copy", filled, target, "--replace").exit_code == 0
    with Store.open(target) as store, Store.open(filled) as source:
        assert content(store) == content(source)


def test_copy_that_was_interrupted_cannot_be_used_and_is_begun_again(filled: str, target: str) -> None:
    def stop(table: str, done: int, total: int) -> None:
        if table == "samples" and done >= total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_store(filled, target, stop)
    with pytest.raises(StoreError, match="was not finished: run `ipmicra store copy"):
        Store.open(target)
    assert invoked("store", "copy", filled, target).exit_code == 0
    with Store.open(filled) as one, Store.open(target) as other:
        assert content(one) == content(other)


def test_copy_takes_one_state_of_a_store_in_use(filled: str, target: str) -> None:
    with Store.open(filled) as store:

        def write(table: str, done: int, total: int) -> None:
            store.samples.add_many([Sample(crawler="ath", address=A, rtt_ms=1.0)])
            store.meta.set(f"{table} {done}", "later")

        counts = copy_store(filled, target, write)
        assert store.samples.count() > 7_000
    assert counts["samples"] == 7_000
    with Store.open(target) as other:
        assert (other.samples.count(), other.meta.get("samples 5000")) == (7_000, None)


def test_target_that_somebody_works_in_is_left_alone(filled: str, target: str) -> None:
    with one_at_a_time(target, "delegate", "ipmicra delegate x"), pytest.raises(StoreBusyError):
        copy_store(filled, target, lambda *_: None)


def test_store_is_not_copied_into_itself_nor_out_of_nothing(filled: str, tmp_path: Path) -> None:
    for words, why in ((("x.db", "y.db"), "no such store"), ((filled, f"sqlite:///{filled}"), "into itself")):
        refused = invoked("store", "copy", *words)
        assert why in str(refused.exception)
    assert not (tmp_path / "y.db").exists()


# --- backup


def test_backup_is_a_whole_store_while_another_process_writes(tmp_path: Path) -> None:
    """Each transaction writes two equal words: a copy that were torn would have two different ones."""
    path, saved = tmp_path / "state.db", tmp_path / "backups" / "one.db"
    with Store.open(str(path)) as store:
        fill(store, 40_000)
    code = (
        "import sys\nfrom itertools import count\nfrom ipmicra.edge.store.store import Store\n"
        "store = Store.open(sys.argv[1])\n"
        "for number in count():\n"
        "    with store.transaction():\n"
        "        store.meta.set('a', str(number))\n"
        "        store.meta.set('z', str(number))\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT)
    try:
        with Store.open(str(path)) as store:
            wait_until(lambda: store.meta.get("z"), "the child writes")
        for _ in range(3):
            done = invoked("store", "backup", saved, "--replace", "--store", str(path))
            assert done.exit_code == 0, done.output
            with Store.open(str(saved)) as copy:
                assert copy.meta.get("a") == copy.meta.get("z") is not None
                assert copy.samples.count() == 40_000
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    assert {one.name for one in saved.parent.iterdir()} <= {"one.db", "one.db-wal", "one.db-shm"}


def test_backup_of_postgresql_is_a_file(filled: str, postgres_url: str, tmp_path: Path) -> None:
    copy_store(filled, postgres_url, lambda *_: None)
    saved = tmp_path / "saved.db"
    assert invoked("store", "backup", saved, "--store", postgres_url).exit_code == 0
    refused = invoked("store", "backup", saved, "--store", postgres_url)
    assert "--replace" in str(refused.exception)
    with Store.open(filled) as one, Store.open(str(saved)) as other:
        assert content(one) == content(other)
    assert [one.name for one in tmp_path.glob(".*")] == []


# --- info


def test_info_counts_rows_and_names_holders(filled: str, target: str) -> None:
    copy_store(filled, target, lambda *_: None)
    found = json.loads(invoked("store", "info", "--store", target, "--json").stdout)
    assert (found["rows"]["samples"], found["rows"]["sites"]) == (7_000, 9)
    assert found["size_bytes"] > 100_000
    with one_at_a_time(target, "delegate", "ipmicra delegate x"):
        table = invoked("store", "info", "--store", target, "--format", "table")
    is_postgres = target.startswith("postgresql")
    assert ("held to delegate by process" in table.stderr) == is_postgres
    assert ("PostgreSQL" if is_postgres else "SQLite") in table.stderr
    assert "samples" in table.stdout


# --- prune


@pytest.fixture(params=["sqlite", "postgresql"])
def aged(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store with old and new rows, by this machine's clock."""
    import time

    url = str(tmp_path / "aged.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    now_s = time.time()
    with Store.open(url) as store:
        fill(store, 0)
        for name in ("nyc", "gone"):
            store.crawlers.put(Member(crawler=Crawler(name=name, address=A, joined_s=1.0, changed_s=1.0)))
        store.crawlers.set_state("gone", CrawlerState.LEFT, now_s)
        for crawler in ("ath", "nyc", "gone"):
            for days in (400, 300, 10, 5):
                if crawler != "nyc" or days >= 300:
                    taken_s = now_s - days * DAY_S
                    store.samples.add_many(
                        [Sample(crawler=crawler, address=A, rtt_ms=float(days), taken_s=taken_s)]
                    )
        store.names.put_many(
            [NameAnswer(name="b.example", status=NameStatus.NXDOMAIN, expires_s=now_s + DAY_S)]
        )
    return url


def test_old_rows_go_and_needed_ones_stay(aged: str) -> None:
    planned = json.loads(invoked("store", "prune", "--store", aged, "--dry-run", "--json").stdout)
    with Store.open(aged) as store:
        before = content(store)
    removed = json.loads(invoked("store", "prune", "--store", aged, "--json").stdout)
    assert removed == planned
    assert removed["samples"] == 5  # two of ath and of gone, one of nyc: its newest stays, however old
    assert (removed["batches"], removed["results"], removed["orders"]) == (1, 3, 3)
    assert removed["ended delegations"] == 2
    with Store.open(aged) as store:
        kept = [(one.crawler, one.rtt_ms) for one in store.samples.of(A)]
        assert kept == [("ath", 10.0), ("ath", 5.0), ("nyc", 300.0), ("gone", 10.0), ("gone", 5.0)]
        (open_batch,) = store.batches.all()
        assert (open_batch.ended_s, store.results.count(open_batch.id)) == (None, 3)
        assert len(store.budget.unanswered(f"delegate {open_batch.id}")) == 3
        after = content(store)
        for table in ("delegations", "sites", "assignments", "recrawls", "states", "crawlers", "budgets"):
            assert len(after[table]) == len(before[table]) - (table == "budgets"), table
        assert list(store.names.get_many(["a.example", "b.example"], 0.0)) == ["b.example"]
    again = json.loads(invoked("store", "prune", "--store", aged, "--json").stdout)
    assert set(again.values()) == {0}


def test_counts_limit_what_ages_would_keep(aged: str) -> None:
    words = (
        "--sample-days",
        "9999",
        "--samples-per-pair",
        "1",
        "--history-days",
        "99999",
        "--result-days",
        "99999",
    )
    found = invoked("store", "prune", "--store", aged, *words, "--history-per-subnet", "1", "--json")
    assert json.loads(found.stdout)["samples"] == 7
    assert json.loads(found.stdout)["ended delegations"] == 1
    with Store.open(aged) as store:
        kept = {one.crawler: one.rtt_ms for one in store.samples.of(A)}
        assert kept == {"ath": 5.0, "nyc": 300.0, "gone": 5.0}
        assert store.samples.count() == 3
        assert len(store.batches.all()) == 2


def test_store_can_be_pruned_while_it_is_written(tmp_path: Path) -> None:
    """The newest sample of each pair is there at every moment."""
    url, stop = str(tmp_path / "state.db"), threading.Event()
    with Store.open(url) as store:
        store.crawlers.put(Member(crawler=Crawler(name="ath", address=A, joined_s=1.0, changed_s=1.0)))
        store.samples.add_many([Sample(crawler="ath", address=A, rtt_ms=1.0)])

    def write() -> None:
        with Store.open(url) as own:
            for number in range(1, 10_000):
                own.samples.add_many([Sample(crawler="ath", address=A, rtt_ms=float(number))])
                assert own.samples.latest(A)["ath"].rtt_ms == number
                if stop.is_set():
                    return

    writing = threading.Thread(target=write)
    writing.start()
    for _ in range(5):
        done = invoked("store", "prune", "--store", url, "--samples-per-pair", "1")
        assert done.exit_code == 0, done.output
    stop.set()
    writing.join()
