"""The best of many waiting pieces, or of many free crawlers."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(nogil=True, cache=True)
def dying(lives, age, steps):
    """Tell how likely a crawler of some age goes within so many steps, by the lives seen."""
    if len(lives) == 0:
        return 0.0
    older = np.searchsorted(lives, age)
    ended = np.searchsorted(lives, age + steps) - older
    return ended / (len(lives) - older + 1.0)


@numba.njit(nogil=True, cache=True)
def cost(crawler, piece, age, lives, below, told_ms, site, pages, last_crawler, weights, times):
    """Give what a piece costs on a crawler, in milliseconds a page; risk is left out where it cannot matter."""
    near_ms = told_ms[crawler, site[piece]]
    steps = (near_ms + times[0]) * pages[piece] / times[1]
    total = near_ms - weights[1] * steps
    if last_crawler[piece] == crawler:
        total -= weights[0]
    if total < below:
        total += weights[2] * dying(lives, age, steps) * steps / 2.0
    return total


@numba.njit(nogil=True, cache=True)
def best_piece(crawler, waiting, now, since, lives, told_ms, site, pages, last_crawler, weights, times):
    """Give the waiting piece that costs least on a crawler; -1 if none waits."""
    best, least = -1, np.inf
    age = now - since[crawler]
    for piece in waiting:
        total = cost(crawler, piece, age, lives, least, told_ms, site, pages, last_crawler, weights, times)
        if total < least:
            best, least = piece, total
    return best


@numba.njit(nogil=True, cache=True)
def best_crawler(piece, free, now, since, lives, told_ms, site, pages, last_crawler, weights, times):
    """Give the free crawler on which a piece costs least; -1 if none is free."""
    best, least = -1, np.inf
    for crawler in free:
        age = now - since[crawler]
        total = cost(crawler, piece, age, lives, least, told_ms, site, pages, last_crawler, weights, times)
        if total < least:
            best, least = crawler, total
    return best
