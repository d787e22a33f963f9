"""Opening a large hierarchy and getting the first answer, each time in a fresh process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks import peers
from benchmarks.bench import Bench
from benchmarks.building import subnets_in
from benchmarks.measure import Times, run, side_by_side
from benchmarks.results import Row, Target, seconds_text, timed
from ipmicra import Hierarchy

TARGET = Target(sense="<", limit=20)
ADDRESS = "193.0.6.139"
_CHILD = "benchmarks.child_first_answer"


def measure_opening(bench: Bench) -> list[Row]:
    """Open with the file in memory and without, beside pytricia's pickle; then the whole command."""
    large, shared = bench.large_hierarchy(), bench.shared_hierarchy()
    with Hierarchy.open(shared) as hierarchy:
        bounds = hierarchy.bounds_array(4)
        table = bench.scratch.made(f"{shared.stem}.pickle", lambda path: peers.write_pickle(bounds, path))
    rounds = bench.sizes.short_rounds
    bench.say("opening")
    first, spelled = _asked("ipmicra", large, rounds, lambda: None)
    cold, _ = _asked("ipmicra", large, rounds, lambda: _forget(large))
    pickled, _ = _asked("pytricia", table, rounds, lambda: None)
    count = f"{subnets_in(large):,} subnets"
    own_words = [f"with the subnet spelled out {seconds_text(spelled.median)}"]
    opened, again = "open and first answer beyond imports", "the same, file not in the page cache"
    theirs = timed(f"pytricia's pickle of {subnets_in(shared):,} subnets and first answer", pickled, "ms")
    return [
        replace(timed(f"{opened}, {count}", first, "ms", TARGET, own_words), key=opened),
        replace(timed(f"{again}, {count}", cold, "ms"), key=again),
        replace(theirs, is_of_peer=True),
        *_command_rows(large, rounds),
    ]


def _asked(kind: str, path: Path, rounds: int, before: Callable[[], object]) -> tuple[Times, Times]:
    """Open in several fresh processes; return the times to a row and to the whole subnet."""
    answers = []
    for number in range(rounds + 1):
        before()
        answer = json.loads(run([sys.executable, "-m", _CHILD, kind, path, ADDRESS]))
        if number:  # the first one fills caches
            answers.append(answer)
    rows = Times(seconds=tuple(answer["row_s"] for answer in answers))
    return rows, Times(seconds=tuple(answer["all_s"] for answer in answers))


def _forget(path: Path) -> None:
    """Ask the kernel to drop a file from the page cache; where it cannot, the file stays in."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _command_rows(path: Path, rounds: int) -> list[Row]:
    """Time the whole command beside a Python that does nothing."""
    lookup: list[str | Path] = [sys.executable, "-m", "ipmicra", "lookup", ADDRESS, "--hierarchy", path]
    times = side_by_side(
        {"ipmicra lookup": lambda: run(lookup), "python": lambda: run([sys.executable, "-c", "pass"])},
        rounds,
    )
    beyond = times["ipmicra lookup"].median - times["python"].median
    return [
        timed(
            f"whole command `ipmicra lookup {ADDRESS}`",
            times["ipmicra lookup"],
            "ms",
            None,
            [f"`python -c pass` {seconds_text(times['python'].median)}", f"beyond it {seconds_text(beyond)}"],
        )
    ]
