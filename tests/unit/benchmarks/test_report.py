"""The page and the stored results of benchmarks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.measure import ROOT, Times
from benchmarks.report import closing_text, page
from benchmarks.results import Past, Row, Target, against, number_text, timed
from benchmarks.stored import Group, load, save

SPEED = Target(sense="≥", limit=1.2, aim="2 ×")


def group(*rows: Row, machine: str = "quick one", day: str = "2026-01-02") -> Group:
    return Group(title="Reading", measured=day, machine={"CPU": machine}, sizes={"rounds": 5}, rows=rows)


def test_a_missed_target_stands_out() -> None:
    assert "| **no** |" in page({"reading": group(Row(what="build", value=1.0, target=SPEED))})


def test_what_was_not_measured_is_at_the_top_and_in_its_group_with_its_reason() -> None:
    text = page({"reading": group(Row(what="build", value=2.0), Row(what="IRRd", missing="no wheel"))})
    assert text.count("| not measured: no wheel |") == 2


def test_a_regression_stands_out_at_the_top_in_the_group_and_at_the_end_of_the_run() -> None:
    past = Past(value=3.04, low=2.9, high=3.1, measured="2026-01-01", commit="abc1234")
    fallen = Row(what="build", value=2.58, low=2.5, high=2.6, rounds=5, last=past, best=past)
    groups = {"reading": group(fallen)}
    text = page(groups)
    assert (
        "| build | 2.58 × (2.5–2.6 of 5) | was 3.04, fell 15 % | 2026-01-01 at abc1234 |"
        in text.partition("### Regressed since the previous run")[2]
    )
    assert "| **worse: was 3.04, fell 15 %** |" in text
    assert closing_text(groups) == "worse: build: 2.58 × (2.5–2.6 of 5), was 3.04, fell 15 %"


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


@pytest.mark.parametrize(
    ("value", "text"), [(0.1234, "0.123"), (1.234, "1.23"), (12.34, "12.3"), (1234.5, "1,234"), (0, "0")]
)
def test_numbers_have_three_significant_digits(value: float, text: str) -> None:
    assert number_text(value) == text
