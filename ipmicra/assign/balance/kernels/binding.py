"""The best of many waiting pieces, or of many free crawlers.

What a piece costs on a crawler, in milliseconds a page, is a straight line of the round trip, `slope · rtt +
offset` (nearness, less what its length is worth), less `stay` where it was crawled before, plus the risk
that the work is lost.
`lives` counts the ended lives up to each of many equal steps of age.
"""

from __future__ import annotations

import numba
import numpy as np

STAY, RISK, FIXED_MS, PER_STEP, PER_AGE = 0, 1, 2, 3, 4
"""Places in `weights`: two weights, a page's fixed time, units of time in a ms, steps in a unit of age."""


@numba.njit(nogil=True, cache=True, error_model="numpy")
def risk(steps, age, lives, weights):
    """Give what the work counts that is expected to be lost if a crawler starts on so many steps."""
    if len(lives) == 0:
        return 0.0
    last = len(lives) - 1
    shorter = lives[min(int(age * weights[PER_AGE]), last)]
    ended = lives[min(int((age + steps) * weights[PER_AGE]), last)] - shorter
    return weights[RISK] * ended / (lives[last] - shorter + 1.0) * steps / 2.0


# The loops below repeat a few lines: calls that hand arrays on count references, which costs more.


@numba.njit(nogil=True, cache=True, error_model="numpy")
def best_piece(
    crawler, waiting, now, since, lives, told_ms, site, pages, slope, offset, last_crawler, weights
):
    """Give the waiting piece that costs least on a crawler; -1 if none waits."""
    best, least, age, stay = -1, np.inf, now - since[crawler], weights[STAY]
    for piece in waiting:
        near_ms = told_ms[crawler, site[piece]]
        total = slope[piece] * near_ms + offset[piece]
        if total - stay < least:
            if last_crawler[piece] == crawler:
                total -= stay
            if total < least:
                steps = (near_ms + weights[FIXED_MS]) * pages[piece] * weights[PER_STEP]
                total += risk(steps, age, lives, weights)
                if total < least:
                    best, least = piece, total
    return best


@numba.njit(nogil=True, cache=True, error_model="numpy")
def best_crawler(piece, free, now, since, lives, told_ms, site, pages, slope, offset, last_crawler, weights):
    """Give the free crawler on which a piece costs least; -1 if none is free."""
    best, least = -1, np.inf
    for crawler in free:
        near_ms = told_ms[crawler, site[piece]]
        total = slope[piece] * near_ms + offset[piece]
        if last_crawler[piece] == crawler:
            total -= weights[STAY]
        if total < least:
            steps = (near_ms + weights[FIXED_MS]) * pages[piece] * weights[PER_STEP]
            total += risk(steps, now - since[crawler], lives, weights)
            if total < least:
                best, least = crawler, total
    return best
