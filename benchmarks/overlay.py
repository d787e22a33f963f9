"""Joining the overlay and looking owners up, for overlays of growing size; in processor time, on one core."""

from __future__ import annotations

import math
import time

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.bench import SEED, Bench
from benchmarks.measure import side_by_side
from benchmarks.results import Row, Target, against, number_text, rate
from ipmicra import Overlay, Space

DIMENSIONS = 3
SINGLE = 5000
TARGET_SIZE = 100_000


def measure_overlay(bench: Bench) -> list[Row]:
    """Let crawlers join, and look coordinates up in each overlay."""
    return [row for size in bench.sizes.overlays for row in _rows(bench, size)]


def _rows(bench: Bench, size: int) -> list[Row]:
    bench.say(f"overlay of {size:,} crawlers")
    owners = bench.sizes.owners
    rng = np.random.default_rng(SEED)
    points, asked = rng.random((size, DIMENSIONS)), rng.random((owners, DIMENSIONS))
    single = rng.random((SINGLE, DIMENSIONS))
    space = Space(low=np.zeros(DIMENSIONS), high=np.ones(DIMENSIONS))
    overlay, grown = Overlay(space, scheme="MP"), Overlay(space, scheme="MP")
    overlay.join_many(points)
    grown.join_many(points)
    tree = cKDTree(points)
    times = side_by_side(
        {
            "joins": lambda: Overlay(space, scheme="MP").join_many(points),
            "lookups": lambda: overlay.owners(asked),
            "one by one": lambda: [grown.join(point) for point in single],
            "making a k-d tree": lambda: cKDTree(points),
            "asking a k-d tree": lambda: tree.query(asked),
        },
        bench.sizes.rounds,
        clock=time.process_time,
    )

    def row(name: str, what: str, count: int, unit: str, limit: float) -> Row:
        target = Target(sense="≥", limit=limit) if size == TARGET_SIZE else None
        each = number_text(times[name].median / count * 1e9 / math.log2(size))
        note = [f"{each} ns each ÷ log2 of the crawlers"]
        return rate(what, times[name], count, f"{unit}/s of processor time", target, note)

    joins, lookups = f"{size:,} joins at once (MP)", f"{owners:,} owners at once, {size:,} crawlers"
    return [
        row("joins", joins, size, "joins", 50_000),
        row("one by one", f"joins one by one into {size:,} crawlers (MP)", SINGLE, "joins", 50_000),
        row("lookups", lookups, owners, "look-ups", 1_000_000),
        against(f"{joins}, × making scipy's `cKDTree`", times["joins"], times["making a k-d tree"]),
        against(
            f"{lookups}, × nearest points in scipy's `cKDTree`",
            times["lookups"],
            times["asking a k-d tree"],
        ),
    ]
