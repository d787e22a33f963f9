"""The Hilbert curve as it is drawn by hand: four smaller curves, the first and the last turned."""

from __future__ import annotations


def hilbert_walk(order: int) -> list[tuple[int, int]]:
    """Squares (column, row) in the order of the curve; starts upper left, ends upper right."""
    if order == 0:
        return [(0, 0)]
    inner = hilbert_walk(order - 1)
    size = 1 << order - 1
    return [
        *((y, x) for x, y in inner),
        *((x, y + size) for x, y in inner),
        *((x + size, y + size) for x, y in inner),
        *((2 * size - 1 - y, size - 1 - x) for x, y in inner),
    ]
