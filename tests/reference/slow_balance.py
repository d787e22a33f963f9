"""Slow, obviously right twins of fair load."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray


def cheapest_assignment(cost: NDArray[np.floating], room: list[int]) -> float:
    """Try every way to give each row (a site of load 1) a column with room; return the least cost."""
    best = np.inf
    for chosen in product(range(cost.shape[1]), repeat=len(cost)):
        if all(chosen.count(column) <= room[column] for column in range(cost.shape[1])):
            best = min(best, float(sum(cost[row, column] for row, column in enumerate(chosen))))
    return best


def forwarding_path(
    first: int,
    tasks: list[float],
    pages: list[float],
    neighbours: list[list[int]],
    threshold: float,
    hops: int,
) -> list[int]:
    """Follow the paper's words: overloaded crawlers hand on to the least loaded neighbour, so many times."""
    here, path = first, [first]
    for _ in range(hops):
        if tasks[here] <= threshold or not neighbours[here]:
            break
        least = min(pages[one] for one in neighbours[here])
        if least >= pages[here]:
            break
        here = next(one for one in neighbours[here] if pages[one] == least)
        path.append(here)
    return path


def dying_chance(lives: list[float], age: float, steps: float) -> float:
    """Count among the lives longer than an age those that end in time; one more is thought to last."""
    longer = [life for life in lives if life > age]
    return sum(life <= age + steps for life in longer) / (len(longer) + 1)


def whole_sites(sites: int, crawlers: int, evenness: float, slack: float = 0.05) -> int:
    """Count the sites of one size that a crawler may have: 1 ÷ evenness of the share and some slack, whole.

    Where all crawlers at that limit could not take all sites, one more.
    """
    if evenness * crawlers <= 1:
        return sites
    most = min(sites, max(1, int(sites / crawlers / evenness * (1 + slack) + 1e-9)))
    return most if most * crawlers >= sites else most + 1
