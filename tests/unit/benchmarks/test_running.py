"""Running groups: what is chosen, what is kept when one fails or somebody interrupts, and the exit code."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

import benchmarks.__main__ as running
from benchmarks.bench import Bench
from benchmarks.groups import GROUPS, TOPICS, About, UnknownGroupError, list_text, named
from benchmarks.machine import Moment, commit_of
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
    about = Given(title="T", topic="t", tells="x", beside="y", home="", typical_s=1)
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
    assert {"Python", "numpy", "numba", "pytricia"} <= reading.machine.keys()
    assert "**1 of 1**" not in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")


def test_a_quick_run_writes_nothing_and_tells_the_seconds_of_each_group(
    bench: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench("--quick", "reading", "scalar", reading=given(GOOD), scalar=given(BAD)) == 0
    assert list(tmp_path.iterdir()) == []
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[-3:]] == ["reading", "scalar", "all"]
    assert lines[-1].endswith(" s")


def test_a_group_that_fails_stops_no_other_and_keeps_its_old_rows(bench: Run, tmp_path: Path) -> None:
    bench("reading", reading=given(GOOD))
    broken = given(OSError("no space"))
    assert bench("reading", "scalar", reading=broken, scalar=given(GOOD)) == 1
    stored = load(tmp_path / "results.json")
    assert (stored["reading"].rows, stored["reading"].failure) == ((GOOD,), "OSError: no space")
    assert stored["scalar"].rows == (GOOD,)


def test_an_interrupted_run_keeps_what_it_measured_and_says_how_to_go_on(
    bench: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench("reading", "scalar", reading=given(GOOD), scalar=given(KeyboardInterrupt())) == 130
    assert list(load(tmp_path / "results.json")) == ["reading"]
    assert "go on with: bin/bench scalar" in capsys.readouterr().err


@pytest.mark.parametrize(("row", "code"), [(GOOD, 0), (BAD, 3)])
def test_check_tells_by_its_exit_code_whether_a_target_is_missed(bench: Run, row: Row, code: int) -> None:
    assert bench("--check", "reading", reading=given(row)) == code


def test_check_tells_a_fall_even_where_the_target_is_met(
    bench: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    bench("reading", reading=given(Row(what="build", value=3.0)))
    assert bench("--check", "reading", reading=given(Row(what="build", value=2.0))) == 3
    assert "worse: build: 2 ×, was 3, fell 33 %" in capsys.readouterr().out
    assert bench("--check", "--page", "reading") == 3


def test_a_topic_stands_for_its_groups_and_skipped_ones_are_left_out() -> None:
    assert named(["lookup"]) == ["opening", "many", "scalar", "grid"]
    options = read_options(["--only", "lookup", "locate", "--skip", "many", "grid"])
    assert options.groups == ["opening", "scalar", "locate"]
    assert "compiling" in read_options([]).groups
    assert "compiling" not in read_options(["--quick"]).groups


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownGroupError, match="no group probin; did you mean probing"):
        named(["probin"])


@pytest.mark.parametrize(
    "words", [["--quick", "--check"], ["--skip", "nothing-like-it"], ["many", "--skip", "many"]]
)
def test_arguments_that_make_no_sense_are_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_options(words)
    assert ended.value.code == 2


def test_every_group_names_a_function_that_is_there() -> None:
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


def test_the_list_shows_every_group_with_what_it_took() -> None:
    text = list_text({"reading": 77.0})
    assert all(f"\n{name} " in text for name in GROUPS)
    assert "77 s" in text
    assert TOPICS[0] == "hierarchy"


def test_a_commit_is_told_with_whether_files_differ_from_it(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        command = ["git", "-C", str(tmp_path), *identity, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    assert commit_of(tmp_path) == ""
    git("init", "--quiet")
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "code.py").write_text("1", encoding="utf-8")
    (tmp_path / "benchmarks" / "results.json").write_text("1", encoding="utf-8")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    clean = git("rev-parse", "--short=9", "HEAD")
    (tmp_path / "benchmarks" / "results.json").write_text("2", encoding="utf-8")
    assert commit_of(tmp_path) == clean
    (tmp_path / "code.py").write_text("2", encoding="utf-8")
    assert commit_of(tmp_path) == f"{clean}, changed"


def test_cores_of_others_are_what_is_busy_less_what_is_ours() -> None:
    start = Moment(elapsed=0.0, own=1.0, everyone=100.0)
    assert start.others_cores(Moment(elapsed=10.0, own=11.0, everyone=125.0)) == 1.5
    assert start.others_cores(Moment(elapsed=10.0, own=11.0, everyone=105.0)) == 0.0
    assert start.others_cores(Moment(elapsed=10.0, own=11.0, everyone=None)) is None


def test_stored_results_are_json_that_others_can_read(bench: Run, tmp_path: Path) -> None:
    bench("reading", reading=given(GOOD))
    stored = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert stored["reading"]["rows"][0]["value"] == 2.0
