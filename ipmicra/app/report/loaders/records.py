"""Records of JSON, JSON lines and CSV, and what could not be read of them."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ipmicra.errors import InputError

SHOWN = 5

Record = Mapping[str, Any]


@dataclass(slots=True)
class Problems:
    """What was left out or mended, counted; the first few are kept in words."""

    count: int = 0
    shown: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Count a problem."""
        self.count += 1
        if len(self.shown) < SHOWN:
            self.shown.append(text)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say it in the report: how many, and the first few."""
        if not self.count:
            return ()
        more = f"; and {self.count - len(self.shown):,} more" if self.count > len(self.shown) else ""
        return (f"{self.count:,} problems in the input: " + "; ".join(self.shown) + more,)


def read_records(path: Path, problems: Problems) -> Iterator[tuple[str, Record]]:
    """Read a file's records, each with its place in words; `-` is standard input.

    The content tells the form: `[` starts JSON, `{` JSON lines, all else is CSV with a header.
    """
    name = "standard input" if str(path) == "-" else str(path)
    content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    text = content.decode("utf-8-sig", "replace")
    if text.lstrip()[:1] == "[":
        yield from _json(text, name, problems)
    elif text.lstrip()[:1] == "{":
        yield from _lines(text, name, problems)
    else:
        yield from _csv(text, name, problems)


def _json(text: str, name: str, problems: Problems) -> Iterator[tuple[str, Record]]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is no JSON: {error}") from error
    for number, record in enumerate(content, 1):
        if isinstance(record, dict):
            yield f"{name}: record {number}", record
        else:
            problems.add(f"{name}: record {number} is no object")


def _lines(text: str, name: str, problems: Problems) -> Iterator[tuple[str, Record]]:
    """Read a JSON object a line; one object over several lines is read as one record."""
    try:
        yield f"{name}: record 1", _object(text)
    except (ValueError, RecursionError):
        pass
    else:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield f"{name}: line {number}", _object(line)
        except (ValueError, RecursionError) as error:
            problems.add(f"{name}: line {number}: {error}")


def _object(text: str) -> Record:
    record = json.loads(text)
    if not isinstance(record, dict):
        raise ValueError("no object")  # noqa: TRY004 - read like any other text that is no object
    return record


def _csv(text: str, name: str, problems: Problems) -> Iterator[tuple[str, Record]]:
    if "\0" in text:
        raise InputError(f"{name} is neither JSON, JSON lines nor CSV: there are zero bytes in it")
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        for record in reader:
            if None in record:
                problems.add(f"{name}: line {reader.line_num} has more cells than the header")
            yield f"{name}: line {reader.line_num}", {key: value for key, value in record.items() if key}
    except csv.Error as error:
        raise InputError(f"{name}: line {reader.line_num}: {error}") from error


def text_of(record: Record, key: str) -> str | None:
    """Give a field as text; None if it is missing or empty."""
    value = record.get(key)
    text = "" if value is None else str(value).strip()
    return text or None


def number_of(record: Record, key: str, low: float = 0.0, high: float = math.inf) -> float | None:
    """Give a field as a number; None if it is missing or empty.

    Raises:
        InputError: It is no number, not finite, or out of bounds.
    """
    text = text_of(record, key)
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError as error:
        raise InputError(f"{key} {text!r} is no number") from error
    if not (math.isfinite(number) and low <= number <= high):
        raise InputError(f"{key} {text!r} is out of bounds")
    return number
