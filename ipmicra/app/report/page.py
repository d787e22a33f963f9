"""The page: summary, plots and tables in one HTML file that asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files

from ipmicra.app.report.axes import plural, short
from ipmicra.app.report.columns import NOBODY, Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.curves import draw_curves
from ipmicra.app.report.data import Flag, ReportData
from ipmicra.app.report.figures import Summary, loads, summarise
from ipmicra.app.report.hilbert import draw_hilbert
from ipmicra.app.report.histogram import draw_probes
from ipmicra.app.report.icicle import draw_icicle
from ipmicra.app.report.load import draw_loads
from ipmicra.app.report.map import draw_map, shown_share
from ipmicra.app.report.palette import CRAWLER_LIGHT, colours, crawler_role
from ipmicra.app.report.scene import Scene
from ipmicra.app.report.svg import attribute, to_inline, written
from ipmicra.app.report.tables import (
    Table,
    block_table,
    crawler_table,
    flagged_table,
    organisation_table,
    site_table,
    to_html,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A rendered report."""

    html: str
    scenes: tuple[Scene, ...]
    summary: Summary


def render(data: ReportData, config: ReportConfig | None = None) -> Report:
    """Make the page, the plots and the figures of a report."""
    config = config or ReportConfig()
    columns = Columns(data)
    summary = summarise(columns, config)
    drawn = [
        draw(columns, config)
        for draw in (draw_map, draw_hilbert, draw_curves, draw_probes, draw_loads, draw_icicle)
    ]
    scenes = tuple(scene for scene in drawn if scene)
    body = _body(columns, config, summary, {scene.name: scene for scene in scenes})
    return Report(html=_document(data, body), scenes=scenes, summary=summary)


