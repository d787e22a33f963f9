"""What the worker processes of Spark do: batches of Arrow in, batches of Arrow out.

A task is a small object that Spark sends to its workers; it names the hierarchy, and a worker process opens
that once, whatever the number of tasks it runs (opening it in every task costs five times the look-ups). One
thread is used, since Spark runs as many workers as there are cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ipmicra.edge.columnar.addresses import read_addresses
from ipmicra.edge.columnar.owners import NOBODY, OwnedRanges
from ipmicra.edge.columnar.subnets import SubnetColumns
from ipmicra.edge.hierarchy_file import Hierarchy

Batches = Iterator[pa.RecordBatch]
SEVERAL = 4
"""Hierarchies that a worker keeps open."""


@lru_cache(SEVERAL)
def _opened(path: str) -> Hierarchy:
    """Open a hierarchy: the file that was sent along, else the one at its own place."""
    return Hierarchy.open(_sent(path) or path, threads=1)


def _sent(path: str) -> Path | None:
    try:
        from pyspark import SparkFiles

        place = Path(SparkFiles.get(Path(path).name))
    except (
        AssertionError,
        AttributeError,
        ImportError,
        OSError,
        RuntimeError,
        TypeError,
    ):  # nothing was sent
        return None
    return place if place.is_file() else None


@lru_cache(SEVERAL)
def _columns(path: str, names: tuple[str, ...]) -> SubnetColumns:
    return SubnetColumns(_opened(path), names)


@dataclass(frozen=True, slots=True)
class LookupTask:
    """Adds the subnet of each address, and what is registered of it."""

    hierarchy: str
    column: str
    names: tuple[str, ...]

    def __call__(self, batches: Batches) -> Batches:
        """Return batches with more columns."""
        hierarchy, columns = _opened(self.hierarchy), _columns(self.hierarchy, self.names)
        for batch in batches:
            words, is_known = read_addresses(batch.column(self.column))
            yield _with(batch, self.names, columns.plain(hierarchy.lookup_many(words), is_known))


@dataclass(frozen=True, slots=True, eq=False)
class CountTask:
    """Counts addresses by subnet, as far as nobody owns them: rows of the hierarchy, and how often."""

    hierarchy: str
    column: str
    ranges: OwnedRanges | None = None
    """Who owns what; None to count all."""

    def __call__(self, batches: Batches) -> Batches:
        """Return a batch of rows and counts for each batch; rows below 0 are owners: -1 is number 0."""
        hierarchy = _opened(self.hierarchy)
        for batch in batches:
            words, is_known = read_addresses(batch.column(self.column))
            rows = hierarchy.lookup_many(words).astype(np.int64)
            if self.ranges is not None:
                owners = self.ranges.of(words)
                rows = np.where(owners == NOBODY, rows, -1 - owners.astype(np.int64))
            at, count = np.unique(rows[is_known], return_counts=True)
            yield pa.RecordBatch.from_arrays([pa.array(at), pa.array(count)], ["row", "hosts"])


@dataclass(frozen=True, slots=True)
class LabelTask:
    """Puts the label of a subnet in the place of its row."""

    hierarchy: str

    def __call__(self, batches: Batches) -> Batches:
        """Return batches of subnets and counts."""
        columns = _columns(self.hierarchy, ("subnet",))
        for batch in batches:
            rows = np.asarray(batch.column("row")).astype(np.uint32)
            (labels,) = columns.plain(rows, np.ones(len(rows), bool))
            yield pa.RecordBatch.from_arrays([labels, batch.column("hosts")], ["subnet", "hosts"])


@dataclass(frozen=True, slots=True, eq=False)
class OwnTask:
    """Adds the owner of each address by a plan, and what makes it so."""

    hierarchy: str
    column: str
    names: tuple[str, str]
    crawlers: tuple[str, ...]
    ranges: OwnedRanges
    balanced: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))

    def __call__(self, batches: Batches) -> Batches:
        """Return batches with more columns."""
        hierarchy = _opened(self.hierarchy)
        for batch in batches:
            words, is_known = read_addresses(batch.column(self.column))
            owners = self.ranges.of(words)
            source = np.where(owners == NOBODY, 1, 0)
            if len(self.balanced):
                rows = hierarchy.lookup_many(words)
                owners = np.where(owners == NOBODY, self.balanced[rows], owners)
            nobody = (owners == NOBODY) | ~is_known
            added = [
                pa.array(values).take(pa.array(codes, mask=nobody))
                for codes, values in ((owners, self.crawlers), (source, ("delegation", "balance")))
            ]
            yield _with(batch, self.names, added)


def _with(batch: pa.RecordBatch, names: tuple[str, ...], added: list[pa.Array]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([*batch.columns, *added], [*batch.schema.names, *names])
