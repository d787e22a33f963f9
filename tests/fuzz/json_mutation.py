"""Mutate JSON as JSON: bytes changed at random seldom leave a document that is read beyond its start."""

from __future__ import annotations

import json
import random
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 1e308, 0.1),
    *("", "\ud800", "\0", "a" * 300, "\u202e", "::1", "10.0.0.1", "-", "é", [], {}, [[]], [{}]),
)
"""Values that readers like to forget."""


def mutated(data: bytes, most: int, seed: int) -> bytes | None:
    """Change a value of the document behind the first brace or bracket; None if there is none."""
    start = min((at for at in (data.find(b"{"), data.find(b"[")) if at >= 0), default=-1)
    try:
        document = json.loads(data[start:]) if start >= 0 else None
    except (ValueError, RecursionError):
        return None
    places = list(_places(document))
    if not places:
        return None
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        holder, key = chance.choice(places)
        _change(holder, key, chance.choice([*ODD, *(h[k] for h, k in places if k in _keys(h))]), chance)
    text = json.dumps(document).replace("Infinity", "1e999")
    return (data[:start] + text.encode())[:most]


def _places(document: Any) -> Any:
    """Return every holder of a value, and where in it the value is."""
    for key in _keys(document):
        yield document, key
        yield from _places(document[key])


def _keys(document: Any) -> list[Any]:
    if isinstance(document, dict):
        return list(document)
    return list(range(len(document))) if isinstance(document, list) else []


def _change(holder: Any, key: Any, value: Any, chance: random.Random) -> None:
    """Replace a value, drop it, or put another beside it."""
    value = json.loads(json.dumps(value))  # a copy: a document that holds itself cannot be written
    if key not in _keys(holder):
        return
    what = chance.randrange(6)
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, list):
        holder.insert(key, value)
    elif what == 2 and isinstance(holder, dict):
        holder[chance.choice(["", "x", "\ud800", f"{key}2"])] = value
    else:
        holder[key] = value
