"""`ipmicra report` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ipmicra.errors import InputError
from tests.cli.command_line import built_file, invoked, ran, told
from tests.page_reader import Page

CRAWLERS = (
    "name,address,latitude,longitude,country\nath,192.0.2.1,37.98,23.73,GR\nnyc,192.0.2.2,40.7,-74,US\n"
)
RESULTS = """host,address,subnet,crawler,rtt_ms,evidence,probes
a.example,10.0.0.1,10.0.0.0/24,ath,4.5,probed,2
b.example,10.1.0.1,10.1.0.0/24,nyc,9,inherited,0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "crawlers.csv").write_text(CRAWLERS)
    (tmp_path / "results.csv").write_text(RESULTS)
    (tmp_path / "sites.csv").write_text("host,address\na.example,10.0.0.1\nb.example,10.1.0.1\n")
    (tmp_path / "rtt.csv").write_text(
        "crawler,address,rtt_ms\nath,10.0.0.1,5\nnyc,10.0.0.1,9\nnyc,10.1.0.1,7\n"
    )
    return tmp_path


def test_results_become_a_page_and_figures(folder: Path) -> None:
    page = folder / "out" / "page.html"
    result = invoked(
        *("--home", folder / "home", "report", folder / "results.csv"),
        *("--crawlers", folder / "crawlers.csv", "-o", page, "--title", "Mine & yours", "--json"),
    )
    assert (result.exit_code, result.stderr) == (0, "")
    figures = json.loads(result.stdout)
    assert (figures["report"], figures["size_bytes"]) == (str(page), page.stat().st_size)
    assert (figures["sites"], figures["probes_per_site"], figures["mean_rtt_ms"]) == (2, 1.0, 6.75)
    assert (figures["optimal"], figures["plots"]) == (None, [])
    parsed = Page(page.read_text(encoding="utf-8"))
    assert parsed.one("h1").text == "Mine & yours"
    assert str(folder / "results.csv") in parsed.one("header").text


def test_world_with_assignment_tells_the_optimal_share_and_writes_plots(folder: Path) -> None:
    done = ran(
        *("--home", folder / "home", "report", "--world", folder, "--assignment", folder / "results.csv"),
        *("-o", folder / "r.html", "--plots", folder / "plots"),
    )
    assert done.returncode == 0, told(done)
    figures = json.loads(done.stdout)
    assert figures["optimal"] == 1.0
    names = sorted(Path(name).name for name in figures["plots"])
    assert {"rtt.svg", "rtt.png", "map.svg"} <= set(names)
    assert sorted(path.name for path in (folder / "plots").iterdir()) == names


def test_hierarchy_fills_in_holders(folder: Path) -> None:
    dump = "inetnum: 10.0.0.0 - 10.0.0.255\nnetname: N\ndescr: Alpha Hosting\n"
    result = invoked(
        *("report", folder / "results.csv", "--hierarchy", built_file(folder, dump), "-o", folder / "r.html"),
    )
    assert result.exit_code == 0
    assert json.loads(result.stdout)["organisations"] == 1
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "Alpha Hosting" in page
    counted = json.loads(invoked("info", folder / "a.ipm", "--json").stdout)["subnets"]
    assert counted == 1
    assert "1 subnet, 1 organisation" in page, "the report counts as `info` does"


def test_results_can_come_by_pipe_and_figures_as_a_table(folder: Path) -> None:
    done = ran(
        *("--home", folder / "home", "report", "-", "-o", folder / "r.html", "--format", "table"),
        stdin=RESULTS.encode(),
    )
    assert done.returncode == 0, told(done)
    assert "probes per site" in done.stdout.decode()
    assert (folder / "r.html").exists()


def test_lines_that_cannot_be_read_are_told_and_the_rest_is_done(folder: Path) -> None:
    (folder / "results.csv").write_text(RESULTS + "c.example,junk,,ath,soon,,\n")
    done = ran("--home", folder / "h", "report", folder / "results.csv", "-o", folder / "r.html")
    assert done.returncode == 3
    assert "2 problems" in told(done)
    assert "2 problems" in Page((folder / "r.html").read_text(encoding="utf-8")).one("header").text
    assert json.loads(done.stdout)["sites"] == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "nothing to report on"),
        (("--assignment", "results.csv"), "needs --world"),
        (("results.csv", "--world", "."), "exclude each other"),
        (("--world", "crawlers.csv"), "cannot determine which columns"),
        (("results.csv", "--crawlers", "absent.csv"), "does not exist"),
        (("results.csv", "-o", "results.csv"), "is one of the inputs"),
        (("--world", ".", "-o", "rtt.csv"), "is one of the inputs"),
    ],
)
def test_wrong_usage_is_told_in_a_line_and_writes_nothing(
    folder: Path, words: tuple[str, ...], message: str
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    full = [str(folder / word) if word.endswith(".csv") or word == "." else word for word in words]
    done = ran("--home", folder / "h", "report", *full, *(() if "-o" in words else ("-o", folder / "r.html")))
    assert done.returncode == 2
    assert message in " ".join(told(done).split())
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_missing_results_are_named(folder: Path) -> None:
    done = ran("--home", folder / "h", "report", folder / "absent.jsonl", "-o", folder / "r.html")
    assert done.returncode == 2
    assert f"there is no file {folder}/absent.jsonl" in told(done)


def test_hierarchy_that_is_named_must_be_there(folder: Path) -> None:
    done = ran("report", folder / "results.csv", "--hierarchy", folder / "no.ipm", "-o", folder / "r.html")
    assert done.returncode == 1
    assert "no hierarchy at" in told(done)


def test_old_report_survives_a_failure(folder: Path) -> None:
    page = folder / "r.html"
    page.write_text("old")
    (folder / "results.csv").write_text("[1")
    result = invoked("--home", folder / "h", "report", folder / "results.csv", "-o", page)
    assert isinstance(result.exception, InputError)
    assert page.read_text() == "old"
