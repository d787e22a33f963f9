"""Commands on a store in PostgreSQL: the same answers, one holder at a time, no password shown."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

import pytest

from ipmicra.app.delegate.delegator import Delegator
from ipmicra.edge.store.lease_lock import LeaseLockConfig, leased
from ipmicra.edge.store.lock import one_at_a_time
from ipmicra.edge.store.store import Store
from ipmicra.errors import LeaseLostError, StoreBusyError
from ipmicra.model.crawler import Crawler
from tests.cli.command_line import ROOT, invoked
from tests.delegating_worlds import enrol, hierarchy_of, site_address
from tests.patience import wait_until

WORDS = ("--policy", "hash", "--location", "none", "--json")
QUICK = LeaseLockConfig(lease_s=3.0, renew_s=0.1, look_s=0.05)


@pytest.fixture
def home(tmp_path: Path, postgres_url: str) -> Path:
    hierarchy_of(tmp_path, 4)
    for url in (str(tmp_path / "state.db"), postgres_url):
        with Store.open(url) as store:
            enrol(store, [Crawler(name="one", address=ip_address("198.51.99.1"))])
    return tmp_path


def timeless(text: str) -> str:
    """Leave out times, and the size of a page that has them."""
    return re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.]+|\d{9,}\.\d+|(?<=bytes\": )\d+", "TIME", text)


def test_commands_answer_as_on_sqlite(home: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    host = str(site_address(0))
    commands = [
        ("crawler", "list", "--json"),
        ("delegate", host, *WORDS),
        ("delegate", host, *WORDS),
        ("delegate", host, *WORDS, "--dry-run"),
        ("assign", host, "--json"),
        ("explain", host, "--format", "json"),
        ("partition", host, "--method", "delegated", "--json"),
        ("report", "-o", str(home / "page.html")),
        ("forget", host, "--json"),
        ("crawler", "remove", "one"),
    ]
    for words in commands:
        monkeypatch.delenv("IPMICRA_STORE", raising=False)
        expected = invoked("--home", home, *words)
        monkeypatch.setenv("IPMICRA_STORE", postgres_url)
        found = invoked("--home", home, *words)
        assert found.exit_code == expected.exit_code, (words, found.output)
        assert timeless(found.stdout) == timeless(expected.stdout), words


@pytest.fixture
def first(home: Path, postgres_url: str) -> Iterator[subprocess.Popen[bytes]]:
    """A delegation that waits for its seeds, and holds the store meanwhile."""
    words = ["--home", str(home), "delegate", "-", *WORDS, "--store", postgres_url]
    child = subprocess.Popen(
        [sys.executable, "-m", "ipmicra", *words], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with Store.open(postgres_url) as store:
        wait_until(lambda: child.poll() is not None or store.leases.all(), "the first delegation begins")
    assert child.poll() is None
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def test_second_delegation_is_told_who_is_first(
    home: Path, postgres_url: str, first: subprocess.Popen[bytes]
) -> None:
    done = invoked("--home", home, "delegate", str(site_address(0)), *WORDS, "--store", postgres_url)
    assert f"process {first.pid} on" in str(done.exception)
    with pytest.raises(StoreBusyError, match=r"ipmicra delegate -\) since 20"):
        Delegator.open(home, store=postgres_url)
    output, _ = first.communicate(str(site_address(1)).encode(), timeout=60)
    assert (first.returncode, b"203.0.112.2" in output) == (0, True)
    with one_at_a_time(postgres_url, "delegate", "the next"):
        pass


@pytest.mark.slow
def test_killed_holder_frees_the_store_when_its_lease_ends(
    postgres_url: str, first: subprocess.Popen[bytes]
) -> None:
    os.kill(first.pid, signal.SIGKILL)
    first.wait(60)
    with one_at_a_time(postgres_url, "delegate", "the next") as lock:
        lock.settle(lambda *_: pytest.fail("nothing was ended"))


def test_lock_is_kept_as_long_as_it_is_held(postgres_url: str) -> None:
    with leased(postgres_url, "delegate", "long", QUICK):
        time.sleep(1.2 * QUICK.lease_s)
        with pytest.raises(StoreBusyError, match=r"\(long\)"), leased(postgres_url, "delegate", "x", QUICK):
            pass
    with leased(postgres_url, "delegate", "next", QUICK) as lock:
        assert lock.lease.number == 2


def test_ending_that_a_killed_holder_noted_is_taken_back(postgres_url: str) -> None:
    reopened: list[tuple[int, float]] = []
    with suppress(RuntimeError), leased(postgres_url, "delegate", "x", QUICK) as lock:
        lock.note_ending(7, 99.0)
        raise RuntimeError
    with leased(postgres_url, "delegate", "y", QUICK) as lock:
        lock.settle(lambda *ended: reopened.append(ended))
    assert reopened == [(7, 99.0)]
    with leased(postgres_url, "delegate", "z", QUICK) as lock:
        lock.settle(lambda *_: pytest.fail("it was settled"))


def test_process_that_was_stopped_for_too_long_writes_nothing(postgres_url: str) -> None:
    """The lease goes to another one meanwhile; the first one finds out when it writes."""
    with Store.open(postgres_url) as store:
        with leased(postgres_url, "delegate", "first", LeaseLockConfig(lease_s=0.1, renew_s=60.0)) as lock:
            lock.protect(store)
            store.meta.set("key", "kept")
            with leased(postgres_url, "delegate", "second", QUICK):
                with pytest.raises(LeaseLostError, match="nothing was written"):
                    store.meta.set("key", "too late")
                with pytest.raises(LeaseLostError), store.transaction():
                    store.meta.set("key", "too late")
        assert store.meta.get("key") == "kept"
