"""What is written under the plots."""

from __future__ import annotations

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.figures import Summary
from ipmicra.app.report.plots.axes import plural
from ipmicra.app.report.plots.crawler_load import load_unit
from ipmicra.app.report.plots.map import shown_share
from ipmicra.model.types import NOBODY


def map_note(columns: Columns, config: ReportConfig) -> str:
    """Say how the map is to be read and what is not on it."""
    drawn, placed = shown_share(columns, config)
    note = (
        "Sites of one crawler that lie close together share an arc and a dot; the wider, the more sites. "
        "Drag to move, use the buttons to zoom."
    )
    if drawn < placed:
        note += f" Arcs are drawn for {drawn:,} of {plural(placed, 'site')}, the largest bundles first."
    if placed < len(columns):
        note += f" {plural(len(columns) - placed, 'site')} without place or crawler are not on it."
    return note + " Land: Natural Earth."


def rtt_note(columns: Columns, summary: Summary) -> str:
    """Say on which sites round trips are compared."""
    if columns.data.true_rtt_ms is not None:
        note = f"Curves and means over {plural(summary.compared, 'site')} whose true round trips are known."
        note += " Site hash: SHA-256 of the host name. Random: any crawler with the same chance."
    else:
        note = (
            f"Over {plural(summary.compared, 'site')}, as measured or expected when assigned; with the mean."
        )
    return note


def probes_note(columns: Columns) -> str:
    """Say what the histogram leaves out."""
    unknown = int((columns.probes == NOBODY).sum())
    note = "Sites whose subnet was delegated before take none."
    return note + (f" {plural(unknown, 'site')} without a count are left out." if unknown else "")


def load_note(columns: Columns) -> str:
    """Say what load is counted in."""
    if load_unit(columns) == "pages":
        return "Pages of the sites that each crawler has. Point at a bar to see how many sites."
    return "Sites that each crawler has."


def hilbert_note(columns: Columns) -> str:
    """Say how the map of addresses is to be read and what is not on it."""
    six = sum(site.address is not None and site.address.version != 4 for site in columns.data.sites)  # noqa: PLR2004
    note = "A square has the colour of the crawler with most of its sites. Point at one to see who is there."
    return note + (f" {plural(six, 'site')} with IPv6 addresses are not on it." if six else "")


def tree_note(columns: Columns) -> str:
    """Say how the nested subnets are to be read."""
    note = "From wide subnets (top) to those that were delegated; as wide as their sites are many."
    if not columns.data.tree:
        note += " There was no hierarchy: subnets are nested by the first bytes of their addresses."
    return note + " Full colour: delegated; pale: all sites inside go to one crawler; grey: several crawlers."
