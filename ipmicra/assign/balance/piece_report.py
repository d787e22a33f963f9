"""What cutting a site costs: pages that several pieces download, and pages that none finds.

This is what figure 11 of Xu et al. 2010 shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import unescape

from ipmicra.assign.balance.pieces import Piece, path_of
from ipmicra.errors import InputError

MAIN_PAGE = "/"
_LOC = re.compile(r"<(?:\w+:)?loc>\s*(?:<!\[CDATA\[)?\s*(.*?)\s*(?:\]\]>)?\s*</(?:\w+:)?loc>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceReport:
    """Overlap and coverage of a site's pieces."""

    pieces: int
    pages: int
    """Pages that a crawl of the whole site finds."""
    overlap: float
    """Downloads beyond one a page, as a part of the pages found."""
    coverage: float
    """Part of the whole crawl's pages that the pieces find together."""
    sizes: tuple[int, ...]
    """Pages found by each piece."""


def report_links(pieces: Sequence[Piece], links: Mapping[str, Iterable[str]]) -> PieceReport:
    """Crawl the whole site and each piece over its link graph, from the main page on.

    `links` has the paths (or URLs) that each page links to. A piece's crawler follows only links that pass
    its filters, so that pages behind a foreign directory are missed, and everybody downloads the main page.
    """
    graph = {path_of(page): [path_of(one) for one in linked] for page, linked in links.items()}
    whole = _reached(graph, None)
    found = [_reached(graph, piece) for piece in pieces]
    return _report(whole, found)


def report_urls(pieces: Sequence[Piece], urls: Iterable[str]) -> PieceReport:
    """Report on a bare list of URLs: pages are found by the pieces that admit them, the main page by all."""
    pages = {path_of(url) for url in urls} | {MAIN_PAGE}
    found = [{page for page in pages if page == MAIN_PAGE or piece.admits(page)} for piece in pieces]
    return _report(pages, found)


def urls_of_sitemap(text: str) -> list[str]:
    """Give the URLs of a sitemap, or the lines of a plain list; an index of sitemaps is refused."""
    if "<sitemapindex" in text:
        raise InputError("this is an index of sitemaps: download the sitemaps it names and give those")
    if "<urlset" in text or "<loc>" in text:
        return [unescape(url) for url in _LOC.findall(text)]
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _reached(graph: Mapping[str, Sequence[str]], piece: Piece | None) -> set[str]:
    """Follow links from the main page through what the filters let through."""
    seen, open_pages = {MAIN_PAGE}, [MAIN_PAGE]
    while open_pages:
        for page in graph.get(open_pages.pop(), ()):
            if page not in seen and (piece is None or piece.admits(page)):
                seen.add(page)
                open_pages.append(page)
    return seen


def _report(whole: set[str], found: Sequence[set[str]]) -> PieceReport:
    together = set().union(*found) if found else set()
    downloads = sum(len(one) for one in found)
    return PieceReport(
        pieces=len(found),
        pages=len(whole),
        overlap=(downloads - len(together)) / len(together) if together else 0.0,
        coverage=len(together & whole) / len(whole),
        sizes=tuple(len(one) for one in found),
    )
