"""The page and the stored results of benchmarks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.measure import ROOT, Times
from benchmarks.report import closing_text, page, value_text
from benchmarks.results import Past, Row, Target, against, as_long, number_text, rate, seconds_text, timed
from benchmarks.stored import Group, load, save

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
    assert "| build | ≥ 1.2 × (aim: 2 ×) | 1.6 × (1–1.6 of 3) | yes |  | ours 1 s; theirs 1.6 s |" in text


def test_a_missed_target_stands_out() -> None:
    assert "| **no** |" in page({"reading": group(Row(what="build", value=1.0, target=SPEED))})


def test_a_value_just_below_its_target_does_not_look_like_it() -> None:
    assert value_text(Row(what="build", value=1.1984, target=SPEED)) == "1.1984 ×"


def test_what_was_not_measured_is_at_the_top_and_in_its_group_with_its_reason() -> None:
    text = page({"reading": group(Row(what="build", value=2.0), Row(what="IRRd", missing="no wheel"))})
    assert text.count("| not measured: no wheel |") == 2


def test_the_summary_shows_one_row_a_group_and_how_many_targets_are_met() -> None:
    rows = (Row(what="first", value=2.0), Row(what="build", value=1.3, target=SPEED))
    text = page({"reading": group(*rows, Row(what="large build", value=1.0, target=SPEED))})
    summary = text.partition("## Summary")[2].partition("##")[0]
    assert "| `reading` | build | zcat" in summary
    assert "| 1.3 × | yes | **1 of 2** |" in summary


def test_groups_on_different_machines_are_told_apart() -> None:
    text = page({"a": group(), "b": group(), "c": group(machine="slow one")})
    assert "`a`, `b`:\n\n- CPU: quick one" in text
    assert "`c`:\n\n- CPU: slow one" in text


def test_a_group_tells_day_commit_duration_and_load() -> None:
    calm = replace(group(), commit="abc1234", seconds=12.3, load=0.5, others_cores=0.1)
    told = (
        "Measured 2026-01-02 at abc1234; took 12 s; load 0.5 at the start; others used 0.1 cores meanwhile."
    )
    assert told in page({"reading": calm})


def test_a_busy_machine_stands_out() -> None:
    assert "**others used 1.5 cores meanwhile: times suffer**" in page(
        {"reading": replace(group(), others_cores=1.5)}
    )


def test_a_fall_stands_out_at_the_top_in_the_group_and_at_the_end_of_the_run() -> None:
    past = Past(value=3.04, low=2.9, high=3.1, measured="2026-01-01", commit="abc1234")
    fallen = Row(what="build", value=2.58, low=2.5, high=2.6, rounds=5, last=past, best=past)
    groups = {"reading": group(fallen)}
    text = page(groups)
    assert (
        "| build | 2.58 × (2.5–2.6 of 5) | was 3.04, fell 15 % | 2026-01-01 at abc1234 |"
        in text.partition("### Worse than the run before")[2]
    )
    assert "| **worse: was 3.04, fell 15 %** |" in text
    assert closing_text(groups) == "worse: build: 2.58 × (2.5–2.6 of 5), was 3.04, fell 15 %"


def test_a_rise_is_told_quietly() -> None:
    past = Past(value=2.0, measured="2026-01-01")
    text = page({"reading": group(Row(what="build", value=3.0, last=past, best=past))})
    assert "Better than the run before: build (was 2, rose 50 %)." in text
    assert "worse" not in text


def test_a_slow_slide_is_seen_beside_the_best_run() -> None:
    last, best = (Past(value=value, measured="2026-01-01", commit="abc1234") for value in (2.0, 3.0))
    text = page({"reading": group(Row(what="build", value=1.9, last=last, best=best))})
    assert "| best 3 2026-01-01 at abc1234 |" in text


def test_a_failed_group_keeps_its_rows_and_tells_why() -> None:
    text = page({"reading": replace(group(Row(what="build", value=1.0)), failure="OSError: no space")})
    assert "**The last attempt failed:** OSError: no space" in text
    assert "| build |" in text


def test_results_of_older_code_are_read(tmp_path: Path) -> None:
    row = {"what": "build", "value": 1.0, "unit": "×", "low": None, "high": None, "target": None}
    old = {"title": "Reading", "measured": "2026-01-02", "machine": {}, "sizes": {}}
    stored = {"reading": {**old, "rows": [{**row, "figures": [], "missing": ""}]}}
    path = tmp_path / "results.json"
    path.write_text(json.dumps(stored), encoding="utf-8")
    assert load(path)["reading"].rows == (Row(what="build", value=1.0),)
    assert "commit not recorded" in page(load(path))


def test_the_stored_page_is_that_of_the_stored_results() -> None:
    folder = ROOT / "benchmarks"
    assert (folder / "RESULTS.md").read_text(encoding="utf-8") == page(load(folder / "results.json"))


def test_stored_results_come_back_as_they_were(tmp_path: Path) -> None:
    rows = (
        against("build", Times(seconds=(1.0,)), Times(seconds=(2.0,)), SPEED, ["a", "b"]),
        timed("open", Times(seconds=(0.001, 0.002)), "ms"),
        Row(what="IRRd", missing="no wheel"),
        Row(what="size", value=1.0, last=Past(value=2.0, measured="2026-01-01"), is_exact=True),
    )
    groups = {"reading": replace(group(*rows), commit="abc1234", gone=("nest",), load=0.5)}
    save(groups, tmp_path / "results.json")
    assert load(tmp_path / "results.json") == groups
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_no_results_yet_is_no_error(tmp_path: Path) -> None:
    assert load(tmp_path / "results.json") == {}


def test_cells_cannot_break_the_table() -> None:
    assert "| a \\| b |" in page({"reading": group(Row(what="a | b", value=1.0))})


def test_a_single_round_has_no_spread() -> None:
    assert value_text(timed("compiling", Times(seconds=(53.5,)), "s")) == "53.5 s"


def test_rates_and_durations_have_the_spread_of_their_rounds() -> None:
    times = Times(seconds=(1.0, 2.0, 4.0))
    assert value_text(rate("names", times, 100, "names/s")) == "50 names/s (25–100 of 3)"
    assert value_text(as_long("nest", times, Times(seconds=(1.0, 1.0, 1.0)))) == "2 × (1–4 of 3)"


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
