"""Make tables with sqlite-utils: one typed call for all the store's modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlite_utils import Database
from sqlite_utils.db import Table


def make_table(
    database: Database,
    name: str,
    columns: Mapping[str, type],
    *,
    key: str | tuple[str, ...] | None = None,
    needed: Sequence[str] = (),
    index: Sequence[str] = (),
) -> None:
    """Create a table with its primary key, its NOT NULL columns and, if named, an index over columns."""
    # `database[name]` may be a view, which has no `create`: hence the class itself.
    table = Table(database, name)
    table.create(dict(columns), pk=key, not_null=needed)
    if index:
        table.create_index(index)
