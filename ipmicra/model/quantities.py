"""How quantities are written for people: the same in tables, messages, reports and pages."""

from __future__ import annotations


def plural(count: int, word: str, words: str = "") -> str:
    """Write a count with its noun: 1 site, 2,500 sites; `words` is a plural that does not end in s."""
    return f"{count:,} {word if count == 1 else words or word + 's'}"


def percent(share: float, digits: int = 1, *, is_signed: bool = False) -> str:
    """Write a share: 0.972 is 97.2 %, with a blank as after every other number with a unit."""
    return f"{100 * share:{'+' if is_signed else ''}.{digits}f} %"
