"""A damaged store is reported as such: flipped bytes end in a StoreError or in values of the right types."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from ipmicra.app.describe.texts import time_text
from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.sqlite import SqliteConnection
from ipmicra.edge.store.store import Store
from ipmicra.errors import StoreError
from ipmicra.model.delegation import Decision, Evidence
from tests.delegating_worlds import site_address

OLD = Path(__file__).parents[3] / "data" / "0.1.0" / "state.db"
"""A store with rows in every table."""
FLIPS = 150
MOST_ROWS = 100_000
"""Far more than the store has: whoever reads more goes round in circles."""


def counted(rows: Iterable[object]) -> int:
    count = 0
    for count, _ in enumerate(rows, 1):
        assert count < MOST_ROWS
    return count


def read_everything(store: Store) -> None:
    """Call every method that reads, as the commands do; times are written as dates."""
    for key in ("edition", "hierarchy"):
        store.meta.get(key)
    for member in store.crawlers.all():
        store.crawlers.get(member.crawler.name)
        for change in store.crawlers.history(member.crawler.name):
            time_text(change.at_s)
    for site in store.sites.all()[:5]:
        store.sites.get(site.host)
        store.sites.at(site.address)
        store.names.get_many([site.host], 0.0)
        store.samples.latest(site.address)
        store.results.latest(site.host)
    for sample in store.samples.newest(1_000):
        time_text(sample.taken_s)
    store.samples.count()
    for batch in store.batches.all():
        time_text(batch.started_s)
        counted(store.results.all(batch.id))
        store.results.count(batch.id)
        store.budget.answered(f"delegate {batch.id}")
        store.budget.unanswered(f"delegate {batch.id}")
    for record in store.delegations.all():
        one = record.delegation
        time_text(one.created_s)
        store.delegations.get(one.first, one.last)
        store.delegations.history(one.first, one.last)
    store.delegations.probes()
    store.track_records.all()
    store.track_records.rejected()
    store.grafts.all()
    store.assignments.all()
    store.recrawls.all()
    for name in ("coordinates", "overlay"):
        store.states.get(name)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Bytes of a store of the newest schema."""
    path = tmp_path_factory.mktemp("store") / "state.db"
    shutil.copy(OLD, path)
    with Store.open(str(path)) as store:
        read_everything(store)
    return path.read_bytes()


@pytest.mark.parametrize("is_checked", [True, False], ids=["checked when opened", "too large to be checked"])
def test_flipped_bytes_end_in_a_store_error_or_an_answer(
    tmp_path: Path, whole: bytes, *, is_checked: bool
) -> None:
    chance, path = random.Random(8), tmp_path / "state.db"
    config = ConnectionConfig(synchronous="OFF", checked_bytes=1 << 30 if is_checked else 0)
    refused = 0
    for _ in range(FLIPS):
        content = bytearray(whole)
        for _ in range(chance.choice((1, 1, 4))):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        for beside in tmp_path.glob("state.db-*"):
            beside.unlink()
        try:
            with Store.open(str(path), config) as store:
                read_everything(store)
        except StoreError:
            refused += 1
    assert FLIPS // 20 < refused < FLIPS


@pytest.mark.parametrize(
    ("change", "table"),
    [
        ("UPDATE crawlers SET labels = '[1]'", "crawlers"),
        ("UPDATE crawlers SET name = CAST(name AS BLOB)", "crawlers"),
        ("UPDATE batches SET started_s = 1e300", "batches"),
        ("UPDATE results SET evidence = 'guesswork'", "results"),
        ("UPDATE results SET address = X'00'", "results"),
        ("UPDATE samples SET all_ms = X'0102'", "samples"),
        ("UPDATE delegations SET crawler = X'FF'", "delegations"),
        ("UPDATE assignments SET filters = '3'", "assignments"),
        ("UPDATE recrawls SET pages = 'many'", "recrawls"),
    ],
)
def test_row_of_the_wrong_shape_names_its_table(
    tmp_path: Path, whole: bytes, change: str, table: str
) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(whole)
    with Store.open(str(path), ConnectionConfig(checked_bytes=0)) as store:
        store.connection.execute(change)
        with pytest.raises(StoreError, match=f"table {table} is damaged"):
            read_everything(store)


def test_results_that_do_not_ascend_are_damage_and_not_read_for_ever(tmp_path: Path) -> None:
    """A host that reads differently each time stands for an index whose pages are in disorder."""
    one = Decision(
        host="a",
        address=site_address(0),
        first=site_address(0),
        last=site_address(0),
        crawler="c0",
        evidence=Evidence.INHERITED,
        rtt_ms=None,
        probes=0,
    )
    with Store.open(str(tmp_path / "state.db")) as store:
        store.results.add_many(1, [replace(one, host=host) for host in "abc"])
        readings = itertools.cycle("za")
        assert isinstance(store.connection, SqliteConnection)
        store.connection.raw.create_function("reading", 0, lambda: next(readings))
        store.connection.execute("ALTER TABLE results RENAME TO kept")
        columns = "batch, reading() AS host, address, first, last, crawler, evidence, rtt_ms, probes"
        origin = "origin_first, origin_last, measured_s"
        store.connection.execute(f"CREATE TEMP VIEW results AS SELECT {columns}, {origin} FROM kept")
        with pytest.raises(StoreError, match="damaged"):
            counted(store.results.all(1))
