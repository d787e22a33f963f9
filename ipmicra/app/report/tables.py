"""Tables of the page: organisations, crawlers, special sites, and a sample of all sites.

Tables are data; `templates/table.html` writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import Flag, ReportSite
from ipmicra.app.report.figures import excess_ms, loads, page_loads
from ipmicra.app.report.organisations import OrganisationRow, largest_organisations
from ipmicra.app.report.plots.crawler_load import capacity_lines
from ipmicra.app.report.plots.hilbert import EIGHTS, cells_of
from ipmicra.model.quantities import percent
from ipmicra.model.types import NOBODY

FLAGGED: dict[Flag | None, tuple[str, str]] = {
    Flag.ANYCAST: ("Anycast", "in many places at once: any crawler will do"),
    Flag.UNPROBEABLE: ("Unprobeable", "no crawler gets an answer"),
    None: ("Without a crawler", "no crawler has them"),
}
"""Title and meaning of the tables of special sites."""
SITE_HEADS = (
    *("host", "address", "subnet", "organisation", "country", "crawler"),
    *("RTT, ms", "excess, ms", "evidence", "probes", "pages"),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what is shown, what it is sorted by, and the crawler it names."""

    text: str
    value: float | None = None
    """Set for numbers, which are aligned to the right; minus infinity for one that is not known."""
    crawler: int | None = None
    is_long: bool = False
    """Names that may take several lines."""
    is_share: bool = False
    """A number from 0 to 1 that has a bar beside it."""
    kind: str = ""
    """Class of a text that is to stand out: `good` or `bad`."""
    link: str = ""
    """Where the text leads; the report, which is a file, has none."""

    @property
    def is_known(self) -> bool:
        """Whether the number is known."""
        return self.value is not None and bool(np.isfinite(self.value))


@dataclass(frozen=True, slots=True)
class Row:
    """One row, with the crawler that it belongs to: the legend shows or hides it."""

    crawler: int | None
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with sortable columns."""

    name: str
    title: str = ""
    caption: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]

    def is_numeric(self, i: int) -> bool:
        """Return whether a column has numbers."""
        return any(row.cells[i].value is not None for row in self.rows)


def page_tables(columns: Columns, config: ReportConfig) -> list[Table]:
    """Make the tables at the end of the page; those without rows are left out."""
    found: list[Table | None] = [
        organisation_table(columns, config),
        crawler_table(columns, config),
        *(flagged_table(columns, flag, config) for flag in FLAGGED),
        history_table(columns),
        site_table(columns, config),
    ]
    return [table for table in found if table and table.rows]


def text_cell(text: str | None) -> Cell:
    """Show a short text."""
    return Cell(text or "")


def name_cell(text: str | None, longest: int) -> Cell:
    """Show a name from outside, cut if it is very long."""
    text = text or ""
    return Cell(text if len(text) <= longest else text[: longest - 1] + "…", is_long=True)


def number_cell(value: float | None, form: str = ",.0f") -> Cell:
    """Show a number; nothing if it is not known."""
    if value is None or not np.isfinite(value):
        return Cell("", -np.inf)
    return Cell(format(value, form), float(value))


def share_cell(value: float | None) -> Cell:
    """Show a share in whole per cent; nothing if it is not known."""
    return number_cell(None) if value is None else Cell(percent(value, 0), value)


def crawler_cell(columns: Columns, number: int | None) -> Cell:
    """Show a crawler's name in its colour."""
    return Cell("none") if number is None else Cell(columns.data.crawlers[number].name, crawler=number)


