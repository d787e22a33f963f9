"""Describe the subnets of many addresses as Arrow columns, each subnet once.

Theory of operation
-------------------
A table of 10^8 addresses names the same subnets again and again, so nothing is rendered per address. Each
column numbers its distinct values; for every row of the hierarchy that was ever met, `_Column.codes` holds
the number of its value. A batch of addresses becomes rows (`lookup_many`), rows become numbers by one gather
per column, and the column of the batch is a dictionary array: numbers, and the values they stand for.

Parquet stores such an array as it is. Two things it does not forgive: a null among the values (so a missing
value has no number), and a value that occurs twice (the whole column would be written out in full; so values
are numbered by their text, not by the place of the text in the file). And it writes the whole dictionary with
every group of rows, so that of a long one only the values of the batch are handed over.

Memory grows with the hierarchy's size (25 bytes per subnet for all columns) and with the texts that were met;
not with the number of addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Address
from itertools import islice
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.hierarchy.hierarchy import Hierarchy
from ipmicra.hierarchy.row_texts import TEXTS
from ipmicra.model.address import range_text

SUBNET_COLUMNS = ("subnet", *TEXTS)
"""What can be said of a subnet: its label, and what is registered."""
SHORT = 4096
"""Values of a dictionary that is handed over whole."""
FEW = 16
"""How many times as many subnets, or texts, there must be for a batch to count as small: then it is sorted,
and its texts are picked one by one, which takes less time than anything that goes through all."""
_NUMBERS = pa.array([str(number) for number in range(256)])
_NEVER = -1

Rows = NDArray[np.uint32]
Texts = Sequence[str | None]


class _Column:
    """The value of each row that was met, by number."""

    def __init__(self, size: int, read: Callable[[Rows], tuple[NDArray[Any], Texts]]) -> None:
        self.codes = np.full(size, _NEVER, np.int32)
        """Number of the value of each row; -1 for none."""
        self._read = read
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []
        self._values: pa.Array = pa.array([], pa.string())
        """The texts as far as a large batch needed them: to append to an array is to copy it."""

    def meet(self, rows: Rows) -> None:
        """Number the values of new rows."""
        at, texts = self._read(rows)
        numbers = self._numbers
        known = len(numbers)
        codes = [_NEVER if text is None else numbers.setdefault(text, len(numbers)) for text in texts]
        self._texts += islice(numbers, known, None)
        self.codes[rows] = np.array(codes, np.int32)[at]

    def values(self, used: Rows, inverse: NDArray[np.int32], missing: NDArray[np.bool_] | None) -> pa.Array:
        """Return the column of a batch: `used[inverse]` are its rows."""
        codes = self.codes[used]
        if len(self._texts) > SHORT:
            numbers, at = np.unique(codes, return_inverse=True)
            is_lacking = bool(len(numbers)) and numbers[0] == _NEVER
            codes = at.reshape(-1).astype(np.int32) - np.int32(is_lacking)
            values = self._chosen(numbers[int(is_lacking) :])
        else:
            values = self._all()
        indices = codes[inverse]
        mask = indices < 0
        if missing is not None:
            mask |= missing
        return pa.DictionaryArray.from_arrays(pa.array(indices, mask=mask if mask.any() else None), values)

    def _chosen(self, numbers: NDArray[np.int32]) -> pa.Array:
        """Return the values of some numbers; few of them one by one."""
        if len(numbers) * FEW < len(self._texts):
            return pa.array([self._texts[number] for number in numbers.tolist()], pa.string())
        return self._all().take(pa.array(numbers))

    def _all(self) -> pa.Array:
        if len(self._values) < len(self._texts):
            fresh = pa.array(self._texts[len(self._values) :], pa.string())
            self._values = pa.concat_arrays([self._values, fresh])
        return self._values


class SubnetColumns:
    """Columns about the subnets of addresses."""

    def __init__(self, hierarchy: Hierarchy, names: Iterable[str] = SUBNET_COLUMNS) -> None:
        """Choose columns by name."""
        chosen = tuple(names)
        unknown = [name for name in chosen if name not in SUBNET_COLUMNS]
        if unknown or not chosen:
            raise InputError(
                f"no column of subnets is called {', '.join(unknown) or 'nothing'}: "
                f"there are {', '.join(SUBNET_COLUMNS)}"
            )
        self.hierarchy, self.names = hierarchy, chosen
        size = len(hierarchy)
        self._turn = Lock()
        self._is_met = np.zeros(size, bool)
        self._is_used = np.zeros(size, bool)
        self._place = np.zeros(size, np.int32)
        self._columns = [_Column(size, _READERS[name](hierarchy)) for name in chosen]

    @property
    def fields(self) -> list[pa.Field]:
        """Names and types of the columns."""
        return [pa.field(name, pa.dictionary(pa.int32(), pa.string())) for name in self.names]

    def of(self, rows: Rows, is_known: NDArray[np.bool_]) -> list[pa.Array]:
        """Return the columns of a batch, by the rows of its addresses; null where there is no address.

        Threads may share it; they take turns.
        """
        missing = None if is_known.all() else ~is_known
        with self._turn:
            used, inverse = self._distinct(rows)
            new = used[~self._is_met[used]]
            if len(new):
                for column in self._columns:
                    column.meet(new)
                self._is_met[new] = True
            return [column.values(used, inverse, missing) for column in self._columns]

    def _distinct(self, rows: Rows) -> tuple[Rows, NDArray[np.int32]]:
        """Return the distinct rows, and the place of each row among them; marks are quicker than sorting."""
        if len(rows) * FEW < len(self._is_used):
            used, place = np.unique(rows, return_inverse=True)
            return used, place.reshape(-1).astype(np.int32)
        self._is_used[rows] = True
        used = np.flatnonzero(self._is_used).astype(np.uint32)
        self._is_used[used] = False
        self._place[used] = np.arange(len(used), dtype=np.int32)
        return used, self._place[rows]


# --- the texts of rows: which of some distinct texts each has


def _labels(hierarchy: Hierarchy) -> Callable[[Rows], tuple[NDArray[Any], Texts]]:
    """Return what writes subnets as prefixes, or first and last address; no two have the same."""
    bounds4 = hierarchy.bounds_array(4)

    def read(rows: Rows) -> tuple[NDArray[Any], Texts]:
        narrow = rows < len(bounds4)
        texts = _narrow_labels(bounds4[rows[narrow]])
        wide = [range_text(*hierarchy.bounds(row)) for row in rows[~narrow].tolist()]
        return np.arange(len(rows)), [*texts, *wide]  # rows are sorted, and IPv4 comes first

    return read


def _narrow_labels(bounds: NDArray[np.uint32]) -> Texts:
    """Write ranges of IPv4 addresses: 0x0A000000 to 0x0AFFFFFF is `10.0.0.0/8`."""
    first, last = bounds[:, 0].astype(np.uint64), bounds[:, 1].astype(np.uint64)
    size = last - first + 1
    is_prefix = (size & (size - 1) == 0) & (first % size == 0)
    length = np.where(is_prefix, 32 - np.log2(size.astype(np.float64)), 0).astype(np.int64)
    parts = [_NUMBERS.take(pa.array((first >> np.uint64(by)) & np.uint64(255))) for by in (24, 16, 8, 0)]
    written = pc.binary_join_element_wise(
        pc.binary_join_element_wise(*parts, "."), _NUMBERS.take(length), "/"
    )
    texts: list[str | None] = written.to_pylist()
    for row in np.flatnonzero(~is_prefix).tolist():
        texts[row] = range_text(IPv4Address(int(first[row])), IPv4Address(int(last[row])))
    return texts


def _registered(what: str) -> Callable[[Hierarchy], Callable[[Rows], tuple[NDArray[Any], Texts]]]:
    """Return what reads one of the texts that registrations have."""

    def make(hierarchy: Hierarchy) -> Callable[[Rows], tuple[NDArray[Any], Texts]]:
        texts = hierarchy.row_texts

        def read(rows: Rows) -> tuple[NDArray[Any], Texts]:
            numbers, at = np.unique(texts.numbers(what, rows), return_inverse=True)
            return at.reshape(-1), [texts.text(what, number) for number in numbers.tolist()]

        return read

    return make


_READERS = {"subnet": _labels, **{what: _registered(what) for what in TEXTS}}
