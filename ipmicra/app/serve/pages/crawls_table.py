"""The nodes of crawls on the overview: what they do, how fast, and what they spared others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ipmicra.app.report.tables import Cell, Row, Table, number_cell
from ipmicra.model.quantities import plural

HEADS = (
    *("node", "state", "queue", "pages", "pages/s"),
    *("foreign links", "duplicates avoided", "silent, s"),
)


def crawls_table(nodes: Sequence[Mapping[str, Any]], numbers: Mapping[str, int]) -> Table:
    """Show the nodes of all crawls; `numbers` give crawlers their colours."""
    rows = tuple(_row(one, numbers.get(str(one["crawler"]))) for one in nodes)
    speed = sum(float(one["pages_per_s"]) for one in nodes)
    caption = f"{plural(len(rows), 'node')}, {speed:.1f} pages per second in all"
    if not rows:
        caption = "No node yet: `ipmicra crawl` starts one, and so does a Scrapy spider with the add-on."
    return Table(name="crawls", title="Crawls", caption=caption, heads=HEADS, rows=rows)


def _row(one: Mapping[str, Any], number: int | None) -> Row:
    does = str(one["state"]) if one["state"] != "running" else "idle" if one["is_idle"] else "fetches"
    cells = (
        Cell(f"{one['node']} in {one['crawl']}", crawler=number),  # what tells rows apart when they change
        Cell(does, kind="good" if does == "fetches" else ""),
        number_cell(one["held"]),
        number_cell(one["pages"]),
        Cell(f"{one['pages_per_s']:.1f}", one["pages_per_s"]),
        number_cell(one["foreign_links"]),
        number_cell(one["duplicates_avoided"]),
        Cell(f"{one['silent_s']:.0f}", one["silent_s"]),
    )
    return Row(number, cells)
