"""Plot: nearness against load, from equal load to the nearest crawlers."""

from __future__ import annotations

from collections.abc import Callable

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.plots.axes import LABEL, Frame, horizontal_axis, short, ticks, vertical_axis
from ipmicra.app.report.plots.scene import Circle, Layer, Path, Scene, Style, Text, layer, words
from ipmicra.app.report.trade import trade_of_report
from ipmicra.assign.balance.trade import EQUAL, NEAREST, Trade, TradePoint

WIDTH, HEIGHT = 380.0, 306.0
FRAME = Frame(left=52, top=34, right=362, bottom=262)
ENDS = {EQUAL: "1: equal load", NEAREST: "0: nearest"}
NAME_WIDTH, NAME_HEIGHT = 100.0, 40.0
"""Room that the name of an end of the curve takes."""


def draw_trade(columns: Columns, config: ReportConfig) -> Scene | None:
    """Draw mean round trip against the load of the busiest crawler; None if the curve is unknown."""
    trade = trade_of_report(columns, config)
    points = [point for point in trade.points if _is_known(point)] if trade else []
    if trade is None or not points:
        return None
    shown = [*points, *([trade.chosen] if _is_known(trade.chosen) else [])]
    trips = ticks(max(point.mean_rtt_ms or 0.0 for point in shown), 4)
    loads = ticks(max(point.busiest or 0.0 for point in shown), 4)

    def at(point: TradePoint) -> tuple[float, float]:
        return across(point.mean_rtt_ms or 0.0), up(point.busiest or 0.0)

    def across(rtt_ms: float) -> float:
        return FRAME.left + rtt_ms / trips[-1] * FRAME.width

    def up(load: float) -> float:
        return FRAME.bottom - load / loads[-1] * FRAME.height

    line = Path((tuple(at(point) for point in points),))
    dots = [Circle(*at(point), 4.0, _tip(point)) for point in points]
    named = [_name(point, *at(point)) for point in points if point.evenness in ENDS]
    return Scene(
        name="trade",
        title="Nearness against load",
        alt=_alt(trade, points),
        width=WIDTH,
        height=HEIGHT,
        layers=(
            *vertical_axis(FRAME, loads, up, lambda load: f"{load:g}", "busiest crawler, fair shares"),
            *horizontal_axis(FRAME, trips, across, short, "mean round trip, ms"),
            layer([line], Style(stroke="accent", stroke_width=2.6), "curve"),
            layer(dots, Style(fill="accent"), "bar", focusable=True),
            *_own(trade.chosen, at, named),
            words(named, "ink"),
        ),
    )


def _own(
    chosen: TradePoint, at: Callable[[TradePoint], tuple[float, float]], named: list[Text]
) -> list[Layer]:
    """Mark what the sites have now, by a ring around its place; its name is above it where one is below."""
    if not _is_known(chosen):
        return []
    x, y = at(chosen)
    is_taken = any(abs(name.x - x) < NAME_WIDTH and y < name.y < y + NAME_HEIGHT for name in named)
    ring = Circle(x, y, 8.0, f"now\n{_tip(chosen)}")
    return [
        layer([ring], Style(stroke="ink", stroke_width=1.6), "bar", focusable=True),
        words([Text(x, y - 13 if is_taken else y + 21, "now", size=LABEL, anchor="middle")], "ink"),
    ]


def _name(point: TradePoint, x: float, y: float) -> Text:
    """Name an end of the curve, where the name does not leave the plot."""
    end = ENDS[point.evenness or NEAREST]
    if point.evenness == EQUAL:
        return Text(x + 4, y + 20, end, size=LABEL, anchor="end")
    return Text(x + 8, y - 6, end, size=LABEL)


def _is_known(point: TradePoint) -> bool:
    return point.mean_rtt_ms is not None and point.busiest is not None


def _tip(point: TradePoint) -> str:
    name = "" if point.evenness is None else f"evenness {point.evenness:g}\n"
    return name + str(point).replace(", ", "\n")


def _alt(trade: Trade, points: list[TradePoint]) -> str:
    parts = [f"evenness {point.evenness:g}: {point}" for point in points]
    return f"Nearness against load. Now: {trade.chosen}. " + "; ".join(parts) + "."
