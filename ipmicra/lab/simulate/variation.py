"""Variation of round trips and download rates, of an invented day or of a user's measurements."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.edge.files.fields import Fields
from ipmicra.edge.files.tables import read_records
from ipmicra.errors import InputError
from ipmicra.lab.experiments.variation import (
    Day,
    DayPlan,
    Variation,
    invent_day,
    variation_claims,
    variation_of,
    variation_rows,
)
from ipmicra.lab.plots.picture import draw_curves, shares_below
from ipmicra.model.types import Floats

COLUMNS = ("crawler", "host", "time", "rtt_ms", "rate")
Rows = list[dict[str, Any]]


def simulate_variation(
    measurements: Path | None, seed: int, plot: Path | None
) -> tuple[Rows, Rows, list[Path]]:
    """Return rows, claims, and the plots that were drawn."""
    day = read_day(measurements) if measurements else invent_day(DayPlan(), np.random.default_rng(seed))
    found = variation_of(day)
    return (
        variation_rows(found),
        [asdict(claim) for claim in variation_claims(found)],
        _draw(plot, found) if plot else [],
    )


def read_day(path: Path) -> Day:
    """Read measurements; a time that a crawler has twice for a host keeps the last.

    Raises:
        InputError: The table lacks a column, or has a value that makes no sense.
    """
    crawlers: dict[str, int] = {}
    hosts: dict[str, int] = {}
    times: dict[str, int] = {}
    found: list[tuple[tuple[int, int, int], list[float]]] = []
    for where, record in read_records(path, COLUMNS):
        cells = Fields(record, where, _refuse)
        rtt_ms, rate, ping_ms = (cells.number(name) for name in ("rtt_ms", "rate", "ping_ms"))
        place = (
            crawlers.setdefault(record["crawler"], len(crawlers)),
            hosts.setdefault(record["host"], len(hosts)),
            times.setdefault(record["time"], len(times)),
        )
        found.append((place, [np.nan if value is None else value for value in (rtt_ms, rate, ping_ms)]))
    if not found:
        raise InputError(f"{path}: no measurements")
    shape = len(crawlers), len(hosts), len(times)
    tables = [np.full(shape, np.nan) for _ in range(3)]
    for place, values in found:
        for table, value in zip(tables, values, strict=True):
            table[place] = value
    rtt_ms_table, rate_table, ping_table = tables
    has_ping = bool(np.isfinite(ping_table).any())
    return Day(rtt_ms=rtt_ms_table, rate=rate_table, ping_ms=ping_table if has_ping else None)


def _refuse(finding: str) -> None:
    raise InputError(finding)


def _draw(folder: Path, found: Variation) -> list[Path]:
    between = {"round trip": found.rtt_between_crawlers, "download rate": found.rate_between_crawlers}
    over_time = {"round trip": found.rtt_over_time, "download rate": found.rate_over_time}
    files = [
        _draw_shares(folder / "fig10a-between-crawlers.png", "Between crawlers", between, "variation"),
        _draw_shares(folder / "fig10b-over-time.png", "Over time", over_time, "variation"),
    ]
    if len(found.http_by_ping):
        error = {"HTTP by ping": found.http_by_ping}
        files.append(_draw_shares(folder / "fig08-http-by-ping.png", "HTTP by ping", error, "relative error"))
    return files


def _draw_shares(path: Path, title: str, values: dict[str, Floats], label: str) -> Path:
    curves = {name: shares_below(one) for name, one in values.items()}
    return draw_curves(path, title, curves, (label, "share of the hosts"))
