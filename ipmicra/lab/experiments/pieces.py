"""Overlap and coverage of a site's pieces: figure 11 of Xu et al. 2010 [1].

How it works
------------
A site is cut into N pieces (`assign.balance.pieces`), each piece is crawled over the site's links from the
main page on, and what the pieces found together is compared with a crawl of the whole site. [1] did that
with real hosts. Here the sites are invented, or a user's own table of links from page to page.

An invented site has directories whose sizes fall by a power law. The main page links to the first pages of
some directories; each other directory hangs on the first page of a larger one. A page hangs on an earlier
page of its own directory, or, if it is *hidden*, on a page of another one; all pages link back to the main
page and to the first page of their directory. So pieces miss what can be reached through another piece's
directory only, because their crawlers do not follow links that fail their filters. The share of directories
on the main page and the share of hidden pages are drawn anew for each site.

[1] Xu, Zhang, Zhang & Fang, IEICE Trans. 2010, section 5.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ipmicra.assign.balance.config import PieceConfig
from ipmicra.assign.balance.pieces import (
    MAIN_PAGE,
    PieceReport,
    cut_site,
    directories_of,
    key_directories,
    path_of,
    report_links,
)
from ipmicra.errors import InputError

Links = Mapping[str, Sequence[str]]
"""Paths that each path links to."""
COVERED = 0.9
"""Coverage that [1] counts sites by."""
PUBLISHED = {"covered": 0.8, "least_coverage": 0.5, "key_directories": 0.19}
"""Of 1,738 hosts, whatever N; overlap is published as a picture only, and grows with N."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePlan:
    """A site to invent."""

    pages: int = 1000
    directories: int = 40
    exponent: float = 1.9
    """Of the directories' sizes by rank: a sixth of them then hold nine tenths of the pages; 19 % in [1]."""
    shown: tuple[float, float] = (0.7, 1.0)
    """Share of the directories that the main page links to, at least and at most."""
    hidden: tuple[float, float] = (0.0, 0.1)
    """Share of the pages that hang on a page of another directory, at least and at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceRow:
    """Means over sites, for one number of pieces."""

    pieces: int
    sites: int
    """Sites that could be cut into so many."""
    overlap: float
    """Downloads beyond one per page, as a part of the pages found."""
    coverage: float
    """Part of the whole crawl's pages that the pieces find."""
    covered: float
    """Share of the sites with a coverage above nine tenths."""
    least_coverage: float
    key_directories: float
    """Share of the directories that hold nine tenths of the pages."""


def invent_site(plan: SitePlan, rng: np.random.Generator) -> dict[str, list[str]]:
    """Invent a site's links."""
    ranks = np.arange(1, plan.directories + 1) ** -plan.exponent
    sizes = np.maximum((ranks / ranks.sum() * plan.pages).round().astype(int), 1).tolist()
    firsts = [f"/d{number}/" for number in range(len(sizes))]
    is_shown = rng.random(len(firsts)) < rng.uniform(*plan.shown)
    is_shown[0] = True  # or no page could be reached
    links: dict[str, list[str]] = {MAIN_PAGE: [], **{first: [MAIN_PAGE] for first in firsts}}
    for number, first in enumerate(firsts):
        links[MAIN_PAGE if is_shown[number] else firsts[int(rng.integers(number))]].append(first)
    hidden = rng.uniform(*plan.hidden)
    inside = [[first] for first in firsts]
    for number, size in enumerate(sizes):
        for page in range(1, size):
            is_hidden = number > 0 and rng.random() < hidden
            parents = inside[int(rng.integers(number)) if is_hidden else number]
            path = f"{firsts[number]}p{page}"
            links[parents[int(rng.integers(len(parents)))]].append(path)
            links[path] = [MAIN_PAGE, firsts[number]]
            inside[number].append(path)
    return links


def links_by_page(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Gather a user's links of one site, from page to page.

    Raises:
        InputError: No link starts at the main page, so no crawl would find anything.
    """
    links: dict[str, list[str]] = {}
    for source, target in pairs:
        links.setdefault(path_of(source), []).append(path_of(target))
    if MAIN_PAGE not in links:
        raise InputError("no link starts at the main page (/): a crawl starts there")
    return links


def piece_rows(sites: Sequence[Links], counts: Iterable[int]) -> list[PieceRow]:
    """Cut and crawl every site, for each number of pieces."""
    return [_row(sites, count) for count in counts]


def _row(sites: Sequence[Links], count: int) -> PieceRow:
    config = PieceConfig(most=count, least_pages=0)
    found: list[PieceReport] = []
    keys = []
    for links in sites:
        directories = directories_of(page for linked in links.values() for page in linked)
        pieces = cut_site(directories, config)
        if len(pieces) == count:
            found.append(report_links(pieces, links))
        named = len(directories) - ("/" in directories)
        keys.append(len(key_directories(directories, config)) / max(named, 1))
    if not found:
        raise InputError(f"no site has directories enough for {count} pieces")
    coverage = np.array([one.coverage for one in found])
    return PieceRow(
        pieces=count,
        sites=len(found),
        overlap=float(np.mean([one.overlap for one in found])),
        coverage=float(coverage.mean()),
        covered=float((coverage > COVERED).mean()),
        least_coverage=float(coverage.min()),
        key_directories=float(np.mean(keys)),
    )
