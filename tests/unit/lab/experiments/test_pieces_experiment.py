"""Pieces of sites: invented links, a user's links, overlap and coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra import InputError
from ipmicra.assign.balance.pieces import MAIN_PAGE
from ipmicra.lab.experiments.pieces import SitePlan, invent_site, links_by_page, piece_rows


def reached(links: dict[str, list[str]]) -> set[str]:
    found, waiting = {MAIN_PAGE}, [MAIN_PAGE]
    while waiting:
        for page in links.get(waiting.pop(), []):
            if page not in found:
                found.add(page)
                waiting.append(page)
    return found


@given(st.integers(0, 10_000))
def test_every_page_of_an_invented_site_can_be_reached(seed: int) -> None:
    links = invent_site(SitePlan(pages=120, directories=12), np.random.default_rng(seed))
    assert reached(links) == set(links)


def test_pieces_cover_everything_where_each_directory_stands_for_itself() -> None:
    plan = SitePlan(shown=(1.0, 1.0), hidden=(0.0, 0.0))
    (row,) = piece_rows([invent_site(plan, np.random.default_rng(1))], [3])
    assert (row.coverage, row.covered, row.sites) == (1.0, 1.0, 1)
    assert row.overlap == pytest.approx(2 / 1000, rel=0.1)  # the main page, downloaded by three


def test_what_hangs_on_another_pieces_directory_is_missed() -> None:
    links = links_by_page(
        [
            ("https://a.example/", "https://a.example/one/"),
            ("/", "/two/"),
            ("/one/", "/one/x"),
            ("/one/x", "/two/hidden"),
            ("/two/", "/two/y"),
        ]
    )
    (row,) = piece_rows([links], [2])
    assert row.coverage == pytest.approx(5 / 6)
    assert row.least_coverage == row.coverage


def test_links_without_a_main_page_and_sites_without_directories_are_refused() -> None:
    with pytest.raises(InputError, match="no link starts at the main page"):
        links_by_page([("/a/b", "/a/c")])
    with pytest.raises(InputError, match="no site has directories enough for 5 pieces"):
        piece_rows([links_by_page([("/", "/a/"), ("/a/", "/a/b")])], [5])
