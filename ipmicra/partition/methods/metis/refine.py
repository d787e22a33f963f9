"""Improving a partition by moving single vertices, with an eye on two objectives at a time.

METIS minimises one sum. With two objectives, the goal is that neither is much worse than it could be
alone; moving single vertices gets closer to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ipmicra.native import kernels

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """A graph whose cut is to be small, measured in units of a cut that is thought good."""

    graph: csr_array
    unit: float
    """A good cut of this graph; above 0."""
    preference: float
    """Weight beside the other objective."""

    def cut(self, part: NDArray[np.int64]) -> float:
        """Add up the weights of edges whose ends are in different parts, in units; each edge counts once."""
        return cut_weight(self.graph, part) / self.unit

    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return where each vertex's edges start, their ends, and their weights in units."""
        graph = self.graph
        return graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data / self.unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much fits where."""

    weight: NDArray[np.int64]
    """By vertex."""
    limit: NDArray[np.float64]
    """By part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """A partition, and how far it is from the goal."""

    part: NDArray[np.int64]
    badness: float
    """Sum of preference × (cut ÷ unit)^power over the objectives."""


def cut_weight(graph: csr_array, part: NDArray[np.int64]) -> float:
    """Add up the weights of edges whose ends are in different parts; each edge counts once."""
    starts = np.repeat(part, np.diff(graph.indptr))
    return float(graph.data[starts != part[graph.indices]].sum()) / 2


def refined(
    part: NDArray[np.int64],
    objectives: tuple[Objective, Objective],
    room: Room,
    rounds: int,
    power: float,
) -> Refined:
    """Move vertices for some rounds, as long as one moves.

    The higher the power, the more the objective that is worst off decides. Nothing moves into a part that
    would overflow.
    """
    current = part.copy()
    cuts = np.array([one.cut(part) for one in objectives])
    preferences = np.array([one.preference for one in objectives])
    if rounds:
        near, linked = (one.columns() for one in objectives)
        load = np.bincount(part, room.weight, len(room.limit)).astype(np.float64)
        limit, weight = room.limit.astype(np.float64), room.weight.astype(np.float64)
        for _ in range(rounds):
            if not kernels.move_once(near, linked, preferences, power, current, load, limit, weight, cuts):
                break
    return Refined(part=current, badness=float((preferences * np.maximum(cuts, 0.0) ** power).sum()))
