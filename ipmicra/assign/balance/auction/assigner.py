"""The assigner: every site to the nearest crawler that has room, and few moves when the fleet changes.

Theory of operation
-------------------
The task is an assignment problem: choose a crawler per site so that the sum of round trips is least while no
crawler holds more than its share of the load. An exact solution (Hungarian method, min-cost flow) is cubic or
needs all pairs in memory as edges; a million sites must take seconds. Bertsekas' auction is near the optimum,
needs one array per crawler, and can start from any prices.

1. *Groups.* Hosts of one address are fetched by one crawler, so they are assigned as one row whose cost is
   the mean of theirs, weighed by load (`groups.py`).
2. *Room.* Each crawler's share is the load (new and held) by capacity; its limit is the share ÷ `evenness`,
   and its room that plus `slack`, because sites are indivisible. Evenness 1 is equal load; by evenness 0
   there is room everywhere, nobody is outbid, and every site has its nearest crawler.
3. *What stays* (`sticky.py`). With previous owners, rows stay unless their crawler is gone, a newcomer draws
   them, or their crawler is far above its share. Only what does not stay takes part in the auction.
4. *Giants.* A row larger than any room would bid for ever: it goes to its nearest crawler first.
5. *The indifferent.* Rows to which all crawlers are equally near (as sites without any sample) have no
   nearest: they wait until the others have theirs, and then even the loads out. In the auction they would
   all go to the first crawler as long as it has room.
6. *Auction.* Waiting rows bid for room; prices rise until all have some, or patience ends. A large batch
   first auctions a sample for scaled-down room: the prices found there, lowered a little, let the whole batch
   settle in few bids.
7. *The rest.* What the auction leaves goes where it fits at least cost, else where it overflows least,
   largest first. So a row that any crawler can serve always gets one.

Invariants: the same input gives the same answer (the sample is drawn by a fixed seed); a row whose costs are
all infinite stays unassigned; without `overfull` no crawler is above its room.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.auction.groups import group_rows
from ipmicra.assign.balance.auction.sticky import Shares, settled
from ipmicra.assign.balance.config import AuctionConfig
from ipmicra.assign.balance.demand import AssignedSites, Demand
from ipmicra.model.types import NOBODY, Floats, Rows
from ipmicra.native import kernels

_LEAST = 1e-9
_SEED = 1
"""The sample that finds prices is drawn by this; the same input gives the same answer."""


def assign_sites(demand: Demand, config: AuctionConfig | None = None) -> AssignedSites:
    """Assign all sites: least cost, weighed by load, with no crawler above its share of the load.

    `config.evenness` trades load for nearness: by 0.8 a crawler gets up to 1.25 times its share, by 0 every
    site has its nearest crawler.
    With `previous` only those sites move that must (their crawler is gone, or far over its share) or that a
    crawler without any site draws away; a join or a leave thereby moves about one share of the load.
    """
    config = config or AuctionConfig()
    groups = group_rows(demand.group, demand.load)
    cost = groups.mean_cost(_clean(demand.cost_ms, demand.units), demand.load)
    previous = groups.first_of(demand.previous) if demand.previous is not None else None
    held = demand.held if demand.held is not None else np.zeros(len(demand.units))
    share = _share(float(groups.load.sum() + held.sum()), demand.units)
    limit = _limit(share, config)
    room = _room(groups.load, limit, held, config)
    stays = None
    if previous is not None and len(room) and not config.is_anew:
        shares = Shares(fair=_open(share, held), limit=_open(limit, held))
        stays = settled(cost, groups.load, shares, previous, config)
    is_indifferent = _is_indifferent(cost, demand.units)
    taker, bids = _taken(cost, groups.load, room, stays, is_indifferent, config)
    taker = _evened_out(groups.load, demand.units, held, taker, is_indifferent)
    return AssignedSites.of(demand, groups.spread(taker), groups.spread(_cheapest(cost)), room, bids)


def _clean(cost_ms: NDArray[np.floating], units: Floats) -> NDArray[np.float32]:
    """Make the cost of a crawler that cannot serve infinite."""
    cost: NDArray[np.float32] = cost_ms.astype(np.float32)
    if np.isnan(cost.sum()):
        cost[np.isnan(cost)] = np.inf
    if not units.all():
        cost[:, units <= 0] = np.inf
    return cost


def _share(load: float, units: Floats) -> Floats:
    """Share the load out by capacity."""
    total = float(units.sum())
    return load * units / total if total else np.zeros(len(units))


def _limit(share: Floats, config: AuctionConfig) -> Floats:
    """Return what each crawler may have at most: its share by evenness 1, no limit by evenness 0."""
    if config.evenness < _LEAST:
        return np.where(share > 0, np.inf, 0.0)
    return share / config.evenness


def _open(share: Floats, held: Floats) -> Floats:
    """Return the rest of each share or limit; above 0 for every crawler that takes part."""
    return np.where(share > 0, np.maximum(share - held, _LEAST), 0.0)


def _room(load: Floats, limit: Floats, held: Floats, config: AuctionConfig) -> Floats:
    """Add slack to every limit; at least one site of mean size fits into each that is not full.

    Sites are whole: 89 of one size on 11 crawlers leave room for 8.5 at each, which holds 88. Somebody must
    have 9, so everybody may: for 8 the sites would bid without end, and be sent far away for nothing.
    """
    mean = float(load.mean()) if len(load) else 0.0
    least = np.where(held > 0, 0.0, mean)
    most = limit * (1 + config.slack) + config.ahead * mean
    room: Floats = np.where(limit > 0, np.maximum(most - held, least), 0.0)
    is_even = mean > 0 and float(np.ptp(load)) == 0
    if is_even and np.isfinite(room).all() and np.floor(room / mean + _LEAST).sum() < len(load):
        room = np.ceil(room / mean - _LEAST) * mean
    return room


def _taken(
    cost: NDArray[np.float32],
    load: Floats,
    room: Floats,
    stays: Rows | None,
    is_indifferent: NDArray[np.bool_],
    config: AuctionConfig,
) -> tuple[Rows, int]:
    """Keep what stays, auction the rest but for indifferent rows, and place what the auction leaves."""
    taker = np.full(len(load), NOBODY) if stays is None else stays.copy()
    giants = np.flatnonzero((taker < 0) & ~is_indifferent & (load > room.max(initial=0.0)))
    taker[giants] = _cheapest(cost[giants])
    left = room - np.bincount(taker[taker >= 0], load[taker >= 0], len(room))
    waiting = np.flatnonzero((taker < 0) & ~is_indifferent)
    found, bids = _auctioned(cost, load, np.maximum(left, 0.0), waiting, config)
    taker[waiting] = found
    return _rest_placed(cost, load, room, taker, waiting), bids


def _is_indifferent(cost: NDArray[np.float32], units: Floats) -> NDArray[np.bool_]:
    """Tell which rows are equally far from every crawler with capacity, of which there are several."""
    equal = np.zeros(len(cost), bool)
    there = np.flatnonzero(units > 0)
    if len(there) < 2:  # noqa: PLR2004 - a choice
        return equal
    # few rows have even two crawlers at the same distance, so that the whole table is not read
    rows = np.flatnonzero((cost[:, there[0]] == cost[:, there[1]]) & np.isfinite(cost[:, there[0]]))
    own = cost[np.ix_(rows, there)]
    equal[rows] = (own == own[:, :1]).all(axis=1)
    return equal


def _evened_out(
    load: Floats, units: Floats, held: Floats, taker: Rows, is_indifferent: NDArray[np.bool_]
) -> Rows:
    """Assign indifferent rows, largest first, each to the crawler with least load for its capacity."""
    rows = np.flatnonzero((taker < 0) & is_indifferent)
    if not len(rows):
        return taker
    used = held + np.bincount(taker[taker >= 0], load[taker >= 0], len(units))
    there = np.flatnonzero(units > 0).tolist()
    loads = [(used[crawler] / units[crawler], crawler) for crawler in there]
    heapq.heapify(loads)
    for row in rows[np.argsort(-load[rows], kind="stable")].tolist():
        relative, crawler = loads[0]
        taker[row] = crawler
        heapq.heapreplace(loads, (relative + load[row] / units[crawler], crawler))
    return taker


def _auctioned(
    cost: NDArray[np.float32], load: Floats, room: Floats, waiting: Rows, config: AuctionConfig
) -> tuple[Rows, int]:
    """Auction the room among the waiting sites; a large batch takes its prices from a sample."""
    if not len(waiting) or not room.any():
        return np.full(len(waiting), NOBODY), 0
    own, loads = (cost, load) if len(waiting) == len(cost) else (cost[waiting], load[waiting])
    nearest = own.min(axis=1)
    mean = float(nearest[np.isfinite(nearest)].mean()) if np.isfinite(nearest).any() else 1.0
    price, step = np.zeros(len(room)), config.step * max(mean, 1e-6)
    size = max(config.least_sample, int(config.sample * len(own)))
    if len(own) > 2 * size:
        chosen = np.random.default_rng(_SEED).choice(len(own), size, replace=False)
        part = loads[chosen].sum() / max(loads.sum(), 1e-9)
        fewest = np.maximum(room * part, loads[chosen].mean() * (room > 0))
        _sold(own[chosen], loads[chosen], fewest, price, np.arange(size), (step, config.patience * size))
        price, step = price * config.discount, step * config.batch_step / config.step
        order = np.arange(len(own))  # memory is read in order, which counts for more than who bids first
    else:
        order = np.argsort(loads, kind="stable")  # the largest bid first: they need the most room
    return _sold(own, loads, room, price, order, (step, config.patience * len(own)))


def _sold(
    cost: NDArray[np.float32],
    load: Floats,
    room: Floats,
    price: Floats,
    order: Rows,
    limits: tuple[float, float],
) -> tuple[Rows, int]:
    """Hold one auction, which raises prices; return each site's winner (-1: none) and the number of bids."""
    step, most_bids = limits
    taker = np.empty(len(load), np.int64)
    bids = kernels.auction(
        np.ascontiguousarray(cost, np.float32),
        np.ascontiguousarray(load, np.float64),
        np.ascontiguousarray(room, np.float64),
        price,
        order,
        step,
        int(most_bids),
        taker,
    )
    return taker, bids


