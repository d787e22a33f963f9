"""Allocations that are refused: a few here, all of them in `bin/torture memory`."""

from __future__ import annotations

import subprocess
import sys

from tests.cli.command_line import ROOT
from tests.patience import PATIENCE_S


def test_compiled_code_that_gets_no_memory_says_so_and_goes_on() -> None:
    words = [sys.executable, "-m", "tests.torture.memory", "--every", "61"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, "0 findings" in done.stdout) == (0, True), done.stdout + done.stderr
    refused = [int(line.split()[3]) for line in done.stdout.splitlines() if "MemoryError" in line]
    assert sum(refused) > 0
