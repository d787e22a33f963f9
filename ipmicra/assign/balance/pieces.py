"""Pieces of a large site, cut by its key first-level directories: those that hold most of its pages.

[1] Xu, Zhang, Zhang & Fang 2010, section 5.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ipmicra.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceConfig:
    """How sites are cut."""

    most: int = 4
    """Pieces of one site at most [1]."""
    key_share: float = 0.9
    """Part of the pages that the key directories hold together [1]."""
    least_pages: int = 2_000
    """Smaller sites stay whole: a piece costs a connection, and gains little."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if self.most < 1 or not 0 < self.key_share <= 1:
            raise InputError(
                "a site has at least one piece, and key directories hold between 0 and all pages"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Part of a site: whoever crawls it starts at the main page and takes what the filters let through."""

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
        """Name it: `piece 2/3`."""
        return f"piece {self.number}/{self.of}"

    def admits(self, path: str) -> bool:
        """Tell whether a path (or URL) passes the filters."""
        directory = directory_of(path)
        return directory in self.directories or (self.is_rest and directory not in self.others)


def path_of(url: str) -> str:
    """Give the path of a URL without query and fragment: `https://a.org/b/c?d` has `/b/c`."""
    rest = url.split("://", 1)[-1] if "://" in url else url
    if "://" in url or not rest.startswith("/"):
        slash = rest.find("/")
        rest = rest[slash:] if slash >= 0 else "/"
    return rest.split("#", 1)[0].split("?", 1)[0] or "/"


def directory_of(url: str) -> str:
    """Give the first-level directory of a URL's path, `/news/`; a page at the top has `/`."""
    path = path_of(url)
    end = path.find("/", 1)
    return path[: end + 1] if end > 0 else "/"


def directories_of(urls: Iterable[str]) -> Counter[str]:
    """Count known pages by first-level directory; a URL given twice counts once."""
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
    keys = _key_directories(directories, config)
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


def _key_directories(directories: Mapping[str, int], config: PieceConfig) -> list[str]:
    """Give the largest directories that hold the key share together; pages at the top are in none."""
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
