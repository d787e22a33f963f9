"""Whether a series of measurements stays level.

The rule: the first quarter of the time is warm-up and not looked at. Of the rest, neither the line through it
may rise by more than a limit from end to end, nor the median of its last quarter lie above that of its first
quarter by more. The line is that of Theil and Sen, whose slope is the median of the slopes between all pairs
of points: a third of the points may be anything. Series of fewer than `LEAST` points are not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

WARM_UP = 0.25
"""Share of the time."""
LEAST = 24
"""Points after the warm-up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How level a series is."""

    name: str
    points: int
    median: float
    rise: float
    """Of the line through it, or of the last quarter over the first, whichever is larger; 0.1 is 10 %."""
    limit: float
    hours: float
    """Between the first and the last point that count."""

    @property
    def is_judged(self) -> bool:
        return self.points >= LEAST

    @property
    def is_flat(self) -> bool:
        return not self.is_judged or self.rise <= self.limit


def level_of(name: str, times_s: Sequence[float], values: Sequence[float], limit: float) -> Level:
    """Judge a series; `limit` is relative to its median."""
    begin_s = times_s[0] + WARM_UP * (times_s[-1] - times_s[0]) if times_s else 0.0
    kept = [(t, v) for t, v in zip(times_s, values, strict=True) if t >= begin_s]
    if len(kept) < 2:
        return Level(name=name, points=len(kept), median=0.0, rise=0.0, limit=limit, hours=0.0)
    t, v = (np.array(column, dtype=float) for column in zip(*kept, strict=True))
    middle = float(np.median(v))
    quarter = max(1, len(v) // 4)
    step = median(v[-quarter:]) - median(v[:quarter])
    rise = max(slope_of(t, v) * (t[-1] - t[0]), step)
    return Level(
        name=name,
        points=len(v),
        median=middle,
        rise=float(rise / middle) if middle else 0.0,
        limit=limit,
        hours=float(t[-1] - t[0]) / 3600,
    )


def slope_of(times_s: np.ndarray, values: np.ndarray) -> float:
    """Return the slope of Theil and Sen, per second."""
    first, second = np.triu_indices(len(times_s), k=1)
    apart_s = times_s[second] - times_s[first]
    is_apart = apart_s > 0
    if not is_apart.any():
        return 0.0
    return float(np.median((values[second] - values[first])[is_apart] / apart_s[is_apart]))
