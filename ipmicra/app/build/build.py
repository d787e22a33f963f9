"""Build a hierarchy: dumps in, one file and a report out.

The order of events:

1. Inspect every dump (recognise its dialect from its first bytes) before reading any, so that a wrong file
   fails in a moment and not after minutes.
2. Read the dumps into the same columns, in the order of their names. One dump keeps two processors busy: one
   decompresses, the other parses. With more processors several dumps are read at the same time, each into
   columns of its own, which are joined to those before it as soon as it is its turn; the order of names makes
   the result independent of which thread ends first.
3. Nest and assemble (`hierarchy.assemble`), encode, and write under a temporary name that replaces the old
   file at the end: a build that fails or is killed leaves the old file in place.

`_starts` remembers where the rows of each dump start, so that a finding can name its dump without storing
the name with every row.
"""

from __future__ import annotations

import datetime
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.app.build.findings import FindingList, Origins
from ipmicra.edge.dumps.reading import DumpInfo, gather_dump, inspect
from ipmicra.edge.hierarchy_file import write_hierarchy
from ipmicra.edge.log import EventLog
from ipmicra.errors import DumpError, InputError
from ipmicra.hierarchy.assemble import Assembled, assemble
from ipmicra.hierarchy.encode import Encoded
from ipmicra.model.edition import DumpRecord, Edition
from ipmicra.model.finding import Tally
from ipmicra.model.subnet import DAY_ZERO
from ipmicra.native import kernels
from ipmicra.parse.columns import Columns, tally_of

events = EventLog("build")
TABLES = ("rows4", "rows6", "findings")
"""Tables of the columns in which the rows of each dump are told apart."""
PROCESSORS_PER_DUMP = 2
"""One decompresses, which cannot be split, and the other parses."""
Counts = tuple[int, tuple[int, int, int, int], tuple[int, int, int]]
"""Lines, paragraphs by fate, and rows of each table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpReport:
    """What was read from one dump."""

    info: DumpInfo
    tally: Tally
    lines: int
    date: str
    """Date of the newest registration, ISO 8601; the date of the file if none is dated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """What a build read and wrote."""

    output: Path
    size_bytes: int
    dumps: tuple[DumpReport, ...]
    failures: tuple[DumpError, ...]
    """Dumps skipped because they could not be read; only with `keep_going`."""
    subnets: int
    """Number of registered subnets."""
    organisations: int
    max_depth: int
    overlaps: int
    duplicates: int
    edition: Edition
    findings: FindingList

    @property
    def tally(self) -> Tally:
        """Number of paragraphs of all dumps by fate."""
        return sum((dump.tally for dump in self.dumps), Tally())

    def tally_by_dialect(self) -> dict[str, Tally]:
        """Return the number of paragraphs by fate for each dialect."""
        tallies: dict[str, Tally] = defaultdict(Tally)
        for dump in self.dumps:
            tallies[dump.info.dialect.value] += dump.tally
        return dict(tallies)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildProgress:
    """Progress of a build."""

    stage: str
    """`reading`, `nesting` or `writing`."""
    done_bytes: int
    total_bytes: int
    """Size of the dumps on disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """Options of a build."""

    jobs: int | None = None
    """Number of dumps read concurrently; by default one per two processors."""
    keep_going: bool = False
    """Skip dumps that cannot be read instead of stopping."""


def build(
    dumps: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    options: BuildOptions | None = None,
    progress: Callable[[BuildProgress], None] | None = None,
) -> BuildReport:
    """Read dumps and write a hierarchy. The file is replaced atomically."""
    run = _Build(options or BuildOptions(), progress or (lambda _progress: None))
    events.info("build_begun", "{dumps} dumps into {output}", dumps=len(dumps), output=output)
    run.inspect_all([Path(dump) for dump in dumps])
    run.read_all()
    return run.finish(Path(output))


class _Build:
    """State of one build."""

    def __init__(self, options: BuildOptions, progress: Callable[[BuildProgress], None]) -> None:
        self._options = options
        self._progress = progress
        self._infos: list[DumpInfo] = []
        self._failures: list[DumpError] = []
        self._read: list[_ReadDump] = []
        self._gatherer = kernels.Gatherer()
        self._starts: dict[str, list[int]] = {table: [] for table in TABLES}
        self._done: dict[Path, int] = {}
        self._workers = 1

    def inspect_all(self, paths: list[Path]) -> None:
        """Recognise every dump before reading the first."""
        if not paths:
            raise InputError("no dump given; `ipmicra fetch` downloads them into rir_dumps/")
        for path in sorted(set(paths)):
            self._guarded(lambda path=path: self._infos.append(_inspected(path)))  # type: ignore[misc]

    def read_all(self) -> None:
        """Read the dumps, in the order of their names."""
        processors = os.cpu_count() or 1
        jobs = max(1, min(self._options.jobs or processors // PROCESSORS_PER_DUMP, len(self._infos)))
        self._workers = max(1, processors // jobs)
        if jobs > 1:
            self._read_concurrently(jobs)
        else:
            for number, info in enumerate(self._infos):
                more = sum(later.size_bytes for later in self._infos[number + 1 :])
                self._guarded(lambda info=info, more=more: self._append(info, more))  # type: ignore[misc]
        if not self._read:
            raise self._failures[0]

    def _read_concurrently(self, jobs: int) -> None:
        """Read several dumps at a time, and join them in the order of their names."""
        with ThreadPoolExecutor(jobs, thread_name_prefix="dump") as pool:
            futures = [(info, pool.submit(self._gather, info)) for info in self._infos]
            try:
                while futures:
                    info, future = futures.pop(0)
                    self._guarded(lambda: self._join(info, future.result()))  # noqa: B023 - called at once
                    del future
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def finish(self, output: Path) -> BuildReport:
        """Nest the registrations, write the file and return the report."""
        columns = Columns.of(self._gatherer)
        reports = [_report(read, columns) for read in self._read]
        self._show("nesting")
        assembled = assemble(columns, _at_the_same_time)
        self._show("writing")
        names = [report.info.name for report in reports]
        findings = FindingList(columns, Origins(names, self._starts, columns), assembled)
        dumps = tuple(_record(report) for report in reports)
        encoded = Encoded(assembled.sections, _meta(assembled, dumps, columns.tally))
        del columns  # the pages that it used become those of the file, which need no first touch
        write_hierarchy(output, encoded)
        events.info(
            "build_ended", "{output} written", output=output, size_bytes=encoded.size, **_counts(assembled)
        )
        return BuildReport(
            output=output,
            size_bytes=encoded.size,
            dumps=tuple(reports),
            failures=tuple(self._failures),
            edition=Edition(content_hash=encoded.content_hash.hex(), dumps=dumps),
            findings=findings,
            **_counts(assembled),
        )

    def _guarded(self, step: Callable[[], None]) -> None:
        """Run a step; with `keep_going`, record a dump that cannot be read instead of raising."""
        try:
            step()
        except DumpError as error:
            if not self._options.keep_going:
                raise
            events.info("dump_left_out", "left out: {reason}", reason=error)
            self._failures.append(error)

    def _gather(
        self, info: DumpInfo, into: kernels.Gatherer | None = None, more: int = 0
    ) -> kernels.Gatherer:
        def show(done: int) -> None:
            self._done[info.path] = done
            self._show("reading")

        return gather_dump(info, show, self._workers, into, more)

    def _append(self, info: DumpInfo, more: int) -> None:
        """Read a dump behind those before it; others of `more` bytes follow."""
        before = self._gatherer.counts()
        self._gather(info, self._gatherer, more)
        self._note(info, before)

    def _join(self, info: DumpInfo, gatherer: kernels.Gatherer) -> None:
        """Append a dump to those before it, while the others are still being read."""
        before = self._gatherer.counts()
        self._gatherer.join(gatherer)
        self._note(info, before)

    def _note(self, info: DumpInfo, before: Counts) -> None:
        """Remember what a dump has added to the columns."""
        lines, fates, rows = self._gatherer.counts()
        lines_before, fates_before, rows_before = before
        for table, start in zip(TABLES, rows_before, strict=True):
            self._starts[table].append(start)
        read = _ReadDump(
            info=info,
            tally=tally_of(np.subtract(fates, fates_before).tolist()),
            lines=lines - lines_before,
            starts=dict(zip(TABLES, rows_before, strict=True)),
            counts=dict(zip(TABLES, np.subtract(rows, rows_before).tolist(), strict=True)),
        )
        self._read.append(read)
        events.info(
            "dump_read", "{dump}: {dialect}", dump=info.name, dialect=info.dialect.value, **asdict(read.tally)
        )

    def _show(self, stage: str) -> None:
        total = sum(info.size_bytes for info in self._infos)
        self._progress(BuildProgress(stage=stage, done_bytes=sum(self._done.values()), total_bytes=total))


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadDump:
    """A dump that is part of the columns, and which rows of them are its own."""

    info: DumpInfo
    tally: Tally
    lines: int
    starts: dict[str, int]
    counts: dict[str, int]


def _report(read: _ReadDump, columns: Columns) -> DumpReport:
    return DumpReport(info=read.info, tally=read.tally, lines=read.lines, date=_newest_date(read, columns))


def _meta(assembled: Assembled, dumps: tuple[DumpRecord, ...], tally: Tally) -> dict[str, Any]:
    """Return the metadata; no clock is read, so the same dumps give the same bytes."""
    return {"dumps": [asdict(dump) for dump in dumps], "tally": asdict(tally), **_counts(assembled)}


def _at_the_same_time(steps: list[Callable[[], Any]]) -> list[Any]:
    """Run steps in threads, one per processor: compiled code releases the GIL."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return [future.result() for future in [pool.submit(step) for step in steps]]


