"""What the choice between nearness and load costs, as `assign` prints and keeps it.

The evenness that a user chooses is valid until it is changed: a timer that calls `assign --due` names none,
and must not move sites back. A changed one is a new question, so the sites of that call are assigned anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from ipmicra.app.assign.problem import TaskTable
from ipmicra.assign.balance.config import AuctionConfig, PageCost
from ipmicra.assign.balance.demand import AssignedSites, Demand
from ipmicra.assign.balance.trade import EQUAL, NEAREST, Rating, Trade, TradePoint, trade_beside
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import InputError
from ipmicra.model.crawler import Crawler
from ipmicra.model.types import Floats

_EVENNESS = "assign evenness"
_TRADE = "assign trade"
"""Names of the saved states."""


def trade_of(table: TaskTable, demand: Demand, assigned: AssignedSites, expected_ms: Floats) -> Trade | None:
    """Rate an assignment beside the ends of the curve; None if there is nothing to choose."""
    config = table.problem.auction
    rating = Rating(rtt_ms=expected_ms, connections=connections_of(table.problem.crawlers))
    chosen = rating.point(demand, assigned.crawler, config.evenness)
    is_fresh = demand.previous is None or config.is_anew
    return trade_beside(demand, chosen, rating, config, is_fresh=is_fresh)


def connections_of(crawlers: Sequence[Crawler]) -> Floats:
    """Return each crawler's downloads at a time: as its capacity says, else the usual number."""
    usual = PageCost().connections
    return np.array([one.capacity.connections or usual for one in crawlers], np.float64)


def trade_findings(trade: Trade | None) -> list[str]:
    """Say what the choice costs, beside both ends."""
    if trade is None:
        return []
    ends = {NEAREST: "nearest", EQUAL: "equal load"}
    own = trade.chosen.evenness
    others = [point for point in trade.points if point.evenness in ends and point.evenness != own]
    return [
        f"evenness {own:g} ({ends.get(own or 0.0, 'chosen')}): {trade.chosen}",
        *(f"evenness {one.evenness:g} ({ends[one.evenness or 0.0]}): {one}" for one in others),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evenness:
    """How even the load shall be, and whether that is news."""

    value: float
    is_changed: bool = False
    """Whether an earlier call had another value."""
    findings: tuple[str, ...] = ()


def chosen_evenness(store: StorePort, asked: float | None) -> Evenness:
    """Return the evenness that was asked for, else the one chosen before, else the default."""
    default = AuctionConfig().evenness
    saved = store.states.get(_EVENNESS)
    findings: tuple[str, ...] = ()
    try:
        before = default if saved is None else AuctionConfig(evenness=float(saved)).evenness
    except (ValueError, InputError):
        before, findings = default, (f"the evenness kept in the store is damaged: {default:g} is used",)
    value = before if asked is None else AuctionConfig(evenness=asked).evenness
    return Evenness(value=value, is_changed=value != before, findings=findings)


def keep_trade(store: StorePort, evenness: float, trade: Trade | None, now_s: float) -> None:
    """Keep the chosen evenness for later calls, and the curve for reports."""
    store.states.put(_EVENNESS, repr(evenness).encode(), now_s)
    if trade is not None:
        store.states.put(_TRADE, json.dumps(asdict(trade)).encode(), now_s)


def kept_trade(store: StorePort) -> Trade | None:
    """Return the curve of the last call of `assign`; None if it is damaged: the next call makes another."""
    try:
        record = json.loads(store.states.get(_TRADE) or b"{}")
        points = tuple(TradePoint(**one) for one in record["points"])
        return Trade(sites=int(record["sites"]), chosen=TradePoint(**record["chosen"]), points=points)
    except (ValueError, TypeError, KeyError):
        return None
