"""Files in which crawlers tell what they crawled, and the times and intervals in them."""

from __future__ import annotations

import csv
import math
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ipmicra.edge.files.targets import host_of
from ipmicra.errors import InputError
from ipmicra.model.recrawl import Crawled

COLUMNS = ("host", "pages", "crawled", "piece", "started", "every")
"""In this order where the first line names none; only `host` is needed, and one of the two times."""
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_INTERVAL = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([smhdw]?)", re.ASCII)


def read_interval(text: str) -> float:
    """Read an interval, in seconds: `90s`, `30m`, `12h`, `7d`, `2w`, or plain seconds."""
    match = _INTERVAL.fullmatch(text.strip().lower())
    seconds = float(match[1]) * _UNITS[match[2] or "s"] if match else 0.0
    if not 0 < seconds < math.inf:
        raise InputError(f"{text!r} is no interval: use a number above 0 with s, m, h, d or w, as in 12h")
    return seconds


def read_moment(text: str) -> float:
    """Read a moment: seconds since 1970, or a date and time as in 2026-11-16T09:30:00Z, in UTC by default."""
    for read in (float, _date_of):
        with suppress(ValueError):
            seconds = read(text.strip())
            if math.isfinite(seconds):
                return seconds
    raise InputError(f"{text!r} is no moment: use seconds since 1970 or 2026-11-16T09:30:00Z")


def _date_of(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def read_crawled(path: Path) -> tuple[list[Crawled], list[str]]:
    """Read what crawlers say, a CSV (`-` is standard input); give it, and the lines that make no sense."""
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8-sig")
        rows = [row for row in csv.reader(text.splitlines()) if row and not row[0].startswith("#")]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        told = f"cannot be read: give a CSV with lines of {','.join(COLUMNS[:3])}"
        raise InputError(f"{path}: {told}") from error
    names: tuple[str, ...] = COLUMNS
    if rows and rows[0][0].strip().lower() == "host":
        names = tuple(name.strip().lower() for name in rows.pop(0))
        unknown = set(names) - set(COLUMNS)
        if unknown:
            told = f"there are {', '.join(COLUMNS)}"
            raise InputError(f"{path}: no column is called {', '.join(sorted(unknown))}; {told}")
    words, findings = [], []
    for number, row in enumerate(rows, start=1):
        try:
            words.append(_word(dict(zip(names, (cell.strip() for cell in row), strict=False))))
        except InputError as error:
            findings.append(f"{path}, row {number}: {error}")
    return words, findings


def _word(cells: Mapping[str, str]) -> Crawled:
    """Read one row."""
    given = {name: cell for name, cell in cells.items() if cell}
    return Crawled(
        host=host_of(given.get("host", "")).lower().rstrip("."),
        pages=_count(given["pages"]) if "pages" in given else None,
        crawled_s=read_moment(given["crawled"]) if "crawled" in given else None,
        piece=_count(given["piece"]) if "piece" in given else None,
        started_s=read_moment(given["started"]) if "started" in given else None,
        interval_s=read_interval(given["every"]) if "every" in given else None,
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"{text!r} is no whole number")
    return int(text)
