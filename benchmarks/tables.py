"""Looking up whole tables of Parquet by the command, beside a pass that only reads and writes."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import parquet

from benchmarks.addresses import hits4
from benchmarks.bench import SEED, Bench
from benchmarks.measure import children_time, peak_memory, run_to_nowhere, side_by_side
from benchmarks.results import Row, Target, against, number_text, seconds_text
from ipmicra import Hierarchy

TARGET = Target(sense="≥", limit=0.8)
AT_ONCE = 1 << 20
ROUNDS = 3
_OCTETS = pa.array([str(number) for number in range(256)])
_IDENTITY = Path(__file__).with_name("child_identity.py")


def measure_tables(bench: Bench) -> list[Row]:
    """Let the command and the identity pass take turns, each in a process of its own."""
    hierarchy = bench.hierarchy("apnic")
    return [_row(bench, hierarchy, count) for count in bench.sizes.tables]


def _row(bench: Bench, hierarchy: Path, count: int) -> Row:
    source = bench.scratch.made(f"table-{count}.parquet", partial(write_addresses, hierarchy, count))
    out, copy = (source.with_name(f"{name}-{count}.parquet") for name in ("out", "copy"))
    bench.say(f"looking up a table of {count:,} rows")
    command = [sys.executable, "-m", "ipmicra", "lookup", source, "-o", out, "--hierarchy", hierarchy]
    peak = peak_memory(command).total_bytes
    actions = {
        "ours": partial(run_to_nowhere, command),
        "identity": partial(run_to_nowhere, [sys.executable, _IDENTITY, out, copy]),
    }
    times = side_by_side(actions, ROUNDS if count <= 10 * AT_ONCE else 1, untimed=0, clock=children_time)
    size = out.stat().st_size
    out.unlink()
    copy.unlink()
    figures = [
        f"{seconds_text(times['ours'].median)} of CPU",
        f"{seconds_text(times['ours'].median_elapsed)} by the clock",
        f"identity {seconds_text(times['identity'].median)} of CPU",
        f"{number_text(size / 1e6)} MB written; peak memory {number_text(peak / 1e6)} MB",
    ]
    what = f"`ipmicra lookup -o`, {count:,} rows, six columns added, × an identity pass with equal columns"
    return against(what, times["ours"], times["identity"], TARGET, figures)


def address_texts(addresses: NDArray[np.uint32]) -> pa.Array:
    """Write IPv4 addresses as texts."""
    parts = [_OCTETS.take(pa.array((addresses >> np.uint32(by)) & np.uint32(255))) for by in (24, 16, 8, 0)]
    return pc.binary_join_element_wise(*parts, ".")


def write_addresses(hierarchy_file: Path, count: int, path: Path) -> None:
    """Draw addresses, each subnet as likely as any other, which is the hardest case; with a number beside."""
    rng = np.random.default_rng(SEED)
    schema = pa.schema({"id": pa.int64(), "ip": pa.string()})
    with Hierarchy.open(hierarchy_file) as hierarchy, parquet.ParquetWriter(path, schema) as writer:
        bounds = hierarchy.bounds_array(4)
        for start in range(0, count, AT_ONCE):
            part = min(AT_ONCE, count - start)
            numbers = pa.array(np.arange(start, start + part))
            texts = address_texts(hits4(rng, bounds, part))
            writer.write_table(pa.table([numbers, texts], schema=schema), row_group_size=AT_ONCE)
