"""Nesting shuffled ranges, beside sorting them."""

from __future__ import annotations

import numpy as np

from benchmarks.bench import SEED, Bench
from benchmarks.generate import subnets
from benchmarks.measure import side_by_side
from benchmarks.results import Row, Target, as_long, seconds_text
from ipmicra.hierarchy.nesting import nest_ipv4
from ipmicra.parse.columns import Rows, Texts
from ipmicra.parse.fields import Text

TARGET = Target(sense="≤", limit=3.0)


def rows_without_text(count: int) -> Rows:
    """Make registrations that say nothing but their ranges."""
    return Rows(
        texts=(np.zeros(count, np.uint32),) * len(Text),
        country=np.zeros(count, np.uint16),
        date=np.zeros(count, np.uint16),
        line=np.zeros(count, np.uint32),
        registry=np.zeros(count, np.uint8),
        holder=np.zeros(count, np.uint8),
        detail=np.zeros(count, np.uint8),
    )


def measure_nesting(bench: Bench) -> list[Row]:
    """Nest ranges with parents, depths and flattening; sort the same keys."""
    count = bench.sizes.ranges
    bench.say(f"nesting {count:,} ranges")
    first, last = subnets(count, SEED)
    key = first.astype(np.uint64) << np.uint64(32) | (~last).astype(np.uint64)
    rows, texts = rows_without_text(count), Texts(data=np.empty(0, np.uint8), ends=np.empty(0, np.uint64))
    tree = nest_ipv4(first, last, rows, texts)
    if len(tree.parent) != count + 1:
        raise RuntimeError(f"{count} ranges gave {len(tree.parent)} subnets, the root included")
    note = f"{len(tree.segments):,} segments, depth {tree.deepest}"
    del tree
    times = side_by_side(
        {"nesting": lambda: nest_ipv4(first, last, rows, texts), "np.argsort": lambda: np.argsort(key)},
        bench.sizes.rounds,
    )
    what = f"nesting of {count:,} shuffled ranges, × the time of `np.argsort` on the same keys"
    figures = (*(f"{name} {seconds_text(one.median)}" for name, one in times.items()), note)
    return [as_long(what, times["nesting"], times["np.argsort"], TARGET, figures)]
