"""What is SQLite's own: files, processes, migrations, damage."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.keys import packed, unpacked
from ipmicra.edge.store.migrations import MIGRATIONS, Migration, migrate
from ipmicra.edge.store.places import path_of
from ipmicra.edge.store.sqlite import SqliteConnection
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError, StoreError
from ipmicra.model.crawler import TrackRecord
from ipmicra.model.recrawl import Recrawl
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site
from tests.patience import PATIENCE_S


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///a.db", "a.db"),
        ("sqlite:////tmp/a.db", "/tmp/a.db"),
        ("sqlite:///with%20space.db", "with space.db"),
        ("sqlite://", ":memory:"),
        ("plain/path.db", "plain/path.db"),
    ],
)
def test_url_names_a_file(url: str, path: str) -> None:
    assert path_of(url) == path


@pytest.mark.parametrize("url", ["postgresql://h/d", "mysql://u:secret@h/d", "sqlite://host/a.db"])
def test_url_of_another_kind_is_refused_with_the_right_form(url: str) -> None:
    with pytest.raises(InputError, match="sqlite:///"):
        path_of(url)


@given(st.ip_addresses())
def test_address_packs_into_sixteen_bytes_and_back(address: IPv4Address | IPv6Address) -> None:
    assert len(packed(address)) == 16
    is_mapped = isinstance(address, IPv6Address) and address.ipv4_mapped is not None
    assert unpacked(packed(address)) == (address.ipv4_mapped if is_mapped else address)  # type: ignore[union-attr]


@given(st.ip_addresses(v=4), st.ip_addresses(v=4))
def test_packed_addresses_sort_as_numbers(a: IPv4Address, b: IPv4Address) -> None:
    assert (packed(a) < packed(b)) == (int(a) < int(b))


def test_store_makes_its_folder_and_keeps_its_content(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/deep/state.db"
    with Store.open(url) as store:
        store.meta.set("key", "word")
        assert repr(store) == f"<Store {tmp_path}/deep/state.db>"
    with Store.open(url) as store:
        assert store.meta.get("key") == "word"


def test_file_that_is_no_store_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(b"this is not a database" * 99)
    with pytest.raises(StoreError, match="not a database"):
        Store.open(str(path))


def test_store_of_a_newer_schema_is_left_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "state.db")
    with Store.open(path) as store:
        store.connection.execute("INSERT INTO migrations VALUES (999, 'future', 0)")
    with pytest.raises(StoreError, match="newer"):
        Store.open(path)


def test_further_migration_is_applied_to_an_old_store_once(tmp_path: Path) -> None:
    path = str(tmp_path / "state.db")
    applied: list[int] = []
    number = MIGRATIONS[-1].number + 1
    further = (*MIGRATIONS, Migration(number=number, name="more", apply=lambda _: applied.append(1)))
    with Store.open(path) as store:
        store.meta.set("key", "word")
        migrate(store.connection, further)
        migrate(store.connection, further)
        assert applied == [1]
        assert store.meta.get("key") == "word"


def test_store_without_track_records_takes_implausible_samples_for_half_of_the_checks(
    tmp_path: Path,
) -> None:
    """A store of 0.1.0 (schema 13) has implausible samples, but not how many were checked."""
    path = str(tmp_path / "state.db")
    old = SqliteConnection(path, ConnectionConfig())
    migrate(old, tuple(one for one in MIGRATIONS if one.number <= 13))
    address = packed(IPv4Address("192.0.2.1"))
    for name, joined_s in (("ath", 0.0), ("anew", 50.0), ("fine", 0.0)):
        old.execute(
            "INSERT INTO crawlers (name, address, labels, state, joined_s, changed_s) "
            "VALUES (?, ?, '{}', 'joined', ?, 0)",
            (name, address, joined_s),
        )
    for i, name in enumerate(("ath", "ath", "ath", "anew", "gone")):
        site = packed(IPv4Address("192.0.2.1") + i)
        old.execute("INSERT INTO marks VALUES (?, ?, 1.0, 20.0, 9.0)", (name, site))
    old.close()
    with Store.open(path) as store:
        assert store.track_records.all() == {"ath": TrackRecord(checked=6, implausible=3)}
        assert len(store.track_records.rejected()) == 5


def test_store_without_schedules_gets_them_from_its_assignments(tmp_path: Path) -> None:
    """A store of schema 12 has assignments but no table of schedules."""
    path = str(tmp_path / "state.db")
    old = SqliteConnection(path, ConnectionConfig())
    migrate(old, tuple(one for one in MIGRATIONS if one.number <= 12))
    put = "INSERT INTO assignments VALUES (?, ?, ?, ?, ?, 'nearest', 'balance', NULL, NULL, '[]', 7.0)"
    address = packed(IPv4Address("192.0.2.1"))
    rows = [("a.org", 1, 2, address, "ath"), ("a.org", 2, 2, address, "ber"), ("b.org", 1, 1, address, None)]
    for row in rows:
        old.execute(put, row)
    old.close()
    with Store.open(path) as store:
        assert store.recrawls.all() == [
            Recrawl(host="a.org", piece=piece, of=2, first_s=7.0, submitted_s=7.0) for piece in (1, 2)
        ]
        assert len(store.assignments.all()) == 3


def test_store_of_schema_16_keeps_pins_and_names_and_gets_room_for_views(tmp_path: Path) -> None:
    """The last schema before names were resolved at agents; answers of schema 22 have no origin yet."""
    path, address = str(tmp_path / "state.db"), packed(IPv4Address("192.0.2.1"))
    old = SqliteConnection(path, ConnectionConfig())
    migrate(old, tuple(one for one in MIGRATIONS if one.number <= 16))
    old.execute("INSERT INTO sites VALUES ('a.org', ?, 'http', 80, 7.0)", (address,))
    old.execute("INSERT INTO names VALUES ('a.org', 'found', ?, 9.0)", (address,))
    migrate(old, tuple(one for one in MIGRATIONS if one.number <= 22))
    put = "INSERT INTO site_answers VALUES ('b.org', ?, 'ath', 'probed', 3.5, 2, 1.0, 9.0, '')"
    old.execute(put, (address,))
    old.close()
    with Store.open(path) as store:
        assert store.sites.get("a.org") == Site("a.org", IPv4Address("192.0.2.1"), "http", 80)
        assert store.names.get_many(["a.org"], 8.0)["a.org"].addresses == (IPv4Address("192.0.2.1"),)
        assert store.views.of(["a.org"]) == {}
        answer = store.site_answers.get("b.org")
        assert answer is not None
        assert (answer.delegation.crawler, answer.delegation.rtt_ms) == ("ath", 3.5)
        assert answer.delegation.origin is None


def test_failed_migration_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("no")

    number = MIGRATIONS[-1].number + 1
    with Store.open(str(tmp_path / "state.db")) as store:
        with pytest.raises(RuntimeError):
            migrate(store.connection, (*MIGRATIONS, Migration(number=number, name="bad", apply=fail)))
        assert store.connection.row("SELECT max(number) FROM migrations") == (number - 1,)


def test_samples_that_cannot_be_kept_leave_none_behind() -> None:
    address = IPv4Address("192.0.2.1")
    good = Sample(crawler="ath", address=address, rtt_ms=1.0)
    with Store.open("sqlite://") as store:
        with pytest.raises(StoreError):
            store.samples.add_many([good, Sample(crawler=None, address=address, rtt_ms=1.0)])  # type: ignore[arg-type]
        assert store.samples.count() == 0


def test_agent_that_did_not_answer_hides_nothing_it_said_before() -> None:
    address = IPv4Address("192.0.2.1")
    said = Sample(crawler="ath", address=address, rtt_ms=9.0, taken_s=1.0)
    silent = Sample(crawler="ath", address=address, rtt_ms=None, loss=Loss.AGENT, taken_s=2.0)
    with Store.open("sqlite://") as store:
        store.samples.add_many([said, silent, replace(silent, crawler="ber")])
        assert store.samples.latest(address) == {"ath": said, "ber": replace(silent, crawler="ber")}
        store.samples.add_many([replace(silent, loss=Loss.TIMEOUT, taken_s=3.0)])
        assert store.samples.latest(address)["ath"].loss is Loss.TIMEOUT


def test_two_processes_never_grant_more_than_the_budget_together(tmp_path: Path) -> None:
    """Four processes take 200 probes one by one from a budget of 150."""
    url = f"sqlite:///{tmp_path}/state.db"
    code = (
        "import sys\n"
        "from ipmicra.edge.store.store import Store\n"
        "from ipmicra.edge.store.ports import OrderRecord\n"
        "store = Store.open(sys.argv[1])\n"
        "store.budget.open('b', 150)\n"
        "orders = [OrderRecord(id=f'{sys.argv[2]}-{i}', crawler='c', address=None) for i in range(50)]\n"
        "print(sum(store.budget.reserve('b', [order], 1.0) for order in orders))\n"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", code, url, str(i)], stdout=subprocess.PIPE) for i in range(4)
    ]
    granted = [int(child.communicate(timeout=PATIENCE_S)[0]) for child in children]
    assert sum(granted) == 150
    with Store.open(url) as store:
        assert store.budget.state("b").spent == 150
        assert len(store.budget.unanswered("b")) == 150
