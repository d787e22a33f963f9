"""Add columns to tables of Parquet: files or folders of them, batch by batch.

Theory of operation
-------------------
A table is one file, or a folder with files at any depth, as Spark, Hive and DuckDB write it. Each file of the
source becomes a file of the target at the same place, so that partitions stay what they are. All its columns
are handed on as they are, and the added ones come last.

Three things happen at the same time: pyarrow decodes the next batch, this thread adds columns, and a second
thread encodes and writes the batch before. At most `AHEAD` batches wait to be written; a batch has so many
rows that they take `BATCH_BYTES`, as far as the file's own index says. So what is held depends neither on the
number of rows nor on how wide they are (docs/scale.md has what was measured). Batches live in memory of the C
library: pyarrow's own allocator returns the pages of each to the system and asks for them again, which took a
third of all processor time.

Nothing is ever half-written. A file is written beside its place and renamed when it is complete. A folder is
written as `.NAME.part` beside its place, and renamed when all its files are complete. If it is interrupted,
the files that are complete stay there, and the same command resumes behind them; `job.json` says for which
command, and a different one starts anew.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from pyarrow import parquet

from ipmicra.edge.hierarchy_file import replacing, write_atomically
from ipmicra.errors import InputError

BATCH_BYTES = 64 << 20
"""Bytes of a batch, uncompressed."""
MOST_ROWS, FEWEST_ROWS = 1 << 20, 1 << 10
AHEAD = 2
"""Batches that wait to be written."""
TRIM_ROWS = 8 * MOST_ROWS
"""Rows after which free memory is returned to the system: what is left between batches would add up."""
READ_BYTES = 1 << 22
"""Bytes that are read from a column at a time."""
ENDINGS = (".parquet", ".pq")
_JOB = "job.json"


class Extension(Protocol):
    """What adds columns to the batches of a table."""

    @property
    def fields(self) -> list[pa.Field]:
        """Names and types of the columns it adds."""
        ...

    def columns(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the columns of a batch."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetTable:
    """A file or folder of Parquet."""

    path: Path
    files: tuple[Path, ...]
    schema: pa.Schema
    """Of its first file."""
    rows: int

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of files."""
        return self.path.is_dir()


@dataclass(slots=True, kw_only=True)
class ExtendedTable:
    """What became of a table."""

    rows: int = 0
    files: int = 0
    resumed: int = 0
    """Files that an interrupted call had completed."""
    size_bytes: int = 0


Watch = Callable[[int], None]
"""Called with the number of rows done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Where an extended table goes, and what distinguishes it from other jobs for the same place."""

    target: Path
    key: str = ""
    """The same only for calls that write the same; by this an interrupted one is recognised."""
    watch: Watch = field(default=lambda _rows: None)


def open_table(path: Path) -> ParquetTable:
    """Find the files of a table and read their index."""
    if path.is_dir():
        inside = (one for one in sorted(path.rglob("*")) if one.suffix.lower() in ENDINGS and one.is_file())
        files = tuple(one for one in inside if not _is_hidden(one.relative_to(path)))
        if not files:
            raise InputError(f"there is no file that ends in {' or '.join(ENDINGS)} in {path}")
    else:
        files = (path,)
    with open_file(files[0]) as first:
        schema = first.schema_arrow
    rows = 0
    for one in files:
        with open_file(one) as file:
            rows += file.metadata.num_rows
    return ParquetTable(path=path, files=files, schema=schema, rows=rows)


def _is_hidden(place: Path) -> bool:
    """Return whether a file is somebody's own: Spark and Hive skip what begins with a dot or underscore."""
    return any(part.startswith((".", "_")) for part in place.parts)


@contextmanager
def open_file(path: Path) -> Iterator[parquet.ParquetFile]:
    """Open a file; what cannot be read is the user's to know."""
    try:
        with parquet.ParquetFile(path, buffer_size=READ_BYTES) as file:
            yield file
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}") from error
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = str(error).splitlines()[0]
        raise InputError(f"{path} cannot be read as Parquet: {reason}") from error


