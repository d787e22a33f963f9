"""Reports from a world with known round trips."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ipmicra.app.report.data import ORACLE, Flag
from ipmicra.app.report.loaders.choose import ReportInput
from ipmicra.app.report.loaders.problems import Problems
from ipmicra.app.report.loaders.world_folder import WorldFolder
from ipmicra.app.report.page import render
from ipmicra.errors import InputError

FILES = {
    "crawlers.csv": "name,address,latitude,longitude,country\n"
    "ath,192.0.2.1,37.98,23.73,GR\nnyc,192.0.2.2,40.7,-74,US\n",
    "sites.csv": "host,address,latitude,longitude,country,pages\n"
    "a.example,10.0.0.1,38,24,GR,100\nb.example,10.0.0.2,41,-73,US,50\nc.example,10.0.0.3,,,,\nd.example,10.0.0.1,,,,\n",
    "rtt.csv": "crawler,address,rtt_ms\nath,10.0.0.1,5\nnyc,10.0.0.1,90\nath,10.0.0.2,95\nnyc,10.0.0.2,6\n",
}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def assigned(world: Path, rows: list[dict[str, object]]) -> Path:
    path = world / "assignment.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_without_assignment_each_site_has_its_nearest_crawler(world: Path) -> None:
    data = WorldFolder(world=world, problems=Problems()).load()
    assert [site.crawler for site in data.sites] == [0, 1, None, 0]
    assert [site.rtt_ms for site in data.sites] == [5, 6, None, 5]
    assert (data.policy, data.sites[2].flag) == (ORACLE, Flag.UNPROBEABLE)
    assert data.true_rtt_ms is not None
    np.testing.assert_array_equal(data.true_rtt_ms, [[5, 95, np.nan, 5], [90, 6, np.nan, 90]])
    assert "No assignment" in data.notes[0]


def test_assignment_is_joined_by_host_then_by_address(world: Path) -> None:
    rows: list[dict[str, object]] = [
        {"host": "a.example", "crawler": "nyc", "probes": 3, "evidence": "probed"},
        {"host": "other-name", "address": "10.0.0.2", "crawler": "nyc", "probes": 1},
    ]
    data = WorldFolder(world=world, assignment=assigned(world, rows), problems=Problems()).load()
    assert [(site.host, site.crawler, site.probes) for site in data.sites] == [
        ("a.example", 1, 3),
        ("b.example", 1, 1),
    ]
    assert data.sites[0].pages == 100
    assert data.sites[0].place is not None
    assert data.true_rtt_ms is not None
    assert data.true_rtt_ms.shape == (2, 2)
    assert "2 sites of the world are not in the assignment" in data.notes[0]
    summary = render(data).summary
    assert (summary.optimal, summary.mean_rtt_ms) == (0.5, 48.0)


def test_crawler_that_the_world_lacks_is_never_nearest(world: Path) -> None:
    rows: list[dict[str, object]] = [
        {"host": "a.example", "crawler": "moon"},
        {"host": "b.example", "crawler": "nyc"},
    ]
    problems = Problems()
    data = WorldFolder(world=world, assignment=assigned(world, rows), problems=problems).load()
    assert [crawler.name for crawler in data.crawlers] == ["ath", "nyc", "moon"]
    assert problems.count == 1
    assert render(data).summary.optimal == 0.5


def test_assignment_of_another_world_is_an_error(world: Path) -> None:
    path = assigned(world, [{"host": "elsewhere", "address": "99.0.0.1", "crawler": "ath"}])
    with pytest.raises(InputError, match="names no site"):
        WorldFolder(world=world, assignment=path, problems=Problems()).load()


def test_lines_of_round_trips_that_fit_nothing_are_counted(world: Path) -> None:
    with (world / "rtt.csv").open("a") as file:
        file.write("moon,10.0.0.1,1\nath,10.9.9.9,1\nath,junk,1\nath,10.0.0.1,-4\n")
    problems = Problems()
    data = WorldFolder(world=world, problems=problems).load()
    assert problems.count == 4
    assert data.sites[0].rtt_ms == 5


@pytest.mark.parametrize("missing", FILES)
def test_folder_that_is_no_world_is_told_what_lacks(world: Path, missing: str) -> None:
    (world / missing).unlink()
    with pytest.raises(InputError, match=f"{missing} is missing"):
        WorldFolder(world=world, problems=Problems()).load()


def test_world_without_sites_is_an_error(world: Path) -> None:
    (world / "sites.csv").write_text("host,address\n")
    with pytest.raises(InputError, match="no sites"):
        WorldFolder(world=world, problems=Problems()).load()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (ReportInput(), "nothing to report on"),
        (ReportInput(results=(Path("r"),), world=Path("w")), "exclude each other"),
        (ReportInput(crawlers=Path("c"), world=Path("w")), "exclude each other"),
        (ReportInput(results=(Path("r"),), assignment=Path("a")), "needs --world"),
    ],
)
def test_contradictions_are_told(given: ReportInput, told: str) -> None:
    with pytest.raises(InputError, match=told):
        given.load()


def test_first_crawler_and_no_probes_are_answers_too(world: Path) -> None:
    """Zero once counted as missing."""
    path = assigned(world, [{"host": "a.example", "crawler": "ath", "probes": 0, "rtt_ms": 0}])
    (site,) = WorldFolder(world=world, assignment=path, problems=Problems()).load().sites
    assert (site.crawler, site.probes, site.rtt_ms) == (0, 0, 0.0)


def test_file_of_measurements_is_a_world_too(tmp_path: Path) -> None:
    path = tmp_path / "pings.csv"
    path.write_text("vp;ip;ms\nath;10.0.0.1;5\nnyc;10.0.0.1;90\nath;10.0.0.2;95\nnyc;10.0.0.2;6\n")
    data = WorldFolder(world=path, problems=Problems()).load()
    assert [(site.host, site.crawler, site.rtt_ms) for site in data.sites] == [
        ("10.0.0.1", 0, 5.0),
        ("10.0.0.2", 1, 6.0),
    ]
    assert any("4 rows read" in note for note in data.notes)
