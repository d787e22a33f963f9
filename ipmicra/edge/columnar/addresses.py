"""Read columns of addresses: texts, bytes or numbers; what is no address is counted, not raised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.hierarchy.finder import MAPPED
from ipmicra.hierarchy.many import read_known_texts

IPV4_BYTES, IPV6_BYTES = 4, 16
EXPECTED = "texts, 4 or 16 bytes, or IPv4 addresses as numbers"


def holds_addresses(kind: pa.DataType) -> bool:
    """Return whether a column of a type can hold addresses."""
    if pa.types.is_dictionary(kind):
        return holds_addresses(kind.value_type)
    return _is_text(kind) or _is_bytes(kind) or pa.types.is_integer(kind)


def holds_texts(kind: pa.DataType) -> bool:
    """Return whether a column of a type holds texts."""
    return holds_texts(kind.value_type) if pa.types.is_dictionary(kind) else _is_text(kind)


def read_addresses(column: pa.Array) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return high and low word of each address, and which rows have one.

    IPv4 addresses are IPv4-mapped ones; rows without an address are zeros.
    """
    if pa.types.is_dictionary(column.type):
        words, is_address = read_addresses(column.dictionary)
        codes = column.indices
        at = np.asarray(codes.fill_null(0)).astype(np.intp)
        known = is_address[at] if len(words) else np.zeros(len(codes), bool)
        known &= _valid(codes)
        return (words[at] if len(words) else np.zeros((len(codes), 2), np.uint64)), known
    if not column.null_count:
        return _read(column)
    valid = _valid(column)
    words, known = np.zeros((len(column), 2), np.uint64), np.zeros(len(column), bool)
    words[valid], known[valid] = _read(column.drop_null())
    return words, known


def _read(column: pa.Array) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Read a column without nulls."""
    if _is_text(column.type):
        return read_known_texts(column)
    if pa.types.is_integer(column.type):
        return _read_numbers(np.asarray(column))
    if _is_bytes(column.type):
        return _read_bytes(column)
    raise InputError(f"a column of {column.type} holds no addresses: expected {EXPECTED}")


def _read_numbers(numbers: NDArray[Any]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Read whole numbers as IPv4 addresses."""
    known = (numbers >= 0) & (numbers <= 0xFFFFFFFF)  # noqa: PLR2004 - 32 bits
    words = np.zeros((len(numbers), 2), np.uint64)
    words[known, 1] = numbers[known].astype(np.uint64) | np.uint64(MAPPED)
    return words, known


def _read_bytes(column: pa.Array) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Read 4 or 16 bytes in network order."""
    plain = column.cast(pa.large_binary())
    sizes = np.asarray(pc.binary_length(plain))
    words = np.zeros((len(plain), 2), np.uint64)
    is4, is6 = sizes == IPV4_BYTES, sizes == IPV6_BYTES
    if is4.any():
        words[is4, 1] = _content(plain, is4).view(">u4").astype(np.uint64) | np.uint64(MAPPED)
    if is6.any():
        words[is6] = _content(plain, is6).view(">u8").reshape(-1, 2).astype(np.uint64)
    return words, is4 | is6


def _content(column: pa.Array, chosen: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return the bytes of the chosen rows, one after the other."""
    part = column if chosen.all() else column.filter(pa.array(chosen))
    _validity, offsets, data = part.buffers()
    edges = np.frombuffer(offsets, np.int64)[part.offset : part.offset + len(part) + 1]
    return np.frombuffer(data, np.uint8)[edges[0] : edges[-1]]


def _valid(column: pa.Array) -> NDArray[np.bool_]:
    if not column.null_count:
        return np.ones(len(column), bool)
    return np.asarray(column.is_valid())


def _is_text(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _is_bytes(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in tests)
