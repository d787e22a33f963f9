"""Memory that runs out: a few refusals and limits here, all of them in `bin/torture memory`."""

from __future__ import annotations

import errno
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ipmicra.cli.out_of_memory import NO_MEMORY, lacks_memory
from ipmicra.errors import StoreError
from tests.cli.command_line import ROOT, dump_file
from tests.patience import PATIENCE_S
from tests.torture.limits import run_limited


def test_compiled_code_that_gets_no_memory_says_so_and_goes_on() -> None:
    works = ("build", "look-up", "overlay", "auction", "moves", "predict")
    words = [sys.executable, "-m", "tests.torture.memory", "--every", "61", "--only", *works]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, "0 findings" in done.stdout) == (0, True), done.stdout + done.stderr
    refused = re.findall(r"([\d,]+) ended in MemoryError", done.stdout)
    assert len(refused) == len(works)
    assert any(refused)


@pytest.mark.parametrize("limit_mb", [40, 88, 96, 104])
def test_command_that_gets_too_little_memory_says_so_and_leaves_everything_as_it_was(
    tmp_path: Path, limit_mb: int
) -> None:
    """Under all but the first limit memory would run out while numpy is imported, and crash it at times."""
    dump, old = dump_file(tmp_path), tmp_path / "a.ipm"
    old.write_bytes(b"old")
    done = run_limited(tmp_path, ["build", str(dump), "-o", str(old)], limit_mb)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"", f"ipmicra: {NO_MEMORY}\n")
    assert old.read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} <= {"a.ipm", dump.name, "home"}


FILLING = f"""
import contextlib, resource
from ipmicra.native import kernels

resource.setrlimit(resource.RLIMIT_CPU, (20, 25))
resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))
assert kernels.keep_reserve() == kernels.keep_reserve() == 1

def fill(room):
    with contextlib.nullcontext():
        {"; ".join(f"room[{place}] = {place}.5" for place in range(150))}
        at = 0
        while True:
            room[at] = at + 1000
            at += 1

try:
    fill([None] * 4_000_000)
except MemoryError:
    print("unwound")
"""
"""An error is unwound to a place beyond the 256th of its code, for which Python makes a number."""


MULTIPLYING = """
import mmap, resource
from ipmicra.edge.memory_limit import prepare_for_limits

resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
prepare_for_limits()
import numpy as np

kept = []
try:
    while True:
        kept.append(mmap.mmap(-1, 8 << 20))
except OSError:
    print("full", (np.ones((9, 9)) @ np.ones((9, 9)))[0, 0])
"""
"""OpenBLAS would ask for a buffer when all memory is taken."""
HASHING = """
import mmap, resource, sys
from ipmicra.edge.memory_limit import prepare_for_limits

assert "hashlib" not in sys.modules
resource.setrlimit(resource.RLIMIT_AS, (128 << 20, 128 << 20))
prepare_for_limits()
kept = []
try:
    while True:
        kept.append(mmap.mmap(-1, 1 << 20))
except OSError:
    del kept[-4:]
    try:
        import hashlib
    except MemoryError:
        print("refused")
"""
"""The module would print tracebacks about what it cannot load, and go on without it."""
UNPACKING = """
import gzip, resource, sys
from pathlib import Path
from ipmicra.edge.dumps.reading import _plain

packed = Path(sys.argv[1]).with_name("dump.gz")
packed.write_bytes(gzip.compress(b"inetnum: 192.0.2.0"))
resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
kept = []
try:
    while True:
        kept.append(bytearray(1 << 19))
except MemoryError:
    pass
with packed.open("rb") as raw:
    try:
        _plain(packed, raw)
    except MemoryError:
        print("refused")
"""
"""The reader of packed files would free what it did not get: whatever had lain in its memory before."""
LOOKING = """
import sqlite3, sys
from ipmicra.cli.out_of_memory import lacks_memory
from ipmicra.edge.store.store import Store
from ipmicra.errors import StoreError

sqlite3.connect(":memory:").execute("PRAGMA hard_heap_limit = 300000")
try:
    Store.open(sys.argv[1])
except StoreError as error:
    print(lacks_memory(error), "damaged" in str(error))
"""
"""SQLite gets pages for a while, and reports the first that it does not get like one that is broken."""

THREADING = """
import resource, sys, threading
from ipmicra.app.home import Home
from ipmicra.cli.main import run

def open_hierarchy(home):
    threading.stack_size(2 << 30)
    threading.Thread(target=print).start()

Home.open_hierarchy = open_hierarchy
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
sys.argv = ["ipmicra", "--home", sys.argv[1], "info"]
run()
"""
"""There is no room for the stack of a thread, and Python says only that it cannot start one."""


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (FILLING, "unwound\n"),
        (MULTIPLYING, "full 9.0\n"),
        (HASHING, "refused\n"),
        (UNPACKING, "refused\n"),
        (LOOKING, "True False\n"),
    ],
    ids=["filling", "multiplying", "hashing", "unpacking", "looking"],
)
def test_memory_that_runs_out_ends_no_process_and_is_called_what_it_is(
    tmp_path: Path, script: str, said: str
) -> None:
    store = shutil.copy(ROOT / "tests" / "data" / "0.1.0" / "state.db", tmp_path)
    words = [sys.executable, "-c", script, store]
    environment = os.environ | {
        "PYTHONMALLOC": "debug"
    }  # fills what is allocated, so that reading it crashes
    done = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


def test_command_that_can_start_no_thread_says_that_memory_is_lacking(tmp_path: Path) -> None:
    words = [sys.executable, "-c", THREADING, str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"ipmicra: {NO_MEMORY}\n")


def test_error_without_a_word_is_lack_of_memory_only_under_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    error = SystemError("error return without exception set")
    limits = {resource.RLIMIT_AS: 1 << 30}
    none = resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda name: (limits.get(name, none), none))
    assert lacks_memory(error)
    limits.clear()
    assert not lacks_memory(error)


def of_sqlite(code: int) -> StoreError:
    inner, error = sqlite3.OperationalError("disk I/O error"), StoreError("state.db", "disk I/O error")
    inner.sqlite_errorcode = code
    error.__cause__ = inner
    return error


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (RuntimeError("can't start new thread"), True),
        (OSError("Unknown error: Failed to launch worker thread: Resource temporarily unavailable"), True),
        (ImportError("x.so: failed to map segment from shared object"), True),
        (of_sqlite(sqlite3.SQLITE_IOERR_SHMMAP), True),
        (of_sqlite(sqlite3.SQLITE_IOERR_WRITE), False),
        (OSError(errno.ENOSPC, "No space left on device"), False),
        (RuntimeError("something else"), False),
    ],
)
def test_what_comes_of_too_little_memory_is_recognised(error: Exception, is_memory: bool) -> None:
    assert lacks_memory(error) == is_memory
