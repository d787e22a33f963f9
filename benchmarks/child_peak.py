"""Run a command, measure the memory of it and its descendants, and print the result as JSON.

Run by `benchmarks.measure.peak_memory` in a Python of its own; it imports little, so that it is small.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

INTERVAL_S = 0.02
UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
"""Unit of ru_maxrss."""


def family_of(pid: int) -> list[int]:
    """Return a process and all its descendants; those that end meanwhile are missing."""
    found, waiting = [], [pid]
    while waiting:
        current = waiting.pop()
        found.append(current)
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{current}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
    return found


def sizes_of(pid: int) -> tuple[int, int]:
    """Return the resident size of a process and its highest so far, in bytes; 0 if it has ended."""
    sizes = {"VmRSS": 0, "VmHWM": 0}
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            key, _, value = line.partition(":")
            if key in sizes:
                sizes[key] = int(value.split()[0]) * 1024
    return sizes["VmRSS"], sizes["VmHWM"]


def watch(command: list[str]) -> tuple[dict[str, float], int]:
    """Run a command to its end; return the measurements and the exit code."""
    seen: dict[str, float] = {"high_water_bytes": 0, "together_bytes": 0, "processes": 1}
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        sizes = [sizes_of(member) for member in family_of(process.pid)]
        seen["high_water_bytes"] = max(seen["high_water_bytes"], *(high for _, high in sizes))
        seen["together_bytes"] = max(seen["together_bytes"], sum(resident for resident, _ in sizes))
        seen["processes"] = max(seen["processes"], len(sizes))
        time.sleep(INTERVAL_S)
    process.returncode = os.waitstatus_to_exitcode(status)
    seen |= {"seconds": time.perf_counter() - start, "own_bytes": usage.ru_maxrss * UNIT_BYTES}
    return seen, process.returncode


if __name__ == "__main__":
    facts, code = watch(sys.argv[1:])
    print(json.dumps(facts))
    sys.exit(code)
