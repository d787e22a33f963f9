"""What a measurement gives: rows of a table, some with a target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import Times, speed_ratio

TIMES = "×"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What must be reached."""

    sense: str
    """`≥`, `≤` or `<`."""
    limit: float
    aim: str = ""
    """What would be better still."""

    def holds(self, value: float) -> bool:
        """Tell whether a value reaches the target."""
        if self.sense == "≥":
            return value >= self.limit
        return value <= self.limit if self.sense == "≤" else value < self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the results."""

    what: str
    value: float | None = None
    unit: str = TIMES
    low: float | None = None
    """Least of the rounds."""
    high: float | None = None
    target: Target | None = None
    figures: tuple[str, ...] = ()
    """Absolute figures behind the value, ready to print."""
    missing: str = ""
    """Why there is no value."""

    @property
    def is_met(self) -> bool | None:
        """Tell whether the target is reached; None where there is none or nothing was measured."""
        if self.target is None or self.value is None:
            return None
        return self.target.holds(self.value)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Row:
        """Make a row of what `dataclasses.asdict` made of it."""
        target = Target(**stored["target"]) if stored["target"] else None
        return cls(**{**stored, "target": target, "figures": tuple(stored["figures"])})


def against(
    what: str, ours: Times, theirs: Times, target: Target | None = None, figures: Iterable[str] = ()
) -> Row:
    """Make the row that says how many times as fast ours is as theirs."""
    ratio = speed_ratio(ours, theirs)
    return Row(
        what=what, value=ratio.value, low=ratio.low, high=ratio.high, target=target, figures=tuple(figures)
    )


def timed(
    what: str, times: Times, unit: str, target: Target | None = None, figures: Iterable[str] = ()
) -> Row:
    """Make the row that says how long something took."""
    factor = {"s": 1.0, "ms": 1e3, "ns": 1e9}[unit]
    scaled = times.scaled(factor)
    return Row(
        what=what,
        value=scaled.median,
        unit=unit,
        low=min(scaled.seconds),
        high=max(scaled.seconds),
        target=target,
        figures=tuple(figures),
    )


def number_text(value: float) -> str:
    """Write a number with three digits that count: 0.123, 1.23, 12.3, 1,234."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.0001 or not value else f"{value:.1e}"


def seconds_text(seconds: float) -> str:
    """Write a time in the unit that suits it."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{number_text(seconds * factor)} {unit}"
    return f"{number_text(seconds * 1e9)} ns"
