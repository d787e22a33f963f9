"""Which loader reads what the user named."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ipmicra.app.report.data import ReportData, ReportSource
from ipmicra.app.report.loaders.holders import with_hierarchy
from ipmicra.app.report.loaders.records import Problems
from ipmicra.app.report.loaders.results import ResultFiles
from ipmicra.app.report.loaders.world import WorldFolder
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.world_records import NEEDED
from ipmicra.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInput:
    """What the user named: results with crawlers, or a world with an assignment."""

    results: tuple[Path, ...] = ()
    crawlers: Path | None = None
    world: Path | None = None
    assignment: Path | None = None
    hierarchy: Path | None = None
    problems: Problems = field(default_factory=Problems)
    """What could not be read is counted here."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that is read and must not be overwritten."""
        named = (*self.results, self.crawlers, self.assignment, self.hierarchy)
        inside = [self.world, *(self.world / name for name in NEEDED)] if self.world else []
        return (*(path for path in named if path), *inside)

    @property
    def source(self) -> ReportSource:
        """The loader for it."""
        if self.world is None:
            return self._results()
        if self.results:
            raise InputError(
                "RESULTS and --world exclude each other; results on a world's sites go to --assignment"
            )
        if self.crawlers:
            raise InputError("--crawlers and --world exclude each other: a world has its own crawlers")
        return WorldFolder(world=self.world, assignment=self.assignment, problems=self.problems)

    def _results(self) -> ReportSource:
        if self.assignment:
            raise InputError("--assignment needs --world; without one, give the file as RESULTS")
        if not self.results:
            raise InputError("nothing to report on: name RESULTS of `ipmicra delegate`, or a --world")
        return ResultFiles(results=self.results, crawlers=self.crawlers, problems=self.problems)

    def load(self) -> ReportData:
        """Read everything, with what the hierarchy adds."""
        data = self.source.load()
        if self.hierarchy is None:
            return data
        with Hierarchy.open(self.hierarchy) as hierarchy:
            return with_hierarchy(data, hierarchy)
