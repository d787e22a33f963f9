"""`ipmicra assign`, from what the user named to assignments and schedules in the store of a home."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from ipmicra.app.assign.assign import AssignRequest, assign_seeds
from ipmicra.app.assign.backends import AssignReport
from ipmicra.app.assign.recrawl import note_crawled
from ipmicra.app.home import Home
from ipmicra.edge.files.crawled import read_crawled, read_interval
from ipmicra.edge.files.seeds import UnresolvedSeed, read_seeds, redacted
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.recrawl import Recrawl


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """What became of a file in which crawlers report their crawls."""

    count: int
    """Crawls that were recorded."""
    changed: list[Recrawl]
    refused: list[str]
    """Why lines were refused, one message each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigning:
    """One call of the command, while its store is open."""

    store: StorePort
    hierarchy: Hierarchy | None
    request: AssignRequest

    @classmethod
    @contextmanager
    def open(cls, home: Home, words: Sequence[str], request: AssignRequest) -> Iterator[Self]:
        """Open store and hierarchy; only one process at a time may change assignments.

        `words` are the seeds as the user named them: hosts, files of hosts, or `-`.
        """
        command = redacted("ipmicra assign", *words)
        lock = home.lock("assign", command) if request.is_kept else nullcontext()
        rules = request.rules or home.load_rules_if_any()
        request = replace(request, texts=list(read_seeds(words)), rules=rules)
        with (
            lock as held,
            home.open_store() as store,
            home.open_hierarchy_if_any() or nullcontext() as hierarchy,
        ):
            if held is not None:
                held.protect(store)
            yield cls(store=store, hierarchy=hierarchy, request=request)

    def note_crawled(self, path: Path) -> Noted:
        """Record what crawlers report."""
        reports, findings = read_crawled(path)
        changed, refused = note_crawled(self.store, reports)
        return Noted(count=len(reports) - len(refused), changed=changed, refused=[*findings, *refused])

    def assign(self) -> tuple[AssignReport, list[UnresolvedSeed]]:
        """Assign the seeds."""
        return assign_seeds(self.store, self.request, self.hierarchy)


def seconds_of(interval: str | None) -> float | None:
    """Read an interval such as `12h`; None stays None."""
    return read_interval(interval) if interval else None
