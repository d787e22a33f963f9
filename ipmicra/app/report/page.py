"""The page: summary, plots and tables in one HTML file that asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import Flag, ReportData
from ipmicra.app.report.figures import Summary, loads, summarise
from ipmicra.app.report.plots import captions
from ipmicra.app.report.plots.axes import plural
from ipmicra.app.report.plots.crawler_load import draw_loads
from ipmicra.app.report.plots.curves import draw_curves
from ipmicra.app.report.plots.hilbert import draw_hilbert
from ipmicra.app.report.plots.histogram import draw_probes
from ipmicra.app.report.plots.icicle import draw_icicle
from ipmicra.app.report.plots.map import draw_map
from ipmicra.app.report.plots.palette import CRAWLER_LIGHT, colours, crawler_role
from ipmicra.app.report.plots.scene import Scene
from ipmicra.app.report.plots.svg import attribute, to_inline, written
from ipmicra.app.report.tables import (
    Table,
    block_table,
    crawler_table,
    flagged_table,
    organisation_table,
    site_table,
    to_html,
)
from ipmicra.app.report.tiles import tiles


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
    drawn = [
        draw(columns, config)
        for draw in (draw_map, draw_hilbert, draw_curves, draw_probes, draw_loads, draw_icicle)
    ]
    scenes = tuple(scene for scene in drawn if scene)
    body = _body(columns, config, summary, {scene.name: scene for scene in scenes})
    names = tuple(crawler.name for crawler in data.crawlers)
    return Report(html=_document(data, body), scenes=scenes, summary=summary, crawlers=names)


def _document(data: ReportData, body: str) -> str:
    style, script = _asset("report.css") + palette_css(), _asset("report.js")
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


def palette_css() -> str:
    """Write the colours of both surroundings."""
    roles = {
        name: "".join(f"--{role}:{colour};" for role, colour in colours(is_dark=is_dark).items())
        for name, is_dark in (("light", False), ("dark", True))
    }
    paint = "".join(f".f-{role}{{fill:var(--{role})}}.s-{role}{{stroke:var(--{role})}}" for role in colours())
    swatches = "".join(f".w.c{i}{{background:var(--c{i})}}" for i in range(len(CRAWLER_LIGHT)))
    return (
        f":root{{{roles['light']}}}@media (prefers-color-scheme:dark){{:root{{{roles['dark']}}}}}"
        f"@media print{{:root{{{roles['light']}}}}}{paint}{swatches}"
    )


def _body(columns: Columns, config: ReportConfig, summary: Summary, scenes: dict[str, Scene]) -> str:
    parts = [
        _header(columns.data),
        _tiles(summary, is_oracle=columns.data.is_oracle),
        _legend(columns, config),
        _plot(
            scenes,
            "map",
            "Where crawlers and their sites are",
            captions.map_note(columns, config),
            kind="wide zoom",
        ),
        '<div class="grid">',
        _plot(scenes, "rtt", "Round trips", captions.rtt_note(columns, summary)),
        _plot(scenes, "probes", "Probes per site", captions.probes_note(columns)),
        _plot(scenes, "load", "Load per crawler", captions.load_note(columns)),
        "</div>",
        _addresses(columns, config, scenes),
        _plot(scenes, "subnets", "Subnets in subnets", captions.tree_note(columns), kind="wide"),
        *_tables(columns, config),
        _footer(),
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


def _tiles(summary: Summary, *, is_oracle: bool) -> str:
    shown = "".join(
        f'<div class="tile"><dt>{written(name)}</dt>'
        f"<dd><b>{written(figure)}</b><span>{written(note)}</span></dd></div>"
        for name, figure, note in tiles(summary, is_oracle=is_oracle)
    )
    return f'<section aria-label="Summary"><dl class="tiles">{shown}</dl></section>'


def _legend(columns: Columns, config: ReportConfig) -> str:
    """Give a button a crawler: pressed, it shows that crawler alone."""
    counts = loads(columns)
    order = sorted(range(columns.crawlers), key=lambda i: (-counts[i], i))[: config.max_legend]
    buttons = "".join(
        f'<button type="button" data-c="{i}" aria-pressed="false"><i class="w {crawler_role(i)}"></i>'
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
        f'<button type="button" data-c="" hidden>show all</button>{buttons}{hidden}{again}</nav>'
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
            '<button type="button" data-zoom="out" aria-label="Zoom out">\N{MINUS SIGN}</button>'
            '<button type="button" data-zoom="all">whole world</button></div>'
        )
    return (
        f'<figure class="card {kind}" id="{name}"><h2>{written(title)}</h2>{tools}'
        f'<div class="plot">{to_inline(scenes[name])}</div>{beside}'
        f"<figcaption>{written(note)}</figcaption></figure>"
    )


def _addresses(columns: Columns, config: ReportConfig, scenes: dict[str, Scene]) -> str:
    """Show the Hilbert map with its busiest blocks beside it."""
    beside = to_html(block_table(columns, config))
    return _plot(scenes, "hilbert", "IPv4 space by crawler", captions.hilbert_note(columns), "square", beside)


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
    return (
        f'<section class="card" id="{table.name}"><h2>{written(title)}</h2>{search}{to_html(table)}</section>'
    )


def _footer() -> str:
    limits = (
        "Made by ipmicra. This file needs no network: everything in it was put there when it was written."
    )
    return f"<footer><p>{limits}</p></footer>"
