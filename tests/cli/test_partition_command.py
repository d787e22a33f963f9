"""`ipmicra partition` as a user meets it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from ipmicra.errors import InputError
from tests.cli.command_line import built_file, invoked, ran, told

ROW = {
    "method",
    "parts",
    "download_s",
    "exchange_s",
    "relocation_s",
    "edge_cut",
    "load_variation",
    "links_inside",
    "moved_on_join",
}


def world(folder: Path, sites: int = 24, crawlers: int = 3) -> Path:
    """A world of three towns; every third site is in the same one."""
    rows = [
        f"s{number}.example,10.{town}.0.{number},{10 * town},{20 * town},GR,{number + 1}"
        for number, town in ((number, number % 3) for number in range(sites))
    ]
    (folder / "sites.csv").write_text("host,address,latitude,longitude,country,pages\n" + "\n".join(rows))
    own = [f"c{number},10.{number}.0.200,{10 * number},{20 * number},GR" for number in range(crawlers)]
    (folder / "crawlers.csv").write_text("name,address,latitude,longitude,country\n" + "\n".join(own))
    rtt = [
        f"c{one},10.{number % 3}.0.{number},{5 + 40 * abs(number % 3 - one)}"
        for one in range(crawlers)
        for number in range(sites)
    ]
    (folder / "rtt.csv").write_text("crawler,address,rtt_ms\n" + "\n".join(rtt))
    return folder


def rows_of(*words: str | Path) -> dict[str, dict[str, float]]:
    result = invoked("partition", *words, "--json")
    assert result.exit_code == 0, result.output
    return {row["method"]: row for row in json.loads(result.stdout)}


def complaint(*words: str | Path) -> str:
    result = invoked("partition", *words)
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


def test_delegator_overlay_and_fair_load_are_methods_too(tmp_path: Path) -> None:
    """Three towns far apart with a crawler each: the delegator and fair load find them by round trips."""
    hierarchy = built_file(tmp_path)
    rows = rows_of(
        "--world",
        world(tmp_path),
        "--hierarchy",
        hierarchy,
        "-m",
        "delegated",
        "-m",
        "can",
        "-m",
        "balance",
        "-m",
        "rtt-best",
    )
    assert list(rows) == ["delegated", "can", "balance", "rtt-best"]
    assert rows["delegated"]["download_s"] == pytest.approx(rows["rtt-best"]["download_s"])
    assert rows["balance"]["load_variation"] <= rows["rtt-best"]["load_variation"] + 1e-9
    assert rows["can"]["parts"] == 3


def test_file_of_measurements_is_parted_by_its_round_trips(tmp_path: Path) -> None:
    row = rows_of("--world", world(tmp_path) / "rtt.csv", "-m", "rtt-best")["rtt-best"]
    assert (row["parts"], row["load_variation"]) == (3, 0.0)


def test_world_is_parted_by_every_method_that_can_run(tmp_path: Path) -> None:
    rows = rows_of("--world", world(tmp_path), "--generate-links", "1")
    assert {"hash", "two-level", "city", "country", "metis-multi", "rtt-best", "rtt-balanced"} <= rows.keys()
    assert all(row.keys() == ROW for row in rows.values())
    assert rows["centralised"]["parts"] == 1
    assert rows["rtt-balanced"]["download_s"] <= rows["hash"]["download_s"]


def test_names_alone_are_enough_for_a_hash() -> None:
    row = rows_of("a.example", "http://b.example/x", "10.0.0.1", "A.example.", "-n", "2", "-m", "hash")[
        "hash"
    ]
    assert row["exchange_s"] is None
    assert row["parts"] <= 2


def test_parts_are_written_to_a_file(tmp_path: Path) -> None:
    output = tmp_path / "parts.csv"
    rows_of("--world", world(tmp_path), "-m", "city", "-o", output)
    with output.open(encoding="utf-8") as file:
        chosen = {row["host"]: row["crawler"] for row in csv.DictReader(file)}
    assert len(chosen) == 24
    assert chosen["s4.example"] == "c1"


def test_own_assignment_is_compared_with_the_others(tmp_path: Path) -> None:
    """What was written can be read back, as today's assignment of the user's own crawler."""
    output = tmp_path / "today.csv"
    first = rows_of("--world", world(tmp_path), "-m", "city", "-o", output)
    again = rows_of("--world", tmp_path, "-m", "hash", "--assigned", f"balance={output}")
    assert list(again) == ["hash", "balance"]
    assert again["balance"]["download_s"] == first["city"]["download_s"]


def test_seeds_take_what_the_table_tells_of_them(tmp_path: Path) -> None:
    folder = world(tmp_path)
    whole = rows_of("--sites", folder / "sites.csv", "-n", "1", "-m", "centralised")["centralised"]
    some = rows_of("s23.example", "--sites", folder / "sites.csv", "-n", "1", "-m", "centralised")[
        "centralised"
    ]
    assert some["download_s"] == pytest.approx(whole["download_s"] * 24 / 300, rel=0.02)
    named = rows_of(folder / "sites.csv", "-n", "1", "-m", "centralised")["centralised"]
    assert named == whole


def test_links_of_a_file_are_counted_and_the_rest_told(tmp_path: Path) -> None:
    folder = world(tmp_path)
    links = tmp_path / "some.csv"
    links.write_text(
        "source,target,links\ns0.example,s3.example,6\ns0.example,s1.example,2\n"
        "s0.example,s0.example,9\ns0.example,elsewhere.example,1\ns1.example,s2.example,0\n"
    )
    done = ran("partition", "--world", folder, "--links", links, "-m", "city", "--format", "csv")
    row = next(csv.DictReader(done.stdout.decode().splitlines()))
    assert (float(row["edge_cut"]), float(row["links_inside"])) == (2.0, 0.75)
    assert "1 to or from unknown hosts, 1 self links, 1 of no weight" in told(done)


def test_links_come_from_parquet_too(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "links.parquet"
    parquet.write_table(pa.table({"source": ["s0.example"], "target": ["s3.example"], "links": [4]}), path)
    row = rows_of("--world", world(tmp_path), "--links", path, "-m", "city")["city"]
    assert row["links_inside"] == 1


def test_sites_without_a_location_are_placed_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "sites.csv"
    path.write_text(
        "host,address,latitude,longitude,country,pages\na.example,10.0.0.1,10,10,,\n"
        "b.example,10.0.0.2,,,,\nc.example,10.9.0.1,999,0,,\nd.example,,,,,nonsense\na.example,,,,,\n"
    )
    done = ran("partition", "--sites", path, "-n", "2", "-m", "metis-geo", "--json")
    said = told(done)
    assert json.loads(done.stdout)[0]["method"] == "metis-geo"
    assert "3 sites have no location: 2 were placed by their subnet" in said
    assert "1 in the middle of all" in said
    assert "2 addresses, places or page counts" in said
    assert "1 rows of" in said


def test_hierarchy_tells_subnets_and_holders(tmp_path: Path) -> None:
    rows = rows_of("--world", world(tmp_path), "--hierarchy", built_file(tmp_path), "-m", "isp-city")
    assert rows["isp-city"]["parts"] == 3


def test_more_parts_than_sites_is_said_and_done(tmp_path: Path) -> None:
    path = world(tmp_path, sites=3) / "sites.csv"
    done = ran("partition", path, "-n", "9", "-m", "hash", "-m", "metis-geo", "--json")
    assert done.returncode == 0
    assert "9 crawlers for 3 sites: some get nothing" in told(done)
    assert all(row["parts"] <= 3 for row in json.loads(done.stdout))


def test_what_is_no_site_is_told_and_the_rest_done() -> None:
    done = ran("partition", "a.example", "10.0.0.0/8", "b..c", "-n", "2", "-m", "hash", "--json")
    assert done.returncode == 3
    assert "10.0.0.0/8: a prefix or range is no site" in told(done)
    assert "b..c: " in told(done)


def test_table_is_for_people(tmp_path: Path) -> None:
    result = invoked("partition", "--world", world(tmp_path), "-m", "hash", "--format", "table")
    assert "24 sites among 3 crawlers" in result.stdout
    assert "–" in result.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a.example"], "--parts N"),
        (["-n", "2"], "there are no sites"),
        (["a.example", "-n", "0"], "make no sense"),
        (["a.example", "-n", "2", "-m", "nearest"], "no method nearest; there are hash"),
        (["a.example", "-n", "2", "-m", "metis-links"], "metis-links needs links (--links FILE"),
        (["a.example", "-n", "2", "-m", "delegated"], "--hierarchy and --world"),
        (["a.example", "-n", "2", "--sites", "nowhere.csv"], "there is no file nowhere.csv"),
        (["--world", "tests"], "tests: crawlers.csv, sites.csv, rtt.csv are missing"),
    ],
)
def test_mistakes_are_answered_with_the_next_step(words: list[str], expected: str) -> None:
    assert expected in complaint(*words)


@pytest.mark.parametrize(
    ("content", "expected"),
    [("name\na\n", "must name the columns host"), ("", "must name the columns host"), ("host\n", "no sites")],
)
def test_file_that_is_no_table_of_sites_is_refused(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(content)
    assert expected in complaint("--sites", path, "-n", "2")


def test_assignment_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    folder = world(tmp_path)
    path = tmp_path / "given.csv"
    path.write_text("host,crawler\ns0.example,c0\n")
    assert "no crawler for 23 sites" in complaint("--world", folder, "--assigned", f"x={path}")
    path.write_text("host,crawler\n" + "\n".join(f"s{number}.example,stranger" for number in range(24)))
    assert "stranger are not among the crawlers" in complaint("--world", folder, "--assigned", f"x={path}")


def test_options_out_of_range_are_wrong_usage() -> None:
    for words in (["--preference", "2"], ["--grain", "planet"], ["--assigned", "nothing"]):
        assert invoked("partition", "a.example", "-n", "2", *words).exit_code == 2


def test_links_are_read_or_invented_but_not_both(tmp_path: Path) -> None:
    folder = world(tmp_path)
    assert "not both" in complaint("--world", folder, "--links", folder / "rtt.csv", "--generate-links", "1")
