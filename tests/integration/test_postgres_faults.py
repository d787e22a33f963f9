"""A server that restarts, crashes, is full of others or refuses: what a store in PostgreSQL makes of it."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext, suppress
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.ports import OrderRecord
from ipmicra.edge.store.store import Store
from ipmicra.errors import StoreError
from ipmicra.model.delegation import Decision, Evidence
from ipmicra.model.sample import Sample
from tests.delegating_worlds import enrol, hierarchy_of
from tests.patience import PATIENCE_S, wait_until
from tests.servers.batch_process import BatchOrder
from tests.servers.cutting_proxy import CuttingProxy
from tests.servers.internet_process import InternetProcess
from tests.servers.postgres import HOW, PostgresServer, binaries

PATIENT = ConnectionConfig(reconnect_s=PATIENCE_S)
HASTY = ConnectionConfig(reconnect_s=0.2, busy_s=0.2)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of one's own, which tests stop and kill."""
    if binaries() is None:
        pytest.skip(HOW)
    with PostgresServer() as made:
        yield made


@pytest.fixture
def url(server: PostgresServer) -> Iterator[str]:
    made = server.new_store()
    yield made
    server.drop(made)


@pytest.fixture
def proxy(server: PostgresServer) -> Iterator[CuttingProxy]:
    with CuttingProxy(server.folder) as made:
        yield made


def name_of(url: str) -> str:
    return url.split("/")[3].split("?", maxsplit=1)[0]


def sample(number: int) -> Sample:
    return Sample(crawler="ath", address=IPv4Address(number), rtt_ms=1.0)


def decision(number: int) -> Decision:
    address = IPv4Address(number)
    return Decision(
        host=str(address),
        address=address,
        first=address,
        last=address,
        crawler="ath",
        evidence=Evidence.PROBED,
        rtt_ms=1.0,
        probes=1,
    )


# --- gone and back


def test_store_goes_on_after_a_restart_of_its_server(server: PostgresServer, url: str) -> None:
    with Store.open(url, PATIENT) as store:
        store.meta.set("key", "one")
        server.stop()
        server.start()
        assert store.meta.get("key") == "one"
        server.stop()
        server.start()
        store.meta.set("key", "two")
        server.stop()
        server.start()
        store.samples.add_many([sample(1)])
        server.stop()
        server.start()
        assert list(store.delegations.all()) == []
        assert (store.meta.get("key"), store.samples.count()) == ("two", 1)


def test_write_waits_for_a_server_that_is_away_for_a_while(server: PostgresServer, url: str) -> None:
    with Store.open(url, PATIENT) as store:
        server.kill()
        back = threading.Timer(1.0, server.start)
        back.start()
        store.samples.add_many([sample(1), sample(2)])
        back.join()
        assert store.samples.count() == 2


def test_long_read_waits_for_a_server_that_is_away_for_a_while(server: PostgresServer, url: str) -> None:
    """Those have connections of their own, of which none or several may be left from before."""
    for left in (0, 2):
        with Store.open(url, PATIENT) as store:
            store.results.add_many(1, [decision(1), decision(2)])
            readings = [store.results.all(1) for _ in range(left)]
            assert [next(one).host for one in readings] == [decision(1).host] * left
            assert [len(list(one)) for one in readings] == [1] * left
            server.kill()
            back = threading.Timer(1.0, server.start)
            back.start()
            assert [one.host for one in store.results.all(1)] == [decision(1).host, decision(2).host]
            back.join()


def test_server_that_stays_away_is_an_error_that_says_what_to_do(server: PostgresServer, url: str) -> None:
    with Store.open(url, HASTY) as store:
        server.stop()
        try:
            for ask in (store.samples.count, lambda: store.meta.set("a", "b"), lambda: Store.open(url)):
                with pytest.raises(StoreError, match="start it or wait until it is back"):
                    ask()
        finally:
            server.start()
        store.meta.set("a", "b")


# --- a commit whose answer is lost


@pytest.mark.parametrize("is_after", [False, True])
def test_write_whose_commit_was_not_answered_is_kept_once(
    url: str, proxy: CuttingProxy, is_after: bool
) -> None:
    """The server is asked what became of it: what it undid is written again, what it kept is not."""
    with Store.open(proxy.url(name_of(url)), PATIENT) as store:
        store.budget.open("b", 5)
        for write in (
            lambda: store.samples.add_many([sample(1), sample(2)]),
            lambda: store.budget.reserve("b", [OrderRecord(id="o", crawler="ath", address=None)], 1.0),
        ):
            proxy.cut("COMMIT", is_after=is_after)
            write()
        assert proxy.cuts == 2
        assert store.samples.count() == 2
        assert store.budget.state("b").spent == 1


