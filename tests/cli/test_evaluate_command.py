"""`ipmicra evaluate` as a user runs it."""

from __future__ import annotations

import csv
import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ipmicra.edge.geodata.countries import country_middles
from ipmicra.lab.worlds.synthetic import WorldPlan, invent
from ipmicra.model.geo import km_between
from ipmicra.model.location import Location
from tests.cli.command_line import built_file, invoked, ran, ran_anew, told

KEYS = {
    "policy",
    "setting",
    "optimal",
    "within_2ms",
    "probes_per_site",
    "mean_excess_ms",
    "excess_of_suboptimal_ms",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world on disk, and a hierarchy that knows hardly any of its addresses."""
    folder = tmp_path_factory.mktemp("world")
    middles = country_middles()
    world, _tree = invent(WorldPlan(crawlers=4, sites=40, subnets=40, countries=3), np.random.default_rng(1))
    with (folder / "crawlers.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "address", "latitude", "longitude"])
        for one in world.crawlers:
            assert one.location is not None
            rows.writerow([one.name, one.address, one.location.latitude, one.location.longitude])
    with (folder / "sites.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["host", "address", "latitude", "longitude", "country"])
        for site, place in zip(world.sites, world.places, strict=True):
            assert place is not None
            country = min(middles, key=partial(_distance, place))
            rows.writerow([site.host, site.address, place.latitude, place.longitude, country])
    with (folder / "rtt.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["crawler", "address", "rtt_ms"])
        for i, one in enumerate(world.crawlers):
            rows.writerows([one.name, site.address, world.rtt_ms[i, j]] for j, site in enumerate(world.sites))
    built_file(folder)
    return folder


def _distance(place: Location, country: str) -> float:
    return km_between(place, country_middles()[country])


def evaluated(folder: Path, *words: str | Path) -> list[dict[str, object]]:
    done = ran("evaluate", folder, "--hierarchy", folder / "a.ipm", "--seeds", "2", *words)
    assert done.returncode == 0, told(done)
    rows: list[dict[str, object]] = json.loads(done.stdout)
    return rows


def test_all_policies_stand_side_by_side(folder: Path) -> None:
    rows = evaluated(folder, "--train", "20", "--json")
    assert [
        row["policy"] for row in rows
    ] == "predict predict paper paper geo geo everyone random hash".split()
    assert all(row.keys() >= KEYS for row in rows)
    everyone = next(row for row in rows if row["policy"] == "everyone")
    assert (everyone["optimal"], everyone["probes_per_site"]) == (1.0, 4.0)
    assert {row["probes_per_site"] for row in rows if row["policy"] in {"random", "hash"}} == {0.0}


def test_same_command_gives_the_same_figures(folder: Path) -> None:
    """Two processes with seeds of hashes of their own."""
    words = ("evaluate", folder, "--hierarchy", folder / "a.ipm", "--seeds", "2", "--policy", "random")
    first, second = (ran_anew(*words) for _ in range(2))
    assert first.returncode == 0, told(first)
    assert first.stdout == second.stdout


def test_settings_make_rows_of_their_own(folder: Path) -> None:
    rows = evaluated(
        folder,
        *"--policy predict --policy paper --probe-price-ms 0.5 --probe-price-ms 5 --threshold-ms 30".split(),
    )
    assert [row["setting"] for row in rows] == ["0.5 ms a probe", "5 ms a probe", "30 ms"]


@pytest.mark.parametrize("kind", ["country", "none"])
def test_places_may_be_known_less_well(folder: Path, kind: str) -> None:
    (row, _frugal) = evaluated(folder, "--policy", "predict", "--location", kind)
    assert float(str(row["optimal"])) > 0.5


def test_budget_bounds_the_probes(folder: Path) -> None:
    (row,) = evaluated(folder, "--policy", "everyone", "--probe-budget", "2")
    assert row["probes_per_site"] == 2.0


def test_table_is_for_people(folder: Path) -> None:
    words = (
        "evaluate",
        folder,
        "--hierarchy",
        folder / "a.ipm",
        "--seeds",
        "1",
        "--policy",
        "hash",
        "-f",
        "table",
    )
    shown = invoked(*words).stdout
    assert "1 order of arrival, 26 sites of training, places: world" in shown
    assert "within 2 ms" in shown


@pytest.fixture
def exported(folder: Path, tmp_path: Path) -> Path:
    """A table of places such as a GeoIP export: of 40 sites, 30 right, 6 at the North Pole and 4 missing."""
    table = tmp_path / "geoip.csv"
    sites = list(csv.DictReader((folder / "sites.csv").read_text(encoding="utf-8").splitlines()))
    rows = [(row["address"], row["latitude"], row["longitude"]) for row in sites[:30]]
    rows += [(row["address"], "89.5", "0") for row in sites[30:36]]
    table.write_text("target,latitude,longitude\n" + "".join(",".join(row) + "\n" for row in rows))
    return table


def test_each_policy_tells_what_its_answers_without_a_probe_were_worth(folder: Path) -> None:
    rows = evaluated(folder, "--policy", "predict", "--policy", "hash", "--json")
    for row in rows:
        groups = row["unprobed_by_evidence"]
        assert isinstance(groups, dict)
        answers = sum(group["answers"] for group in groups.values())
        right = sum(group["answers"] * group["right"] for group in groups.values())
        assert answers == round(float(str(row["unprobed"])) * 28)  # two orders of 14 sites
        assert row["unprobed_right"] == (None if not answers else pytest.approx(right / answers, abs=1e-3))
    by_policy = {row["policy"]: row for row in rows}
    assert by_policy["hash"]["unprobed"] == 1.0
    assert by_policy["hash"]["calibration"] == []
    said = by_policy["predict"]["calibration"]
    assert isinstance(said, list)
    # hosts of a subnet that was delegated before inherit its crawler, and nobody says how sure that is
    assert 0 < sum(group["answers"] for group in said) <= 28
    assert all(group["from"] <= group["said"] <= group["to"] for group in said)


def test_places_of_a_table_stand_beside_the_true_ones(folder: Path, exported: Path) -> None:
    (row, *_rest) = evaluated(folder, "--policy", "geo", "--table", exported, "--json")
    assert row["location"] == "locate"
    places = {one["source"]: one for one in row["places"]}  # type: ignore[attr-defined]
    assert places["known"] == {"source": "known", "sites": 36, "checked": 36, "far": 6}
    (true, *_rest) = evaluated(folder, "--policy", "geo", "--json")
    assert true["places"] == [{"source": "world", "sites": 40, "checked": 40, "far": 0}]
    assert float(str(true["optimal"])) >= float(str(row["optimal"]))


def test_tables_of_trust_and_of_places_are_printed(folder: Path, exported: Path) -> None:
    words = ("evaluate", folder, "--hierarchy", folder / "a.ipm", "--seeds", "1", "--policy", "predict")
    shown = invoked(*words, "--table", exported, "-f", "table").stdout
    assert "how sure, how often right" in shown
    assert "places by source" in shown
    assert re.search(r"known +36 +6 of 36", shown)
    assert "answers without a probe" in invoked(*words[:-1], "hash", "-f", "table").stdout
    assert "places by source" not in invoked(*words, "-f", "table").stdout


def test_picture_is_drawn(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "curve.svg"
    evaluated(folder, "--policy", "geo", "--plot", picture)
    assert picture.read_text(encoding="utf-8").lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--train", "40"], "use a smaller --train"),
        (["--train", "-1"], "use a smaller --train"),
        (["--seeds", "0"], "use --seeds 1 or more"),
        (["--policy", "magic"], "no policy magic: there are predict"),
        (["--threshold-ms", "0"], "milliseconds above 0"),
        (["--location", "moon"], "'moon' is none of world, country, locate, none"),
        (["--plot", "curve.txt"], "a picture ends in .png"),
        (["--table", "a.csv", "--location", "world"], "use --location locate"),
    ],
)
def test_wrong_usage_says_what_to_do(folder: Path, words: list[str], said: str) -> None:
    done = ran("evaluate", folder, "--hierarchy", folder / "a.ipm", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in " ".join(told(done).replace("│", " ").split())


def test_missing_world_and_hierarchy_are_told(folder: Path, tmp_path: Path) -> None:
    assert "there is no such folder" in told(
        ran("evaluate", tmp_path / "no", "--hierarchy", folder / "a.ipm")
    )
    lacking = ran("evaluate", folder, "--hierarchy", tmp_path / "no.ipm")
    assert lacking.returncode == 1
    assert "ipmicra build" in told(lacking)


def test_bad_rows_are_told_beside_the_data(folder: Path, tmp_path: Path) -> None:
    for name in ("crawlers.csv", "sites.csv", "rtt.csv"):
        (tmp_path / name).write_text((folder / name).read_text())
    with (tmp_path / "rtt.csv").open("a") as file:
        file.writelines(f"nobody,10.0.0.{i},1\n" for i in range(15))
    done = ran("evaluate", tmp_path, "--hierarchy", folder / "a.ipm", "--policy", "hash", "--seeds", "1")
    assert json.loads(done.stdout)
    assert "and 5 more rows left out" in told(done)


def test_report_shows_the_first_policy_beside_the_true_round_trips(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ("evaluate", folder, "--hierarchy", folder / "a.ipm", "--policy", "geo", "--seeds", "1")
    done = invoked(*words, "--report", page, "--json")
    assert done.exit_code == 0, done.output
    assert f"report: {page}" in done.stderr
    text = page.read_text()
    for word in ("What geo nearest 1 makes of", "site hash", "random", "A replay"):
        assert word in text
    assert "--report FILE" in invoked(*words).stderr


# --- nearness against load


def test_load_shows_a_curve_from_equal_load_to_the_nearest_crawlers(folder: Path) -> None:
    rows = json.loads(ran("evaluate", folder, "--load", "--json").stdout)
    assert [row["evenness"] for row in rows] == [1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.0]
    trips, loads = [row["mean_rtt_ms"] for row in rows], [row["busiest"] for row in rows]
    assert trips == sorted(trips, reverse=True)
    assert loads == sorted(loads)
    assert loads[0] == pytest.approx(1.0)
    assert max(row["of_best"] for row in rows) == 1.0
    with (folder / "rtt.csv").open() as file:
        nearest: dict[str, float] = {}
        for row in csv.DictReader(file):
            nearest[row["address"]] = min(nearest.get(row["address"], 1e9), float(row["rtt_ms"]))
    assert trips[-1] == pytest.approx(np.mean(list(nearest.values())), abs=1e-3)


def test_load_prints_a_table_draws_a_picture_and_counts_pages(folder: Path, tmp_path: Path) -> None:
    picture, sites = tmp_path / "load.svg", tmp_path / "sites.csv"
    with (folder / "sites.csv").open() as file, sites.open("w", newline="") as copy:
        rows = csv.writer(copy)
        rows.writerow(["host", "address", "pages"])
        known = enumerate(csv.DictReader(file))
        rows.writerows([row["host"], row["address"], 10 + number] for number, row in known)
    done = ran(
        "evaluate", folder / "rtt.csv", "--sites", sites, "--evenness", "0.8", "--evenness", "1",
        "--format", "table", "--plot", picture,
    )  # fmt: skip
    assert b"1 equal load" in done.stdout
    assert b"0.8" in done.stdout
    assert "pages is known" not in told(done)
    assert "mean round trip" in picture.read_text()


def test_load_replays_no_policy_and_refuses_what_is_no_evenness(folder: Path) -> None:
    assert "leave out --policy" in told(ran("evaluate", folder, "--load", "--policy", "geo"))
    assert "range" in told(ran("evaluate", folder, "--evenness", "3"))


def test_the_report_of_a_replay_shows_nearness_against_load(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    ran("evaluate", folder, "--policy", "geo", "--seeds", "1", "--report", page)
    assert "by the true round trips" in page.read_text()
