"""Cells of a file of measurements: addresses, host names, round trips, lost probes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite, nan

from ipmicra.edge.files.seeds import Seed, parse_seed
from ipmicra.model.address import Address

LOST = frozenset(
    {
        *("", "-", "--", "*", "?", "x", "na", "n/a", "nan", "null", "none", "nil", "inf", "infinity", "∞"),
        *("timeout", "timed out", "timedout", "time out", "lost", "loss", "fail", "failed", "failure"),
        *("error", "err", "unreachable", "refused", "no answer", "no reply", "!h", "!n", "!x", "false"),
    }
)
"""What people write for a probe without an answer; so do negative numbers."""
LONGEST_MS = 60_000.0
"""A round trip longer than a minute is another unit, or no round trip."""
_TIME = re.compile(r"<?\s*([-+]?[\d.,]+(?:e[-+]?\d+)?)\s*(ms|msec|s|sec|us|µs|μs)?", re.IGNORECASE)
_MS = {"ms": 1.0, "msec": 1.0, "s": 1000.0, "sec": 1000.0, "us": 0.001, "µs": 0.001, "μs": 0.001}


@dataclass(frozen=True, slots=True)
class NoTime:
    """A text that is neither a round trip nor a known word for a lost probe, and why."""

    reason: str


def read_time(text: str, ms_per_unit: float, *, is_comma_decimal: bool) -> float | NoTime:
    """Read a round trip in milliseconds, NaN for a lost probe; a unit in the cell overrules the column's."""
    word = text.strip().lower()
    if word in LOST:
        return nan
    found = _TIME.fullmatch(word)
    number = _number(found[1], is_comma_decimal=is_comma_decimal) if found else None
    if found is None or number is None:
        return NoTime("the round trip is no number")
    if number < 0:
        return nan
    rtt_ms = number * (_MS[found[2]] if found[2] else ms_per_unit)
    if rtt_ms == 0:
        return NoTime("a round trip of 0 cannot be true")
    if rtt_ms > LONGEST_MS:
        return NoTime("a round trip of more than a minute is another unit, or none")
    return rtt_ms


def _number(text: str, *, is_comma_decimal: bool) -> float | None:
    if "," in text:
        if "." in text or not is_comma_decimal:
            return None
        text = text.replace(",", ".")
    return read_number(text)


def read_number(text: str) -> float | None:
    """Read a finite number; None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def is_time(text: str) -> bool:
    """Return whether a cell may be a round trip or a lost probe."""
    return not isinstance(read_time(text, 1.0, is_comma_decimal=True), NoTime)


def is_address(text: str) -> bool:
    """Return whether a cell is an address, perhaps inside a URL or with a port."""
    return read_place(text)[0] is not None


def read_place(text: str) -> tuple[Address | None, str]:
    """Read an address, a host name or a URL: the address if it has one, and the host; empty for neither."""
    seed = parse_seed(text)
    if not isinstance(seed, Seed) or seed.is_range:
        return None, ""
    return seed.address, seed.host if seed.address is None else ""