def crawler_table(columns: Columns, config: ReportConfig) -> Table:
    """List the crawlers with what they have."""
    counts, pages, mean_ms = loads(columns), page_loads(columns), _mean_rtt_ms(columns)
    rows = []
    for i, crawler in enumerate(columns.data.crawlers[: config.site_rows]):
        place = crawler.place
        where = ", ".join(part for part in (place.city, place.country) if part) if place else ""
        cells = (
            crawler_cell(columns, i),
            text_cell(str(crawler.address or "")),
            text_cell(where or (f"{place.latitude:.1f}, {place.longitude:.1f}" if place else "")),
            number_cell(int(counts[i])),
            number_cell(None if pages is None else float(pages[i])),
            number_cell(mean_ms[i], ".1f"),
            share_cell(crawler.load),
            text_cell("; ".join(line.removeprefix("can bear ") for line in capacity_lines(crawler))),
        )
        rows.append(Row(i, cells))
    heads = ("crawler", "address", "place", "sites", "pages", "mean RTT, ms", "load", "capacity")
    return _without_empty(
        Table(
            name="crawlers",
            title="Crawlers",
            caption=f"{columns.crawlers:,} in all",
            heads=heads,
            rows=tuple(rows),
        )
    )


def history_table(columns: Columns) -> Table | None:
    """List the steps of a store's history in which something happened, newest first."""
    steps = columns.data.history
    if len(steps) < 2:  # noqa: PLR2004 - as for its plot
        return None
    rows = tuple(
        Row(
            None,
            (
                Cell(f"{datetime.fromtimestamp(one.start_s, UTC):%Y-%m-%d %H:%M}", one.start_s),
                number_cell(one.delegations),
                number_cell(one.probes),
                number_cell(one.mean_rtt_ms, ".1f"),
                number_cell(one.moves),
            ),
        )
        for one in reversed(steps)
        if one.delegations or one.probes or one.moves
    )
    heads = ("from, UTC", "new delegations", "probes", "mean RTT, ms", "moves")
    return Table(name="history-table", title="Over time", caption="In even steps", heads=heads, rows=rows)


def _mean_rtt_ms(columns: Columns) -> list[float]:
    """Mean round trip of each crawler to its sites; not-a-number if none is known."""
    is_known = (columns.crawler != NOBODY) & np.isfinite(columns.ours_ms)
    owner = columns.crawler[is_known]
    counts = np.bincount(owner, minlength=columns.crawlers)
    sums = np.bincount(owner, columns.ours_ms[is_known], columns.crawlers)
    return [float(total / count) if count else np.nan for total, count in zip(sums, counts, strict=True)]


def organisation_table(columns: Columns, config: ReportConfig) -> Table | None:
    """List the organisations with most sites."""
    found, total = largest_organisations(columns, config.organisation_rows)
    if not found:
        return None
    heads = ("organisation", "country", "sites", "subnets", "crawlers", "mean RTT, ms", "probes")
    caption = f"{len(found):,} of {total:,}, by sites"
    rows = tuple(Row(None, _organisation(row, columns, config)) for row in found)
    title = "Largest organisations"
    return _without_empty(Table(name="organisations", title=title, caption=caption, heads=heads, rows=rows))


def _organisation(row: OrganisationRow, columns: Columns, config: ReportConfig) -> tuple[Cell, ...]:
    names = columns.data.crawlers
    most = ", ".join(f"{names[i].name} {count:,}" for i, count in row.crawlers[:3])
    more = f" and {len(row.crawlers) - 3} more" if len(row.crawlers) > 3 else ""  # noqa: PLR2004
    return (
        name_cell(row.name, config.longest_text),
        text_cell(row.country),
        number_cell(row.sites),
        number_cell(row.subnets),
        Cell(most + more, crawler=row.crawlers[0][0] if row.crawlers else None),
        number_cell(row.mean_rtt_ms, ".1f"),
        number_cell(row.probes),
    )


def block_table(columns: Columns, config: ReportConfig) -> Table:
    """List the first bytes with most sites, and which crawler has most of each."""
    blocks = cells_of(columns, EIGHTS)
    busiest = sorted(blocks, key=lambda number: (-blocks[number].sites, number))[: config.busy_blocks]
    rows = []
    for number in busiest:
        crawler, sites = blocks[number].crawlers.most_common(1)[0]
        share = f" {percent(sites / blocks[number].sites, 0)}"
        name = columns.data.crawlers[crawler].name
        cells = (
            Cell(f"{number}.0.0.0/8"),
            number_cell(blocks[number].sites),
            Cell(name + share, crawler=crawler),
        )
        rows.append(Row(None, cells))
    caption = f"Busiest of {len(blocks):,} blocks"
    return Table(name="blocks", caption=caption, heads=("block", "sites", "mostly"), rows=tuple(rows))


