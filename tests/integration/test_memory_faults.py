"""Memory that runs out: a few refusals and limits here, all of them in `bin/torture memory`."""

from __future__ import annotations

import errno
import re
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


def test_error_is_unwound_where_not_even_a_number_fits() -> None:
    words = [sys.executable, "-c", FILLING]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stdout) == (0, "unwound\n"), done.stderr


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
