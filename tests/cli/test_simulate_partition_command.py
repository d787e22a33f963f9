"""`ipmicra simulate partition` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ipmicra.errors import InputError
from ipmicra.lab.simulate.partition import read_counts
from tests.cli.command_line import invoked
from tests.cli.test_partition_command import world

SMALL = ("simulate", "partition", "--hosts", "800", "--parts", "1,5")


def test_figures_are_tables_and_plots(tmp_path: Path) -> None:
    result = invoked(*SMALL, "--fixed-parts", "5", "--plot", tmp_path / "plots", "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert {row["figure"] for row in rows} == {4, 5, 6, 7}
    assert {row["method"] for row in rows} == {"metis-geo", "hash", "centralised"}
    assert {row["parts"] for row in rows if row["figure"] == 5} == {1, 5}
    for number in (4, 5, 6, 7):
        assert (tmp_path / "plots" / f"figure-{number}.png").read_bytes().startswith(b"\x89PNG")


def test_same_seed_prints_the_same_figures() -> None:
    assert invoked(*SMALL, "--json").stdout == invoked(*SMALL, "--json").stdout
    assert invoked(*SMALL, "--json").stdout != invoked(*SMALL, "--seed", "2", "--json").stdout


def test_own_sites_take_the_place_of_invented_ones(tmp_path: Path) -> None:
    result = invoked(*SMALL, "--world", world(tmp_path), "--format", "csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("figure,method,parts,same_scope,value\n4,metis-geo,1,")


def test_stability_is_shown_beside_the_least_possible() -> None:
    result = invoked(*SMALL[:4], "--parts", "5", "--experiment", "stability", "--json")
    rows = {row["method"]: row for row in json.loads(result.stdout)}
    assert rows["two-level"]["moved_on_join"] <= 0.3 < rows["hash"]["moved_on_join"]
    assert rows["hash"]["least"] == pytest.approx(1 / 6)


def test_two_crawlers_exchange_links() -> None:
    result = invoked(
        "simulate", "partition", "--experiment", "exchange", "--pages", "1000", "--format", "table"
    )
    assert result.exit_code == 0, result.output
    for word in ("drop", "cross-over", "exchange", "messages", "foreign_share"):
        assert word in result.stdout


def test_mistakes_are_told() -> None:
    assert invoked(*SMALL, "--relocation", "both").exit_code == 2
    assert invoked(*SMALL, "--experiment", "exchange", "--plot", "x").exit_code == 2


@pytest.mark.parametrize("text", ["", "x", "0-3", "5-", "7-3"])
def test_numbers_of_parts_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_counts(text)


def test_numbers_of_parts_may_be_ranges() -> None:
    assert read_counts("5, 1-3,2") == (1, 2, 3, 5)
