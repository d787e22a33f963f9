"""`ipmicra simulate pieces`, `variation` and `coordinates`: figures 8, 10, 11 and 13 of Xu et al. 2010."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.command_line import invoked


def test_pieces_are_cut_from_invented_sites_with_published_figures_below(tmp_path: Path) -> None:
    result = invoked("simulate", "pieces", "--sites", "5", "--most", "3", "--plot", tmp_path, "--json")
    assert result.exit_code == 0
    rows = json.loads(result.stdout)
    assert [row["pieces"] for row in rows] == [2, 3, "published"]
    assert (rows[-1]["covered"], rows[-1]["overlap"]) == (0.8, None)
    assert rows[0]["overlap"] < rows[1]["overlap"]
    assert (tmp_path / "fig11-overlap-and-coverage.png").read_bytes()[:4] == b"\x89PNG"


def test_pieces_are_cut_from_a_users_links(tmp_path: Path) -> None:
    table = tmp_path / "links.csv"
    table.write_text("source,target\n/,/a/\n/,/b/\n/a/,/a/1\n/b/,/b/1\n/a/1,/b/2\n")
    rows = json.loads(invoked("simulate", "pieces", "--links", table, "--most", "2", "--json").stdout)
    assert rows[0]["coverage"] == pytest.approx(5 / 6)


def test_variation_is_worked_out_from_a_users_measurements(tmp_path: Path) -> None:
    table = tmp_path / "day.csv"
    lines = [
        f"{crawler},a.example,{time},{10 * number + time},{100 + number},{10 * number}"
        for number, crawler in enumerate(("fra", "tok"), 1)
        for time in range(3)
    ]
    table.write_text("\n".join(["crawler,host,time,rtt_ms,rate,ping_ms", *lines]))
    rows = json.loads(invoked("simulate", "variation", "--measurements", table, "--json").stdout)
    assert [(row["variation"], row["of"], row["hosts"]) for row in rows] == [
        ("between crawlers", "round trip", 1),
        ("between crawlers", "download rate", 1),
        ("over time", "round trip", 2),
        ("over time", "download rate", 2),
        ("HTTP by ping", "round trip", 2),
    ]
    assert rows[0]["median"] == pytest.approx(np.std([11, 21]) / 16)
    assert rows[-1]["answer_ping"] == 1.0


def test_variation_lists_claims_and_draws_figures(tmp_path: Path) -> None:
    result = invoked("simulate", "variation", "--claims", "--plot", tmp_path, "--json")
    assert len(json.loads(result.stdout)) == 2
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {"fig08-http-by-ping.png", "fig10a-between-crawlers.png", "fig10b-over-time.png"}


def test_coordinates_of_the_small_test_come_with_the_distribution_of_their_errors(tmp_path: Path) -> None:
    words = ("--small-test", "--method", "gnp", "--seeds", "1", "--plot", tmp_path, "--json")
    (row,) = json.loads(invoked("simulate", "coordinates", *words).stdout)
    assert (row["crawlers"], row["landmarks"]) == (18, 8)
    assert 0 < row["within_tenth"] < row["within_half"] <= 1
    assert (tmp_path / "fig08-relative-errors.png").exists()


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("variation", "--measurements", "{empty}"), "lacks the column"),
        (("pieces", "--links", "{empty}"), "lacks the column"),
        (("coordinates", "--small-test", "--matrix", "{empty}"), "--small-test has a world of its own"),
    ],
)
def test_mistakes_are_explained(words: tuple[str, ...], answer: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("a,b\n1,2\n")
    result = invoked("simulate", *(word.format(empty=empty) for word in words))
    assert result.exit_code != 0
    assert answer in result.stderr + str(result.exception)
