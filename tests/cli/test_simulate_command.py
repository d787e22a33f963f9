"""`ipmicra simulate`: rows, tables, plots, mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ipmicra import InputError
from ipmicra.lab.worlds.populations import KingLike, king_like
from tests.cli.command_line import invoked, ran


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("matrix") / "small.npz"
    np.savez(path, rtt_ms=king_like(np.random.default_rng(1), KingLike(nodes=120)).rtt_ms)
    return path


def test_splitting_prints_a_row_a_scheme_with_options_and_published_figures(matrix: Path) -> None:
    words = (
        "--population",
        matrix,
        "--scheme",
        "MP",
        "--scheme",
        "mp_30_nh",
        "--seeds",
        2,
        "--half",
        "random",
    )
    result = invoked("simulate", "splitting", *map(str, words), "--torus", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = json.loads(result.stdout)
    assert [row["scheme"] for row in rows] == ["MP", "MP_30_NH"]
    assert set(rows[0]) == {
        *("population", "scheme", "average_prd", "in_zone", "load_diversity", "hops"),
        *("published", "options"),
    }
    assert (rows[0]["population"], rows[0]["in_zone"]) == ("small", 1.0)
    assert rows[0]["options"] == {
        "half": "random",
        "moves_sites": True,
        "cut": "middle",
        "is_torus": True,
        "moved": 0.05,
        "dimensions": 3,
        "seeds": 2,
    }


def test_claims_and_plots_are_made_on_demand(matrix: Path, tmp_path: Path) -> None:
    words = ("simulate", "splitting", "--population", matrix, "--seeds", "1", "--claims")
    result = invoked(*words, "--plot", tmp_path / "plots", "--format", "table")
    assert result.exit_code == 0
    assert "MP's average distance is below DL's" in result.stdout
    drawn = sorted(file.name for file in (tmp_path / "plots").iterdir())
    assert [name.split("-")[1] for name in drawn] == [
        *("fig06", "fig09", "fig10", "fig11", "fig12", "fig13"),
        *("nodes", "nodes"),
    ]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in (tmp_path / "plots").iterdir())


def test_coordinates_prints_a_row_a_method(matrix: Path) -> None:
    words = ("--matrix", matrix, "--crawlers", "20", "--landmarks", "8", "--seeds", "1", "--json")
    result = invoked("simulate", "coordinates", *words, "--method", "gnp", "--method", "ridge")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = json.loads(result.stdout)
    assert [row["method"] for row in rows] == ["gnp", "ridge"]
    for row in rows:
        assert 0 < row["top1"] <= row["top5"] <= 1
        assert min(row["mean_excess_ms"], row["median_relative_error"], row["hosts_per_second"]) > 0
    table = invoked("simulate", "coordinates", *words[:-1], "--method", "gnp", "--format", "table").stdout
    assert "small.npz: 20 crawlers, 8 landmarks, 1 seed" in table


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("splitting", "--population", "nowhere"), "use ts, king, or the path"),
        (("splitting", "--population", "ts", "--scheme", "XX"), "no splitting scheme named 'XX'"),
        (("coordinates", "--matrix", "nowhere.npz"), "no such file"),
        (("coordinates", "--matrix", "MATRIX", "--method", "x"), "no method named 'x'"),
        (("coordinates", "--matrix", "MATRIX", "--crawlers", "500"), "do not fit 120 nodes"),
        (
            ("coordinates", "--matrix", "MATRIX", "--crawlers", "20", "--landmarks", "1"),
            "at least 2 landmarks",
        ),
    ],
)
def test_mistakes_are_told_with_what_to_do(matrix: Path, words: tuple[str, ...], told: str) -> None:
    filled = [str(matrix) if word == "MATRIX" else word for word in words]
    result = invoked("simulate", *filled, "--json")
    assert isinstance(result.exception, InputError)
    assert told in str(result.exception)


def test_wrong_words_of_options_are_wrong_usage() -> None:
    for option in (("--half", "left"), ("--cut", "third"), ("--seeds", "0"), ("--moved", "0.7")):
        assert invoked("simulate", "splitting", *option).exit_code == 2


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"hello\n"])
def test_a_file_that_is_no_matrix_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad"
    path.write_bytes(content)
    assert ran("simulate", "coordinates", "--matrix", path).returncode == 2


def test_npz_without_round_trips_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    np.savez(tmp_path / "words.npz", rtt_ms=np.array([["a", "b"], ["c", "d"]]))
    for name, told in (("other.npz", "has no `rtt_ms`"), ("words.npz", "must be numbers")):
        result = invoked("simulate", "coordinates", "--matrix", tmp_path / name)
        assert isinstance(result.exception, InputError)
        assert told in str(result.exception)


def test_a_look_up_loads_none_of_it() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from ipmicra.cli import main; "
        "print([m for m in sys.modules if m.startswith(('ipmicra.assign', 'ipmicra.lab', 'numpy'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
