"""Long tables are appended to: rows in any order cost as much at the end of a list as at its beginning."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from ipmicra.edge.store import batches, delegations
from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.migrations import MIGRATIONS, migrate
from ipmicra.edge.store.ports import DelegationRecord
from ipmicra.edge.store.sqlite import SqliteConnection
from ipmicra.edge.store.store import Store
from ipmicra.model.delegation import Decision, Delegation, Evidence

ADDRESSES = [IPv4Address(number) for number in random.Random(1).sample(range(1 << 24, 223 << 24), 20_000)]
PART = 500


def decision(address: IPv4Address, crawler: str = "c1") -> Decision:
    return Decision(
        host=str(address),
        address=address,
        first=address,
        last=address,
        crawler=crawler,
        evidence=Evidence.INHERITED,
        rtt_ms=None,
        probes=0,
    )


def record(address: IPv4Address, crawler: str = "c1", created_s: float = 1.0) -> DelegationRecord:
    return DelegationRecord(
        delegation=Delegation(
            first=address,
            last=address,
            crawler=crawler,
            evidence=Evidence.INHERITED,
            rtt_ms=None,
            probes=0,
            created_s=created_s,
            expires_s=9.0,
        ),
        address=address,
    )


def pages_written(store: Store, path: Path, write: Callable[[], None]) -> int:
    """Count the 4 KiB, a small page each, that a write puts into the write-ahead log."""
    store.connection.row("PRAGMA wal_checkpoint(TRUNCATE)")
    write()
    return (path.with_name(f"{path.name}-wal").stat().st_size) // 4096


def test_rows_in_any_order_write_few_pages_however_many_there_are(tmp_path: Path) -> None:
    """In trees sorted by host and by address the last part of these wrote 585 pages, now it writes 171."""
    path, written = tmp_path / "state.db", []
    with Store.open(str(path)) as store:
        for start in range(0, len(ADDRESSES), PART):
            part = ADDRESSES[start : start + PART]

            def write(part: list[IPv4Address] = part) -> None:
                with store.transaction():
                    store.results.add_many(1, map(decision, part))
                    store.delegations.put_many(map(record, part))

            written.append(pages_written(store, path, write))
    assert written[-1] < PART / 2


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all keys share a hash."""
    monkeypatch.setattr(batches, "key_hash", lambda *_: 7)
    monkeypatch.setattr(delegations, "key_hash", lambda *_: 7)


@pytest.mark.usefixtures("crowded")
def test_keys_that_share_a_hash_are_told_apart() -> None:
    few = ADDRESSES[:50]
    with Store.open("sqlite://") as store:
        store.results.add_many(1, map(decision, few))
        store.delegations.put_many(map(record, few))
        store.results.add_many(1, [decision(few[3], "c2")])
        store.delegations.put_many([record(few[3], "c2", 2.0)])
        store.delegations.renew_many([replace(record(few[4]).delegation, expires_s=99.0)])
        store.delegations.end_many([((few[5], few[5]), "it expired")], 3.0)
        hosts = [str(one) for one in few[:2]]
        assert store.results.of(1, hosts) == {str(one): decision(one) for one in few[:2]}
        assert store.results.latest(str(few[3])) == decision(few[3])
        assert store.results.count(1) == len(few)
        changed = record(few[3], "c2", 2.0)
        renewed = replace(record(few[4]), delegation=replace(record(few[4]).delegation, expires_s=99.0))
        found = {one.delegation.first: one for one in store.delegations.at(few[2:6])}
        assert found == {few[2]: record(few[2]), few[3]: changed, few[4]: renewed}
        assert [one.record for one in store.delegations.history(few[3], few[3])] == [record(few[3])]


def test_delegation_that_is_put_twice_at_once_is_kept_once() -> None:
    one = ADDRESSES[0]
    with Store.open("sqlite://") as store:
        store.delegations.put_many([record(one), record(one, "c2", 2.0)])
        assert store.delegations.count() == 1
        assert store.delegations.get(one, one) == record(one, "c2", 2.0)
        assert [ended.record for ended in store.delegations.history(one, one)] == [record(one)]


def test_rows_of_an_older_schema_are_found_by_their_hash(tmp_path: Path) -> None:
    path = str(tmp_path / "state.db")
    connection = SqliteConnection(path, ConnectionConfig())
    migrate(connection, MIGRATIONS[:14])
    one = decision(ADDRESSES[0])
    packed = b"\0" * 10 + b"\xff\xff" + ADDRESSES[0].packed
    connection.execute(
        "INSERT INTO results VALUES (1, ?, ?, ?, ?, 'c1', 'inherited', NULL, 0)", (one.host, *[packed] * 3)
    )
    connection.execute(
        "INSERT INTO delegations "
        "(first, last, crawler, evidence, probes, created_s, expires_s, address, account) "
        "VALUES (?, ?, 'c1', 'inherited', 0, 1.0, 9.0, ?, '')",
        [packed] * 3,
    )
    connection.close()
    with Store.open(path) as store:
        assert store.results.of(1, [one.host]) == {one.host: one}
        assert store.delegations.at([ADDRESSES[0]]) == [record(ADDRESSES[0])]
        store.delegations.put_many([record(ADDRESSES[0], "c2", 2.0)])
        assert len(store.delegations.history(ADDRESSES[0], ADDRESSES[0])) == 1


@pytest.mark.parametrize(
    ("sql", "index"),
    [
        ("SELECT 1 FROM results WHERE key_hash = 1 AND batch = 1 AND host = 'a'", "results_by_hash"),
        ("SELECT 1 FROM results WHERE batch = 1 AND key_hash IN (1, 2)", "results_by_hash"),
        (
            "SELECT 1 FROM results WHERE key_hash = 1 AND host = 'a' ORDER BY batch DESC LIMIT 1",
            "results_by_hash",
        ),
        ("SELECT 1 FROM results WHERE batch = 1 ORDER BY host", "results_by_batch"),
        ("SELECT 1 FROM delegations WHERE key_hash IN (1, 2) AND last = first", "delegations_by_hash"),
        ("SELECT crawler FROM delegations WHERE first <> last ORDER BY first, last DESC", "wide_delegations"),
    ],
)
def test_question_is_answered_by_the_narrow_index(sql: str, index: str) -> None:
    """SQLite chooses among indices; the one over batches would make a list take the square of its length."""
    with Store.open("sqlite://") as store:
        plan = " ".join(row[3] for row in store.connection.rows(f"EXPLAIN QUERY PLAN {sql}"))
    assert f"INDEX {index}" in plan
