"""Compare a run with earlier ones: what regressed, what improved, and what is within noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from benchmarks.results import Past, Row, number_text
from benchmarks.stored import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareConfig:
    """Thresholds from which a change is reported; decision 0090 says why."""

    least: float = 0.10
    """Relative change of a repeated figure, which must also leave both spreads."""
    single: float = 0.25
    """The same for a figure that was measured once, and so has no spread."""
    exact: float = 0.01
    """The same for a figure that depends on neither clock nor machine."""
    same: tuple[str, ...] = ("CPU", "cores", "Python")
    """Machine facts that must agree before absolute figures are compared."""


CONFIG = CompareConfig()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How a row differs from an earlier run."""

    row: Row
    past: Past
    share: float
    """Relative change of the value; 0.1 is a tenth more, whether good or bad."""
    is_worse: bool

    @property
    def text(self) -> str:
        """The change in words: `was 3.04, fell 15 %`."""
        if math.isinf(self.share):
            return f"was {number_text(self.past.value)}"
        verb = "rose" if self.share > 0 else "fell"
        return f"was {number_text(self.past.value)}, {verb} {abs(self.share):.0%}".replace("%", " %")


def change_from(row: Row, past: Past | None, config: CompareConfig = CONFIG) -> Change | None:
    """Return how a row differs from a past value; None if within noise, or if there is no past value."""
    if past is None or row.value is None or row.value == past.value or row.is_disturbed:
        return None
    apart = row.value - past.value
    share = apart / abs(past.value) if past.value else math.copysign(math.inf, apart)
    if abs(share) <= _margin(row, past, config) or _is_within_spread(row, past):
        return None
    return Change(row=row, past=past, share=share, is_worse=(apart < 0) == row.is_more_better)


def _margin(row: Row, past: Past, config: CompareConfig) -> float:
    if row.is_exact:
        return config.exact
    return config.least if _has_spread(row) and _has_spread(past) else config.single


def _has_spread(one: Row | Past) -> bool:
    return one.low is not None and one.high is not None and one.low < one.high


def _is_within_spread(row: Row, past: Past) -> bool:
    """Return whether one of the values lies in the spread of the other."""
    return _holds(past, row.value) or _holds(row, past.value)


def _holds(one: Row | Past, value: float | None) -> bool:
    if one.low is None or one.high is None or value is None:
        return False
    return one.low < one.high and one.low <= value <= one.high


def changes(groups: Mapping[str, Group]) -> list[Change]:
    """Return what changed since the previous run, except in peers."""
    rows = [row for group in groups.values() for row in group.rows if not row.is_of_peer]
    found = [change_from(row, row.last) for row in rows]
    return [change for change in found if change]


def misses(groups: Mapping[str, Group]) -> list[Row]:
    """Return the rows that miss their target or were not measured."""
    rows = [row for group in groups.values() for row in group.rows]
    return [row for row in rows if row.value is None or row.is_met is False]


def remembering(new: Group, old: Group | None, config: CompareConfig = CONFIG) -> Group:
    """Return a group with the values of the previous run and the best of all earlier runs."""
    marked = tuple(
        replace(row, is_disturbed=new.is_disturbed and row.is_absolute and row.value is not None)
        for row in new.rows
    )
    if old is None:
        return replace(new, rows=marked)
    by_key = {row.what: row for row in old.rows} | {row.key: row for row in old.rows if row.key}
    is_same = all(new.machine.get(fact) == old.machine.get(fact) for fact in config.same)
    rows = []
    for row in marked:
        before = by_key.get(row.key) or by_key.get(row.what)
        is_comparable = is_same or not row.is_absolute
        rows.append(_remembering(row, before, old) if before and is_comparable else row)
    known = {name for row in new.rows for name in (row.key, row.what) if name}
    gone = (row.what for row in old.rows if row.what not in known and row.key not in known)
    return replace(new, rows=tuple(rows), gone=tuple(gone))


def _remembering(row: Row, before: Row, old: Group) -> Row:
    if before.value is None or before.is_disturbed:
        return replace(row, last=before.last, best=before.best)
    last = Past(
        value=before.value, low=before.low, high=before.high, measured=old.measured, commit=old.commit
    )
    return replace(row, last=last, best=_better(row, (last, before.best)))


def _better(row: Row, pasts: Iterable[Past | None]) -> Past:
    choose = max if row.is_more_better else min
    return choose((past for past in pasts if past), key=lambda past: past.value)
