"""The page and the stored results of benchmarks."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.measure import Times
from benchmarks.report import Group, load, page, save, value_text
from benchmarks.results import Row, Target, against, number_text, seconds_text, timed

SPEED = Target(sense="≥", limit=1.2, aim="2 ×")


def group(*rows: Row, machine: str = "quick one", day: str = "2026-01-02") -> Group:
    return Group(title="Reading", measured=day, machine={"CPU": machine}, sizes={"rounds": 5}, rows=rows)


@pytest.mark.parametrize(
    ("sense", "value", "is_met"),
    [("≥", 2, True), ("≥", 1.9, False), ("≤", 2, True), ("≤", 2.1, False), ("<", 2, False), ("<", 1.9, True)],
)
def test_a_target_says_on_which_side_of_it_is_good(sense: str, value: float, is_met: bool) -> None:
    assert Row(what="x", value=value, target=Target(sense=sense, limit=2)).is_met is is_met


def test_a_row_shows_target_value_spread_and_figures() -> None:
    ours, theirs = Times(seconds=(1.0, 1.0, 2.0)), Times(seconds=(1.5, 1.6, 2.0))
    text = page({"reading": group(against("build", ours, theirs, SPEED, ["ours 1 s", "theirs 1.6 s"]))})
    assert "| build | ≥ 1.2 × (aim: 2 ×) | 1.6 × (1–1.6) | yes | ours 1 s; theirs 1.6 s |" in text


def test_a_missed_target_stands_out() -> None:
    assert "| **no** |" in page({"reading": group(Row(what="build", value=1.0, target=SPEED))})


def test_what_was_not_measured_is_in_both_tables_with_its_reason() -> None:
    text = page({"reading": group(Row(what="IRRd", missing="no wheel"))})
    assert text.count("| not measured: no wheel |") == 2


def test_rows_of_different_days_and_machines_are_told_apart() -> None:
    text = page({"a": group(), "b": group(), "c": group(machine="slow one", day="2026-03-04")})
    assert "`a`, `b`. Measured on 2026-01-02." in text
    assert "`c`. Measured on 2026-03-04." in text
    assert "- CPU: slow one" in text


def test_stored_results_come_back_as_they_were(tmp_path: Path) -> None:
    rows = (
        against("build", Times(seconds=(1.0,)), Times(seconds=(2.0,)), SPEED, ["a", "b"]),
        timed("open", Times(seconds=(0.001, 0.002)), "ms"),
        Row(what="IRRd", missing="no wheel"),
    )
    groups = {"reading": group(*rows)}
    save(groups, tmp_path / "results.json", tmp_path / "RESULTS.md")
    assert load(tmp_path / "results.json") == groups
    assert (tmp_path / "RESULTS.md").read_text(encoding="utf-8") == page(groups)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["RESULTS.md", "results.json"]


def test_no_results_yet_is_no_error(tmp_path: Path) -> None:
    assert load(tmp_path / "results.json") == {}


def test_cells_cannot_break_the_table() -> None:
    assert "| a \\| b |" in page({"reading": group(Row(what="a | b", value=1.0))})


def test_a_single_round_has_no_spread() -> None:
    assert value_text(timed("compiling", Times(seconds=(53.5,)), "s")) == "53.5 s"


@pytest.mark.parametrize(
    ("value", "text"), [(0.1234, "0.123"), (1.234, "1.23"), (12.34, "12.3"), (1234.5, "1,234"), (0, "0")]
)
def test_numbers_have_three_digits_that_count(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5, "2.5 s"), (0.0025, "2.5 ms"), (2.5e-6, "2.5 µs"), (2.5e-8, "25 ns")]
)
def test_seconds_have_the_unit_that_suits(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text
