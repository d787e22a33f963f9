"""Nearness against load on a world with known round trips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ipmicra.app.assign.trade import connections_of
from ipmicra.assign.balance.config import AuctionConfig, TradeConfig
from ipmicra.assign.balance.demand import Demand
from ipmicra.assign.balance.load import believed_pages, units_of
from ipmicra.assign.balance.trade import Rating, trade_curve
from ipmicra.lab.evaluate.inputs import WorldSource, pages_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadEvaluation:
    """The curve, a row for each evenness, and what was wrong with the world."""

    world: str
    crawlers: int
    sites: int
    rows: list[dict[str, Any]]
    findings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def evaluate_load(source: WorldSource, levels: Sequence[float] = ()) -> LoadEvaluation:
    """Assign all sites of a world by each evenness, from equal load to the nearest crawlers."""
    findings: list[str] = []
    notes: list[str] = []
    levels = sorted({AuctionConfig(evenness=one).evenness for one in levels or TradeConfig().levels})[::-1]
    world = source.load(findings, notes)
    known = pages_of(source)
    counts = believed_pages([known.get(site.host) for site in world.sites])
    if counts.estimated == len(world.sites):
        notes.append("no number of pages is known, so all sites count the same: a column `pages` names them")
    capacities = [crawler.capacity for crawler in world.crawlers]
    demand = Demand(
        cost_ms=np.ascontiguousarray(world.rtt_ms.T, np.float64),
        load=counts.pages.astype(np.float64),
        units=units_of(capacities),
    )
    points = trade_curve(demand, levels, Rating(connections=connections_of(world.crawlers)))
    best = max((point.pages_per_hour or 0.0 for point in points), default=0.0)
    rows = [
        point.as_record() | {"of_best": round((point.pages_per_hour or 0.0) / best, 4) if best else None}
        for point in points
    ]
    return LoadEvaluation(
        world=world.name,
        crawlers=len(world.crawlers),
        sites=len(world.sites),
        rows=rows,
        findings=findings,
        notes=notes,
    )
