"""Scratch tables that a kernel fills from one chunk of a dump.

Each row is a row of 32-bit words, and a sheet has few arrays: passing many arrays slows a kernel down and
makes it slow to compile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ipmicra.parse.fields import STORED_TEXTS

ROWS4, ROWS6, ORGANISATIONS, FINDINGS, TEXT, LINES, KEPT, REPAIRED, SKIPPED, UNKNOWN = range(10)
"""Indices into `Sheet.counts`."""
COUNTS = 10

AT, LINE, COUNTRY, DATE, REGISTRY, HOLDER, FIRST, LAST, LENGTHS = range(9)
"""Words of a row: offset of its texts, …, and from `LENGTHS` on the length of each text in bytes."""
ROW_WORDS = LENGTHS + STORED_TEXTS

FINDING_LINE, FINDING_REASON, FINDING_AT, FINDING_LENGTH = range(4)
FINDING_WORDS = 4

SHORTEST_ROW = 8
"""Bytes of the shortest paragraph that can become a row, such as `orgid:x` and its line end."""
SHORTEST_FINDING = 2
"""Bytes of the shortest paragraph: one character and a line end."""
TEXT_SLACK = 8192
PADDING = 64
"""Spare bytes that every buffer needs behind its text: kernels read this far past a position."""


class Sheet(NamedTuple):
    """The result of one chunk; `counts` says how far each table is filled."""

    rows4: Any
    rows6: Any
    wide6: Any
    """First high, first low, last high, last low, (row, 4)."""
    organisations: Any
    findings: Any
    text: Any
    counts: Any


def _most_rows(chunk_bytes: int) -> int:
    return chunk_bytes // SHORTEST_ROW + 2


def has_room(sheet: Sheet, chunk_bytes: int) -> bool:
    """Return whether a sheet is large enough for chunks of `chunk_bytes`."""
    return len(sheet.rows4) >= _most_rows(chunk_bytes)


def new_sheet(chunk_bytes: int) -> Sheet:
    """Create a sheet that no chunk of `chunk_bytes` can overflow."""
    chunk_bytes = -(-chunk_bytes // SHORTEST_ROW) * SHORTEST_ROW
    rows = _most_rows(chunk_bytes)
    return Sheet(
        rows4=np.empty((rows, ROW_WORDS), np.uint32),
        rows6=np.empty((rows, ROW_WORDS), np.uint32),
        wide6=np.empty((rows, 4), np.uint64),
        organisations=np.empty((rows, ROW_WORDS), np.uint32),
        findings=np.empty((chunk_bytes // SHORTEST_FINDING + 16, FINDING_WORDS), np.uint32),
        text=np.empty(4 * chunk_bytes + TEXT_SLACK, np.uint8),
        counts=np.zeros(COUNTS, np.int64),
    )
