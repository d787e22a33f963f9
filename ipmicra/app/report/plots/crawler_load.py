"""Plot: how much each crawler has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportCrawler
from ipmicra.app.report.figures import loads, page_loads
from ipmicra.app.report.plots.axes import LABEL, Frame, horizontal_axis, short, ticks
from ipmicra.app.report.plots.palette import crawler_role
from ipmicra.app.report.plots.scene import Layer, Path, Rect, Scene, Style, Text, layer, words
from ipmicra.model.quantities import percent, plural

WIDTH, ROW, TOP = 380.0, 20.0, 6.0
NAME_LETTERS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A crawler's bar, or that of all the small ones."""

    name: str
    amount: int
    """Pages if those of every site are known, else sites."""
    tip: str
    crawler: int | None = None


def draw_loads(columns: Columns, config: ReportConfig) -> Scene | None:
    """Draw each crawler's pages, or sites where pages are not known, most first; None without a crawler."""
    unit = load_unit(columns)
    bars = load_bars(columns, config.max_bars)
    if not bars:
        return None
    frame = Frame(left=112, top=TOP, right=334, bottom=TOP + max(len(bars), 3) * ROW)
    values = ticks(float(max(1, *(bar.amount for bar in bars), 1)), 3, whole=True)

    def across(count: float) -> float:
        return frame.left + count / values[-1] * frame.width

    grid = Path(tuple(((across(value), frame.top), (across(value), frame.bottom)) for value in values))
    layers: list[Layer] = [layer([grid], Style(stroke="line"))]
    for i, bar in enumerate(bars):
        layers += _bar_layers(bar, frame.top + i * ROW, frame.left, across(bar.amount))
    return Scene(
        name="load",
        title="Load per crawler",
        alt=f"{unit.capitalize()} per crawler, most first. "
        + "; ".join(f"{bar.name}: {bar.amount}" for bar in bars),
        width=WIDTH,
        height=frame.bottom + 42,
        layers=(*layers, *horizontal_axis(frame, values, across, short, unit)),
    )


def load_unit(columns: Columns) -> str:
    """Say what load is counted in: pages if those of every site are known."""
    return "pages" if len(columns) and (columns.pages > 0).all() else "sites"


def load_bars(columns: Columns, most: int) -> list[Bar]:
    """Return one bar per crawler; those beyond the most loaded share one."""
    counts, pages = loads(columns), page_loads(columns)
    amounts = pages if pages is not None and load_unit(columns) == "pages" else counts
    order = [int(i) for i in np.argsort(-amounts, kind="stable")]
    bars = [
        Bar(
            name=columns.data.crawlers[i].name,
            amount=int(amounts[i]),
            tip=_tip(
                columns.data.crawlers[i],
                int(counts[i]),
                int(counts.sum()),
                None if pages is None else pages[i],
            ),
            crawler=i,
        )
        for i in order[:most]
    ]
    rest = order[most:]
    if rest:
        total = int(counts[rest].sum())
        tip = f"{plural(len(rest), 'other crawler')}\n{plural(total, 'site')} together"
        bars.append(Bar(name=f"{len(rest)} others", amount=int(amounts[rest].sum()), tip=tip))
    return bars


def _tip(crawler: ReportCrawler, sites: int, total: int, pages: NDArray[np.int64] | None) -> str:
    lines = [crawler.name, f"{plural(sites, 'site')} ({percent(sites / max(total, 1))})"]
    if pages is not None:
        lines.append(plural(int(pages), "page"))
    if crawler.load is not None:
        lines.append(f"load {percent(crawler.load, 0)} of capacity")
    lines += capacity_lines(crawler)
    return "\n".join(lines)


def capacity_lines(crawler: ReportCrawler) -> list[str]:
    """List the limits of a crawler."""
    capacity = crawler.capacity
    limits = [
        (capacity.bandwidth_mbps, "Mb/s"),
        (capacity.memory_gb, "GB of memory"),
        (capacity.max_pieces, "sites at a time"),
        (capacity.connections, "connections"),
    ]
    return [f"can bear {amount:g} {unit}" for amount, unit in limits if amount is not None]


def _bar_layers(bar: Bar, y: float, left: float, right: float) -> list[Layer]:
    role = "shared" if bar.crawler is None else crawler_role(bar.crawler)
    name = bar.name if len(bar.name) <= NAME_LETTERS else bar.name[: NAME_LETTERS - 1] + "…"
    shape = Rect(left, y + 3, max(right - left, 1.0), ROW - 6, bar.tip)
    return [
        layer([shape], Style(fill=role), "bar", crawler=bar.crawler, focusable=True),
        words([Text(left - 7, y + ROW - 6, name, size=LABEL, anchor="end")], "ink", crawler=bar.crawler),
        words([Text(right + 6, y + ROW - 6, f"{bar.amount:,}", size=LABEL)], crawler=bar.crawler),
    ]
