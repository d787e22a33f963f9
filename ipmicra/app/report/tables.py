"""Tables of the page: organisations, crawlers, special sites, and a choice of all sites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import Flag, OrganisationRow, ReportSite
from ipmicra.app.report.figures import excess_ms, loads, page_loads
from ipmicra.app.report.organisations import largest_organisations
from ipmicra.app.report.plots.crawler_load import capacity_lines
from ipmicra.app.report.plots.hilbert import EIGHTS, cells_of
from ipmicra.app.report.plots.palette import crawler_role
from ipmicra.app.report.plots.svg import attribute, written
from ipmicra.model.types import NOBODY

SITE_HEADS = (
    *("host", "address", "subnet", "organisation", "country", "crawler"),
    *("RTT, ms", "excess, ms", "evidence", "probes", "pages"),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what is shown, what it is sorted by, and the crawler it names."""

    text: str
    value: float | None = None
    """Set for numbers, which stand to the right."""
    crawler: int | None = None
    is_long: bool = False
    """Names that may take several lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with sortable columns."""

    name: str
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[int | None, tuple[Cell, ...]], ...]
    """Each with the crawler whose choice in the legend keeps it in sight."""


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


def crawler_cell(columns: Columns, number: int | None) -> Cell:
    """Show a crawler's name in its colour."""
    return Cell("nobody") if number is None else Cell(columns.data.crawlers[number].name, crawler=number)


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
            number_cell(crawler.load, ".0%"),
            text_cell("; ".join(line.removeprefix("can bear ") for line in capacity_lines(crawler))),
        )
        rows.append((i, cells))
    heads = ("crawler", "address", "place", "sites", "pages", "mean RTT, ms", "load", "capacity")
    return _without_empty(
        Table(name="crawlers", caption=f"{columns.crawlers:,} in all", heads=heads, rows=tuple(rows))
    )


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
    rows = tuple((None, _organisation(row, columns, config)) for row in found)
    return _without_empty(Table(name="organisations", caption=caption, heads=heads, rows=rows))


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
        share = f" {sites / blocks[number].sites:.0%}"
        name = columns.data.crawlers[crawler].name
        cells = (
            Cell(f"{number}.0.0.0/8"),
            number_cell(blocks[number].sites),
            Cell(name + share, crawler=crawler),
        )
        rows.append((None, cells))
    caption = f"Busiest of {len(blocks):,} blocks"
    return Table(name="blocks", caption=caption, heads=("block", "sites", "mostly"), rows=tuple(rows))


def flagged_table(columns: Columns, flag: Flag | None, config: ReportConfig) -> Table | None:
    """List the sites with a flag, or those that nobody got."""
    found = [
        i
        for i, site in enumerate(columns.data.sites)
        if (site.flag is flag if flag else site.crawler is None)
    ]
    if not found:
        return None
    meaning = {
        Flag.ANYCAST: "in many places at once: any crawler will do",
        Flag.UNPROBEABLE: "no crawler gets an answer",
        None: "nobody got them",
    }
    shown = found[: config.flagged_rows]
    caption = f"{len(found):,}: {meaning[flag]}" + (
        f"; the first {len(shown):,}" if len(shown) < len(found) else ""
    )
    return _site_table(columns, config, shown, f"{flag or 'nobody'}", caption)


def pick_sites(columns: Columns, config: ReportConfig) -> list[int]:
    """Choose the sites to list: all if they are few; else the slowest, and an even sample of the others.

    The choice depends on the data alone; it is given in the order of the data.
    """
    total = len(columns)
    if total <= config.site_rows:
        return list(range(total))
    lost = excess_ms(columns)
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
    return _site_table(columns, config, picked, "sites", caption)


def _site_table(
    columns: Columns, config: ReportConfig, picked: Sequence[int], name: str, caption: str
) -> Table:
    lost = excess_ms(columns)
    rows = tuple(
        (columns.data.sites[i].crawler, _site(columns, i, None if lost is None else float(lost[i]), config))
        for i in picked
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
    """Leave out columns in which nothing stands."""
    kept = [i for i in range(len(table.heads)) if i == 0 or any(cells[i].text for _, cells in table.rows)]
    return Table(
        name=table.name,
        caption=table.caption,
        heads=tuple(table.heads[i] for i in kept),
        rows=tuple((crawler, tuple(cells[i] for i in kept)) for crawler, cells in table.rows),
    )


def to_html(table: Table) -> str:
    """Write a table; its heads are buttons that sort."""
    numeric = [any(cells[i].value is not None for _, cells in table.rows) for i in range(len(table.heads))]
    heads = "".join(
        f'<th scope="col"{_right(is_number)}><button type="button">{written(head)}</button></th>'
        for head, is_number in zip(table.heads, numeric, strict=True)
    )
    body = "".join(_row(crawler, cells) for crawler, cells in table.rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label={attribute(table.caption)}>'
        f'<table id="table-{table.name}"><caption>{written(table.caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(crawler: int | None, cells: Iterable[Cell]) -> str:
    mark = "" if crawler is None else f' class="m k{crawler}"'
    return f"<tr{mark}>{''.join(_cell(cell) for cell in cells)}</tr>"


def _cell(cell: Cell) -> str:
    if cell.value is not None:
        value = "" if cell.value == -np.inf else f' data-v="{cell.value:.6g}"'
        return f'<td class="n"{value}>{written(cell.text)}</td>'
    swatch = "" if cell.crawler is None else f'<i class="w {crawler_role(cell.crawler)}"></i>'
    kind = ' class="t"' if cell.is_long else ""
    return f"<td{kind}>{swatch}{written(cell.text)}</td>"


def _right(is_number: bool) -> str:  # noqa: FBT001
    return ' class="n"' if is_number else ""
