"""Whole tables of Parquet, in and out: what `lookup`, `locate` and `assign` share when given `-o`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ipmicra.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from ipmicra.edge.columnar.choice import ColumnChoice
    from ipmicra.edge.columnar.parquet import ParquetTable


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRequest:
    """What a user asked for."""

    source: Path
    target: Path
    column: str | None = None
    """The column that is read; None to guess."""
    prefix: str = ""
    """Of the names of added columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReport:
    """What became of a table."""

    source: str
    output: str
    rows: int
    files: int
    resumed_files: int
    size_bytes: int
    column: str
    is_guessed: bool
    """Whether the column was guessed by its name."""
    added: tuple[str, ...]
    missing: int
    """Rows whose cell is empty or says nothing: their new columns are null."""


class CountingExtension(Protocol):
    """What adds columns, and counts the rows that get none."""

    missing: int

    @property
    def fields(self) -> list[pa.Field]:
        """Names and types of the columns it adds."""
        ...

    def columns(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the columns of a batch."""
        ...


Watch = Callable[[int, int], None]
"""Called with the number of rows done, and of all rows."""


def request_of(words: Sequence[str], target: Path, column: str | None, prefix: str) -> TableRequest:
    """Read what a user named as a table; refuse anything but one file or folder of Parquet."""
    from ipmicra.edge.columnar.parquet import ENDINGS

    source = Path(words[0]) if len(words) == 1 else None
    if source is None or not (source.is_dir() or source.suffix.lower() in ENDINGS):
        raise InputError(
            "-o adds columns to one file or folder of Parquet, and writes that; for other lists use "
            "`--format parquet > FILE`"
        )
    if not source.exists():
        raise InputError(f"there is no file {source}")
    if source.is_file() and target.suffix.lower() not in ENDINGS:
        raise InputError(f"{target}: what is written is Parquet; name it so, as in -o {target.stem}.parquet")
    return TableRequest(source=source, target=target, column=column, prefix=prefix)


def extend_with(
    request: TableRequest,
    table: ParquetTable,
    choice: ColumnChoice,
    extension: CountingExtension,
    watch: Watch,
) -> TableReport:
    """Write a table with the columns of an extension."""
    from ipmicra.edge.columnar.parquet import Job, extend_table

    key = "\n".join([str(asdict(choice)), *map(str, extension.fields), *_marks(table)])
    job = Job(
        target=request.target,
        key=hashlib.sha256(key.encode()).hexdigest(),
        watch=lambda rows: watch(rows, table.rows),
    )
    done = extend_table(table, job, extension)
    return TableReport(
        source=str(request.source),
        output=str(request.target),
        rows=done.rows,
        files=done.files,
        resumed_files=done.resumed,
        size_bytes=done.size_bytes,
        column=choice.name,
        is_guessed=choice.is_guessed,
        added=tuple(one.name for one in extension.fields),
        missing=extension.missing,
    )


def _marks(table: ParquetTable) -> Iterator[str]:
    """Return what tells whether the files of a table are the same as before."""
    for one in table.files:
        state = one.stat()
        yield f"{one} {state.st_size} {state.st_mtime_ns}"
