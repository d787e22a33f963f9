"""Describe tables once, for both databases.

A `Table` names its columns with their Python types (`float | None` may be NULL), its key and its indices. It
renders the statements that both databases understand; `sqlite.py` and `postgres.py` render how it is created.
A `Shape` is some of its columns, read together and checked.

Placeholders are `?` everywhere; PostgreSQL's connection translates them. `rowid` is the order in which rows
came: SQLite has it in every table, PostgreSQL in those that are `is_ordered`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

Row = tuple[Any, ...]
LATEST_S = 253_402_300_800.0
"""The end of the year 9999 in seconds since 1970: the last time that can be written as a date."""
GREATEST = 1e100
"""Numbers beyond are no measurements; squares and sums of those below are finite."""
ROWID = "rowid"


class Shape:
    """The columns of a table that are read together, with their types.

    SQLite enforces no types: a file with a flipped bit may have bytes where a name was, or a time in a year
    that no calendar has, and they are handed over without complaint.
    """

    def __init__(self, table: str, columns: Mapping[str, Any]) -> None:
        """Name columns in the order in which they are read; `float | None` may be NULL.

        Columns that end in `_s` are seconds and must be times that a calendar has.
        """
        self.table = table
        self.names = ", ".join(columns)
        self.select = f"SELECT {self.names} FROM {table}"  # noqa: S608 - our own names
        self._columns = [
            (name, frozenset(get_args(kind) or (kind,)), LATEST_S if name.endswith("_s") else GREATEST)
            for name, kind in columns.items()
        ]

    def check(self, row: Row) -> Row:
        """Return a row whose values are what its columns promise; `ValueError` names the first other."""
        for value, (name, types, most) in zip(row, self._columns, strict=True):
            if type(value) not in types:
                raise ValueError(f"{name} is {type(value).__name__}")
            if type(value) is float and not -most <= value <= most:
                raise ValueError(f"{name} is {value}")
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """An index over columns of a table."""

    columns: tuple[str, ...]
    """Each may be followed by DESC."""
    where: str = ""
    """Which rows it holds; all if empty."""
    name: str = ""
    """As sqlite-utils would name it if empty."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the store, as its newest migration leaves it."""

    name: str
    columns: Mapping[str, Any]
    """Python types by name; a type that includes None may be NULL."""
    key: tuple[str, ...] = ()
    """The primary key; an `id` that is an `int` is given by the database."""
    indexes: Sequence[Index] = ()
    is_ordered: bool = False
    """Whether rows are read in the order in which they came, by `rowid`."""
    defaults: Mapping[str, object] = field(default_factory=dict)
    """Values of columns for rows that do not name them: texts and numbers."""

    @property
    def is_numbered(self) -> bool:
        """Whether the database gives each new row an ascending `id`."""
        return self.key == ("id",) and self.columns["id"] is int

    @property
    def needed(self) -> tuple[str, ...]:
        """Columns that cannot be NULL."""
        return tuple(name for name in self.columns if not self.may_be_null(name))

    def kind(self, column: str) -> type:
        """Return the Python type of a column's values other than None."""
        kinds = get_args(self.columns[column]) or (self.columns[column],)
        (found,) = (kind for kind in kinds if kind is not type(None))
        return found  # type: ignore[no-any-return]

    def may_be_null(self, column: str) -> bool:
        """Return whether a column may be NULL."""
        return type(None) in get_args(self.columns[column])

    def shape(self, *names: str, without: Sequence[str] = ()) -> Shape:
        """Return the shape of some columns, or of all but some."""
        chosen = names or tuple(name for name in self.columns if name not in without)
        return Shape(self.name, {name: self.columns[name] for name in chosen})

    @property
    def filled(self) -> tuple[str, ...]:
        """Columns that a writer fills: all but an `id` that the database gives."""
        return tuple(name for name in self.columns if not (self.is_numbered and name == "id"))

    @property
    def insert(self) -> str:
        """A statement that adds a row: the values of `filled`."""
        values = ", ".join("?" * len(self.filled))
        return f"INSERT INTO {self.name} ({', '.join(self.filled)}) VALUES ({values})"  # noqa: S608

    @property
    def insert_new(self) -> str:
        """A statement that adds a row unless its key has one."""
        return f"{self.insert} ON CONFLICT DO NOTHING"

    @property
    def put(self) -> str:
        """A statement that adds a row, or changes the one of its key."""
        others = [name for name in self.columns if name not in self.key]
        changes = ", ".join(f"{name} = excluded.{name}" for name in others)
        return f"{self.insert} ON CONFLICT ({', '.join(self.key)}) DO UPDATE SET {changes}"

    def index_name(self, index: Index) -> str:
        """Return the name of an index."""
        return index.name or "_".join(["idx", self.name, *index.columns])


def literal(value: object) -> str:
    """Write a default value as SQL: a text or a number."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