def _inspected(path: Path) -> DumpInfo:
    try:
        return inspect(path)
    except FileNotFoundError as error:
        raise DumpError(str(path), 0, "there is no such file") from error
    except IsADirectoryError as error:
        raise DumpError(str(path), 0, f"a folder; name its dumps, as in {path}/*.gz") from error
    except PermissionError as error:
        raise DumpError(str(path), 0, "permission denied") from error


def _newest_date(read: _ReadDump, columns: Columns) -> str:
    """Return the newest date in a dump; dates in the future, which are typing errors, do not count."""
    latest = (datetime.date.fromisoformat(read.info.date) - DAY_ZERO).days
    newest = 0
    for table, rows in (("rows4", columns.rows4), ("rows6", columns.rows6)):
        dates = rows.date[read.starts[table] : read.starts[table] + read.counts[table]]
        newest = max(newest, int(dates[dates <= latest].max(initial=0)))
    return (DAY_ZERO + datetime.timedelta(days=newest)).isoformat() if newest else read.info.date


def _record(report: DumpReport) -> DumpRecord:
    info = report.info
    return DumpRecord(
        name=info.name, dialect=info.dialect.value, date=report.date, size_bytes=info.size_bytes
    )


def _counts(assembled: Assembled) -> dict[str, int]:
    return {
        "subnets": assembled.registered,
        "organisations": assembled.organisations,
        "max_depth": assembled.deepest,
        "overlaps": len(assembled.tree4.cuts) + len(assembled.tree6.cuts),
        "duplicates": len(assembled.tree4.duplicates) + len(assembled.tree6.duplicates),
    }
