"""Sites and crawlers of a problem: what is accepted."""

from __future__ import annotations

import pytest

from ipmicra.errors import InputError
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.sites import SiteTable, country_code

NAN = float("nan")


def test_country_code_reads_two_letters_only() -> None:
    assert country_code("gr") == country_code(" GR ") == ord("G") * 256 + ord("R")
    assert [country_code(text) for text in ("", None, "G", "GRC", "1A", "ÄB")] == [0] * 6


@pytest.mark.parametrize(
    ("pages", "complaint"), [([1.0, -1.0], "pages"), ([1.0, NAN], "pages"), ([1.0], "differ in length")]
)
def test_sites_that_make_no_sense_are_refused(pages: list[float], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        SiteTable.of(["a", "b"], pages=pages)


def test_crawlers_that_make_no_sense_are_refused() -> None:
    for names, capacity in (([], None), (["a", "a"], None), (["a", "b"], [1.0, 0.0])):
        with pytest.raises(InputError):
            CrawlerTable.of(names, capacity=capacity)
