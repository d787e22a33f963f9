"""Files in which Heritrix leaves URLs for other crawlers, and those by which it takes them up.

A crawler writes `202611172305-fra-to-nyc.divert`; each line has the queue, a class, the URL, its path from
the seed and the page that it was found on. Another takes up every file of its folder `action` that ends in
`.schedule`: a mark, the URL, path and page; in files that end in `.s.schedule` its scope decides. It takes
whatever lies in that folder, so a file must be complete when it appears there: it is written into a folder
inside, where Heritrix does not look, and moved.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ipmicra.errors import InputError

NOBODY = "DEFAULT"
"""The target of URLs whose host no line of the map names."""
CARRIED = "carried"
"""Folder for files whose URLs were delivered."""
_NAME = re.compile(r"(?P<made>\d{4,14})-(?P<source>.+)-to-(?P<target>.+)\.divert")
_BEFORE_URL = 2
"""Fields before the URL: queue and class."""
_BESIDE = ".ipmicra"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diverted:
    """A URL that was left for another crawler."""

    url: str
    rest: str
    """Path from the seed, and the page that it was found on; may be empty."""
    line: str
    """As it was written."""

    @property
    def scheduled(self) -> str:
        """The line by which a crawler takes it up."""
        return f"F+ {self.url} {self.rest}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversion:
    """A finished file of URLs for others."""

    path: Path
    target: str

    def read(self) -> Iterator[Diverted | str]:
        """Return its URLs; a line that has none is returned as it is."""
        try:
            with self.path.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    text = line.rstrip("\r\n")
                    fields = text.split(" ", _BEFORE_URL + 1)
                    if len(fields) > _BEFORE_URL and "://" in fields[_BEFORE_URL]:
                        rest = fields[_BEFORE_URL + 1] if len(fields) > _BEFORE_URL + 1 else ""
                        # Without a path, what follows would be taken for one.
                        rest = "" if rest.startswith(" ") else rest
                        yield Diverted(url=fields[_BEFORE_URL], rest=rest, line=text)
                    elif text.strip():
                        yield text
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}") from error

    def put_away(self) -> None:
        """Move it to those that were carried."""
        folder = self.path.parent / CARRIED
        folder.mkdir(exist_ok=True)
        self.path.replace(folder / self.path.name)


def find_diversions(folder: Path) -> list[Diversion]:
    """Return the finished files of a folder, oldest first; those that are still written end in `.open`."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}: name the diversionDir of a LexicalCrawlMapper")
    found = [(path, _NAME.fullmatch(path.name)) for path in sorted(folder.iterdir())]
    return [Diversion(path=path, target=name["target"]) for path, name in found if name]


def write_schedule(action: Path, name: str, urls: Iterable[Diverted]) -> Path:
    """Put a file of URLs into the folder `action` of a crawler, complete at once."""
    beside = action / _BESIDE
    beside.mkdir(parents=True, exist_ok=True)
    with (beside / name).open("w", encoding="utf-8") as file:
        file.writelines(f"{one.scheduled}\n" for one in urls)
        file.flush()
        os.fsync(file.fileno())
    (beside / name).replace(action / name)
    return action / name


def write_rest(diversion: Diversion, urls: Iterable[Diverted]) -> None:
    """Keep what could not be delivered yet, in place of the file."""
    beside = diversion.path.with_suffix(".rest")
    beside.write_text("".join(f"{one.line}\n" for one in urls), encoding="utf-8")
    beside.replace(diversion.path)
