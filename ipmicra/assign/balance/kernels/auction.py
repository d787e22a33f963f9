"""An auction of room on crawlers: sites bid, the lowest bids of a full crawler are displaced and bid again.

Bids are in the unit of cost for one unit of load. What a crawler has accepted is a skew heap over the sites
themselves (`left`, `right`, -1 for nothing), lowest bid on top.
"""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.model.types import NOBODY


@numba.njit(nogil=True, cache=True, error_model="numpy")
def merge(one, other, bid, left, right):
    """Merge two skew heaps; give the new top."""
    if one < 0:
        return other
    if other < 0:
        return one
    if bid[other] < bid[one]:
        one, other = other, one
    top = one
    while True:  # walk down the right spines; swap the children on the way
        down = right[one]
        right[one] = left[one]
        if down < 0:
            left[one] = other
            return top
        if bid[other] < bid[down]:
            down, other = other, down
        left[one] = down
        one = down


@numba.njit(nogil=True, cache=True, error_model="numpy")
def auction(cost, load, room, price, waiting, step, most_bids):
    """Sell room to the waiting sites; give who got each (-1 for nobody) and the number of bids.

    `cost` has a row a site and a column a crawler; infinite where a crawler cannot serve. `room` is load that
    a crawler may take; `price` is raised in place. The result costs at most one `step` a unit of load more
    than the best if all loads are equal and prices start at 0.
    """
    sites, crawlers = cost.shape
    taker = np.full(sites, NOBODY, np.int64)
    bid = np.zeros(sites)
    left, right = np.full(sites, NOBODY, np.int64), np.full(sites, NOBODY, np.int64)
    top = np.full(crawlers, NOBODY, np.int64)
    used = np.zeros(crawlers)
    stack = waiting.copy()
    count, bids = len(stack), 0
    while count > 0 and bids < most_bids:
        count -= 1
        site = stack[count]
        best, least, second = NOBODY, np.inf, np.inf
        for crawler in range(crawlers):
            value = cost[site, crawler] + price[crawler]
            if value < second and load[site] <= room[crawler]:
                if value < least:
                    best, least, second = crawler, value, least
                else:
                    second = value
        if best < 0:
            continue
        bids += 1
        gap = second - least if second < np.inf else step
        bid[site] = price[best] + gap + step
        left[site], right[site] = NOBODY, NOBODY
        top[best] = merge(top[best], site, bid, left, right)
        taker[site] = best
        used[best] += load[site]
        while used[best] > room[best]:
            lowest = top[best]
            top[best] = merge(left[lowest], right[lowest], bid, left, right)
            used[best] -= load[lowest]
            taker[lowest] = NOBODY
            price[best] = max(price[best], bid[lowest])
            stack[count] = lowest
            count += 1
    return taker, bids
