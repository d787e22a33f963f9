"""Arrays as bytes and back, checked: how coordinates and overlays are saved."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import CorruptStateError

HEADER = struct.Struct("<8sHII")
"""Magic, version, length of the table of contents (JSON), CRC-32 of everything behind the header."""
MAGIC = b"IPMSTATE"
VERSION = 1
_KINDS = {"<f8", "<i8", "<i4", "|i1"}


def pack(kind: str, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Write facts (JSON values) and arrays of numbers under the name of what they make up."""
    laid = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    contents = [[name, array.dtype.str, list(array.shape)] for name, array in laid.items()]
    table = json.dumps({"kind": kind, "facts": dict(facts), "arrays": contents}).encode()
    body = table + b"".join(array.tobytes() for array in laid.values())
    return HEADER.pack(MAGIC, VERSION, len(table), zlib.crc32(body)) + body


def unpack(kind: str, data: bytes | memoryview) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `pack` wrote; anything cut, altered or of another kind raises."""
    data = bytes(data)
    if len(data) < HEADER.size:
        raise CorruptStateError(f"saved {kind}: {len(data)} bytes are too few")
    magic, version, length, checksum = HEADER.unpack_from(data)
    if magic != MAGIC or version != VERSION:
        raise CorruptStateError(f"not a saved {kind} of version {VERSION}: {magic!r}, version {version}")
    body = data[HEADER.size :]
    if zlib.crc32(body) != checksum:
        raise CorruptStateError(f"saved {kind}: the checksum does not fit; restore an intact copy")
    try:
        table = json.loads(body[:length])
        if table["kind"] != kind:
            raise CorruptStateError(f"this is a saved {table['kind']}, not a saved {kind}")
        return table["facts"], _arrays(table["arrays"], body[length:])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise CorruptStateError(f"saved {kind}: {error}") from error


def _arrays(contents: list[list[Any]], data: bytes) -> dict[str, NDArray[Any]]:
    """Cut the arrays out of the body."""
    arrays: dict[str, NDArray[Any]] = {}
    start = 0
    for name, kind, shape in contents:
        if kind not in _KINDS:
            raise ValueError(f"array {name} has the unknown type {kind}")
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(data, kind, count, start).reshape(shape).copy()
        start += arrays[name].nbytes
    if start != len(data):
        raise ValueError(f"{len(data) - start} bytes are left over")
    return arrays