def flagged_table(columns: Columns, flag: Flag | None, config: ReportConfig) -> Table | None:
    """List the sites with a flag, or those without a crawler."""
    found = [
        i
        for i, site in enumerate(columns.data.sites)
        if (site.flag is flag if flag else site.crawler is None)
    ]
    if not found:
        return None
    title, meaning = FLAGGED[flag]
    shown = found[: config.flagged_rows]
    some = f"; the first {len(shown):,}" if len(shown) < len(found) else ""
    table = _site_table(columns, config, shown, f"{flag or 'unassigned'}", f"{len(found):,}: {meaning}{some}")
    return replace(table, title=title)


def pick_sites(columns: Columns, config: ReportConfig) -> list[int]:
    """Choose the sites to list: all if they are few; else the slowest, and an even sample of the others.

    The choice depends on the data alone, and keeps its order.
    """
    total = len(columns)
    if total <= config.site_rows:
        return list(range(total))
    lost = excess_ms(columns)
    # Sites of unknown loss come last, so that they are only sampled.
    badness = np.nan_to_num(columns.ours_ms if lost is None else lost, nan=-1.0)
    slowest = {int(i) for i in np.argsort(-badness, kind="stable")[: config.slowest_rows]}
    others = [i for i in range(total) if i not in slowest]
    even = np.linspace(0, len(others) - 1, config.site_rows - len(slowest)).round().astype(int)
    return sorted(slowest | {others[i] for i in even})


def site_table(columns: Columns, config: ReportConfig) -> Table:
    """List sites."""
    picked = pick_sites(columns, config)
    caption = f"All {len(columns):,}"
    if len(picked) < len(columns):
        caption = (
            f"{len(picked):,} of {len(columns):,}: the {config.slowest_rows:,} that lose most, "
            "and an even sample of the others"
        )
    return replace(_site_table(columns, config, picked, "sites", caption), title="Sites")


def _site_table(
    columns: Columns, config: ReportConfig, picked: Sequence[int], name: str, caption: str
) -> Table:
    lost = excess_ms(columns)
    lost_ms = [None if lost is None else float(lost[i]) for i in picked]
    rows = tuple(
        Row(columns.data.sites[i].crawler, _site(columns, i, ms, config))
        for i, ms in zip(picked, lost_ms, strict=True)
    )
    return _without_empty(Table(name=name, caption=caption, heads=SITE_HEADS, rows=rows))


def _site(columns: Columns, i: int, lost_ms: float | None, config: ReportConfig) -> tuple[Cell, ...]:
    site: ReportSite = columns.data.sites[i]
    rtt_ms = float(columns.ours_ms[i])
    cell = number_cell(rtt_ms, ".1f")
    if site.is_expected and columns.data.true_rtt_ms is None and cell.text:
        cell = Cell(f"≈ {cell.text}", cell.value)
    return (
        name_cell(site.host, config.longest_text),
        text_cell(str(site.address or "")),
        text_cell(site.subnet.label if site.subnet else None),
        name_cell(site.organisation, config.longest_text),
        text_cell(site.country),
        crawler_cell(columns, site.crawler),
        cell,
        number_cell(lost_ms, ".1f"),
        text_cell(site.evidence.value if site.evidence else None),
        number_cell(site.probes),
        number_cell(site.pages),
    )


def _without_empty(table: Table) -> Table:
    """Leave out columns without any text."""
    kept = [i for i in range(len(table.heads)) if i == 0 or any(row.cells[i].text for row in table.rows)]
    return replace(
        table,
        heads=tuple(table.heads[i] for i in kept),
        rows=tuple(Row(row.crawler, tuple(row.cells[i] for i in kept)) for row in table.rows),
    )
