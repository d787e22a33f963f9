"""Pieces of invented sites, or of a user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.edge.files.tables import read_records
from ipmicra.lab.experiments.pieces import (
    PUBLISHED,
    Links,
    PieceRow,
    SitePlan,
    invent_site,
    links_by_page,
    piece_rows,
)
from ipmicra.lab.plots.picture import draw_curves


@dataclass(frozen=True, slots=True, kw_only=True)
class PiecesRun:
    """Arguments of `simulate_pieces`."""

    links: Path | None = None
    most: int = 6
    sites: int = 200
    pages: int = 1000
    seed: int = 1
    plot: Path | None = None


def simulate_pieces(run: PiecesRun, say: Callable[[str], None]) -> tuple[list[dict[str, Any]], list[Path]]:
    """Return a row per number of pieces, the published figures last; and the plots that were drawn."""
    sites: list[Links]
    if run.links is not None:
        records = read_records(run.links, ("source", "target"))
        sites = [links_by_page((record["source"], record["target"]) for _, record in records)]
    else:
        say(f"inventing {run.sites} sites")
        plan = SitePlan(pages=run.pages)
        sites = [invent_site(plan, np.random.default_rng([run.seed, i])) for i in range(run.sites)]
    found = piece_rows(sites, range(2, run.most + 1))
    files = [_draw(run.plot, found)] if run.plot else []
    rows: list[dict[str, Any]] = [asdict(row) for row in found]
    rows.append({name: PUBLISHED.get(name) for name in rows[0]} | {"pieces": "published"})
    return rows, files


def _draw(folder: Path, rows: list[PieceRow]) -> Path:
    counts = [float(row.pieces) for row in rows]
    curves = {name: (counts, [getattr(row, name) for row in rows]) for name in ("overlap", "coverage")}
    labels = "pieces", "share of the pages"
    return draw_curves(folder / "fig11-overlap-and-coverage.png", "Pieces of a site", curves, labels)
