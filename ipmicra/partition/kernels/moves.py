"""Moving vertices between parts, one after the other, each to where both objectives together gain most."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def move_once(near, linked, preferences, power, part, load, limit, weight, cuts):
    """Go once through all vertices; change `part`, `load` and `cuts` in place; give the number of moves.

    `near` and `linked` are graphs as (starts, ends, weights), weights in units of a good cut; `cuts` are the
    two graphs' cuts in these units. A vertex only moves to where it fits; out of a part that is too full it
    moves at any price.
    """
    near_starts, near_ends, near_weights = near
    link_starts, link_ends, link_weights = linked
    parts = len(limit)
    near_ties = np.zeros(parts)
    link_ties = np.zeros(parts)
    moved = 0
    for vertex in range(len(part)):
        near_ties[:] = 0.0
        link_ties[:] = 0.0
        for edge in range(near_starts[vertex], near_starts[vertex + 1]):
            near_ties[part[near_ends[edge]]] += near_weights[edge]
        for edge in range(link_starts[vertex], link_starts[vertex + 1]):
            link_ties[part[link_ends[edge]]] += link_weights[edge]
        # slopes of preference × cut^power: what a unit of each cut is worth now
        near_worth = preferences[0] * max(cuts[0], 1e-9) ** (power - 1.0)
        link_worth = preferences[1] * max(cuts[1], 1e-9) ** (power - 1.0)
        own = part[vertex]
        best = -1
        most = -np.inf if load[own] > limit[own] else 1e-12
        for other in range(parts):
            if other == own or load[other] + weight[vertex] > limit[other]:
                continue
            gain = near_worth * (near_ties[other] - near_ties[own])
            gain += link_worth * (link_ties[other] - link_ties[own])
            if gain > most:
                most = gain
                best = other
        if best >= 0:
            part[vertex] = best
            load[own] -= weight[vertex]
            load[best] += weight[vertex]
            cuts[0] -= near_ties[best] - near_ties[own]
            cuts[1] -= link_ties[best] - link_ties[own]
            moved += 1
    return moved
