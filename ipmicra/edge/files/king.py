"""The text form in which p2psim keeps the King measurements.

Lines `node N …` introduce nodes; a line `A,B TIME` gives the round trip of a pair in microseconds. Nodes are
numbered from 1. A pair that is not listed, or has a time of 0 or less, was not measured.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError

_NODE = re.compile(r"node\s+(\d+)\b.*")
_PAIR = re.compile(r"(\d+)\s*,\s*(\d+)\s+(-?\d+(?:\.\d+)?)\s*")
_US_PER_MS = 1000.0
MOST_NODES = 20_000
"""More would not fit into memory as a matrix."""


def parse_king(text: str) -> NDArray[np.float64]:
    """Read a King text; give round trips in milliseconds, NaN where a pair was not measured."""
    nodes, pairs = set[int](), list[tuple[int, int, float]]()
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#") or line.split()[0] in {"topology", "failure_model"}:
            continue
        if match := _NODE.fullmatch(line):
            nodes.add(int(match[1]))
        elif match := _PAIR.fullmatch(line):
            pairs.append((int(match[1]), int(match[2]), float(match[3])))
        else:
            raise InputError(f"line {number}: {line[:60]!r} is neither `node N` nor `A,B TIME`")
    return _matrix(nodes | {one for pair in pairs for one in pair[:2]}, pairs)


def _matrix(nodes: set[int], pairs: list[tuple[int, int, float]]) -> NDArray[np.float64]:
    if not pairs or len(nodes) > MOST_NODES:
        raise InputError(f"a King text needs pairs and at most {MOST_NODES:,} nodes; it has {len(nodes):,}")
    place = {node: number for number, node in enumerate(sorted(nodes))}
    matrix = np.full((len(nodes), len(nodes)), np.nan)
    first = [place[pair[0]] for pair in pairs]
    second = [place[pair[1]] for pair in pairs]
    times = np.array([pair[2] for pair in pairs]) / _US_PER_MS
    matrix[first, second] = np.where(times > 0, times, np.nan)
    return matrix
