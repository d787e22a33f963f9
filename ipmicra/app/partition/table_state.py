"""The logical table of `two-level` and `subsite` from call to call: in a file, or in the home's store."""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ipmicra.edge.files.logical_table import parse_table, read_table, table_text, write_table
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import InputError
from ipmicra.model.quantities import percent
from ipmicra.partition.methods.two_level import KeptTable, table_of
from ipmicra.partition.problem import Problem

USERS = {"two-level", "subsite"}
"""Methods that look names up in the table."""
_STATE = "partition logical table"


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlace:
    """Where the table is kept; nowhere if neither is given."""

    path: Path | None = None
    store: StorePort | None = None

    @property
    def name(self) -> str:
        """Where, in words."""
        return str(self.path) if self.path is not None else "the store"

    def read_for(self, fleet: Sequence[str], table: KeptTable | None, notes: list[str]) -> KeptTable | None:
        """Return a table that was read, if a crawler of the fleet is in it.

        A file of other crawlers is a mistake. In the store it means that the whole fleet was replaced: then
        every site must move, and a new table loses nothing.
        """
        if table is None or set(table.names) & set(fleet):
            return table
        few = ", ".join(table.names[:3]) + (", …" if len(table.names) > 3 else "")  # noqa: PLR2004
        if self.path is not None:
            raise InputError(
                f"{self.path} is the logical table of another fleet: it has {few}, and none of "
                f"{', '.join(fleet[:3])}; name another file for this fleet with --logical"
            )
        notes.append(f"none of the logical table's crawlers ({few}) is in the fleet: it is made anew")
        return None

    def read(self, logical: int, notes: list[str]) -> KeptTable | None:
        """Read the table; None if there is none yet. A damaged one of the store is made anew, with a note."""
        if self.path is not None:
            return read_table(self.path, logical)
        saved = self.store.states.get(_STATE) if self.store is not None else None
        if saved is None:
            return None
        try:
            return parse_table(saved.decode(), "the logical table in the store", logical)
        except (UnicodeDecodeError, csv.Error, InputError):
            notes.append("the logical table in the store is damaged: it is made anew, so most sites move")
            return None

    def keep(self, before: KeptTable | None, problem: Problem) -> str | None:
        """Keep the table as the fleet of the problem has it now; say what changed."""
        if self.path is None and self.store is None:
            return None
        after = table_of(problem)
        if self.path is not None:
            write_table(self.path, after)
        elif self.store is not None:
            self.store.states.put(_STATE, table_text(after).encode(), time.time())
        return f"logical table kept in {self.name}: {change(before, after)}"


def change(before: KeptTable | None, after: KeptTable) -> str:
    """Describe what a new fleet changed in a table."""
    if before is None:
        return f"{len(after.table.owner):,} logical crawlers on {len(after.names)} crawlers, a new table"
    joined = [name for name in after.names if name not in before.names]
    left = [name for name in before.names if name not in after.names]
    who = [f"{', '.join(names)} {what}" for names, what in ((joined, "joined"), (left, "left")) if names]
    moved, count = after.moved_from(before), len(after.table.owner)
    share = f"{moved:,} of {count:,} logical crawlers move ({percent(moved / count)})"
    return "; ".join([*who, share]) if moved or who else "nothing changed"
