"""Remove what is old, and keep what is still needed.

Theory of operation
-------------------
Each kind of row has an age and a count; a row goes when it is older, or when that many newer ones of its kind
exist. What is still needed never goes:

- the newest sample of each crawler and address, unless the crawler left: policies and coordinates use it;
- batches that are not ended, with their results, orders and budget; and the last batch, for `report --last`;
- delegations, assignments, schedules, sites and track records: they are the state, not its history;
- leases: their numbers must go on growing.

Rows are chosen first and then deleted by their numbers, some thousands per transaction, so that a store in
use is never blocked for long. What is chosen stays superfluous: newer rows only make it more so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.meta import WRITER
from ipmicra.edge.store.probes import budget_name
from ipmicra.edge.store.schema import ROWID

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long things are kept; ages in days, 0 keeps nothing that is not needed."""

    sample_days: float = 180.0
    """Samples. Routes change within months, and policies weigh by age; half a year shows the seasons."""
    samples_per_pair: int = 50
    """Samples of one crawler and address: a year of weekly ones."""
    result_days: float = 90.0
    """Ended batches with their results, orders and budgets: the delegations that they found stay."""
    batches: int = 200
    """Ended batches."""
    history_days: float = 365.0
    """Ended delegations and earlier states of crawlers: what `explain` and `crawler list` tell."""
    history_per_subnet: int = 20
    """Ended delegations of one subnet."""
    view_days: float = 30.0
    """What crawlers saw of names; answers of the DNS go when they expire."""
    loss_days: float = 90.0
    """What crawlers lost: one that did not ask for so long should fetch its whole list again."""
    at_once: int = 5_000
    """Rows deleted in one transaction."""


_SAMPLES = """SELECT id FROM (
  SELECT id, taken_s, crawler, row_number() OVER (PARTITION BY crawler, address ORDER BY id DESC) AS place
  FROM samples) AS ranked
WHERE (place > ? OR taken_s < ?)
  AND NOT (place = 1 AND crawler IN (SELECT name FROM crawlers WHERE state <> 'left'))"""
_HISTORY = """SELECT id FROM (
  SELECT id, ended_s, row_number() OVER (PARTITION BY first, last ORDER BY id DESC) AS place
  FROM delegation_history) AS ranked
WHERE place > ? OR ended_s < ?"""
_STATES = """SELECT rowid FROM (
  SELECT rowid, at_s, row_number() OVER (PARTITION BY crawler ORDER BY rowid DESC) AS place
  FROM crawler_history) AS ranked
WHERE place > 1 AND at_s < ?"""
_BATCHES = """SELECT id FROM (
  SELECT id, ended_s, row_number() OVER (ORDER BY id DESC) AS place
  FROM batches WHERE ended_s IS NOT NULL) AS ranked
WHERE (place > ? OR ended_s < ?) AND id <> (SELECT max(id) FROM batches)"""
_MARKS = f"SELECT key, value FROM meta WHERE key LIKE '{WRITER}%'"  # noqa: S608 - our own word


_OF_BATCH = {
    "results": "SELECT id FROM results WHERE batch = ?",
    "orders": "SELECT id FROM orders WHERE budget = ?",
}


class Pruning:
    """Removes what a retention does not keep."""

    def __init__(self, connection: Connection, keeps: Retention, now_s: float, *, dry_run: bool) -> None:
        """Choose by a time: seconds since 1970. A dry run only counts."""
        self._connection = connection
        self._keeps = keeps
        self._now_s = now_s
        self._dry_run = dry_run

    def run(self) -> Iterator[tuple[str, int]]:
        """Yield what went, or would go, with the number of rows."""
        keeps, since_s = self._keeps, self._since_s
        yield "samples", self._go("samples", _SAMPLES, (keeps.samples_per_pair, since_s(keeps.sample_days)))
        yield from self._batches()
        ended = (keeps.history_per_subnet, since_s(keeps.history_days))
        yield "ended delegations", self._go("delegation_history", _HISTORY, ended)
        changed = (since_s(keeps.history_days),)
        yield "states of crawlers", self._go("crawler_history", _STATES, changed, ROWID)
        yield "names", self._drop("names WHERE expires_s <= ?", self._now_s)
        yield "views of names", self._drop("views WHERE asked_s < ?", since_s(keeps.view_days))
        yield "lost assignments", self._drop("lost_assignments WHERE at_s < ?", since_s(keeps.loss_days))
        self._drop_marks()

    def _since_s(self, days: float) -> float:
        return self._now_s - days * DAY_S

    def _batches(self) -> Iterator[tuple[str, int]]:
        """Remove ended batches, each after all that belongs to it."""
        values = (self._keeps.batches, self._since_s(self._keeps.result_days))
        batches = [number for (number,) in self._connection.rows(_BATCHES, values)]
        results = orders = 0
        for batch in batches:
            budget = budget_name(batch)
            results += self._go("results", _OF_BATCH["results"], (batch,))
            orders += self._go("orders", _OF_BATCH["orders"], (budget,))
            self._drop("budgets WHERE name = ?", budget)
            self._drop("batches WHERE id = ?", batch)
        yield "results", results
        yield "orders", orders
        yield "batches", len(batches)

    def _go(self, table: str, select: str, values: Sequence[object], column: str = "id") -> int:
        """Delete the rows that a question chooses by their numbers; return how many."""
        numbers = [number for (number,) in self._connection.rows(select, values)]
        if not self._dry_run:
            for start in range(0, len(numbers), self._keeps.at_once):
                part = [(number,) for number in numbers[start : start + self._keeps.at_once]]
                self._connection.execute_many(f"DELETE FROM {table} WHERE {column} = ?", part)  # noqa: S608
        return len(numbers)

    def _drop(self, which: str, value: object) -> int:
        """Delete the rows of a table that a condition chooses; return how many."""
        if self._dry_run:
            found = self._connection.row(f"SELECT count(*) FROM {which}", (value,))  # noqa: S608 - our own words
            return int(found[0]) if found else 0
        return self._connection.execute(f"DELETE FROM {which}", (value,))  # noqa: S608 - our own words

    def _drop_marks(self) -> None:
        """Drop what connections left that ended without a word, a day ago or more."""
        for key, value in list(self._connection.rows(_MARKS)):
            if float(value.split()[1]) < self._since_s(1.0):
                self._drop("meta WHERE key = ?", key)
