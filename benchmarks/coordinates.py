"""Placing hosts by coordinates, beside a loop of scipy's minimiser; in processor time, on one core."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import SEED, Bench
from benchmarks.measure import side_by_side
from benchmarks.results import Row, Target, against, number_text, rate
from ipmicra.assign.coordinate.config import GnpConfig
from ipmicra.assign.coordinate.gnp import place_hosts
from ipmicra.assign.coordinate.landmarks import place_landmarks
from ipmicra.assign.coordinate.samples import clean_mutual
from ipmicra.lab.worlds.populations import KingLike, king_like

LANDMARKS = 20


def measure_coordinates(bench: Bench) -> list[Row]:
    """Place hosts among 20 landmarks in three dimensions, from one start."""
    from scipy.optimize import minimize

    hosts, few = bench.sizes.placed, bench.sizes.placed_by_peer
    rng = np.random.default_rng(SEED)
    rtt = king_like(rng, KingLike(nodes=1000)).rtt_ms
    config = GnpConfig()
    anchors = place_landmarks(clean_mutual(rtt[:LANDMARKS, :LANDMARKS]), config, rng)
    drawn = rtt[rng.integers(LANDMARKS, len(rtt), hosts)][:, :LANDMARKS]
    samples = drawn * rng.uniform(0.95, 1.05, drawn.shape)

    def error(point: NDArray[np.float64], row: NDArray[np.float64]) -> float:
        apart = np.linalg.norm(anchors.points - point, axis=1)
        return float((((apart - row) / row) ** 2).sum())

    starts = [(row**-2) @ anchors.points / (row**-2).sum() for row in samples[:few]]

    def loop() -> list[float]:
        pairs = zip(starts, samples[:few], strict=True)
        return [float(minimize(error, start, args=(row,), method="BFGS").fun) for start, row in pairs]

    bench.say("placing hosts")
    placed = place_hosts(samples[:few], anchors, config)
    ours = [error(point, row) for point, row in zip(placed.points, samples, strict=False)]
    times = side_by_side(
        {"ipmicra": lambda: place_hosts(samples, anchors, config), "scipy": loop},
        bench.sizes.rounds,
        clock=time.process_time,
    )
    mine, theirs = times["ipmicra"], times["scipy"].scaled(hosts / few)
    speed = f"{number_text(hosts / mine.median)} hosts/s"
    return [
        rate(
            f"placing {hosts:,} hosts, {LANDMARKS} landmarks, 3 dimensions, one start",
            mine,
            hosts,
            "hosts/s of processor time",
            Target(sense="≥", limit=10_000),
        ),
        against(
            f"the same, × a loop of `scipy.optimize.minimize` (BFGS), extrapolated from {few} hosts",
            mine,
            theirs,
            Target(sense="≥", limit=10),
            [speed, f"scipy {number_text(hosts / theirs.median)} hosts/s", _fit_text(ours, loop())],
        ),
    ]


def _fit_text(ours: list[float], theirs: list[float]) -> str:
    """Say that both find places of the same quality."""
    return f"mean squared error ours {np.mean(ours):.4f}, scipy {np.mean(theirs):.4f}"
