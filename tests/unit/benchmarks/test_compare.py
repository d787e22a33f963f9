"""Which changes between runs are reported, and which may be noise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.compare import change_from, misses, remembering
from benchmarks.results import Past, Row, Target
from benchmarks.stored import Group

MORE, LESS = Target(sense="≥", limit=1), Target(sense="≤", limit=1)
MACHINE = {"CPU": "quick one", "cores": "2", "Python": "3.11"}


def past(value: float, low: float | None = None, high: float | None = None) -> Past:
    return Past(value=value, low=low, high=high, measured="2026-01-01", commit="abc1234")


def repeated(value: float, low: float, high: float, target: Target | None = None) -> Row:
    return Row(what="build", value=value, low=low, high=high, rounds=5, target=target)


def group(*rows: Row, machine: dict[str, str] = MACHINE, day: str = "2026-01-02") -> Group:
    return Group(title="Reading", measured=day, machine=machine, sizes={}, rows=rows, commit="abc1234")


@pytest.mark.parametrize(
    ("row", "before", "is_reported"),
    [
        (repeated(2.5, 2.4, 2.6), past(3.0, 2.9, 3.1), True),
        (repeated(2.8, 2.75, 2.85), past(3.0, 2.9, 3.1), False),
        (repeated(2.5, 2.4, 3.0), past(3.0, 2.9, 3.1), False),
        (repeated(2.5, 2.4, 2.6), past(3.0, 2.4, 3.1), False),
        (repeated(3.0, 2.9, 3.1), past(3.0, 2.9, 3.1), False),
    ],
    ids=["outside both spreads", "less than a tenth", "old in the new spread", "new in the old", "same"],
)
def test_a_repeated_figure_changed_if_it_left_both_spreads_by_more_than_a_tenth(
    row: Row, before: Past, is_reported: bool
) -> None:
    assert (change_from(row, before) is not None) is is_reported


@pytest.mark.parametrize(("value", "is_reported"), [(0.8, False), (0.74, True)])
def test_a_figure_that_was_measured_once_must_change_by_a_quarter(value: float, is_reported: bool) -> None:
    assert (change_from(Row(what="memory", value=value), past(1.0)) is not None) is is_reported


@pytest.mark.parametrize(
    ("target", "unit", "is_worse"),
    [(MORE, "×", False), (LESS, "×", True), (None, "×", False), (None, "ms", True), (None, "names/s", False)],
)
def test_target_or_unit_say_whether_more_is_better(target: Target | None, unit: str, is_worse: bool) -> None:
    change = change_from(Row(what="build", value=2.0, unit=unit, target=target), past(1.0))
    assert change is not None
    assert change.is_worse is is_worse
    assert change.text == "was 1, rose 100 %"


def test_a_run_remembers_the_one_before_and_the_best() -> None:
    values = (2.0, 3.0, 2.5)
    known: Group | None = None
    for number, value in enumerate(values):
        known = remembering(group(Row(what="build", value=value), day=f"2026-01-0{number + 1}"), known)
    assert known is not None
    row = known.rows[0]
    assert (row.last, row.best) == (replace(past(3.0), measured="2026-01-02"),) * 2
    after = remembering(group(Row(what="build", value=2.4)), known).rows[0]
    assert after.last is not None
    assert after.best is not None
    assert (after.last.value, after.best.value) == (2.5, 3.0)


def test_on_another_machine_only_ratios_and_exact_figures_are_compared() -> None:
    rows = (
        Row(what="ratio", value=2.0),
        Row(what="speed", value=2.0, unit="names/s"),
        Row(what="share", value=2.0, unit="%", is_exact=True),
    )
    new = remembering(group(*rows, machine={**MACHINE, "CPU": "slow one"}), group(*rows))
    assert [row.last is not None for row in new.rows] == [True, False, True]


def test_missed_and_unmeasured_rows_are_listed() -> None:
    rows = (
        Row(what="met", value=1.0, target=MORE),
        Row(what="missed", value=0.5, target=MORE),
        Row(what="absent", missing="no data"),
        Row(what="without target", value=0.1),
    )
    assert [row.what for row in misses({"reading": group(*rows)})] == ["missed", "absent"]
