"""What crawlers write down of their crawls."""

from __future__ import annotations

from pathlib import Path

import pytest

from ipmicra.edge.files.crawled import read_crawled, read_interval, read_moment
from ipmicra.errors import InputError
from ipmicra.model.recrawl import Crawled


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("30m", 1800), ("12 h", 43200), ("1.5d", 129600), ("2W", 1209600), ("7", 7)],
)
def test_intervals_have_units(text: str, seconds: float) -> None:
    assert read_interval(text) == seconds


@pytest.mark.parametrize("text", ["", "0h", "-1d", "soon", "1y", "1e3", "9" * 400])
def test_what_is_no_interval_is_told_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match="12h"):
        read_interval(text)


def test_moments_are_seconds_or_dates() -> None:
    assert read_moment("1000.5") == 1000.5
    assert read_moment("1970-01-01T01:00:00Z") == 3600.0
    assert read_moment("1970-01-01 01:00:00") == 3600.0
    assert read_moment("1970-01-01T01:00:00+01:00") == 0.0


@pytest.mark.parametrize("text", ["nan", "inf", "yesterday", "2026-13-01"])
def test_what_is_no_moment_is_told(text: str) -> None:
    with pytest.raises(InputError, match="1970"):
        read_moment(text)


def test_rows_are_read_with_and_without_names(tmp_path: Path) -> None:
    path = tmp_path / "crawled.csv"
    path.write_text("# by hand\nhttps://A.org./x,12,50\n\nb.org,,,2,40,\n")
    plain = [
        Crawled(host="a.org", pages=12, crawled_s=50.0),
        Crawled(host="b.org", piece=2, started_s=40.0),
    ]
    assert read_crawled(path) == (plain, [])
    path.write_text("host,crawled,pages,every\na.org,50,12,1d\n")
    assert read_crawled(path)[0] == [Crawled(host="a.org", pages=12, crawled_s=50.0, interval_s=86400.0)]


def test_rows_that_make_no_sense_are_told_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "crawled.csv"
    path.write_text("a.org,many,50\nb.org,1,2\nc.org,1,never\n")
    words, findings = read_crawled(path)
    assert [word.host for word in words] == ["b.org"]
    assert [finding.split(": ", 1)[1].split(" is ")[0] for finding in findings] == ["'many'", "'never'"]


def test_a_file_that_cannot_be_read_and_a_column_of_no_meaning_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_crawled(tmp_path / "none.csv")
    path = tmp_path / "crawled.csv"
    path.write_text("host,size\na.org,1\n")
    with pytest.raises(InputError, match="size"):
        read_crawled(path)
