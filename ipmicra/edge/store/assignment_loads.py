"""Keep count of what crawlers hold: per crawler, and how often each number of pages occurs.

Both are changed with the assignments themselves, in the same transaction, by what is added and taken away. So
whoever needs the loads of a fleet reads a row for each crawler and one for each number of pages, of which
there are few (some thousands among ten million sites), and not all assignments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ipmicra.assign.balance.load import FleetLoads, HeldLoad, counted_loads, sized_pages, usual_pages
from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.schema import Table
from ipmicra.model.assignment import Assignment

CRAWLER_LOADS = Table(
    "crawler_loads", {"crawler": str, "sites": int, "sized": int, "pages": int}, key=("crawler",)
)
PAGE_COUNTS = Table("page_counts", {"pages": int, "sites": int}, key=("pages",))
"""How many assignments have so many pages, those without a crawler too."""
_ADD_LOAD = (
    f"{CRAWLER_LOADS.insert} ON CONFLICT (crawler) DO UPDATE SET "
    "sites = crawler_loads.sites + excluded.sites, "
    "sized = crawler_loads.sized + excluded.sized, pages = crawler_loads.pages + excluded.pages"
)
_ADD_COUNT = (
    f"{PAGE_COUNTS.insert} ON CONFLICT (pages) DO UPDATE SET sites = page_counts.sites + excluded.sites"
)
_LOAD = CRAWLER_LOADS.shape()
_COUNT = PAGE_COUNTS.shape()


def count_changes(connection: Connection, gone: Sequence[Assignment], kept: Sequence[Assignment]) -> None:
    """Count what is taken away and added; inside the transaction that does so."""
    less, more = counted_loads(gone), counted_loads(kept)
    rows = []
    for crawler in sorted(less.keys() | more.keys()):
        one, other = more.get(crawler, HeldLoad()), less.get(crawler, HeldLoad())
        row = one.sites - other.sites, one.sized - other.sized, int(one.pages - other.pages)
        if any(row):
            rows.append((crawler, *row))
    if rows:
        connection.execute_many(_ADD_LOAD, rows)
    counts = _counts(kept)
    counts.subtract(_counts(gone))
    changed = [(pages, sites) for pages, sites in sorted(counts.items()) if sites]
    if changed:
        connection.execute_many(_ADD_COUNT, changed)
    if any(sites < 0 for _, sites, *_ in rows):
        connection.execute("DELETE FROM crawler_loads WHERE sites <= 0")
    if any(sites < 0 for sites in counts.values()):
        connection.execute("DELETE FROM page_counts WHERE sites <= 0")


def _counts(assignments: Iterable[Assignment]) -> Counter[int]:
    return Counter(
        one.pages for one in assignments if one.pages is not None and sized_pages(one.pages) is not None
    )


def read_loads(connection: Connection) -> FleetLoads:
    """Return what crawlers hold."""
    held = {
        crawler: HeldLoad(sites=sites, sized=sized, pages=pages)
        for crawler, sites, sized, pages in connection.read(_LOAD, tuple)
    }
    return FleetLoads(by_crawler=held, usual=usual_pages(dict(connection.read(_COUNT, tuple))))
