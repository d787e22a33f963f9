"""Pieces of a large site, cut by its key first-level directories, and what cutting costs.

Key directories are those that hold most of a site's pages. Costs are pages that several pieces download and
pages that none finds, as in figure 11 of [1].

[1] Xu, Zhang, Zhang & Fang 2010, section 5.2.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import unescape

from ipmicra.assign.balance.config import PieceConfig
from ipmicra.errors import InputError

MAIN_PAGE = "/"
COMMON_PATHS = frozenset((MAIN_PAGE, "/robots.txt", "/sitemap.xml"))
"""What the crawlers of all pieces fetch: where each starts, and what it has to obey."""
_LOC = re.compile(r"<(?:\w+:)?loc>\s*(?:<!\[CDATA\[)?\s*(.*?)\s*(?:\]\]>)?\s*</(?:\w+:)?loc>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Part of a site: its crawler starts at the main page and takes what passes the filters."""

    number: int
    """From 1."""
    of: int
    """Pieces of the site."""
    directories: tuple[str, ...]
    """First-level directories that belong to it, as `/news/`."""
    is_rest: bool
    """Whether all that is in no key directory belongs to it too."""
    others: tuple[str, ...]
    """For the rest piece: the key directories of the other pieces, which do not belong to it."""
    pages: int
    """Known pages."""

    @property
    def label(self) -> str:
        """Its name: `piece 2/3`."""
        return f"piece {self.number}/{self.of}"

    @property
    def filters(self) -> tuple[str, ...]:
        """Its directories, and `-/news/` for those that are not part of the rest."""
        return (*self.directories, *(f"-{name}" for name in self.others))

    def admits(self, path: str) -> bool:
        """Return whether a path (or URL) passes the filters."""
        directory = directory_of(path)
        return directory in self.directories or (self.is_rest and directory not in self.others)


def path_of(url: str) -> str:
    """Return the path of a URL without query and fragment: `https://a.org/b/c?d` has `/b/c`."""
    rest = url.split("://", 1)[-1] if "://" in url else url
    if "://" in url or not rest.startswith("/"):
        slash = rest.find("/")
        rest = rest[slash:] if slash >= 0 else "/"
    return rest.split("#", 1)[0].split("?", 1)[0] or "/"


def directory_of(url: str) -> str:
    """Return the first-level directory of a URL's path, `/news/`; a page at the top has `/`."""
    path = path_of(url)
    end = path.find("/", 1)
    return path[: end + 1] if end > 0 else "/"


def directories_of(urls: Iterable[str]) -> Counter[str]:
    """Count known pages by first-level directory; a repeated URL counts once."""
    return Counter(directory_of(path) for path in {path_of(url) for url in urls if url.strip()})


def cut_site(directories: Mapping[str, int], config: PieceConfig | None = None) -> list[Piece]:
    """Cut a site into pieces of about equal size; a small one, or one without directories, stays whole.

    Key directories are dealt out largest first, each to the piece with fewest pages; all else is the rest,
    which is dealt out like a directory. Nothing is lost: every path passes the filters of exactly one piece.
    """
    config = config or PieceConfig()
    total = sum(directories.values())
    if any(count < 0 for count in directories.values()):
        raise InputError("a directory cannot hold fewer than 0 pages")
    keys = key_directories(directories, config)
    count = min(config.most, len(keys) + 1)
    if count < 2 or total < config.least_pages:  # noqa: PLR2004 - one piece is no cut
        return [_whole(total)]
    parts: list[list[str]] = [[] for _ in range(count)]
    sizes = [0] * count
    subsets = {**{key: directories[key] for key in keys}, "": total - sum(directories[key] for key in keys)}
    for name in sorted(subsets, key=lambda one: (-subsets[one], one)):
        least = min(range(count), key=lambda number: (sizes[number], number))
        parts[least].append(name)
        sizes[least] += subsets[name]
    return [_piece(number, parts, sizes[number], keys) for number in range(count) if parts[number]]


def key_directories(directories: Mapping[str, int], config: PieceConfig) -> list[str]:
    """Return the largest directories that hold the key share together; pages at the top are in none."""
    named = sorted((name for name in directories if name != "/"), key=lambda one: (-directories[one], one))
    wanted = config.key_share * sum(directories.values())
    keys: list[str] = []
    held = 0
    for name in named:
        if held >= wanted or not directories[name]:
            break
        keys.append(name)
        held += directories[name]
    return keys


def _whole(pages: int) -> Piece:
    return Piece(number=1, of=1, directories=(), is_rest=True, others=(), pages=pages)


def _piece(number: int, parts: list[list[str]], pages: int, keys: list[str]) -> Piece:
    """Make one piece of what was dealt to it; the empty name stands for the rest."""
    own = tuple(sorted(name for name in parts[number] if name))
    is_rest = "" in parts[number]
    others = tuple(sorted(set(keys) - set(own))) if is_rest else ()
    return Piece(
        number=number + 1, of=len(parts), directories=own, is_rest=is_rest, others=others, pages=pages
    )


# --- what cutting costs


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceReport:
    """Overlap and coverage of a site's pieces."""

    pieces: int
    pages: int
    """Pages that a crawl of the whole site finds."""
    overlap: float
    """Downloads beyond one per page, as a part of the pages found."""
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


def urls_of_sitemap(text: str) -> list[str]:
    """Return the URLs of a sitemap, or the lines of a plain list; an index of sitemaps is refused."""
    if "<sitemapindex" in text:
        raise InputError("this is an index of sitemaps: download the sitemaps it names and pass those")
    if "<urlset" in text or "<loc>" in text:
        return [unescape(url) for url in _LOC.findall(text)]
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _reached(graph: Mapping[str, Sequence[str]], piece: Piece | None) -> set[str]:
    """Follow links from the main page to all that passes the filters."""
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
