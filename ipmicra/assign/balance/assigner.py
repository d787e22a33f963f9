"""The assigner: every site to the nearest crawler that has room, and few moves when the fleet changes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.config import AuctionConfig
from ipmicra.assign.balance.groups import Groups, group_rows
from ipmicra.assign.balance.kernels.auction import auction
from ipmicra.assign.balance.sticky import settled
from ipmicra.errors import InputError
from ipmicra.model.types import NOBODY, Floats, Rows

_LEAST = 1e-9
_SEED = 1
"""The sample that finds prices is drawn by this; the same input gives the same answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Sites to assign, and what is known of them."""

    cost_ms: NDArray[np.floating]
    """Expected round trip of each site (row) to each crawler (column); NaN or infinite: cannot serve."""
    load: Floats
    """Pages of each site, or anything else that fills crawlers."""
    units: Floats
    """What each crawler can bear, relative to the others; 0 for one that gets nothing."""
    group: Rows | None = None
    """Sites with the same number go to the same crawler, as hosts of one address must."""
    previous: Rows | None = None
    """Who had each site before; -1 for nobody."""
    held: Floats | None = None
    """Load that crawlers have beside these sites, and keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Who gets each site."""

    crawler: Rows
    """-1 where nobody can serve a site."""
    nearest: Rows
    """The crawler that would be best if load did not count; -1 where nobody can serve."""
    is_kept: NDArray[np.bool_]
    """Whether a site stays where it was before."""
    used: Floats
    """Load of each crawler."""
    room: Floats
    """Load that each crawler was given room for."""
    moved_load: float
    """Part of all load that changed from one crawler to another; new sites do not count."""
    bids: int = 0
    overfull: tuple[int, ...] = field(default=())
    """Crawlers with more load than room: some site is larger than any crawler's share."""


def assign_sites(demand: Demand, config: AuctionConfig | None = None) -> Placement:
    """Assign all sites: least cost, weighed by load, with no crawler above its share of the load.

    With `previous` only those sites move that must (their crawler is gone, or far over its share) or that a
    crawler without any site draws away; a join or a leave thereby moves about one share of the load.
    """
    config = config or AuctionConfig()
    _check(demand)
    groups = group_rows(demand.group, demand.load)
    cost = groups.mean_cost(_clean(demand.cost_ms, demand.units), demand.load)
    previous = groups.first_of(demand.previous) if demand.previous is not None else None
    held = demand.held if demand.held is not None else np.zeros(len(demand.units))
    share = _share(float(groups.load.sum() + held.sum()), demand.units)
    room = _room(groups.load, share, held, config)
    stays = None
    if previous is not None and len(room):
        stays = settled(cost, groups.load, _open_share(share, held), previous, config)
    taker, bids = _taken(cost, groups.load, room, stays, config)
    return _placement(demand, groups, cost, taker, (room, bids))


def _check(demand: Demand) -> None:
    """Refuse tables that do not fit together, and loads that are no loads."""
    sites, crawlers = demand.cost_ms.shape
    if demand.load.shape != (sites,) or demand.units.shape != (crawlers,):
        raise InputError(f"{sites} sites × {crawlers} crawlers need as many loads and capacities")
    if not (np.isfinite(demand.load) & (demand.load >= 0)).all():
        raise InputError("loads must be finite and not negative: estimate them first (`believed_pages`)")
    if demand.held is not None and demand.held.shape != (crawlers,):
        raise InputError("there must be one load held for each crawler")
    if not (np.isfinite(demand.units) & (demand.units >= 0)).all():
        raise InputError("capacities must be finite and not negative")


def _clean(cost_ms: NDArray[np.floating], units: Floats) -> NDArray[np.float32]:
    """Make what cannot serve infinitely dear."""
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


def _open_share(share: Floats, held: Floats) -> Floats:
    """Give what is left of each share; above 0 for everybody who takes part."""
    return np.where(share > 0, np.maximum(share - held, _LEAST), 0.0)


