"""The world on paper: Equal Earth projection, great circles, outlines of land."""

from __future__ import annotations

import json
import math
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.report.plots.scene import Points

WIDTH, HEIGHT = 1000.0, 430.0
NORTH, SOUTH = 78.0, -57.0
"""Degrees north at the upper and lower edge; there is nothing to crawl beyond."""
_A = (1.340264, -0.081106, 0.000893, 0.003796)
"""Coefficients of [3]."""
_M = math.sqrt(3) / 2
_FULL_ROUND = 180.0

Degrees = NDArray[np.float64]


def equal_earth(latitude: Degrees, longitude: Degrees) -> tuple[Degrees, Degrees]:
    """Project degrees to the plane of [3]: x within ±2.707, y within ±1.318, up is north."""
    theta = np.arcsin(_M * np.sin(np.radians(latitude)))
    square = theta * theta
    sixth = square**3
    slope = _A[0] + 3 * _A[1] * square + sixth * (7 * _A[2] + 9 * _A[3] * square)
    x = np.radians(longitude) * np.cos(theta) / (_M * slope)
    y = theta * (_A[0] + _A[1] * square + sixth * (_A[2] + _A[3] * square))
    return x, y


@cache
def _scale() -> tuple[float, float]:
    """Return the pixels per unit, and the plane's y at the upper edge."""
    (half,), _ = equal_earth(np.array([0.0]), np.array([_FULL_ROUND]))
    _, (top,) = equal_earth(np.array([NORTH]), np.array([0.0]))
    return WIDTH / (2 * float(half)), float(top)


def on_map(latitude: Degrees, longitude: Degrees) -> tuple[Degrees, Degrees]:
    """Return pixels from the upper left corner of the map."""
    x, y = equal_earth(np.asarray(latitude, float), np.asarray(longitude, float))
    pixels, top = _scale()
    return x * pixels + WIDTH / 2, (top - y) * pixels


def great_circle(start: tuple[float, float], end: tuple[float, float]) -> tuple[Points, ...]:
    """Draw the shortest way between two places (latitude, longitude) as pixels; cut where the map is cut."""
    first, last = _unit(*start), _unit(*end)
    angle = math.acos(min(1.0, max(-1.0, float(first @ last))))
    share = np.linspace(0, 1, max(2, int(math.degrees(angle) / 4) + 2))[:, None]
    if angle < 1e-9 or math.pi - angle < 1e-6:  # noqa: PLR2004 - one place, or no single shortest way
        way = first * (1 - share) + last * share + 1e-12
    else:
        way = (np.sin((1 - share) * angle) * first + np.sin(share * angle) * last) / math.sin(angle)
    latitude = np.degrees(np.arcsin(np.clip(way[:, 2] / np.linalg.norm(way, axis=1), -1, 1)))
    longitude = np.degrees(np.arctan2(way[:, 1], way[:, 0]))
    return _cut(latitude, longitude)


def _cut(latitude: Degrees, longitude: Degrees) -> tuple[Points, ...]:
    """Cut a line where it leaves the map and comes back at the other side; lead both ends to the edge."""
    jumps = np.flatnonzero(np.abs(np.diff(longitude)) > _FULL_ROUND)
    sides = np.sign(longitude[jumps]) * _FULL_ROUND
    beyond = longitude[jumps + 1] + 2 * sides
    share = (sides - longitude[jumps]) / np.where(beyond == longitude[jumps], 1.0, beyond - longitude[jumps])
    crossing = latitude[jumps] + share * (latitude[jumps + 1] - latitude[jumps])
    at = np.repeat(jumps + 1, 2)
    latitude = np.insert(latitude, at, np.repeat(crossing, 2))
    longitude = np.insert(longitude, at, np.stack([sides, -sides], axis=1).ravel())
    parts = np.split(np.arange(len(latitude)), jumps + 2 + 2 * np.arange(len(jumps)))
    lines = [on_map(latitude[part], longitude[part]) for part in parts if len(part) > 1]
    return tuple(tuple(zip(x.tolist(), y.tolist(), strict=True)) for x, y in lines)


def _unit(latitude: float, longitude: float) -> NDArray[np.float64]:
    up, around = math.radians(latitude), math.radians(longitude)
    return np.array([math.cos(up) * math.cos(around), math.cos(up) * math.sin(around), math.sin(up)])


@cache
def land() -> tuple[Points, ...]:
    """Return the outlines of land in pixels; made by bin/make-land from Natural Earth's (public domain)."""
    stored = json.loads(files("ipmicra.app.report").joinpath("assets/land.json").read_text(encoding="utf-8"))
    outlines = []
    for ring in stored["rings"]:
        degrees = np.cumsum(np.array(ring, float).reshape(-1, 2), axis=0) / stored["scale"]
        x, y = on_map(degrees[:, 1], degrees[:, 0])
        outlines.append(tuple(zip(x.tolist(), y.tolist(), strict=True)))
    return tuple(outlines)
