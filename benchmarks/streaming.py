"""Looking up a long list by the command, beside pyarrow, which only writes the same columns."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.addresses import Case, drawn, texts
from benchmarks.bench import SEED, Bench
from benchmarks.measure import ROOT, Times, children_time, peak_memory, run_to_nowhere, side_by_side
from benchmarks.results import Row, Target, against, number_text, seconds_text
from ipmicra import Hierarchy

TARGET = Target(sense="≥", limit=0.5)
FORMATS = ("csv", "jsonl", "parquet")
IPV6_SHARE = 0.2
"""Share of IPv6 addresses in the list."""


def measure_streaming(bench: Bench) -> list[Row]:
    """Let the whole command and pyarrow take turns; both discard what they write."""
    from pyarrow import csv

    path, count = bench.hierarchy("apnic"), bench.sizes.streamed
    targets = bench.scratch.made(f"targets-{path.stem}-{count}.txt", partial(_write_targets, path, count))
    commands: dict[str, list[str | Path]] = {
        name: [*_COMMAND, targets, "--hierarchy", path, "--format", name] for name in FORMATS
    }
    bench.say(f"looking up {count:,} addresses")
    sizes = {name: _size_of(commands[name]) for name in FORMATS}
    table = csv.read_csv(bench.scratch.made(f"{targets.stem}.csv", partial(_write_output, commands["csv"])))
    actions: dict[str, Callable[[], object]] = {
        name: partial(run_to_nowhere, command) for name, command in commands.items()
    }
    actions["pyarrow"] = partial(csv.write_csv, table, os.devnull)
    times = side_by_side(actions, bench.sizes.command_rounds, clock=_processor_time)
    return [_row(name, count, times, sizes, peak_memory(commands[name]).total_bytes) for name in FORMATS]


_COMMAND: tuple[str, ...] = (sys.executable, "-m", "ipmicra", "lookup")


def _processor_time() -> float:
    """Return the processor time of this process and its children: the wall's depends on who else is busy."""
    return time.process_time() + children_time()


def _write_targets(hierarchy_file: Path, count: int, path: Path) -> None:
    """Draw addresses in registered subnets of both families, mixed."""
    rng = np.random.default_rng(SEED)
    wide = int(count * IPV6_SHARE)
    with Hierarchy.open(hierarchy_file) as hierarchy:
        lines = texts(drawn(rng, hierarchy, Case(family=4, kind="hit"), count - wide))
        lines += texts(drawn(rng, hierarchy, Case(family=6, kind="hit"), wide))
    order: list[Any] = rng.permutation(len(lines)).tolist()
    path.write_text("".join(f"{lines[i]}\n" for i in order))


def _write_output(command: list[str | Path], path: Path) -> None:
    with path.open("wb") as file:
        subprocess.run([str(part) for part in command], cwd=ROOT, check=True, stdout=file)


def _size_of(command: list[str | Path]) -> int:
    """Count the bytes that a command writes."""
    words = [str(part) for part in command]
    size = 0
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None  # a pipe was asked for
        while piece := running.stdout.read(1 << 20):
            size += len(piece)
    return size


def _row(name: str, count: int, times: dict[str, Times], sizes: dict[str, int], peak: int) -> Row:
    """Compare the time for as many rows; lineages in JSON are longer, so there for as many bytes."""
    is_nested = name == "jsonl"
    theirs = times["pyarrow"].scaled(sizes[name] / sizes["csv"] if is_nested else 1.0)
    what = f"`ipmicra lookup --format {name}` × pyarrow writing {'as many bytes of ' if is_nested else ''}CSV"
    figures = [
        f"{seconds_text(times[name].median)} of CPU for {number_text(sizes[name] / 1e6)} MB",
        f"{seconds_text(times[name].median_elapsed)} by the clock",
        f"pyarrow {seconds_text(times['pyarrow'].median)}",
        f"peak memory {number_text(peak / 1e6)} MB",
    ]
    return against(f"{what}, {count:,} targets", times[name], theirs, TARGET, figures)
