"""Round trips by crawler for very many keys, in few bytes each: a dictionary takes three times as many."""

from __future__ import annotations

from array import array
from collections.abc import Mapping


class Trips:
    """Round trips in ms by key and crawler."""

    def __init__(self) -> None:
        """Begin with none."""
        self._packed: dict[int, bytes] = {}
        """Crawlers and round trips in turn."""

    def __len__(self) -> int:
        """Count the keys."""
        return len(self._packed)

    def of(self, key: int) -> dict[int, float]:
        """Return what is kept for a key, by crawler, in the order in which it was put."""
        values = array("d", self._packed.get(key, b"")).tolist()
        return dict(zip(map(int, values[::2]), values[1::2], strict=True))

    def put(self, key: int, rtts_ms: Mapping[int, float]) -> None:
        """Keep these round trips for a key, and none that were kept before."""
        self._packed[key] = array("d", [value for pair in rtts_ms.items() for value in pair]).tobytes()
