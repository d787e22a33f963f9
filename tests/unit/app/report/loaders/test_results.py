"""Reports from results of `ipmicra delegate`."""

from __future__ import annotations

import csv
import io
import json
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from ipmicra.app.report.data import Flag, ReportData
from ipmicra.app.report.loaders.problems import Problems
from ipmicra.app.report.loaders.results import ResultFiles
from ipmicra.errors import InputError
from ipmicra.model.delegation import Evidence

CRAWLERS = """name,address,latitude,longitude,country,connections
ath,192.0.2.1,37.98,23.73,GR,8
nyc,192.0.2.2,40.71,-74.01,US,
"""
ROWS: list[dict[str, object]] = [
    {
        "host": "a.example",
        "address": "10.0.0.1",
        "subnet": "10.0.0.0/24",
        "crawler": "ath",
        "rtt_ms": 4.5,
        "evidence": "probed",
        "probes": 2,
    },
    {
        "host": "b.example",
        "address": "10.0.1.1",
        "subnet": "10.0.1.0 - 10.0.2.255",
        "crawler": "nyc",
        "rtt_ms": None,
        "evidence": "inherited",
        "probes": 0,
    },
]


def written(rows: list[dict[str, object]], form: str) -> str:
    if form == "json":
        return json.dumps(rows, indent=1)
    if form == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def load(
    folder: Path, text: str, problems: Problems | None = None, crawlers: str | None = CRAWLERS
) -> ReportData:
    (folder / "results").write_text(text, encoding="utf-8")
    if crawlers is not None:
        (folder / "crawlers.csv").write_text(crawlers, encoding="utf-8")
    return ResultFiles(
        results=(folder / "results",),
        crawlers=folder / "crawlers.csv" if crawlers is not None else None,
        problems=problems or Problems(),
    ).load()


@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
def test_every_form_says_the_same(tmp_path: Path, form: str) -> None:
    problems = Problems()
    data = load(tmp_path, written(ROWS, form), problems)
    first, second = data.sites
    assert problems.count == 0
    assert (first.host, first.address, first.crawler, first.rtt_ms) == (
        "a.example",
        IPv4Address("10.0.0.1"),
        0,
        4.5,
    )
    assert (first.evidence, first.probes) == (Evidence.PROBED, 2)
    assert second.subnet is not None
    assert (second.subnet.label, str(second.subnet.last)) == ("10.0.1.0 - 10.0.2.255", "10.0.2.255")
    assert (second.rtt_ms, second.flag) == (None, None)
    assert data.crawlers[0].capacity.connections == 8
    assert data.crawlers[1].capacity.connections is None
    assert data.crawlers[0].place is not None
    assert data.crawlers[0].place.country == "GR"


def test_one_object_over_several_lines_is_one_record(tmp_path: Path) -> None:
    assert len(load(tmp_path, json.dumps(ROWS[0], indent=2)).sites) == 1


def test_site_that_was_asked_in_vain_is_unprobeable(tmp_path: Path) -> None:
    rows = [
        {"host": "a", "address": "10.0.0.1", "crawler": "ath", "probes": 3},
        {"host": "b", "class": "anycast"},
    ]
    data = load(tmp_path, json.dumps(rows))
    assert [site.flag for site in data.sites] == [Flag.UNPROBEABLE, Flag.ANYCAST]
    assert data.sites[1].crawler is None


def test_without_file_of_crawlers_names_are_enough(tmp_path: Path) -> None:
    problems = Problems()
    data = load(tmp_path, written(ROWS, "csv"), problems, crawlers=None)
    assert [crawler.name for crawler in data.crawlers] == ["ath", "nyc"]
    assert problems.count == 0


def test_crawler_that_the_file_lacks_is_shown_and_told(tmp_path: Path) -> None:
    problems = Problems()
    data = load(
        tmp_path, json.dumps([{"host": "a", "crawler": "xyz"}, {"host": "b", "crawler": "xyz"}]), problems
    )
    assert [crawler.name for crawler in data.crawlers] == ["ath", "nyc", "xyz"]
    assert [site.crawler for site in data.sites] == [2, 2]
    assert (problems.count, "'xyz'" in problems.shown[0]) == (1, True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rtt_ms", "fast"),
        ("rtt_ms", -1),
        ("rtt_ms", "nan"),
        ("rtt_ms", "inf"),
        ("probes", -3),
        ("address", "10.0.0.256"),
        ("subnet", "10.0.0.9 - 10.0.0.1"),
        ("latitude", 91),
    ],
)
def test_bad_field_is_counted_and_the_site_stays(tmp_path: Path, field: str, value: object) -> None:
    problems = Problems()
    data = load(tmp_path, json.dumps([{**ROWS[0], field: value}]), problems)
    assert [site.host for site in data.sites] == ["a.example"]
    assert problems.count == 1
    assert "record 1" in problems.shown[0]
    assert data.notes == problems.notes


def test_bad_lines_are_counted_and_the_others_stay(tmp_path: Path) -> None:
    problems = Problems()
    text = "\n".join(
        [json.dumps(ROWS[0]), "{broken", "[1]", "", json.dumps({"crawler": "ath"}), json.dumps(ROWS[1])]
    )
    assert len(load(tmp_path, text, problems).sites) == 2
    assert problems.count == 3
    assert "line 2" in problems.notes[0]


def test_many_problems_are_counted_and_few_are_shown() -> None:
    problems = Problems()
    for i in range(100):
        problems.add(f"p{i}")
    (note,) = problems.notes
    assert "100 problems" in note
    assert "and 95 more" in note


@pytest.mark.parametrize("text", ["", "\n\n", "host,crawler\n", "[]", "junk", "[1, 2]", "{}"])
def test_no_sites_is_an_error_that_says_what_is_expected(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"no sites in .*host, address, crawler"):
        load(tmp_path, text)


@pytest.mark.parametrize(("text", "told"), [('[{"host": 1', "is no JSON"), ("a,b\0\n", "zero bytes")])
def test_file_that_cannot_be_read_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        load(tmp_path, text)


def test_no_crawlers_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no crawlers"):
        load(tmp_path, written(ROWS, "csv"), crawlers="name,address\n")


def test_crawler_named_twice_counts_once(tmp_path: Path) -> None:
    problems = Problems()
    data = load(
        tmp_path, json.dumps(ROWS), problems, crawlers=CRAWLERS + "ath,192.0.2.9,1,1,XX,\n,1.1.1.1,,,,\n"
    )
    assert len(data.crawlers) == 2
    assert problems.count == 2
