"""Nearness against load: from the last `ipmicra assign`, or worked out where true round trips are known."""

from __future__ import annotations

import numpy as np

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.figures import connections
from ipmicra.assign.balance.config import AuctionConfig, TradeConfig
from ipmicra.assign.balance.demand import Demand
from ipmicra.assign.balance.load import believed_pages, units_of
from ipmicra.assign.balance.trade import Rating, Trade, trade_beside
from ipmicra.model.types import NOBODY


def trade_of_report(columns: Columns, config: ReportConfig) -> Trade | None:
    """Return the curve beside what the sites have; None if it is unknown, or there is nothing to choose."""
    data = columns.data
    true = data.true_rtt_ms
    if data.trade is not None or true is None or len(columns) > TradeConfig().most_sites:
        return data.trade
    counts = [None if count == NOBODY else count for count in columns.pages.tolist()]
    demand = Demand(
        cost_ms=np.ascontiguousarray(true.T),
        load=believed_pages(counts).pages.astype(np.float64),
        units=units_of([one.capacity for one in data.crawlers]),
    )
    rating = Rating(connections=connections(columns, config.cost), cost=config.cost)
    chosen = rating.point(demand, columns.crawler, None)
    return trade_beside(demand, chosen, rating, AuctionConfig(), is_fresh=False)
