"""What the overview shows of a coordinator that runs: figures, crawlers, batches, events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ipmicra.app.report.tables import Cell, Row, Table, name_cell, number_cell, text_cell
from ipmicra.app.serve.pages.crawls_table import crawls_table
from ipmicra.app.serve.pages.news import News
from ipmicra.model.crawler import CALLS_OUT
from ipmicra.model.quantities import percent, plural

MINUTE_S, HOUR_S, DAY_S = 60.0, 3600.0, 86_400.0
SILENT = "silent"
LONGEST = 120

Described = Mapping[str, Any]
"""A crawler or batch as the API describes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """What changes while one looks."""

    tiles: list[tuple[str, str, str, str]]
    """Name, figure, what to know about it, and `good`, `bad` or nothing."""
    tables: list[Table]


@dataclass(frozen=True, slots=True, kw_only=True)
class Glimpse:
    """What is known of a coordinator at a moment; equal to the one before if nothing is to be shown anew."""

    software: str
    up: str
    """How long it runs."""
    readiness: Described
    crawlers: Sequence[Described]
    batches: Sequence[Described]
    nodes: Sequence[Described]
    """Those of running crawls."""
    seen: Mapping[str, str]
    """When agents that call out were last heard of."""
    news: Sequence[News]
    numbers: Mapping[str, int]
    """Of crawlers in the plots, which give them their colours."""


def live(glimpse: Glimpse) -> Live:
    """Arrange what is known."""
    tables = [
        _fleet(glimpse),
        *_coordinators(glimpse.readiness),
        crawls_table(glimpse.nodes, glimpse.numbers),
        _batches(glimpse.batches),
        _events(glimpse.news),
    ]
    return Live(tiles=_tiles(glimpse), tables=tables)


def ago(seconds: float) -> str:
    """Write how long ago something was, to two digits: 40 s, 12 min, 3 h, 5 days."""
    if seconds < MINUTE_S:
        return f"{max(seconds, 0):.0f} s"
    if seconds < HOUR_S:
        return f"{seconds / MINUTE_S:.0f} min"
    return f"{seconds / HOUR_S:.0f} h" if seconds < DAY_S else plural(int(seconds / DAY_S), "day")


def _tiles(glimpse: Glimpse) -> list[tuple[str, str, str, str]]:
    ready = glimpse.readiness
    states = [str(one["state"]) for one in glimpse.crawlers]
    others = {word: states.count(word) for word in dict.fromkeys(states) if word != "joined"}
    note = ", ".join(f"{count} {word}" for word, count in sorted(others.items())) or "all answer"
    sites = sum(int(one.get("sites") or 0) for one in glimpse.crawlers)
    running = [one for one in glimpse.batches if one["state"] in {"running", "waiting"}]
    is_ready = bool(ready["is_ready"])
    return [
        (
            "coordinator",
            "ready" if is_ready else "not ready",
            str(ready.get("trouble") or f"up {glimpse.up}; ipmicra {glimpse.software}"),
            "good" if is_ready else "bad",
        ),
        (
            "crawlers",
            f"{states.count('joined'):,}",
            note if states else "none yet",
            "bad" if SILENT in others else "",
        ),
        ("sites with an owner", f"{sites:,}", "by assignment", ""),
        (
            "hosts that wait",
            f"{int(ready['waiting']):,}",
            f"{len(running)} {'batch' if len(running) == 1 else 'batches'} under way",
            "",
        ),
    ]


def _fleet(glimpse: Glimpse) -> Table:
    rows = []
    for one in glimpse.crawlers:
        name, state = str(one["name"]), str(one["state"])
        number = glimpse.numbers.get(name)
        seen = glimpse.seen.get(name)
        place = ", ".join(str(one[key]) for key in ("city", "country") if one.get(key))
        cells = (
            Cell(name, crawler=number),
            Cell(state, kind={"joined": "good", SILENT: "bad"}.get(state, "")),
            text_cell(seen),
            text_cell(_agent(one)),
            text_cell(place),
            number_cell(one.get("sites")),
            number_cell(one.get("pages")),
        )
        rows.append(Row(number, cells))
    heads = ("crawler", "state", "seen", "agent", "place", "sites", "pages")
    caption = (
        f"{len(rows):,} in all" if rows else "No crawler yet: `ipmicra crawler add`, or an agent that joins."
    )
    return Table(name="fleet", title="Crawlers", caption=caption, heads=heads, rows=tuple(rows))


def _agent(one: Described) -> str:
    url = str(one.get("agent_url") or "")
    return "calls out" if url.startswith(CALLS_OUT) else "listens" if url else "none"


def _coordinators(ready: Described) -> list[Table]:
    """List those that share the database, if it can be shared."""
    if "coordinators" not in ready:
        return []
    rows = tuple(
        Row(None, (name_cell(name, LONGEST), name_cell(str(url), LONGEST)))
        for name, url in sorted(ready["coordinators"].items())
    )
    caption = f"{plural(len(rows), 'coordinator')} on this database; each decides a part of the sites"
    return [
        Table(name="coordinators", title="Coordinators", caption=caption, heads=("name", "URL"), rows=rows)
    ]


def _batches(batches: Sequence[Described]) -> Table:
    rows = tuple(Row(None, _batch(one)) for one in batches)
    heads = ("batch", "state", "done", "sites", "missing", "probes", "started", "what")
    caption = (
        f"The last {len(rows):,}, newest first" if rows else "No batch yet: `ipmicra delegate` starts one."
    )
    return Table(name="batches", title="Batches", caption=caption, heads=heads, rows=rows)


def _batch(one: Described) -> tuple[Cell, ...]:
    over = sum(int(one[key]) for key in ("sites", "doubles", "missing"))
    share = min(over / one["seeds"], 1.0) if one["seeds"] else 1.0
    what = f"{one['words']} ({one['trouble']})" if one.get("trouble") else str(one["words"])
    return (
        text_cell(str(one["id"])),
        Cell(str(one["state"]), kind="bad" if one.get("trouble") else ""),
        Cell(percent(share, 0), share, is_share=True),
        number_cell(one["sites"]),
        number_cell(one["missing"]),
        number_cell(one["probes"]),
        text_cell(str(one["started"])),
        name_cell(what, LONGEST),
    )


def _events(news: Sequence[News]) -> Table:
    rows = tuple(
        Row(
            None,
            (
                text_cell(one.at),
                Cell(one.level, kind="" if one.level == "info" else "bad"),
                text_cell(one.event),
                name_cell(one.text, LONGEST),
            ),
        )
        for one in news
    )
    caption = f"The last {len(rows):,}, newest first" if rows else "Nothing happened since the start."
    return Table(
        name="events", title="Events", caption=caption, heads=("time", "level", "event", "what"), rows=rows
    )
