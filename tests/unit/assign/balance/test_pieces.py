"""Pieces of a site: filters that lose nothing, overlap and coverage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.assign.balance.config import PieceConfig
from ipmicra.assign.balance.pieces import (
    cut_site,
    directories_of,
    directory_of,
    path_of,
    report_links,
    urls_of_sitemap,
)
from ipmicra.errors import InputError

NEWS = {"/news/": 5000, "/sport/": 3000, "/img/": 1500, "/a/": 100, "/": 50}
names = st.sampled_from(["/", "/a/", "/b/", "/c/", "/d/", "/e/", "/f/"])


@pytest.mark.parametrize(
    ("url", "path", "directory"),
    [
        ("https://a.org/news/x.html?q=1#top", "/news/x.html", "/news/"),
        ("https://a.org", "/", "/"),
        ("a.org/news/2024/x", "/news/2024/x", "/news/"),
        ("/index.html", "/index.html", "/"),
        ("//", "//", "//"),
        ("", "/", "/"),
    ],
)
def test_path_and_directory_of_a_url(url: str, path: str, directory: str) -> None:
    assert (path_of(url), directory_of(url)) == (path, directory)


def test_key_directories_are_dealt_out_evenly_with_a_rest() -> None:
    pieces = cut_site(NEWS, PieceConfig(most=3))
    assert [(piece.directories, piece.is_rest, piece.pages) for piece in pieces] == [
        (("/news/",), False, 5000),
        (("/sport/",), False, 3000),
        (("/img/",), True, 1650),
    ]
    assert pieces[2].label == "piece 3/3"
    assert pieces[2].others == ("/news/", "/sport/")


def test_a_small_site_and_one_without_directories_stay_whole() -> None:
    for directories in ({"/a/": 5, "/b/": 5}, {"/": 50_000}, {}):
        (piece,) = cut_site(directories)
        assert piece.is_rest
        assert piece.admits("/anything/at/all")


def test_there_are_never_more_pieces_than_allowed_nor_than_subsets() -> None:
    assert len(cut_site(NEWS, PieceConfig(most=2))) == 2
    assert len(cut_site({"/a/": 9000, "/": 10})) == 2
    assert len(cut_site(NEWS, PieceConfig(most=1))) == 1


@given(
    directories=st.dictionaries(names, st.integers(0, 9000), max_size=7),
    most=st.integers(1, 6),
    asked=st.lists(st.sampled_from(["/x", "/a/1", "/b/2/3", "/c/", "/zz/1", "/"]), max_size=8),
)
def test_every_path_passes_exactly_one_piece(
    directories: dict[str, int], most: int, asked: list[str]
) -> None:
    pieces = cut_site(directories, PieceConfig(most=most))
    assert sum(piece.pages for piece in pieces) == sum(directories.values())
    assert [piece.number for piece in pieces] == list(range(1, len(pieces) + 1))
    assert all(piece.of == len(pieces) for piece in pieces)
    for path in [*asked, *(name + "page" for name in directories)]:
        assert sum(piece.admits(path) for piece in pieces) == 1


def test_urls_are_counted_once() -> None:
    urls = ["https://a.org/b/1", "https://a.org/b/1?x", "https://a.org/c/1", "", "https://a.org/top"]
    assert directories_of(urls) == {"/b/": 1, "/c/": 1, "/": 1}


def test_pages_behind_a_foreign_directory_are_missed_and_the_main_page_is_fetched_by_all() -> None:
    pieces = cut_site({"/a/": 11, "/b/": 9}, PieceConfig(most=2, least_pages=0, key_share=0.5))
    assert [piece.directories for piece in pieces] == [("/a/",), ()]
    links = {"/": ["/a/1", "/b/1"], "/a/1": ["/a/2"], "/b/1": ["/a/3"]}
    report = report_links(pieces, links)
    assert report.sizes == (3, 2)
    assert report.pages == 5
    assert report.coverage == 4 / 5
    assert report.overlap == 1 / 4


def test_pages_that_the_main_page_links_to_are_covered_whole() -> None:
    urls = [f"https://a.org/{name}/{i}" for name in "abc" for i in range(5)]
    pieces = cut_site(directories_of(urls), PieceConfig(most=3, least_pages=0))
    report = report_links(pieces, {"/": urls})
    assert report.coverage == 1.0
    assert report.overlap == pytest.approx(2 / 16)
    assert report_links([], {"/": urls}).coverage == 0.0


def test_more_pieces_overlap_more() -> None:
    """Figure 11 of Xu et al. 2010: overlap grows with the number of pieces, coverage hardly changes."""
    links = {"/": [f"/d{i}/0" for i in range(8)]}
    links |= {f"/d{i}/{j}": [f"/d{i}/{j + 1}"] for i in range(8) for j in range(20)}
    directories = directories_of([page for pages in links.values() for page in pages])
    reports = [
        report_links(cut_site(directories, PieceConfig(most=count, least_pages=0)), links)
        for count in (1, 2, 3, 4, 5)
    ]
    overlaps = [report.overlap for report in reports]
    assert overlaps == sorted(overlaps)
    assert {report.coverage for report in reports} == {1.0}


def test_sitemaps_and_plain_lists_are_read() -> None:
    sitemap = """<?xml version="1.0"?><urlset xmlns="x"><url><loc> https://a.org/b?x=1&amp;y=2 </loc></url>
    <url><loc><![CDATA[https://a.org/c]]></loc></url></urlset>"""
    assert urls_of_sitemap(sitemap) == ["https://a.org/b?x=1&y=2", "https://a.org/c"]
    assert urls_of_sitemap("# mine\nhttps://a.org/b\n\n /c \n") == ["https://a.org/b", "/c"]
    with pytest.raises(InputError, match="index of sitemaps"):
        urls_of_sitemap("<sitemapindex><sitemap><loc>x</loc></sitemap></sitemapindex>")


@pytest.mark.parametrize("wrong", [{"most": 0}, {"key_share": 0.0}, {"key_share": 1.5}])
def test_senseless_cuts_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        PieceConfig(**wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="fewer than 0"):
        cut_site({"/a/": -1})
