"""`ipmicra evaluate` on a user's own measurements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from ipmicra.cli.main import app
from ipmicra.edge.files.worlds.load import save_world
from ipmicra.lab.worlds.synthetic import WorldPlan, invent
from tests.cli.command_line import built_file, ran, told


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world as a folder, and its round trips as a file of measurements beside it."""
    folder = tmp_path_factory.mktemp("measured")
    world, _tree = invent(WorldPlan(crawlers=4, sites=40, subnets=30), np.random.default_rng(7))
    save_world(world, folder / "world", [1] * 40)
    lines = (folder / "world" / "rtt.csv").read_text().splitlines()
    (folder / "pings.csv").write_text(
        "\n".join(["vp;ip;ms", *(line.replace(",", ";") for line in lines[1:])])
    )
    built_file(folder)
    return folder


def evaluated(*words: str | Path, stdin: str | None = None) -> tuple[Any, str]:
    """Run in this process; give rows and what was told beside them."""
    done = CliRunner().invoke(app, ["evaluate", *map(str, words), "--seeds", "2", "--json"], input=stdin)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout), done.stderr


def test_file_of_measurements_gives_the_figures_of_the_world_it_comes_from(folder: Path) -> None:
    world, hierarchy = folder / "world", ("--hierarchy", folder / "a.ipm")
    known = ("--crawlers", world / "crawlers.csv", "--sites", world / "sites.csv")
    as_folder, _ = evaluated(world, *hierarchy)
    as_file, said = evaluated(folder / "pings.csv", *known, *hierarchy)
    assert as_file == as_folder
    assert "160 rows read: crawler from 'vp', address from 'ip', round trip from 'ms'" in said


def test_saving_is_told_in_words_and_adds_up(folder: Path) -> None:
    rows, said = evaluated(folder / "pings.csv", "--hierarchy", folder / "a.ipm")
    by_policy = {row["policy"]: row for row in reversed(rows)}
    predict, hashed, everyone = (by_policy[name] for name in ("predict", "hash", "everyone"))
    assert (everyone["probes_saved"], everyone["everyone_probes_per_site"]) == (0.0, 4.0)
    assert predict["probes_saved"] == pytest.approx(1 - predict["probes_per_site"] / 4, abs=1e-3)
    assert predict["hash_mean_rtt_ms"] == hashed["mean_rtt_ms"]
    assert predict["saved_vs_hash_ms"] == pytest.approx(
        hashed["mean_rtt_ms"] - predict["mean_rtt_ms"], abs=1e-3
    )
    assert (
        f"With predict: {predict['probes_per_site']:.1f} probes per site "
        f"({predict['training_probes_per_site']:.1f} in training) instead of 4; "
        f"mean round trip {predict['mean_rtt_ms']:.0f} ms, by site hash {hashed['mean_rtt_ms']:.0f} ms."
    ) in said


def test_without_a_hierarchy_prefixes_serve_and_what_is_lost_is_said(folder: Path, tmp_path: Path) -> None:
    done = ran("--home", tmp_path, "evaluate", folder / "pings.csv", "--seeds", "1", "--policy", "paper")
    assert done.returncode == 0
    assert len(json.loads(done.stdout)) == 2
    assert "no hierarchy: prefixes of fixed lengths" in told(done)
    assert "`ipmicra build`" in told(done)
    assert "pass --crawlers FILE" in told(done)


def test_crawlers_of_today_have_a_row_and_a_column(folder: Path, tmp_path: Path) -> None:
    text = (folder / "pings.csv").read_text().splitlines()
    path = tmp_path / "today.csv"
    path.write_text("\n".join([f"{text[0]};assigned", *(f"{line};c01" for line in text[1:])]))
    words = ["evaluate", str(path), "--hierarchy", str(folder / "a.ipm"), *"--seeds 1 --policy hash".split()]
    rows = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert [row["policy"] for row in rows] == ["hash", "today"]
    assert rows[1]["saved_vs_today_ms"] == 0.0
    assert rows[0]["today_mean_rtt_ms"] == rows[1]["mean_rtt_ms"]
    table = CliRunner().invoke(app, [*words, "--format", "table"]).stdout
    assert "on today" in table
    assert "judged" not in table


def test_table_says_how_much_can_be_judged_where_pairs_are_missing(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "pings.csv").read_text().splitlines()
    path = tmp_path / "some.csv"
    path.write_text("\n".join([lines[0], *(line for i, line in enumerate(lines[1:]) if i % 3)]))
    words = ["evaluate", str(path), "--hierarchy", str(folder / "a.ipm"), "--seeds", "2", "-f", "table"]
    done = CliRunner().invoke(app, [*words, "--location", "country"])
    assert "judged" in done.stdout
    assert "of the answers can be judged" in done.stderr


def test_standard_input_is_a_world_too(folder: Path) -> None:
    text = (folder / "pings.csv").read_text()
    rows, _ = evaluated("-", "--hierarchy", folder / "a.ipm", "--policy", "hash", stdin=text)
    assert rows[0]["optimal"] < 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("crawler,host,rtt\nfra,a.example,5\nnyc,a.example,6\n", "ask the DNS with --resolve"),
        ("a,b,c\n1,2,3\n", "Name them in the first line, as in crawler,address,rtt_ms"),
        ("crawler,ip,rtt\nfra,9.0.0.1,5\n", "measured by one crawler only"),
        ("crawler,ip,rtt\nfra,9.0.0.1,5\nnyc,9.0.0.1,5\n", "use a smaller --train"),
    ],
)
def test_mistakes_are_answered_with_the_next_step(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "pings.csv"
    path.write_text(text)
    done = ran("--home", tmp_path, "evaluate", path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in " ".join(told(done).split())
