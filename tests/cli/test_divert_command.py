"""`ipmicra divert`: URLs between crawlers of Heritrix, through files and a real coordinator."""

from __future__ import annotations

from pathlib import Path

import pytest

from ipmicra.app.divert import carry
from ipmicra.edge.files.diversions import find_diversions
from tests.cli.command_line import ran, told

LINES = (
    "null CrawlURI http://a.example/x?y=1 LLE http://b.example/\n"
    "example,a, CrawlURI http://a.example/  \n"
    "\n"
    "broken\n"
)


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    for name in ("fra", "nyc"):
        (tmp_path / name / "action").mkdir(parents=True)
        (tmp_path / name / "diversions").mkdir()
    (tmp_path / "fra" / "diversions" / "202611172305-fra-to-nyc.divert").write_text(LINES)
    return tmp_path


def test_file_for_a_crawler_appears_complete_in_its_folder_and_is_put_away(jobs: Path) -> None:
    folder, action = jobs / "fra" / "diversions", jobs / "nyc" / "action"
    (folder / "202611172306-fra-to-nyc.open").write_text("null CrawlURI http://a.example/later L -\n")
    done = ran("--home", jobs, "divert", folder, "--to", f"nyc={action}")
    assert done.returncode == 3
    said = told(done).splitlines()
    assert said == ["1 files: 2 URLs to nyc", "left out 1 (broken): lines without a URL"]
    (made,) = (one for one in action.iterdir() if one.is_file())
    assert made.name == "202611172305-fra-to-nyc-nyc.s.schedule"
    assert made.read_text() == "F+ http://a.example/x?y=1 LLE http://b.example/\nF+ http://a.example/\n"
    names = {one.name for one in folder.iterdir()}
    assert names == {"202611172306-fra-to-nyc.open", "carried"}
    again = ran("--home", jobs, "divert", folder, "--to", f"nyc={action}")
    assert (again.returncode, told(again)) == (0, "0 files: nothing to carry\n")


def test_file_for_a_crawler_without_a_folder_stays(jobs: Path) -> None:
    folder = jobs / "fra" / "diversions"
    done = ran("--home", jobs, "divert", folder, "--to", f"ath={jobs / 'nyc' / 'action'}")
    assert done.returncode == 3
    assert "name its folder: --to nyc=FOLDER" in told(done)
    (kept,) = find_diversions(folder)
    assert kept.path.read_text().count("a.example") == 2


def test_hosts_that_nobody_owned_need_a_coordinator(jobs: Path) -> None:
    folder = jobs / "fra" / "diversions"
    (folder / "202611172305-fra-to-nyc.divert").rename(folder / "202611172305-fra-to-DEFAULT.divert")
    done = ran("--home", jobs, "divert", folder, "--to", f"nyc={jobs / 'nyc' / 'action'}")
    assert done.returncode == 3
    assert "no coordinator was named" in told(done)
    assert len(find_diversions(folder)) == 1


class Answering:
    """A coordinator that knows two hosts, and is not ready for a third."""

    def each_line(self, path: str, lines: list[str], on_line: object) -> None:
        assert path == "/v1/owners"
        known = {"a.example": "nyc", "b.example": "ath"}
        for host in lines:
            kind = "not-ready" if host == "slow.example" else "unresolved"
            problem = {"type": f"x:{kind}", "detail": f"{host}: it has no address"}
            answer = {"host": host, "crawler": known[host]} if host in known else {"problem": problem}
            on_line(answer)  # type: ignore[operator]


def test_hosts_that_nobody_owned_go_to_their_owner_and_undecided_ones_stay(jobs: Path) -> None:
    folder, action = jobs / "fra" / "diversions", jobs / "nyc" / "action"
    (folder / "202611172305-fra-to-nyc.divert").unlink()
    hosts = ("a.example", "b.example", "slow.example", "gone.example")
    lines = "".join(f"null CrawlURI http://{host}/ L http://c.example/\n" for host in hosts)
    (folder / "202611172305-fra-to-DEFAULT.divert").write_text(lines)
    report = carry([folder], {"nyc": action}, Answering())  # type: ignore[arg-type]
    assert report.urls == {"nyc": 1}
    (made,) = (one for one in action.iterdir() if one.is_file())
    assert made.read_text() == "F+ http://a.example/ L http://c.example/\n"
    (kept,) = find_diversions(folder)
    assert [one.url for one in kept.read() if not isinstance(one, str)] == [
        "http://b.example/",
        "http://slow.example/",
    ]
    assert report.left_out.sites["it has no address"].examples == ["gone.example"]
