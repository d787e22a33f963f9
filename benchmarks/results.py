"""Rows of results, some with a target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import Ratio, Times, speed_ratio, time_ratio

TIMES = "×"
LESS_IS_BETTER = frozenset({"s", "ms", "ns", "GB", "bytes a subnet"})
"""Units of which less is better where no target says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The value to reach."""

    sense: str
    """`≥`, `≤` or `<`."""
    limit: float
    aim: str = ""
    """A more ambitious goal, in words."""

    def holds(self, value: float) -> bool:
        """Return whether a value reaches the target."""
        if self.sense == "≥":
            return value >= self.limit
        return value <= self.limit if self.sense == "≤" else value < self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a row showed in an earlier run."""

    value: float
    low: float | None = None
    high: float | None = None
    measured: str
    """Day, ISO 8601."""
    commit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the results."""

    what: str
    value: float | None = None
    unit: str = TIMES
    low: float | None = None
    """Least of the rounds."""
    high: float | None = None
    rounds: int = 0
    """Rounds that were counted; 0 where nothing was repeated."""
    target: Target | None = None
    figures: tuple[str, ...] = ()
    """Absolute figures behind the value, ready to print."""
    missing: str = ""
    """Why there is no value."""
    key: str = ""
    """Identity of the row between runs, if `what` contains figures of the run itself."""
    is_exact: bool = False
    """The same code gives the same value, whatever the clock and the machine."""
    is_of_peer: bool = False
    """Measures only a peer: changes are shown but not judged."""
    is_disturbed: bool = False
    """An absolute figure from a busy machine: neither judged nor compared with later ones."""
    last: Past | None = None
    """Value of the previous run."""
    best: Past | None = None
    """Best value of all earlier runs."""

    @property
    def is_met(self) -> bool | None:
        """Return whether the target is reached; None if there is no target or no value."""
        if self.target is None or self.value is None:
            return None
        return self.target.holds(self.value)

    @property
    def is_absolute(self) -> bool:
        """Return whether the value depends on the speed and load of the machine."""
        return not self.is_exact and self.unit != TIMES

    @property
    def is_more_better(self) -> bool:
        """Return whether larger values are better."""
        return self.target.sense == "≥" if self.target else self.unit not in LESS_IS_BETTER

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Row:
        """Create a row from the output of `dataclasses.asdict`; older results lack some fields."""
        kinds = (("target", Target), ("last", Past), ("best", Past))
        parts = {name: kind(**stored[name]) for name, kind in kinds if stored.get(name)}
        return cls(**{**stored, **parts, "figures": tuple(stored.get("figures", ()))})


def against(
    what: str, ours: Times, theirs: Times, target: Target | None = None, figures: Iterable[str] = ()
) -> Row:
    """Return the row for how many times as fast ours is."""
    return _of_ratio(what, speed_ratio(ours, theirs), len(ours.seconds), target, figures)


def as_long(
    what: str, ours: Times, theirs: Times, target: Target | None = None, figures: Iterable[str] = ()
) -> Row:
    """Return the row for how many times as long ours takes."""
    return _of_ratio(what, time_ratio(ours, theirs), len(ours.seconds), target, figures)


def _of_ratio(what: str, ratio: Ratio, rounds: int, target: Target | None, figures: Iterable[str]) -> Row:
    return Row(
        what=what,
        value=ratio.value,
        low=ratio.low,
        high=ratio.high,
        rounds=rounds,
        target=target,
        figures=tuple(figures),
    )


def timed(
    what: str, times: Times, unit: str, target: Target | None = None, figures: Iterable[str] = ()
) -> Row:
    """Return the row for how long something took, in a unit of time or relative to another time."""
    scaled = times.scaled({"ms": 1e3, "ns": 1e9}.get(unit, 1.0))
    return Row(
        what=what,
        value=scaled.median,
        unit=unit,
        low=min(scaled.seconds),
        high=max(scaled.seconds),
        rounds=len(scaled.seconds),
        target=target,
        figures=tuple(figures),
    )


def rate(
    what: str,
    times: Times,
    count: float,
    unit: str,
    target: Target | None = None,
    figures: Iterable[str] = (),
) -> Row:
    """Return the row for a rate per second; `count` is in the unit of the row."""
    return Row(
        what=what,
        value=count / times.median,
        unit=unit,
        low=count / max(times.seconds),
        high=count / min(times.seconds),
        rounds=len(times.seconds),
        target=target,
        figures=tuple(figures),
    )


def number_text(value: float) -> str:
    """Return a number with three significant digits: 0.123, 1.23, 12.3, 1,234."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.0001 or not value else f"{value:.1e}"


def seconds_text(seconds: float) -> str:
    """Return a time in a suitable unit."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{number_text(seconds * factor)} {unit}"
    return f"{number_text(seconds * 1e9)} ns"