def _room(load: Floats, share: Floats, held: Floats, config: AuctionConfig) -> Floats:
    """Give every share some slack; at least one site of mean size fits into each that is not full."""
    mean = float(load.mean()) if len(load) else 0.0
    least = np.where(held > 0, 0.0, mean)
    return np.where(share > 0, np.maximum(share * (1 + config.slack) - held, least), 0.0)


def _taken(
    cost: NDArray[np.float32], load: Floats, room: Floats, stays: Rows | None, config: AuctionConfig
) -> tuple[Rows, int]:
    """Keep what stays, auction the rest, and find a place for what the auction leaves."""
    taker = np.full(len(load), NOBODY) if stays is None else stays.copy()
    giants = np.flatnonzero((taker < 0) & (load > room.max(initial=0.0)))
    taker[giants] = _cheapest(cost[giants])
    left = room - np.bincount(taker[taker >= 0], load[taker >= 0], len(room))
    waiting = np.flatnonzero(taker < 0)
    found, bids = _auctioned(cost, load, np.maximum(left, 0.0), waiting, config)
    taker[waiting] = found
    return _rest_placed(cost, load, room, taker), bids


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
        auction(own[chosen], loads[chosen], fewest, price, np.arange(size), step, config.patience * size)
        price, step = price * config.discount, step * config.batch_step / config.step
        order = np.arange(len(own))  # memory is read in order, which counts for more than who bids first
    else:
        order = np.argsort(loads, kind="stable")  # the largest bid first: they need the most room
    taker, bids = auction(own, loads, room, price, order, step, config.patience * len(own))
    return taker, int(bids)


def _rest_placed(cost: NDArray[np.float32], load: Floats, room: Floats, taker: Rows) -> Rows:
    """Put what is still homeless where it fits at least cost, or where least is over, largest first."""
    used = np.bincount(taker[taker >= 0], load[taker >= 0], len(room))
    homeless = np.flatnonzero((taker < 0) & np.isfinite(cost.min(axis=1, initial=np.inf)))
    for site in homeless[np.argsort(-load[homeless], kind="stable")].tolist():
        can = np.isfinite(cost[site])
        fits = can & (used + load[site] <= room)
        relative = (used + load[site]) / np.maximum(room, 1e-9)
        best = np.where(fits, cost[site], np.inf) if fits.any() else np.where(can, relative, np.inf)
        taker[site] = int(best.argmin())
        used[taker[site]] += load[site]
    return taker


def _placement(
    demand: Demand, groups: Groups, cost: NDArray[np.float32], taker: Rows, sold: tuple[Floats, int]
) -> Placement:
    """Spread the groups' crawlers over their sites and sum up."""
    room, bids = sold
    crawler = groups.spread(taker)
    previous = demand.previous if demand.previous is not None else np.full(len(crawler), NOBODY)
    has_moved = (previous >= 0) & (crawler >= 0) & (crawler != previous)
    total = float(demand.load.sum())
    used: Floats = np.bincount(crawler[crawler >= 0], demand.load[crawler >= 0], len(room)).astype(np.float64)
    return Placement(
        crawler=crawler,
        nearest=groups.spread(_cheapest(cost)),
        is_kept=(previous >= 0) & (crawler == previous),
        used=used,
        room=room,
        moved_load=float(demand.load[has_moved].sum()) / total if total else 0.0,
        bids=bids,
        overfull=tuple(np.flatnonzero(used > room * (1 + 1e-9)).tolist()),
    )


def _at(cost: NDArray[np.float32], crawlers: Rows) -> NDArray[np.float32]:
    return cost[np.arange(len(cost)), crawlers]


def _cheapest(cost: NDArray[np.float32]) -> Rows:
    """Name the crawler of least cost for each row; -1 where nobody can serve."""
    if not cost.shape[1]:
        return np.full(len(cost), NOBODY)
    best = cost.argmin(axis=1)
    return np.where(np.isfinite(_at(cost, best)), best, NOBODY)
