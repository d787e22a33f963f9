"""Times as text."""

from __future__ import annotations

from datetime import UTC, datetime


def time_text(seconds: float) -> str:
    """Write a time as ISO 8601, UTC: 2026-11-16T09:30:00Z."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
