"""Improving a partition by moving single vertices, with an eye on several objectives at a time.

METIS makes one sum small. What is wanted of two objectives is that neither is much worse than it could be alone:
moves of single vertices get nearer to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """A graph whose cut is to be small, measured in units of a cut that is thought good."""

    graph: csr_array
    unit: float
    """A good cut of this graph; above 0."""
    preference: float
    """Weight beside the other objectives."""

    def ties(self, part: NDArray[np.int64], parts: int) -> NDArray[np.float64]:
        """Give how strongly each vertex is tied to each part, in units; a row a vertex."""
        row = np.repeat(np.arange(len(part)) * parts, np.diff(self.graph.indptr))
        tied = np.bincount(row + part[self.graph.indices], self.graph.data, len(part) * parts)
        return tied.reshape(-1, parts) / self.unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much fits where."""

    weight: NDArray[np.int64]
    """By vertex."""
    limit: NDArray[np.float64]
    """By part."""


def refined(
    part: NDArray[np.int64], objectives: list[Objective], room: Room, rounds: int, power: float
) -> NDArray[np.int64]:
    """Move vertices for some rounds; give the best partition seen.

    The sum of preference × (cut ÷ unit)^power is made smaller: the higher the power, the more the objective that is
    worst off decides. Nothing moves into a part that would overflow.
    """
    parts = len(room.limit)
    best, least = part, np.inf
    current = part.copy()
    for number in range(rounds + 1):
        ties = [one.ties(current, parts) for one in objectives]
        cuts = [_cut(tied, current) for tied in ties]
        badness = sum(one.preference * cut**power for one, cut in zip(objectives, cuts, strict=True))
        if badness < least:
            best, least = current.copy(), badness
        gain = np.zeros_like(ties[0])
        for one, tied, cut in zip(objectives, ties, cuts, strict=True):
            gain += one.preference * max(cut, 1e-9) ** (power - 1) * tied
        if number == rounds or not _move_best(current, gain, room, number):
            break
    return best


def best_of(
    candidates: list[NDArray[np.int64]], objectives: list[Objective], parts: int, power: float
) -> NDArray[np.int64]:
    """Give the partition whose sum of preference × (cut ÷ unit)^power is least."""

    def badness(part: NDArray[np.int64]) -> float:
        cuts = [_cut(one.ties(part, parts), part) for one in objectives]
        return sum(one.preference * cut**power for one, cut in zip(objectives, cuts, strict=True))

    return min(candidates, key=badness)


def _cut(ties: NDArray[np.float64], part: NDArray[np.int64]) -> float:
    """Add up ties to other parts; each edge counts once."""
    return float(ties.sum() - ties[np.arange(len(part)), part].sum()) / 2


def _move_best(part: NDArray[np.int64], gain: NDArray[np.float64], room: Room, number: int) -> int:
    """Move the vertices that gain most and fit; give their number.

    Only every other vertex may move in a round, by number, so that two neighbours seldom change places.
    """
    here = np.arange(len(part))
    load = np.bincount(part, room.weight, len(room.limit))
    value = gain - gain[here, part][:, None]
    value[:, load >= room.limit] = -np.inf
    value[here, part] = -np.inf
    target = value.argmax(axis=1)
    most = value[here, target]
    wants = np.flatnonzero((most > 0) & ((here + number) % 2 == 0))
    wants = wants[np.argsort(-most[wants] / room.weight[wants], kind="stable")]
    fits = _running(target[wants], room.weight[wants]) <= (room.limit - load)[target[wants]]
    chosen = wants[fits]
    part[chosen] = target[chosen]
    return len(chosen)


def _running(group: NDArray[np.int64], weight: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the sum of weights of the same group up to each entry.

    Groups 1 2 1 with weights 5 7 9: 5 7 14.
    """
    order = np.argsort(group, kind="stable")
    total = np.cumsum(weight[order])
    is_first = np.ones(len(order), bool)
    is_first[1:] = np.diff(group[order]) != 0
    before = (total - weight[order])[is_first]
    running = np.empty(len(order), np.int64)
    running[order] = total - before[np.cumsum(is_first) - 1]
    return running
