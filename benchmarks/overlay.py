"""Joining the overlay and looking owners up, for overlays of growing size; in processor time, on one core."""

from __future__ import annotations

import math
import time

import numpy as np

from benchmarks.bench import SEED, Bench
from benchmarks.measure import side_by_side
from benchmarks.results import Row, Target, number_text
from ipmicra import Overlay, Space

DIMENSIONS = 3
LOOKUPS = 1_000_000
SINGLE = 5000
TARGET_SIZE = 100_000


def measure_overlay(bench: Bench) -> list[Row]:
    """Let 10^3 to 10^6 crawlers join, and look up a million coordinates in each overlay."""
    sizes = (1000, 10_000, 100_000, 1_000_000)
    return [row for size in sizes for row in _rows(bench, size)]


def _rows(bench: Bench, size: int) -> list[Row]:
    bench.say(f"overlay of {size:,} crawlers")
    rng = np.random.default_rng(SEED)
    points, asked = rng.random((size, DIMENSIONS)), rng.random((LOOKUPS, DIMENSIONS))
    single = rng.random((SINGLE, DIMENSIONS))
    space = Space(low=np.zeros(DIMENSIONS), high=np.ones(DIMENSIONS))
    overlay = Overlay(space, scheme="MP")
    overlay.join_many(points)
    grown = Overlay(space, scheme="MP")
    grown.join_many(points)
    times = side_by_side(
        {
            "joins": lambda: Overlay(space, scheme="MP").join_many(points),
            "lookups": lambda: overlay.owners(asked),
            "one by one": lambda: [grown.join(point) for point in single],
        },
        bench.sizes.rounds,
        clock=time.process_time,
    )
    depth = math.log2(size)
    each = {
        "joins": size / times["joins"].median,
        "lookups": LOOKUPS / times["lookups"].median,
        "one by one": SINGLE / times["one by one"].median,
    }
    has_target = size == TARGET_SIZE
    titles = {
        "joins": (f"{size:,} joins at once (MP)", "joins/s of processor time", 50_000),
        "one by one": (f"joins one by one into {size:,} crawlers (MP)", "joins/s of processor time", 50_000),
        "lookups": (
            f"{LOOKUPS:,} owners at once, {size:,} crawlers",
            "look-ups/s of processor time",
            1_000_000,
        ),
    }
    return [
        Row(
            what=what,
            value=each[name],
            unit=unit,
            target=Target(sense="≥", limit=limit) if has_target else None,
            figures=(f"{number_text(1e9 / each[name] / depth)} ns each ÷ log2 of the crawlers",),
        )
        for name, (what, unit, limit) in titles.items()
    ]