@pytest.mark.parametrize(("is_after", "found"), [(False, None), (True, "kept")])
def test_larger_transaction_is_kept_or_said_to_be_undone(
    url: str, proxy: CuttingProxy, is_after: bool, found: str | None
) -> None:
    with Store.open(proxy.url(name_of(url)), PATIENT) as store:
        proxy.cut("COMMIT", is_after=is_after)
        undone = pytest.raises(StoreError, match="run the same command again")
        with nullcontext() if is_after else undone, store.transaction():
            store.meta.set("key", "kept")
        assert store.meta.get("key") == found
    assert proxy.cuts == 1


def test_commit_whose_outcome_nobody_can_tell_is_said_to_be_unknown(url: str, proxy: CuttingProxy) -> None:
    with Store.open(proxy.url(name_of(url)), HASTY) as store:
        proxy.cut("COMMIT", is_after=True)
        proxy.close_door()
        with pytest.raises(StoreError, match="unknown whether"):
            store.meta.set("key", "word")
        proxy.open_door()
        assert store.meta.get("key") == "word"


# --- crashes


def test_bulk_write_that_a_crash_interrupts_leaves_all_or_nothing(server: PostgresServer, url: str) -> None:
    """Twenty kills at random moments while samples and results are written; each part is whole or missing."""
    chance, written = random.Random(11), 0
    code = (
        "import sys\n"
        "from tests.integration.test_postgres_faults import write_for_ever\n"
        "write_for_ever(sys.argv[1])\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code, url], cwd=Path(__file__).parents[2])
    try:
        with Store.open(url, PATIENT) as store:
            wait_until(lambda: store.samples.count() or child.poll() is not None, "the child writes")
        for _ in range(20):
            time.sleep(chance.uniform(0.0, 0.06))
            server.kill()
            server.start()
            assert child.poll() is None
            with Store.open(url, PATIENT) as store:
                counted = [store.results.count(1), store.samples.count()]
                assert counted[1] >= counted[0] >= written
                assert counted[0] % PART == counted[1] % PART == 0
                written = counted[0]
    finally:
        child.kill()
        child.wait()
    with Store.open(url, PATIENT) as store:
        assert store.results.count(1) == store.samples.count() == len(list(store.results.all(1)))
    assert written


PART = 500


def write_for_ever(url: str) -> None:
    """Write a sample and a result for each number, as a batch does, through whatever happens."""
    start = 1
    with Store.open(url, PATIENT) as store:
        while True:
            numbers = range(start, start + PART)

            def write(numbers: range = numbers) -> None:
                store.samples.add_many(map(sample, numbers))
                store.results.add_many(1, map(decision, numbers))

            store.repeated(write)
            start += PART


def test_batch_goes_on_while_its_server_is_killed_again_and_again(
    tmp_path: Path, server: PostgresServer, url: str
) -> None:
    """Every site is answered once, no finished probe is asked again, and the budget is kept."""
    sites, crawlers, chance = 60, 3, random.Random(3)
    hierarchy_of(tmp_path, sites)
    done = threading.Event()

    def disturb() -> None:
        for _ in range(6):
            if done.wait(chance.uniform(0.05, 0.3)):
                return
            server.kill()
            time.sleep(chance.uniform(0.0, 0.2))
            server.start()

    with InternetProcess(sites, crawlers) as internet:
        with Store.open(url) as store:
            enrol(store, internet.fleet())
        order = BatchOrder(
            folder=str(tmp_path),
            sites=sites,
            port=internet.port,
            token=internet.ready["token"],
            policy="everyone",
            budget=sites * crawlers,
            store=url,
        )
        disturbing = threading.Thread(target=disturb)
        disturbing.start()
        try:
            found = order.run()
        finally:
            done.set()
            disturbing.join()
        asked = internet.requests()
    assert len(found) == sites
    with Store.open(url) as store:
        (batch,) = store.batches.all()
        assert store.results.count(batch.id) == sites
        state = store.budget.state(f"delegate {batch.id}")
        assert state.spent == store.samples.count() == sites * crawlers
        assert store.budget.unanswered(f"delegate {batch.id}") == []
    assert set(asked.values()) == {crawlers}


# --- refusals


def test_refused_user_is_told_without_the_password(server: PostgresServer, url: str) -> None:
    server.execute("DROP ROLE IF EXISTS guarded")
    server.execute("CREATE ROLE guarded LOGIN PASSWORD 'right-one'")
    rules = server.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all guarded scram-sha-256\n{before}")
    server.execute("SELECT pg_reload_conf()")
    try:
        wrong = f"postgresql://guarded:wrong-one@/{name_of(url)}?host={server.folder}"
        wait_until(lambda: _is_refused(wrong), "the rules are loaded")
        with pytest.raises(StoreError, match="PGPASSWORD") as error:
            Store.open(wrong)
        assert "wrong-one" not in str(error.value)
        right = wrong.replace("wrong-one", "right-one")
        with pytest.raises(StoreError, match="lacks a right") as error:
            Store.open(right.replace(name_of(url), "postgres"))
        assert "right-one" not in f"{error.value!r}{error.value.path}"
    finally:
        rules.write_text(before)
        server.execute("SELECT pg_reload_conf()")


def _is_refused(url: str) -> bool:
    try:
        Store.open(url).close()
    except StoreError as error:
        return "password" in str(error)
    return False


def test_missing_database_is_told(server: PostgresServer) -> None:
    with pytest.raises(StoreError, match="createdb"):
        Store.open(server.url("nowhere"))


def test_database_of_another_encoding_is_refused(server: PostgresServer) -> None:
    server.execute("CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    with pytest.raises(StoreError, match="UTF8"):
        Store.open(server.url("latin"))
    server.drop(server.url("latin"))


def test_database_that_takes_no_writes_can_be_read(server: PostgresServer, url: str) -> None:
    with Store.open(url) as store:
        store.meta.set("key", "word")
    server.execute(f"ALTER DATABASE {name_of(url)} SET default_transaction_read_only = on")
    with Store.open(url) as store:
        assert store.meta.get("key") == "word"
        with pytest.raises(StoreError, match="takes no writes"):
            store.meta.set("key", "other")


def test_writer_that_waits_too_long_for_another_is_told(url: str) -> None:
    with Store.open(url) as first, Store.open(url, HASTY) as second, first.transaction():
        first.meta.set("key", "word")
        assert second.meta.get("key") is None
        with pytest.raises(StoreError, match="another process writes"):
            second.meta.set("key", "other")


def test_process_that_is_stopped_in_a_transaction_does_not_keep_others_from_writing(url: str) -> None:
    stopped = ConnectionConfig(idle_s=0.3)
    with Store.open(url, stopped) as first, Store.open(url) as second:
        with ExitStack() as stack:
            stack.enter_context(pytest.raises(StoreError, match="run the same command again"))
            stack.enter_context(first.transaction())
            first.meta.set("key", "stopped")
            second.meta.set("key", "went on")
            first.meta.set("key", "woke up")
        assert first.meta.get("key") == "went on"


def test_process_that_is_stopped_while_three_of_its_threads_write_keeps_nobody_waiting_for_too_long(
    url: str,
) -> None:
    """Times are a tenth of the usual ones."""
    usual = ConnectionConfig()
    config = ConnectionConfig(idle_s=usual.idle_s / 10, busy_s=usual.busy_s / 10)
    goes_on, begun = threading.Event(), []

    def write_and_stop(number: int) -> None:
        begun.append(number)
        with suppress(StoreError), Store.open(url, config) as store, store.transaction():
            store.meta.set("key", f"stopped {number}")
            goes_on.wait(PATIENCE_S)

    with ThreadPoolExecutor(3) as pool:
        for number in range(3):
            pool.submit(write_and_stop, number)
        wait_until(lambda: len(begun) == 3, "all of them want to write")
        time.sleep(0.3)  # and the others wait for the first
        try:
            with Store.open(url, config) as other:
                other.meta.set("key", "went on")
        finally:
            goes_on.set()
    with Store.open(url) as store:
        assert store.meta.get("key") == "went on"


def test_transactions_that_block_each_other_are_repeated(url: str) -> None:
    """Two take the same rows in opposite order, without the writers' lock: one is undone, and repeated."""
    with Store.open(url) as store:
        store.meta.set("a", "0")
        store.meta.set("b", "0")
    barrier = threading.Barrier(2)

    def add(first: str, second: str) -> None:
        with Store.open(url) as own:
            tries = []

            def work() -> None:
                tries.append(1)
                own.connection.execute("UPDATE meta SET value = value || 'x' WHERE key = ?", (first,))
                if len(tries) == 1:
                    barrier.wait(PATIENCE_S)
                own.connection.execute("UPDATE meta SET value = value || 'x' WHERE key = ?", (second,))

            own.connection.repeated(work, is_exclusive=False)

    threads = [threading.Thread(target=add, args=order) for order in (("a", "b"), ("b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Store.open(url) as store:
        assert (store.meta.get("a"), store.meta.get("b")) == ("0xx", "0xx")