def _document(data: ReportData, body: str) -> str:
    style, script = _asset("report.css") + palette_css(len(data.crawlers)), _asset("report.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{written(data.title)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n{body}\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return files("ipmicra.app.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def palette_css(crawlers: int) -> str:
    """Write the colours of both surroundings, and the rules by which the legend picks out one crawler."""
    roles = {
        name: "".join(f"--{role}:{colour};" for role, colour in colours(is_dark=is_dark).items())
        for name, is_dark in (("light", False), ("dark", True))
    }
    paint = "".join(f".f-{role}{{fill:var(--{role})}}.s-{role}{{stroke:var(--{role})}}" for role in colours())
    marks = "".join(
        f".w.k{i}{{background:var(--{crawler_role(i)})}}"
        f'[data-only="{i}"] svg .m:not(.k{i}){{opacity:.05}}[data-only="{i}"] tr.m:not(.k{i}){{display:none}}'
        for i in range(crawlers)
    )
    return (
        f":root{{{roles['light']}}}@media (prefers-color-scheme:dark){{:root{{{roles['dark']}}}}}"
        f"@media print{{:root{{{roles['light']}}}}}{paint}{marks}"
    )


def _body(columns: Columns, config: ReportConfig, summary: Summary, scenes: dict[str, Scene]) -> str:
    parts = [
        _header(columns.data),
        _tiles(summary),
        _legend(columns, config),
        _plot(scenes, "map", "Where crawlers and their sites are", _map_note(columns, config), kind="wide zoom"),
        '<div class="grid">',
        _plot(scenes, "rtt", "Round trips", _rtt_note(columns, summary)),
        _plot(scenes, "probes", "Probes per site", _probes_note(columns)),
        _plot(scenes, "load", "Load per crawler", "Sites that each crawler has."),
        "</div>",
        _plot(scenes, "hilbert", "IPv4 space by crawler", _hilbert_note(columns), "square", to_html(block_table(columns, config))),
        _plot(scenes, "subnets", "Subnets in subnets", _tree_note(columns), kind="wide"),
        *_tables(columns, config),
        _footer(columns),
    ]
    return f"<main>{''.join(parts)}</main>\n" + '<div id="tip" role="status" hidden></div>'


def _header(data: ReportData) -> str:
    facts = [("when", data.when), ("policy", data.policy)]
    if data.hierarchy:
        told = f"{data.hierarchy.edition}, {plural(data.hierarchy.subnets, 'subnet')}"
        facts.append(("hierarchy", f"{told}, {plural(data.hierarchy.organisations, 'organisation')}"))
    shown = "".join(f"<div><dt>{name}</dt><dd>{written(text)}</dd></div>" for name, text in facts if text)
    command = f"<pre><code>{written(data.command)}</code></pre>" if data.command else ""
    notes = "".join(f"<li>{written(note)}</li>" for note in data.notes)
    return (
        f"<header><h1>{written(data.title)}</h1><dl>{shown}</dl>{command}"
        + (f'<ul class="notes">{notes}</ul>' if notes else "")
        + "</header>"
    )


def tiles(summary: Summary) -> list[tuple[str, str, str]]:
    """Give the figures on top: name, figure, and what to know of it."""
    inside = [plural(summary.subnets, "subnet")] if summary.subnets else []
    inside += [plural(summary.organisations, "organisation")] if summary.organisations else []
    found = [
        ("sites", f"{summary.sites:,}", f"on {summary.crawlers_used:,} of {plural(summary.crawlers, 'crawler')}"
         + (f"; {', '.join(inside)}" if inside else "")),
    ]
    if summary.optimal is not None:
        found.append(
            ("nearest crawler", f"{summary.optimal:.1%}", f"of sites have it; {summary.within_2ms:.1%} within 2 ms of it")
        )
    if summary.probes_per_site is not None:
        found.append(("probes per site", f"{summary.probes_per_site:.2f}", f"{summary.probes:,} in all"))
    found += _rtt_tile(summary) + _pages_tile(summary)
    special = [(summary.anycast, "anycast"), (summary.unprobeable, "unprobeable")]
    special.append((summary.sites - summary.assigned, "without a crawler"))
    told = ", ".join(f"{count:,} {name}" for count, name in special if count)
    if told:
        found.append(("special sites", f"{sum(count for count, _ in special):,}", told))
    return found


def _rtt_tile(summary: Summary) -> list[tuple[str, str, str]]:
    if summary.mean_rtt_ms is None:
        return []
    notes = [f"median {summary.median_rtt_ms:.1f} ms"]
    if summary.hash_rtt_ms and summary.mean_rtt_ms:
        ratio = summary.hash_rtt_ms / summary.mean_rtt_ms
        notes.append(f"site hash {summary.hash_rtt_ms:.1f} ms: × {ratio:.1f}")
    if summary.oracle_rtt_ms is not None:
        notes.append(f"at best {summary.oracle_rtt_ms:.1f} ms")
    return [("mean round trip", f"{summary.mean_rtt_ms:.1f} ms", "; ".join(notes))]


def _pages_tile(summary: Summary) -> list[tuple[str, str, str]]:
    """Pages an hour; the second figure shows what an uneven load costs."""
    if summary.pages_per_hour is None:
        return []
    notes = []
    if summary.hash_pages_per_hour:
        notes.append(f"by the cost model, all lines busy: × {summary.pages_per_hour / summary.hash_pages_per_hour:.2f} of site hash")
    if summary.pages_per_hour_to_the_end:
        ending = f"{short(summary.pages_per_hour_to_the_end)} to the end of the slowest crawler"
        if summary.hash_pages_per_hour_to_the_end:
            ending += f", × {summary.pages_per_hour_to_the_end / summary.hash_pages_per_hour_to_the_end:.2f}"
        notes.append(ending)
    return [("pages an hour", short(summary.pages_per_hour), "; ".join(notes))]


def _tiles(summary: Summary) -> str:
    shown = "".join(
        f'<div class="tile"><dt>{written(name)}</dt><dd><b>{written(figure)}</b><span>{written(note)}</span></dd></div>'
        for name, figure, note in tiles(summary)
    )
    return f'<section aria-label="Summary"><dl class="tiles">{shown}</dl></section>'


def _legend(columns: Columns, config: ReportConfig) -> str:
    """Give a button a crawler: pressed, it shows that crawler alone."""
    counts = loads(columns)
    order = sorted(range(columns.crawlers), key=lambda i: (-counts[i], i))[: config.max_legend]
    buttons = "".join(
        f'<button type="button" data-c="{i}" aria-pressed="false"><i class="w k{i}"></i>'
        f"{written(columns.data.crawlers[i].name)} <small>{counts[i]:,}</small></button>"
        for i in order
    )
    more = columns.crawlers - len(order)
    hidden = f"<span>and {plural(more, 'crawler')} more</span>" if more else ""
    again = (
        f"<span>colours begin anew after {len(CRAWLER_LIGHT)} crawlers</span>"
        if columns.crawlers > len(CRAWLER_LIGHT)
        else ""
    )
    return (
        '<nav class="legend" aria-label="Show one crawler alone"><strong>Show one crawler</strong>'
        f'{buttons}<button type="button" data-c="" hidden>show all</button>{hidden}{again}</nav>'
    )


def _plot(
    scenes: dict[str, Scene], name: str, title: str, note: str, kind: str = "", beside: str = ""
) -> str:
    if name not in scenes:
        return ""
    tools = ""
    if "zoom" in kind:
        tools = (
            '<div class="tools"><button type="button" data-zoom="in" aria-label="Zoom in">+</button>'
            '<button type="button" data-zoom="out" aria-label="Zoom out">−</button>'
            '<button type="button" data-zoom="all">whole world</button></div>'
        )
    return (
        f'<figure class="card {kind}" id="{name}"><h2>{written(title)}</h2>{tools}'
        f'<div class="plot">{to_inline(scenes[name])}</div>{beside}<figcaption>{written(note)}</figcaption></figure>'
    )


def _map_note(columns: Columns, config: ReportConfig) -> str:
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


def _rtt_note(columns: Columns, summary: Summary) -> str:
    if columns.data.true_rtt_ms is not None:
        note = f"Over {plural(summary.compared, 'site')} whose true round trips are known."
        note += " Site hash: SHA-256 of the host name. Random: any crawler with the same chance."
    else:
        note = f"Over {plural(summary.compared, 'site')}, as measured or expected when they were assigned."
    return note


def _probes_note(columns: Columns) -> str:
    unknown = int((columns.probes == NOBODY).sum())
    note = "Sites whose subnet was delegated before take none."
    return note + (f" {plural(unknown, 'site')} without a count are left out." if unknown else "")


def _hilbert_note(columns: Columns) -> str:
    six = sum(site.address is not None and site.address.version != 4 for site in columns.data.sites)  # noqa: PLR2004
    note = "A square has the colour of the crawler with most of its sites. Point at one to see who is there."
    return note + (f" {plural(six, 'site')} with IPv6 addresses are not on it." if six else "")


def _tree_note(columns: Columns) -> str:
    note = "From wide subnets (top) to those that were delegated; as wide as their sites are many."
    if not columns.data.tree:
        note += " There was no hierarchy: subnets are nested by the first bytes of their addresses."
    return note + " Full colour: delegated; pale: all sites inside go to one crawler; grey: several crawlers."


def _tables(columns: Columns, config: ReportConfig) -> list[str]:
    found: list[tuple[str, Table | None]] = [
        ("Largest organisations", organisation_table(columns, config)),
        ("Crawlers", crawler_table(columns, config)),
        ("Anycast", flagged_table(columns, Flag.ANYCAST, config)),
        ("Unprobeable", flagged_table(columns, Flag.UNPROBEABLE, config)),
        ("Without a crawler", flagged_table(columns, None, config)),
        ("Sites", site_table(columns, config)),
    ]
    return [_section(title, table) for title, table in found if table and table.rows]


def _section(title: str, table: Table) -> str:
    search = ""
    if table.name == "sites":
        search = (
            '<label class="find">Find <input type="search" data-for="table-sites" autocomplete="off" '
            f"placeholder={attribute('host, address, organisation, …')}></label>"
        )
    return f'<section class="card" id="{table.name}"><h2>{written(title)}</h2>{search}{to_html(table)}</section>'


def _footer(columns: Columns) -> str:
    limits = "Made by ipmicra. This file needs no network: everything in it was put there when it was written."
    return f"<footer><p>{limits}</p></footer>"
