"""Assignments and the crawls that follow from them as plain dictionaries."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ipmicra.assign.balance.recrawl import due_s, state_of
from ipmicra.model.assignment import Assignment
from ipmicra.model.recrawl import Recrawl

if TYPE_CHECKING:
    from ipmicra.app.assign.recrawl import Turn
    from ipmicra.app.export.rows import ExportRow

_LAST_S = 253_402_300_800.0
"""The end of the year 9999, beyond which dates cannot be written."""


def describe_assignment(one: Assignment | ExportRow) -> dict[str, Any]:
    """Describe an assignment, or a row of an export that has its fields."""
    return {
        "host": one.host,
        "vantage": one.vantage or None,
        "piece": f"{one.piece}/{one.of}",
        "address": str(one.address),
        "crawler": one.crawler,
        "reason": one.reason,
        "expected_ms": one.expected_ms,
        "pages": one.pages,
        "filters": list(one.filters),
        "backend": one.backend or None,
        "rule": one.rule or None,
    }


def describe_turn(turn: Turn) -> dict[str, Any]:
    """Describe when a piece is crawled next, to be put beside its assignment."""
    return {"step": turn.step.value if turn.step is not None else None} | _describe_schedule(turn.recrawl)


def describe_recrawl(one: Recrawl) -> dict[str, Any]:
    """Describe a schedule by itself."""
    piece = f"{one.piece}/{one.of}"
    return {
        "host": one.host,
        "vantage": one.vantage or None,
        "piece": piece,
        "pages": one.pages,
    } | _describe_schedule(one)


def _describe_schedule(one: Recrawl | None) -> dict[str, Any]:
    if one is None:
        return {"state": None, "crawls": 0, "crawled": None, "every_s": None, "due": None}
    return {
        "state": state_of(one).value,
        "crawls": one.crawls,
        "crawled": _moment(one.crawled_s),
        "every_s": one.interval_s,
        "due": _moment(float(due_s([one])[0])),
    }


def _moment(seconds: float | None) -> str | None:
    """Write a moment as ISO 8601; None for never."""
    if seconds is None or not 0 <= seconds < _LAST_S:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
