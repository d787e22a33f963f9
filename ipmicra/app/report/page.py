"""The page: summary, plots and tables in one HTML file that needs no network.

Python works out what is shown, `templates/` say how. Two rules keep the page safe although hosts, holders and
places are untrusted text:

1. Templates escape every expression (autoescape), and `finalize` replaces control and direction characters in
   it first. Only what is `Markup` passes as it is: our style sheet, our script, and plots, whose texts
   `plots/svg.py` escapes by the same rule.
2. The content security policy allows exactly our style and our script, by their hashes, and nothing else: no
   style attributes, no handlers, no request to anybody. Hence tips and colours go through classes and
   `data-` attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportData
from ipmicra.app.report.figures import Summary, loads, summarise
from ipmicra.app.report.html import environment, page_script, page_style
from ipmicra.app.report.plots.crawler_load import draw_loads, load_unit
from ipmicra.app.report.plots.curves import draw_curves
from ipmicra.app.report.plots.hilbert import choose_order, draw_hilbert
from ipmicra.app.report.plots.histogram import draw_probes
from ipmicra.app.report.plots.history import draw_history
from ipmicra.app.report.plots.icicle import draw_icicle
from ipmicra.app.report.plots.map import draw_map, shown_share
from ipmicra.app.report.plots.scene import Scene
from ipmicra.app.report.plots.svg import to_inline
from ipmicra.app.report.plots.trade import draw_trade
from ipmicra.app.report.tables import block_table, page_tables
from ipmicra.app.report.tiles import tiles
from ipmicra.model.types import NOBODY

DRAWN = (draw_map, draw_hilbert, draw_curves, draw_probes, draw_loads, draw_trade, draw_history, draw_icicle)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A rendered report."""

    html: str
    scenes: tuple[Scene, ...]
    summary: Summary
    crawlers: tuple[str, ...]
    """Their names, for the keys of plots in files."""


def render(data: ReportData, config: ReportConfig | None = None) -> Report:
    """Make the page, the plots and the figures of a report."""
    config = config or ReportConfig()
    columns = Columns(data)
    summary = summarise(columns, config)
    scenes = tuple(scene for draw in DRAWN if (scene := draw(columns, config)))
    html = (
        _templates()
        .get_template("page.html")
        .render(
            data=data,
            summary=summary,
            tiles=tiles(summary, is_oracle=data.is_oracle),
            legend=_legend(columns, config),
            plots={scene.name: Markup(to_inline(scene)) for scene in scenes},  # noqa: S704 - escaped there
            facts=_facts(columns, config),
            blocks=block_table(columns, config),
            tables=page_tables(columns, config),
        )
    )
    names = tuple(crawler.name for crawler in data.crawlers)
    return Report(html=html, scenes=scenes, summary=summary, crawlers=names)


@cache
def _templates() -> Environment:
    made = environment("ipmicra.app.report")
    made.globals |= {
        "style": Markup(page_style()),  # noqa: S704 - our own
        "script": Markup(page_script()),  # noqa: S704 - our own
    }
    return made


def _legend(columns: Columns, config: ReportConfig) -> list[dict[str, Any]]:
    """Return the crawlers with most sites; each gets a button that shows it alone."""
    counts = loads(columns)
    order = sorted(range(columns.crawlers), key=lambda i: (-counts[i], i))[: config.max_legend]
    return [{"number": i, "name": columns.data.crawlers[i].name, "sites": int(counts[i])} for i in order]


def _facts(columns: Columns, config: ReportConfig) -> dict[str, Any]:
    """Work out what the captions say about sites that a plot leaves out."""
    drawn, placed = shown_share(columns, config)
    versions = [site.address.version for site in columns.data.sites if site.address is not None]
    return {
        "drawn": drawn,
        "placed": placed,
        "has_true_trips": columns.data.true_rtt_ms is not None,
        "uncounted": int(np.count_nonzero(columns.probes == NOBODY)),
        "load_unit": load_unit(columns),
        "is_expected": columns.data.baselines.is_expected,
        "ipv6": versions.count(6),
        "has_blocks": choose_order(columns, config) is None,
    }
