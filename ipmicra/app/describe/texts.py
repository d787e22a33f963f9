"""Times and ranges of addresses as text."""

from __future__ import annotations

from datetime import UTC, datetime

from ipmicra.model.address import Address, prefix_text


def time_text(seconds: float) -> str:
    """Write a time as ISO 8601, UTC: 2026-11-16T09:30:00Z."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def range_text(first: Address, last: Address) -> str:
    """Write a range as a prefix, or by its two ends if it is none: `10.0.0.0/8`, `10.0.0.0 - 10.0.0.9`."""
    return prefix_text(first, last) or f"{first} - {last}"