def _rest_placed(cost: NDArray[np.float32], load: Floats, room: Floats, taker: Rows, waiting: Rows) -> Rows:
    """Assign what still waits, largest first: where it fits at least cost, else with the least excess."""
    used = np.bincount(taker[taker >= 0], load[taker >= 0], len(room))
    left = waiting[taker[waiting] < 0]
    homeless = left[np.isfinite(cost[left].min(axis=1, initial=np.inf))]
    for site in homeless[np.argsort(-load[homeless], kind="stable")].tolist():
        can = np.isfinite(cost[site])
        fits = can & (used + load[site] <= room)
        relative = (used + load[site]) / np.maximum(room, 1e-9)
        best = np.where(fits, cost[site], np.inf) if fits.any() else np.where(can, relative, np.inf)
        taker[site] = int(best.argmin())
        used[taker[site]] += load[site]
    return taker


def _at(cost: NDArray[np.float32], crawlers: Rows) -> NDArray[np.float32]:
    return cost[np.arange(len(cost)), crawlers]


def _cheapest(cost: NDArray[np.float32]) -> Rows:
    """Return the crawler of least cost for each row; -1 where no crawler can serve."""
    if not cost.shape[1]:
        return np.full(len(cost), NOBODY)
    best = cost.argmin(axis=1)
    return np.where(np.isfinite(_at(cost, best)), best, NOBODY)
