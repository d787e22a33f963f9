"""The chain of heuristics: who is asked, in which order, and whose vote counts."""

from __future__ import annotations

from collections.abc import Sequence

from ipmicra.errors import InputError
from ipmicra.model.location import Heuristic, Hint

DEFAULT_ORDER = tuple(Heuristic)
WIDE_KM = 250.0
"""A vote with a larger radius names a country or region: it counts only if no heuristic is more precise."""


def read_order(text: str) -> tuple[Heuristic, ...]:
    """Read `loc,airport,city`: those and no others, in this order."""
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in set(Heuristic)]
    if unknown or not names:
        known = ", ".join(Heuristic)
        raise InputError(
            f"there is no heuristic {', '.join(unknown) or 'in an empty list'}; there are {known}"
        )
    if len(set(names)) < len(names):
        raise InputError("a heuristic is named twice")
    return tuple(Heuristic(name) for name in names)


def in_order(hints: Sequence[Hint], order: Sequence[Heuristic]) -> list[Hint]:
    """Sort votes by the order of their heuristics; those of heuristics that are switched off are left out."""
    return sorted(
        (hint for hint in hints if hint.heuristic in order), key=lambda hint: order.index(hint.heuristic)
    )


def winner(hints: Sequence[Hint]) -> Hint | None:
    """Choose the first vote, in order; one for a whole country waits for those behind it."""
    precise = next((hint for hint in hints if hint.location.radius_km <= WIDE_KM), None)
    return precise or min(hints, key=lambda hint: hint.location.radius_km, default=None)