def batches_of(file: parquet.ParquetFile, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Read a file in batches of bounded size.

    A reader keeps something of each group of rows until it ends, so each run of groups has its own.
    """
    at_once = _rows_at_once(file.metadata)
    for groups in _runs(file.metadata, at_once):
        yield from file.iter_batches(batch_size=at_once, row_groups=groups, columns=columns)


def _runs(index: parquet.FileMetaData, rows: int) -> Iterator[list[int]]:
    """Return the groups of rows of a file in runs that have at least so many rows."""
    run: list[int] = []
    held = 0
    for number in range(index.num_row_groups):
        run.append(number)
        held += index.row_group(number).num_rows
        if held >= rows:
            yield run
            run, held = [], 0
    if run:
        yield run


def _rows_at_once(index: parquet.FileMetaData) -> int:
    size: int = sum(index.row_group(number).total_byte_size for number in range(index.num_row_groups))
    wide: int = max(1, size // max(1, index.num_rows))
    return max(FEWEST_ROWS, min(MOST_ROWS, BATCH_BYTES // wide))


def extend_table(table: ParquetTable, job: Job, extension: Extension) -> ExtendedTable:
    """Write a table with more columns."""
    _check(table, job.target, extension)
    with _plain_memory():
        return _extend(table, job, extension)


@contextmanager
def _plain_memory() -> Iterator[None]:
    """Let pyarrow take memory from the C library."""
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


def _extend(table: ParquetTable, job: Job, extension: Extension) -> ExtendedTable:
    done = ExtendedTable()
    if not table.is_folder:
        _extend_file(table.files[0], job, extension, done)
        return done
    part = _part_of(job)
    for one in table.files:
        place = part / one.relative_to(table.path)
        if place.exists():
            done.resumed += 1
            done.size_bytes += place.stat().st_size
            with open_file(place) as file:
                done.rows += file.metadata.num_rows
            job.watch(done.rows)
        else:
            _extend_file(one, Job(target=place, watch=job.watch), extension, done)
    done.files = len(table.files)
    (part / _JOB).unlink()
    part.rename(job.target)
    return done


def _check(table: ParquetTable, target: Path, extension: Extension) -> None:
    """Refuse what would lose something."""
    if target.exists() and target.resolve() == table.path.resolve():
        raise InputError(f"{target} is read and cannot be written at the same time: choose another output")
    if table.is_folder and target.exists():
        raise InputError(f"{target} exists: remove it, or choose another output")
    if table.is_folder and table.path.resolve() in target.resolve().parents:
        raise InputError(f"{target} lies inside {table.path}: choose another output")
    if not table.is_folder and target.is_dir():
        raise InputError(f"{target} is a folder: name a file")
    twice = sorted({one.name for one in extension.fields} & set(table.schema.names))
    if twice:
        raise InputError(
            f"{table.path} has a column {', '.join(twice)} already: name the new ones by --prefix, "
            f"as in --prefix ipmicra_"
        )


def _part_of(job: Job) -> Path:
    """Return the folder in which a folder is written; what another job left there is removed."""
    part = job.target.parent / f".{job.target.name}.part"
    try:
        is_same = json.loads((part / _JOB).read_text("utf-8")) == {"key": job.key}
    except (OSError, ValueError):
        is_same = False
    if not is_same and part.exists():
        shutil.rmtree(part)
    if not is_same:
        part.mkdir(parents=True)
        write_atomically(part / _JOB, [json.dumps({"key": job.key}).encode()])
    return part


def _extend_file(source: Path, job: Job, extension: Extension, done: ExtendedTable) -> None:
    with open_file(source) as file:
        schema = file.schema_arrow
        for one in extension.fields:
            schema = schema.append(one)
        paths = _paths(file.metadata)
        codecs = paths and paths | {one.name: next(iter(paths.values())) for one in extension.fields}
        with replacing(job.target) as place:
            # Rows come in no order of the added columns, so least and greatest values would tell nothing.
            writer = parquet.ParquetWriter(place, schema, compression=codecs, write_statistics=[*paths])
            with closing(writer), ThreadPoolExecutor(1) as pool:
                waiting: list[Future[None]] = []
                for batch in batches_of(file):
                    columns = [*batch.columns, *extension.columns(batch)]
                    table = pa.Table.from_arrays(columns, schema=schema)
                    waiting.append(pool.submit(writer.write_table, table, row_group_size=MOST_ROWS))
                    if len(waiting) > AHEAD:
                        waiting.pop(0).result()
                    if (done.rows + batch.num_rows) // TRIM_ROWS > done.rows // TRIM_ROWS:
                        pa.default_memory_pool().release_unused()
                    done.rows += batch.num_rows
                    job.watch(done.rows)
                for one in waiting:
                    one.result()
    done.files += 1
    done.size_bytes += job.target.stat().st_size


def _paths(index: parquet.FileMetaData) -> dict[str, str]:
    """Return the columns of a file, inner ones too, each with how it is compressed."""
    if not index.num_row_groups:
        return {}
    group = index.row_group(0)
    chunks = [group.column(number) for number in range(group.num_columns)]
    return {one.path_in_schema: _codec(one.compression) for one in chunks}


def _codec(name: str) -> str:
    plain = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4"}.get(name, name)
    return plain if plain == "NONE" or pa.Codec.is_available(plain.lower()) else "SNAPPY"
