"""Turning one embedding into the frame of another: distances stay, coordinates become comparable."""

from __future__ import annotations

import numpy as np

from ipmicra.model.types import Floats


def aligned(points: Floats, anchors: Floats, targets: Floats) -> Floats:
    """Turn, mirror and shift points so that their anchors fit the targets best.

    Anchors and targets are the same things in the frame of `points` and in the other one (Schönemann 1966).
    Coordinates are made from distances alone, so that two fits of one fleet differ by just this.
    """
    middle, other = anchors.mean(axis=0), targets.mean(axis=0)
    left, _, right = np.linalg.svd((anchors - middle).T @ (targets - other))
    turned: Floats = (points - middle) @ (left @ right) + other
    return turned
