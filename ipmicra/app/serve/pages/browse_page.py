"""Levels of the hierarchy, arranged for their template."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from ipmicra.app.report.tables import Cell, Row, Table, name_cell, number_cell, text_cell
from ipmicra.app.serve.pages.browsing import Level

LONGEST = 120
"""Characters of an organisation's name."""


def registries(counts: list[tuple[str, int]]) -> Table:
    """List the registries."""
    rows = tuple(
        Row(None, (Cell(name, link=f"/browse?registry={quote(name)}"), number_cell(count)))
        for name, count in counts
    )
    return Table(
        name="registries",
        title="Registries",
        caption=f"{len(rows)} with subnets",
        heads=("registry", "widest subnets"),
        rows=rows,
    )


def shown_level(level: Level, registry: str | None, row: int | None, edition: str) -> dict[str, Any]:
    """Arrange a level for its template."""
    own = f"row={row}&edition={edition}" if row is not None else f"registry={quote(registry or '')}"
    rows = tuple(
        Row(
            None,
            (
                Cell(one.subnet.label, link=f"/browse?row={one.subnet.row}&edition={edition}"),
                text_cell(one.subnet.netname),
                name_cell(one.subnet.organisation.label if one.subnet.organisation else None, LONGEST),
                text_cell(one.subnet.country),
                number_cell(one.inside),
                text_cell(one.crawler),
            ),
        )
        for one in level.lines
    )
    caption = f"{level.start + 1:,} to {level.start + len(rows):,} of {level.total:,}" if rows else ""
    table = Table(
        name="subnets",
        title="Subnets inside" if row is not None else "Widest subnets",
        caption=caption,
        heads=("subnet", "name", "organisation", "country", "inside", "crawler"),
        rows=rows,
    )
    return {
        "title": level.title,
        "crumbs": [(one.label, f"/browse?row={one.row}&edition={edition}") for one in level.above[:-1]],
        "facts": _facts(level) if level.above else [],
        "table": table if rows else None,
        "more": f"/browse?{own}&start={level.next_start}" if level.next_start is not None else "",
    }


def _facts(level: Level) -> list[tuple[str, str]]:
    subnet = level.above[-1]
    organisation = subnet.organisation
    found = [
        ("addresses", f"{subnet.first} - {subnet.last}"),
        ("name", subnet.netname),
        ("organisation", organisation.label if organisation else None),
        ("registry", subnet.registry.label),
        ("country", subnet.country),
        ("status", subnet.status),
        ("changed", subnet.date.isoformat() if subnet.date else None),
        ("address", subnet.postal_address),
        ("delegated to", level.crawler),
        ("subnets inside", f"{level.total:,}"),
    ]
    return [(name, text) for name, text in found if text]
