"""The sites of a crawler by the store of a home: what it crawls now, and what it reports afterwards."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

from ipmicra.app.assign.recrawl import note_crawled
from ipmicra.app.describe.assignment import describe_assignment
from ipmicra.app.home import Home
from ipmicra.assign.balance.pieces import directory_of
from ipmicra.assign.balance.recrawl import TaskState, due_s, state_of
from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.errors import InputError
from ipmicra.model.assignment import Assignment, TaskKey
from ipmicra.model.foreign_text import csv_text
from ipmicra.model.link import Share
from ipmicra.model.recrawl import Crawled, Recrawl


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSites:
    """What a crawler has to crawl, and what belongs to others."""

    own: tuple[Assignment, ...]
    others: tuple[Assignment, ...]

    @classmethod
    def load(cls, home: Home, crawler: str, *, only_due: bool) -> OwnSites:
        """Read the assignments of a store; `only_due` leaves out own sites that need no crawl now.

        Raises:
            InputError: The store assigns nothing to this crawler.
        """
        with home.open_store() as store:
            assignments = store.assignments.all()  # nodes read whose every site is from one file
            own = [one for one in assignments if one.crawler == crawler]
            known = store.recrawls.of_many([one.host for one in own]) if only_due else {}
        if not own:
            raise InputError(
                f"no site is assigned to {crawler} in {home.store}: run `ipmicra assign SEEDS`, "
                "or name --assignments FILE"
            )
        if only_due:
            own = _due(own, list(chain.from_iterable(known.values())), time.time())
        return cls(own=tuple(own), others=tuple(one for one in assignments if one.crawler != crawler))

    def write(self, path: Path) -> None:
        """Write the assignments in the form that nodes read."""
        records = [describe_assignment(one) for one in (*self.own, *self.others)]
        columns = list(records[0]) if records else ["host", "crawler"]
        rows = [[_cell(record[name]) for name in columns] for record in records]
        write_atomically(path, [csv_text(columns, rows).encode()])

    def seeds(self, port: int | None = None) -> tuple[str, ...]:
        """Return where to start: main pages, and for pieces of a site their directories."""
        place = f":{port}" if port else ""
        return tuple(
            f"http://{_in_url(one.host)}{place}{directory}"
            for one in self.own
            for directory in _first_directories(one)
        )

    def report(self, home: Home, urls: Iterable[str], started_s: float) -> tuple[int, list[str]]:
        """Tell the re-crawl schedule what was crawled; return how many sites, and what was refused."""
        counts: Counter[TaskKey] = Counter()
        shares: dict[str, list[tuple[Assignment, Share]]] = {}
        for one in self.own:
            share = Share(crawler="", slot="", filters=one.filters)
            shares.setdefault(one.host, []).append((one, share))
        for url in urls:
            for one, share in shares.get(urlsplit(url).hostname or "", ()):
                if share.admits(directory_of(url)):
                    counts[one.key] += 1
                    break
        ended_s = time.time()
        reports = [
            Crawled(
                host=one.host,
                vantage=one.vantage,
                piece=one.piece if one.of > 1 else None,
                pages=counts[one.key],
                started_s=started_s,
                crawled_s=ended_s,
            )
            for one in self.own
        ]
        with home.open_store() as store:
            changed, refused = note_crawled(store, reports)
        return len(changed), refused


def _due(own: Sequence[Assignment], schedule: Sequence[Recrawl], now_s: float) -> list[Assignment]:
    """Return the assignments that were never crawled, are submitted and not done, or are due again."""
    known = {one.key: one for one in schedule}
    due = {one.key for one, at in zip(schedule, due_s(schedule).tolist(), strict=True) if at <= now_s}
    return [
        one
        for one in own
        if one.key not in known or one.key in due or state_of(known[one.key]) is not TaskState.IDLE
    ]


def _first_directories(one: Assignment) -> list[str]:
    return [name for name in one.filters if not name.startswith("-")] or ["/"]


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _cell(value: object) -> object:
    return " ".join(value) if isinstance(value, list) else value
