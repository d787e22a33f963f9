"""Logical tables as text: `logical,crawler`, a line for each logical crawler.

Every crawler of a fleet may read such a file: `hash(host) % 4096` is the line, and the line names the owner.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from ipmicra.edge.files.lines import name_of
from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.errors import InputError
from ipmicra.model.foreign_text import csv_text, from_csv_cell
from ipmicra.partition.methods.two_level import KeptTable, LogicalTable

_HEADER = ["logical", "crawler"]


def table_text(kept: KeptTable) -> str:
    """Write a table."""
    return csv_text(_HEADER, ((row, kept.names[one]) for row, one in enumerate(kept.table.owner.tolist())))


def parse_table(text: str, name: str, logical: int) -> KeptTable:
    """Read a table of so many logical crawlers; `name` says where it is from.

    Raises:
        InputError: It is damaged, cut off, or no such table.
    """
    advice = "restore it, or remove it to start anew: then most sites move"
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    if not rows or rows[0] != _HEADER:
        raise InputError(f"{name} is no logical table: its first line is not {','.join(_HEADER)}")
    owners: list[str] = []
    for number, row in enumerate(rows[1:]):
        is_whole = len(row) == len(_HEADER) and row[0] == str(number) and row[1].strip()
        if not is_whole:
            raise InputError(
                f"{name} is damaged: line {number + 2} is not that of logical crawler {number}; {advice}"
            )
        owners.append(from_csv_cell(row[1]))
    if len(owners) != logical:
        raise InputError(
            f"{name} has {len(owners):,} logical crawlers, not {logical:,}: it is cut off, or of another "
            f"program; {advice}"
        )
    names = tuple(dict.fromkeys(owners))
    numbers = {one: number for number, one in enumerate(names)}
    owner = np.array([numbers[one] for one in owners], np.int32)
    held = np.bincount(owner, minlength=len(names)).astype(np.float64)
    return KeptTable(names=names, table=LogicalTable(owner=owner, capacity=held))


def read_table(path: Path, logical: int) -> KeptTable | None:
    """Read a table from a file; None if there is no such file."""
    try:
        return parse_table(path.read_text(encoding="utf-8"), name_of(path), logical)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{name_of(path)} cannot be read as a logical table: {error}") from error


def write_table(path: Path, kept: KeptTable) -> None:
    """Write a table, whole or not at all."""
    try:
        write_atomically(path, [table_text(kept).encode()])
    except OSError as error:
        raise InputError(f"{path}: the logical table cannot be written: {error}") from error
