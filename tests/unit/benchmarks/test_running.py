"""Running groups: what is chosen, what is kept when one fails or somebody interrupts, and the exit code."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

import benchmarks.__main__ as running
from benchmarks.bench import Bench
from benchmarks.groups import GROUPS, About
from benchmarks.measure import ROOT
from benchmarks.options import read_options
from benchmarks.results import Row, Target
from benchmarks.stored import load

GOOD = Row(what="good", value=2.0, target=Target(sense="≥", limit=1))
BAD = Row(what="bad", value=0.5, target=Target(sense="≥", limit=1))
Run = Callable[..., int]


class Given(About):
    """A group whose rows are given beforehand, or whose measuring raises."""

    given: list[Row | BaseException]

    def measure(self, bench: Bench) -> list[Row]:
        for one in self.given:
            if isinstance(one, BaseException):
                raise one
        return [one for one in self.given if isinstance(one, Row)]


def given(*rows: Row | BaseException) -> About:
    about = Given(title="T", topic="t", measures="x", beside="y", home="", typical_s=1)
    object.__setattr__(about, "given", list(rows))
    return about


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command with groups of one's own, into files of its own."""
    monkeypatch.setattr(running, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(running, "PAGE", tmp_path / "RESULTS.md")

    def run(*words: str, **groups: About) -> int:
        for name, about in groups.items():
            monkeypatch.setitem(GROUPS, name, about)
        command = ["bench", *words, "--scratch", str(tmp_path / "scratch")]
        monkeypatch.setattr("sys.argv", command)
        return running.main()

    return run


def test_a_run_writes_results_and_page_and_keeps_the_other_groups(bench: Run, tmp_path: Path) -> None:
    assert bench("reading", reading=given(GOOD)) == 0
    assert bench("scalar", scalar=given(BAD)) == 0
    stored = load(tmp_path / "results.json")
    assert list(stored) == ["reading", "scalar"]
    reading = stored["reading"]
    assert reading.rows == (GOOD,)
    assert reading.seconds is not None
    assert reading.load is not None
    assert {"Python", "numpy", "isal", "pytricia"} <= reading.machine.keys()
    assert "**1 of 1**" not in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")


def test_a_failing_group_does_not_stop_the_others_and_keeps_its_old_rows(bench: Run, tmp_path: Path) -> None:
    bench("reading", reading=given(GOOD))
    broken = given(OSError("no space"))
    assert bench("reading", "scalar", reading=broken, scalar=given(GOOD)) == 1
    stored = load(tmp_path / "results.json")
    assert (stored["reading"].rows, stored["reading"].failure) == ((GOOD,), "OSError: no space")
    assert stored["scalar"].rows == (GOOD,)


@pytest.mark.parametrize(("row", "code"), [(GOOD, 0), (BAD, 3)])
def test_the_exit_code_of_check_shows_whether_a_target_is_missed(bench: Run, row: Row, code: int) -> None:
    assert bench("--check", "reading", reading=given(row)) == code


@pytest.mark.parametrize(
    "words", [["--quick", "--check"], ["--skip", "nothing-like-it"], ["many", "--skip", "many"]]
)
def test_invalid_arguments_are_rejected(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_options(words)
    assert ended.value.code == 2


def test_every_group_names_an_existing_function() -> None:
    for about in GROUPS.values():
        module, _, name = about.home.partition(":")
        found = find_spec(f"benchmarks.{module}")
        assert found is not None
        assert found.origin is not None
        tree = ast.parse(Path(found.origin).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_headline_is_a_row_of_the_stored_results() -> None:
    for name, group in load(ROOT / "benchmarks" / "results.json").items():
        words = GROUPS[name].headline
        is_recent = group.seconds is not None
        assert not (words and is_recent) or any(words in row.what for row in group.rows), name
