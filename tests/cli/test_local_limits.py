"""What the machine or a number does not allow ends in one line."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from ipaddress import ip_address
from pathlib import Path

import pytest

from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler
from tests.cli.command_line import ROOT
from tests.delegating_worlds import enrol, hierarchy_of
from tests.patience import PATIENCE_S


@pytest.mark.parametrize(
    ("limit", "seed", "words", "code", "message"),
    [
        ("ulimit -n 10;", "192.0.2.1", "", 1, "Too many open files"),
        ("", "192.0.2.1", f"--probe-budget {1 << 63}", 2, "cannot be stored"),
        ("", os.fsdecode(b"a\xff.example"), "", 1, "no address"),
    ],
)
def test_limit_is_reported_without_a_traceback(
    tmp_path: Path, limit: str, seed: str, words: str, code: int, message: str
) -> None:
    hierarchy_of(tmp_path, 4)
    with Store.open(str(tmp_path / "state.db")) as store:
        enrol(store, [Crawler(name="one", address=ip_address("198.51.99.1"))])
    command = [sys.executable, "-m", "ipmicra", "--home", str(tmp_path), "delegate", seed, "--policy", "hash"]
    shell = f"{limit} exec {shlex.join(command)} {words}"
    done = subprocess.run(
        ["/bin/sh", "-c", shell], cwd=ROOT, capture_output=True, check=False, timeout=PATIENCE_S
    )
    told = done.stderr.decode(errors="replace")
    assert (done.returncode, message in told) == (code, True), told
    assert "Traceback" not in told
    assert "fault of ipmicra" not in told
    assert "Warning" not in told
