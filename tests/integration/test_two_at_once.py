"""Two processes that want to work in one store at the same time."""

from __future__ import annotations

import os
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
from ipmicra.edge.store.lock import one_at_a_time
from ipmicra.edge.store.store import Store
from ipmicra.errors import StoreBusyError, StoreError
from ipmicra.model.crawler import Crawler
from tests.cli.command_line import ROOT, invoked, ran
from tests.delegating_worlds import enrol, hierarchy_of, site_address

WORDS = ("--policy", "hash", "--location", "none", "--json")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    hierarchy_of(tmp_path, 4)
    with Store.open(str(tmp_path / "state.db")) as store:
        enrol(store, [Crawler(name="one", address=ip_address("198.51.99.1"))])
    return tmp_path


@pytest.fixture
def first(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A delegation that waits for its seeds, and holds the store meanwhile."""
    words = [sys.executable, "-m", "ipmicra", "--home", str(home), "delegate", "-", *WORDS]
    child = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lock = home / "state.db.delegate-lock"
    until_s = time.monotonic() + 60
    while not (lock.exists() and lock.read_text()):
        assert child.poll() is None
        assert time.monotonic() < until_s
        time.sleep(0.01)
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def test_second_delegation_is_told_who_is_first_and_what_to_do(
    home: Path, first: subprocess.Popen[bytes]
) -> None:
    done = ran("--home", home, "delegate", str(site_address(0)), *WORDS)
    (line,) = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (1, b"")
    assert f"process {first.pid} (ipmicra delegate -) since 20" in line
    assert "wait until that is done, stop it, or use another --store" in line
    with pytest.raises(StoreBusyError, match=str(first.pid)):
        Delegator.open(home)
    plan = invoked("--home", home, "delegate", str(site_address(0)), *WORDS, "--dry-run")
    assert plan.exit_code == 0
    output, _ = first.communicate(str(site_address(1)).encode(), timeout=60)
    assert (first.returncode, b"203.0.112.2" in output) == (0, True)


def test_killed_holder_frees_the_store(home: Path, first: subprocess.Popen[bytes]) -> None:
    os.kill(first.pid, signal.SIGKILL)
    first.wait(60)
    assert invoked("--home", home, "delegate", str(site_address(0)), *WORDS).exit_code == 0


def test_second_assignment_is_told_too(home: Path) -> None:
    words = ("--home", home, "assign", str(site_address(0)), "--json")
    store = str(home / "state.db")
    with one_at_a_time(store, "assign", "ipmicra assign big.txt", clock=lambda: 0.0):
        error = invoked(*words).exception
        assert isinstance(error, StoreBusyError)
        assert f"process {os.getpid()} (ipmicra assign big.txt) since 1970-01-01 00:00:00 UTC" in str(error)
        assert invoked(*words, "--dry-run").exit_code == 0
    assert invoked(*words).exit_code == 0


def test_lock_without_a_name_in_it_is_a_lock(tmp_path: Path) -> None:
    store = str(tmp_path / "state.db")
    with one_at_a_time(store, "delegate", "x"):
        (tmp_path / "state.db.delegate-lock").write_text("[]")
        with (
            pytest.raises(StoreBusyError, match="another process works in it"),
            one_at_a_time(store, "delegate", "y"),
        ):
            pass


def settled(store: str) -> list[tuple[int, float]]:
    """Take the lock, return what is to be reopened, and leave."""
    found: list[tuple[int, float]] = []
    with one_at_a_time(store, "delegate", "next") as lock:
        lock.settle(lambda batch, ended_s: found.append((batch, ended_s)))
    return found


def test_ending_that_its_holder_did_not_survive_is_settled_once(tmp_path: Path) -> None:
    store = str(tmp_path / "state.db")
    with suppress(KeyboardInterrupt), one_at_a_time(store, "delegate", "x") as lock:
        lock.note_ending(7, 12.5)
        raise KeyboardInterrupt
    with one_at_a_time(store, "delegate", "whoever settles nothing"):
        pass
    assert settled(store) == [(7, 12.5)]
    assert settled(store) == []


def test_ending_whose_holder_left_is_not_settled(tmp_path: Path) -> None:
    store = str(tmp_path / "state.db")
    with one_at_a_time(store, "delegate", "x") as lock:
        lock.note_ending(7, 12.5)
    assert settled(store) == []


@pytest.mark.parametrize("content", ["", "{}", "[" * 100_000, '{"batch": "x", "ended_s": 1}', "\0", "\xff"])
def test_lock_file_with_anything_in_it_can_be_taken(tmp_path: Path, content: str) -> None:
    (tmp_path / "state.db.delegate-lock").write_bytes(content.encode("latin-1"))
    assert settled(str(tmp_path / "state.db")) == []


def test_lock_file_that_is_a_link_is_refused_and_its_target_stays(tmp_path: Path) -> None:
    target = tmp_path / "precious.txt"
    target.write_text("kept")
    (tmp_path / "state.db.delegate-lock").symlink_to(target)
    with (
        pytest.raises(StoreError, match="is a symbolic link: remove the link"),
        one_at_a_time(str(tmp_path / "state.db"), "delegate", "x"),
    ):
        pass
    assert target.read_text() == "kept"


def test_stores_in_memory_are_nobody_elses() -> None:
    with one_at_a_time("sqlite://", "delegate", "x"), one_at_a_time("sqlite://", "delegate", "y"):
        pass
