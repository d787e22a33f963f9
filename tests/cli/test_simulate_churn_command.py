"""`ipmicra simulate churn`: rows, tables, plots, mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ipmicra import InputError
from ipmicra.lab.churn.schemes.table import SCHEMES
from ipmicra.lab.worlds.populations import KingLike, king_like
from tests.cli.command_line import invoked

SMALL = ("--crawlers", "25", "--sites", "40", "--steps", "700")


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("matrix") / "small.npz"
    np.savez(path, rtt_ms=king_like(np.random.default_rng(1), KingLike(nodes=120)).rtt_ms)
    return path


def test_churn_prints_a_row_a_scheme_and_the_bound(matrix: Path) -> None:
    result = invoked("simulate", "churn", "--matrix", matrix, *SMALL, "--seeds", "2", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = json.loads(result.stdout)
    assert [row["scheme"] for row in rows] == [*SCHEMES, "bound"]
    promised = {
        *("scheme", "goodput_mbps", "gross_mbps", "half_rtt_ms", "load_variation", "recrawled_15_of_20"),
        *("bound_mbps", "queued_tasks", "executing_pages", "migrated_pages", "delay_least_h", "delay_most_h"),
        *("published", "seeds", "world"),
    }
    assert promised <= set(rows[0])
    assert {row["seeds"] for row in rows} == {2}
    assert {row["world"] for row in rows} == {"small"}
    assert all(0 < row["goodput_mbps"] <= row["bound_mbps"] for row in rows)
    assert next(row for row in rows if row["scheme"] == "nc-can")["published"] == {"over_dht": 0.27}


def test_churn_tests_scalability_and_draws_every_figure(matrix: Path, tmp_path: Path) -> None:
    words = ("simulate", "churn", "--matrix", matrix, "--crawlers", "40", "--sites", "30", "--steps", "600")
    only = ("--scheme", "lbi", "--scheme", "balance", "--seeds", "1", "--scale")
    result = invoked(*words, *only, "--plot", tmp_path / "plots", "--format", "table")
    assert result.exit_code == 0
    assert "crawlers" in result.stdout
    drawn = sorted(path.name for path in (tmp_path / "plots").iterdir())
    figures = {name.removeprefix("small-fig")[:2] for name in drawn}
    assert figures == {"15", "16", "17", "18", "19", "20", "21", "22"}
    assert len(drawn) == 13
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (tmp_path / "plots").iterdir())


def test_the_small_test_is_printed_worst_first() -> None:
    result = invoked("simulate", "churn", "--small-test", "--seeds", "3", "--format", "csv")
    lines = result.stdout.splitlines()
    assert lines[0] == "scheme,throughput_mbps,half_rtt_ms,seeds"
    assert (lines[1].split(",")[0], lines[-1].split(",")[0]) == ("rtt-worst", "rtt-best")


def test_an_unknown_scheme_and_a_missing_matrix_are_told(tmp_path: Path) -> None:
    wrong = invoked("simulate", "churn", "--scheme", "magic")
    assert isinstance(wrong.exception, InputError)
    assert "lbi-split" in str(wrong.exception)
    missing = invoked("simulate", "churn", "--matrix", tmp_path / "none.npz")
    assert isinstance(missing.exception, InputError)


def test_a_matrix_with_too_few_nodes_is_told(matrix: Path) -> None:
    wrong = invoked("simulate", "churn", "--matrix", matrix, "--crawlers", "110")
    assert isinstance(wrong.exception, InputError)
    assert "too few" in str(wrong.exception)
