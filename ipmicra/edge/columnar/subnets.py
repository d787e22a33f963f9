"""Describe the subnets of many addresses as Arrow columns.

Theory of operation
-------------------
A batch of addresses becomes rows of the hierarchy (`lookup_many`), and rows become columns, in one of two
forms: dictionary arrays for Parquet, which stores them as they are (`encoded`), and plain texts for Spark,
which knows no others (`plain`). There are two kinds of columns:

- Those with about as many texts as there are subnets, labels and netnames, are written by compiled code for
  every batch, from the rows that occur in it. To remember a text in Python takes a microsecond and more than
  a hundred bytes, which is more than writing it again a hundred times.
- Those with few texts (organisation, registry, country, status) remember what they read: the file numbers
  these texts, and `_Numbered.codes` has the place of each among the values.

Two things Parquet does not forgive in a dictionary: a null among the values (so a missing value has no
number), and a value that occurs twice (the whole column would be written out in full; so values are numbered
by their text, not by the place of the text in the file). And it writes the whole dictionary with every group
of rows, so that of a long one only the values of the batch are handed over.

Memory grows with the organisations that were met and with the batch, not with the number of addresses.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.hierarchy.hierarchy import Hierarchy
from ipmicra.hierarchy.row_texts import TEXTS, RowTexts, Texts

SUBNET_COLUMNS = ("subnet", *TEXTS)
"""What can be said of a subnet: its label, and what is registered."""
SHORT = 4096
"""Values of a dictionary that is handed over whole."""
FEW = 16
"""How many times as many subnets there must be for a batch to count as small: then it is sorted, which takes
less time than anything that goes through all."""
_NONE, _UNREAD = -1, -2

Rows = NDArray[np.uint32]
Missing = NDArray[np.bool_] | None
"""Which places of a batch have no address; None if all have one."""


class _Column(Protocol):
    """One column about subnets."""

    def encoded(self, used: Rows, inverse: NDArray[np.int32], missing: Missing) -> pa.Array:
        """Return the column of a batch as a dictionary array: `used[inverse]` are its rows."""
        ...

    def plain(self, rows: Rows, missing: Missing) -> pa.Array:
        """Return the column of a batch as texts."""
        ...


class _Labels:
    """What subnets are called: each has a label, and no other has the same."""

    def __init__(self, texts: RowTexts) -> None:
        self._texts = texts

    def encoded(self, used: Rows, inverse: NDArray[np.int32], missing: Missing) -> pa.Array:
        labels = _array(self._texts.labels(used))
        return pa.DictionaryArray.from_arrays(pa.array(inverse, mask=missing), labels)

    def plain(self, rows: Rows, missing: Missing) -> pa.Array:
        return _array(self._texts.labels(rows), missing)


class _Netnames:
    """Names of subnets: some have the same or none. The file has each name once."""

    def __init__(self, texts: RowTexts) -> None:
        self._texts = texts

    def encoded(self, used: Rows, inverse: NDArray[np.int32], missing: Missing) -> pa.Array:
        places, at = np.unique(self._texts.numbers("netname", used), return_inverse=True)
        is_lacking = int(len(places) > 0 and places[0] == 0)
        indices = at.reshape(-1).astype(np.int32) - np.int32(is_lacking)
        return _encoded(indices[inverse], _array(self._texts.names(places[is_lacking:])), missing)

    def plain(self, rows: Rows, missing: Missing) -> pa.Array:
        places = self._texts.numbers("netname", rows)
        return _array(self._texts.names(places), places == 0 if missing is None else (places == 0) | missing)


class _Numbered:
    """Texts that the file numbers; each is read once."""

    def __init__(self, texts: RowTexts, what: str) -> None:
        self._texts, self._what = texts, what
        self._codes = np.full(1, _UNREAD, np.int32)
        """Place of the text of each number among the values; -1 for none."""
        self._places: dict[str, int] = {}
        self._values: pa.Array = pa.array([], pa.string())

    def encoded(self, used: Rows, inverse: NDArray[np.int32], missing: Missing) -> pa.Array:
        codes, values = self._of(used), self._values
        if len(values) > SHORT:
            numbers, at = np.unique(codes, return_inverse=True)
            is_lacking = bool(len(numbers)) and numbers[0] == _NONE
            codes = at.reshape(-1).astype(np.int32) - np.int32(is_lacking)
            values = values.take(pa.array(numbers[int(is_lacking) :]))
        return _encoded(codes[inverse], values, missing)

    def plain(self, rows: Rows, missing: Missing) -> pa.Array:
        codes = self._of(rows)
        is_missing = codes == _NONE if missing is None else (codes == _NONE) | missing
        return self._values.take(pa.array(codes, mask=is_missing if is_missing.any() else None))

    def _of(self, rows: Rows) -> NDArray[np.int32]:
        numbers = self._texts.numbers(self._what, rows)
        if len(numbers) and (most := int(numbers.max())) >= len(self._codes):
            self._texts.text(self._what, most)  # raises if the file has no such number
            more = np.full(2 * most + 1 - len(self._codes), _UNREAD, np.int32)
            self._codes = np.concatenate([self._codes, more])
        codes: NDArray[np.int32] = self._codes[numbers]
        is_unread = codes == _UNREAD
        if is_unread.any():
            self._read(np.unique(numbers[is_unread]))
            codes = self._codes[numbers]
        return codes

    def _read(self, numbers: NDArray[np.integer]) -> None:
        known = len(self._places)
        texts = [self._texts.text(self._what, number) for number in numbers.tolist()]
        places = [
            _NONE if text is None else self._places.setdefault(text, len(self._places)) for text in texts
        ]
        self._codes[numbers] = np.array(places, np.int32)
        if len(self._places) > known:
            self._values = pa.array(self._places, pa.string())


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
        self.names = chosen
        size, texts = len(hierarchy), hierarchy.row_texts
        self._turn = Lock()
        self._is_used = np.zeros(size, bool)
        self._place = np.zeros(size, np.int32)
        self._columns = [_column(texts, name) for name in chosen]

    @property
    def fields(self) -> list[pa.Field]:
        """Names and types of the columns."""
        return [pa.field(name, pa.dictionary(pa.int32(), pa.string())) for name in self.names]

    def encoded(self, rows: Rows, is_known: NDArray[np.bool_]) -> list[pa.Array]:
        """Return dictionary arrays for a batch, by the rows of its addresses; null where there is none.

        Threads may share it; they take turns.
        """
        missing = None if is_known.all() else ~is_known
        with self._turn:
            used, inverse = self._distinct(rows)
            return [column.encoded(used, inverse, missing) for column in self._columns]

    def plain(self, rows: Rows, is_known: NDArray[np.bool_]) -> list[pa.Array]:
        """Return the same as texts."""
        missing = None if is_known.all() else ~is_known
        with self._turn:
            return [column.plain(rows, missing) for column in self._columns]

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


def _column(texts: RowTexts, name: str) -> _Column:
    if name == "subnet":
        return _Labels(texts)
    return _Netnames(texts) if name == "netname" else _Numbered(texts, name)


def _encoded(indices: NDArray[np.int32], values: pa.Array, missing: Missing) -> pa.Array:
    """Make a dictionary array; indices below 0 have no value."""
    mask = indices < 0
    if missing is not None:
        mask |= missing
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=mask if mask.any() else None), values)


def _array(texts: Texts, missing: Missing = None) -> pa.Array:
    """Make an array of texts without a copy; what is missing is null."""
    edges, data = texts
    valid = None
    if missing is not None and missing.any():
        valid = pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.StringArray.from_buffers(len(edges) - 1, pa.py_buffer(edges), pa.py_buffer(data), valid)
