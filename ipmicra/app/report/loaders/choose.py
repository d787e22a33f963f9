"""Which loader reads what the user named."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from ipmicra.app.report.data import ReportData, ReportSource
from ipmicra.app.report.loaders.expected import reported_trips, stored_trips, with_expected_baselines
from ipmicra.app.report.loaders.history import history_of
from ipmicra.app.report.loaders.holders import with_hierarchy
from ipmicra.app.report.loaders.problems import Problems
from ipmicra.app.report.loaders.results import ResultFiles
from ipmicra.app.report.loaders.store import EMPTY, StoreContents
from ipmicra.app.report.loaders.world_folder import WorldFolder
from ipmicra.edge.files.worlds.records import NEEDED
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.places import is_there
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInput:
    """What the user named: results with crawlers, a world with an assignment, or nothing: then the store."""

    results: tuple[Path, ...] = ()
    crawlers: Path | None = None
    world: Path | None = None
    assignment: Path | None = None
    hierarchy: Path | None = None
    store: str | None = None
    """Read if neither results nor a world are named."""
    only_last: bool = False
    """Of the store, only the sites of the last batch."""
    problems: Problems = field(default_factory=Problems)
    """What could not be read is counted here."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that is read and must not be overwritten."""
        named = (*self.results, self.crawlers, self.assignment, self.hierarchy)
        inside = [self.world, *(self.world / name for name in NEEDED)] if self.world else []
        return (*(path for path in named if path), *inside)

    def _source(self, stack: ExitStack) -> ReportSource:
        """Return the loader for it; what it opens is closed with the stack."""
        if self.world is None:
            return self._results() if self.results else self._stored(stack)
        if self.results:
            raise InputError(
                "RESULTS and --world exclude each other; results on a world's sites go to --assignment"
            )
        if self.crawlers:
            raise InputError("--crawlers and --world exclude each other: a world has its own crawlers")
        return WorldFolder(world=self.world, assignment=self.assignment, problems=self.problems)

    def _results(self) -> ReportSource:
        if self.assignment:
            raise InputError("--assignment needs --world; without one, pass the file as RESULTS")
        return ResultFiles(results=self.results, crawlers=self.crawlers, problems=self.problems)

    def _stored(self, stack: ExitStack) -> ReportSource:
        if self.assignment:
            raise InputError("--assignment needs --world; without one, pass the file as RESULTS")
        if self.crawlers:
            raise InputError("--crawlers goes with RESULTS; without any, the store's own crawlers count")
        if self.store is None or not is_there(self.store):
            raise InputError(EMPTY)
        store = stack.enter_context(Store.open(self.store))
        batches = store.batches.all()
        if self.only_last and not batches:
            raise InputError(EMPTY)
        return StoreContents(store=store, batch=batches[-1].id if self.only_last else None)

    def load(self) -> ReportData:
        """Read everything, with what the hierarchy adds and what other ways would have given."""
        with ExitStack() as stack:
            hierarchy = stack.enter_context(Hierarchy.open(self.hierarchy)) if self.hierarchy else None
            return load_whole(self._source(stack), hierarchy)


def load_whole(source: ReportSource, hierarchy: Hierarchy | None) -> ReportData:
    """Read a source and add the hierarchy, what other ways would give, and a store's history."""
    data = source.load()
    trips = reported_trips(data)
    if isinstance(source, StoreContents):
        data, trips = replace(data, history=history_of(source.store)), stored_trips(source.store)
    if hierarchy is not None:
        data = with_hierarchy(data, hierarchy)
    return with_expected_baselines(data, hierarchy, trips)
