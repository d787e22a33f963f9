"""Reports of crawlers on what they crawled, and the times and intervals in them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ipmicra.edge.files.seeds import host_of
from ipmicra.edge.files.tables import read_records
from ipmicra.errors import InputError
from ipmicra.model.recrawl import Crawled

COLUMNS = ("host", "pages", "crawled", "piece", "started", "every", "vantage")
"""In this order where the first line names none; only `host` is needed, and one of the two times."""
LONGEST_NUMBER = 18
"""Digits: what a store can hold."""
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
    """Read what crawlers report (`-` is standard input); return it, and the rows that make no sense."""
    reports: list[Crawled] = []
    findings: list[str] = []
    for where, record in read_records(path, COLUMNS[:1], findings.append, order=COLUMNS):
        unknown = sorted(record.keys() - set(COLUMNS))
        if unknown:
            raise InputError(
                f"{where}: no column is called {', '.join(unknown)}; there are {', '.join(COLUMNS)}"
            )
        try:
            reports.append(_report({name: cell for name, cell in record.items() if cell}))
        except InputError as error:
            findings.append(f"{where}: {error}")
    return reports, findings


def _report(given: Mapping[str, str]) -> Crawled:
    return Crawled(
        host=host_of(given.get("host", "")),
        vantage=given.get("vantage", ""),
        pages=_count(given["pages"]) if "pages" in given else None,
        crawled_s=read_moment(given["crawled"]) if "crawled" in given else None,
        piece=_count(given["piece"]) if "piece" in given else None,
        started_s=read_moment(given["started"]) if "started" in given else None,
        interval_s=read_interval(given["every"]) if "every" in given else None,
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise InputError(f"{text[:40]!r} is no whole number of up to {LONGEST_NUMBER} digits")
    return int(text)
