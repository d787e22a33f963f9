"""The report's plots for the page: drawn when somebody looks, and kept for a while.

All sites of a store are read to draw them, which takes seconds for large ones. So the plots are drawn in a
thread of their own, at most as often as keeps that thread idle most of the time, and not at all for more
sites than a page should read: `ipmicra report` draws those.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

from markupsafe import Markup

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportCrawler, ReportData
from ipmicra.app.report.loaders.store import StoreContents
from ipmicra.app.report.plots.crawler_load import draw_loads
from ipmicra.app.report.plots.curves import draw_curves
from ipmicra.app.report.plots.hilbert import draw_hilbert
from ipmicra.app.report.plots.map import draw_map
from ipmicra.app.report.plots.svg import to_inline
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import InputError
from ipmicra.model.crawler import CrawlerState

DRAWN = (draw_map, draw_curves, draw_loads, draw_hilbert)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingConfig:
    """How often plots are drawn."""

    fresh_s: float = 15.0
    """Plots younger than this are shown again."""
    idle: float = 20.0
    """The thread rests this many times as long as it drew."""
    most_sites: int = 200_000
    """More are not read for a page."""
    report: ReportConfig = field(default_factory=lambda: ReportConfig(max_arcs=200, max_dots=400))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Plots as SVG by name, and the crawlers by whose numbers they are coloured."""

    plots: dict[str, Markup]
    crawlers: tuple[str, ...]
    sites: int
    note: str = ""
    """Why there is nothing to see, or not all."""


class Reads(Protocol):
    """Reads the store beside the event loop."""

    async def read(self, function: Any) -> Any:  # noqa: ANN401 - whatever the function returns
        """Return what a function makes of the store."""
        ...


class Drawings:
    """The last plots; drawn again when they are old and somebody asks."""

    def __init__(self, reader: Reads, config: DrawingConfig | None = None) -> None:
        """Draw from what a reader reads."""
        self._reader, self._config = reader, config or DrawingConfig()
        self._last: Drawn | None = None
        self._due_s = 0.0
        self._lock = asyncio.Lock()

    async def current(self, sites: int) -> Drawn:
        """Return the plots; `sites` is how many there are, about."""
        if self._last is not None and time.monotonic() < self._due_s:
            return self._last
        async with self._lock:
            if self._last is None or time.monotonic() >= self._due_s:
                began_s = time.monotonic()
                self._last = await self._reader.read(lambda store: draw(store, sites, self._config))
                took_s = time.monotonic() - began_s
                self._due_s = time.monotonic() + max(self._config.fresh_s, self._config.idle * took_s)
        return self._last


def draw(store: StorePort, sites: int, config: DrawingConfig) -> Drawn:
    """Draw what a store holds."""
    data, note = ReportData(crawlers=_crawlers(store), sites=()), ""
    if sites > config.most_sites:
        note = f"{sites:,} sites are too many to be drawn here: `ipmicra report` draws them."
    else:
        try:
            data = StoreContents(store=store).load()
        except InputError:
            note = "No site has an owner yet: plots appear with the first answers."
    columns = Columns(data)
    scenes = (make(columns, config.report) for make in DRAWN)
    return Drawn(
        plots={scene.name: Markup(to_inline(scene)) for scene in scenes if scene},  # noqa: S704 - escaped there
        crawlers=tuple(crawler.name for crawler in data.crawlers),
        sites=len(data.sites),
        note=note,
    )


def _crawlers(store: StorePort) -> tuple[ReportCrawler, ...]:
    return tuple(
        ReportCrawler(name=one.crawler.name, address=one.crawler.address, place=one.crawler.location)
        for one in store.crawlers.all()
        if one.crawler.state is not CrawlerState.LEFT
    )
