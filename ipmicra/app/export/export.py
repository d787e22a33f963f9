"""`ipmicra export`: assignments as the files of other people's crawlers.

Files are written beside their place and moved there when all are complete: whoever reads them sees the old
ones or the new ones. A crawler that has nothing to do gets an empty file, so that no old one is mistaken for
today's.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ipmicra.app.connect.commands import Connection
from ipmicra.app.export.formats import FORMATS, ExportFormat, Kit, Rendering, kit_named
from ipmicra.app.export.rows import SiteRows
from ipmicra.app.export.scope import ExportScope, LeftOut, owned
from ipmicra.app.export.sources import CoordinatorSource, FleetMember, Source, StoreSource, sites_of
from ipmicra.app.home import Home
from ipmicra.edge.files.crawlers import NAME
from ipmicra.errors import InputError

CRAWLER = "{crawler}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What a user wants."""

    program: str
    """A kit or a format."""
    seeds: Sequence[str] = ()
    """Words that name sites; none for all sites."""
    crawler: str | None = None
    proxies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What was written."""

    sites: int
    files: tuple[Path, ...]
    left_out: LeftOut


def read_proxies(words: Iterable[str]) -> dict[str, str]:
    """Read `crawler=URL`."""
    found = {}
    for word in words:
        name, equals, url = word.partition("=")
        if not equals or "://" not in url or not NAME.fullmatch(name):
            raise InputError(f"--proxy {word!r}: expected CRAWLER=URL, as fra=socks5://fra.example.org:1080")
        found[name] = url
    return found


@contextmanager
def open_source(home: Home, connection: Connection | None) -> Iterator[Source]:
    """Open what is exported."""
    if connection is not None:
        yield CoordinatorSource(connection)
        return
    with home.open_store() as store:
        yield StoreSource(store)


def export_files(source: Source, request: ExportRequest, output: Path) -> ExportReport:
    """Write the files of a program: into a folder, or the only one of its files to a path."""
    kit = kit_named(request.program)
    is_one = len(kit) == 1 and (CRAWLER not in next(iter(kit)) or request.crawler is not None)
    if is_one and not output.is_dir():
        folder, kit = output.parent, {output.name: next(iter(kit.values()))}
    elif output.exists() and not output.is_dir():
        raise InputError(f"{output} is a file: an export for {request.program} needs a folder")
    else:
        folder = output
    folder.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".export.", dir=folder))
    try:
        written = _Files(kit, beside, source.fleet(), request)
        sites = written.write(sites_of(source, request.seeds, written.left_out))
        written.empty_old(folder)
        files = tuple(sorted(written.move(folder)))
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return ExportReport(sites=sites, files=files, left_out=written.left_out)


def export_stream(source: Source, request: ExportRequest) -> tuple[Iterator[bytes], LeftOut]:
    """Return the only file of an export as it is made, and what is left out once it is complete."""
    kit = kit_named(request.program)
    (name, *more) = kit.values()
    chosen = FORMATS[name]
    if more or (chosen.is_per_crawler and request.crawler is None):
        raise InputError(
            f"an export for {request.program} has several files: name a folder with -o, "
            "or one format with its --crawler"
        )
    scope = _scope_of(request, source.fleet(), request.crawler)
    parts = sites_of(source, request.seeds, scope.left_out)
    return rendered(chosen, scope, parts), scope.left_out


def rendered(chosen: ExportFormat, scope: ExportScope, parts: Iterable[list[SiteRows]]) -> Iterator[bytes]:
    """Render a format, part by part."""
    rendering = chosen.open(scope)
    yield rendering.begin()
    for part in parts:
        yield rendering.part(for_format(chosen, part, scope))
    yield rendering.end()


def for_format(chosen: ExportFormat, part: list[SiteRows], scope: ExportScope) -> list[SiteRows]:
    """Return what of some sites a format is given."""
    return part if chosen.is_table else owned(part, scope.left_out)


def _scope_of(
    request: ExportRequest, fleet: Sequence[FleetMember], crawler: str | None, left_out: LeftOut | None = None
) -> ExportScope:
    if request.crawler is not None and request.crawler not in {one.name for one in fleet}:
        known = ", ".join(one.name for one in fleet[:10]) or "none"
        raise InputError(f"no crawler {request.crawler!r}: there are {known}")
    proxies = {one.name: one.proxy for one in fleet if one.proxy} | dict(request.proxies)
    return ExportScope(crawler=crawler, proxies=proxies, left_out=left_out or LeftOut())


class _Files:
    """The files of a kit, while they are written."""

    def __init__(self, kit: Kit, beside: Path, fleet: list[FleetMember], request: ExportRequest) -> None:
        """Begin a file for everybody, and for each crawler of the fleet."""
        self._kit, self._beside, self._fleet, self._request = kit, beside, fleet, request
        self.left_out = LeftOut()
        self._open: dict[str, Rendering] = {}
        for pattern, name in kit.items():
            for crawler in self._crawlers(FORMATS[name]):
                self._begin(pattern, name, crawler)

    def _crawlers(self, chosen: ExportFormat) -> list[str | None]:
        if not chosen.is_per_crawler or self._request.crawler is not None:
            return [self._request.crawler]
        return [one.name for one in self._fleet if not one.has_left]

    def _begin(self, pattern: str, name: str, crawler: str | None) -> str:
        file = pattern.replace(CRAWLER, crawler or "")
        if file not in self._open:
            scope = _scope_of(self._request, self._fleet, crawler, self.left_out)
            self._open[file] = FORMATS[name].open(scope)
            self._append(file, self._open[file].begin())
        return file

    def _append(self, file: str, data: bytes) -> None:
        # Opened and closed each time: a fleet may have more crawlers than a process may have open files.
        with (self._beside / file).open("ab") as out:
            out.write(data)

    def write(self, parts: Iterable[list[SiteRows]]) -> int:
        """Write all sites; return how many there were."""
        count = 0
        for part in parts:
            count += len(part)
            sites = owned(part, self.left_out)
            by_crawler: dict[str, list[SiteRows]] = {}
            for rows in sites:
                for crawler in dict.fromkeys(one.crawler or "" for one in rows):
                    by_crawler.setdefault(crawler, []).append(rows)
            for pattern, name in self._kit.items():
                self._write_part(pattern, name, part, sites, by_crawler)
        for file, rendering in self._open.items():
            self._append(file, rendering.end())
        return count

    def _write_part(
        self,
        pattern: str,
        name: str,
        part: list[SiteRows],
        sites: list[SiteRows],
        by_crawler: Mapping[str, list[SiteRows]],
    ) -> None:
        chosen = FORMATS[name]
        if not chosen.is_per_crawler:
            file = self._begin(pattern, name, self._request.crawler)
            self._append(file, self._open[file].part(part if chosen.is_table else sites))
            return
        for crawler, own in by_crawler.items():
            if self._request.crawler in {None, crawler}:
                file = self._begin(pattern, name, crawler)
                self._append(file, self._open[file].part(own))

    def empty_old(self, folder: Path) -> None:
        """Empty the files that an earlier export wrote for crawlers that have left."""
        for pattern, name in self._kit.items():
            for one in self._fleet:
                file = pattern.replace(CRAWLER, one.name)
                is_old = FORMATS[name].is_per_crawler and one.has_left and (folder / file).is_file()
                if is_old and file not in self._open and self._request.crawler is None:
                    (self._beside / file).touch()
                    self._open[file] = FORMATS[name].open(ExportScope(crawler=one.name))

    def move(self, folder: Path) -> Iterator[Path]:
        """Put the files into their place, when all are on the disk."""
        for file in self._open:
            with (self._beside / file).open("rb") as done:
                os.fsync(done.fileno())
        for file in self._open:
            (self._beside / file).replace(folder / file)
            yield folder / file
