"""Assigning by the zones of an overlay, from coordinates of the fleet to reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.assign.round_trips import FleetCoordinates
from ipmicra.assign.balance.by_overlay import Burden, Tasks, assign_by_overlay
from ipmicra.assign.balance.config import LBI_RTT, LbiConfig
from ipmicra.assign.balance.kept_overlay import KeptOverlay, Standing
from ipmicra.model.address import Address
from ipmicra.model.types import Floats, Rows

OVERLAYS: dict[str, LbiConfig | None] = {
    "can": None,
    "lbi": LbiConfig(),
    "lbi-rtt": LBI_RTT,
    "lbi-split": LbiConfig(),
}
"""Backends that answer from the overlay, with how they balance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneAnswer:
    """Who takes each task by its zone, and why."""

    taker: Rows
    reasons: list[str]
    moved_load: float
    overlay: KeptOverlay


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneQuestion:
    """Tasks and crawlers, in the order of the answer."""

    names: Sequence[str]
    """Of the crawlers."""
    addresses: Sequence[Address]
    """Of each task's site."""
    load: Floats
    burden: Burden
    previous: Rows | None
    """Who had each task by the same backend; -1 for nobody."""


def by_zones(
    found: FleetCoordinates, question: ZoneQuestion, backend: str, kept: KeptOverlay | None
) -> ZoneAnswer:
    """Ask the overlay, which goes on from the zones of the call before."""
    keys = [str(address) for address in question.addresses]
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    rows = list(first.values())
    is_known: NDArray[np.bool_] = np.asarray(np.isfinite(found.samples_ms[rows]).any(axis=1))
    count, load = len(question.names), question.load
    previous = question.previous if question.previous is not None else np.full(len(keys), -1)
    chosen = assign_by_overlay(
        Standing(names=question.names, points=found.crawler_points, is_known=np.ones(count, bool)),
        Standing(names=list(first), points=found.site_points()[rows], is_known=is_known),
        Tasks(sites=keys, pages=load, previous=previous),
        question.burden,
        OVERLAYS[backend],
        kept,
    )
    has_moved = (previous >= 0) & (chosen.taker != previous)
    return ZoneAnswer(
        taker=chosen.taker,
        reasons=[
            _reason(question.names[owner], is_own=owner == taker, is_kept=is_kept)
            for owner, taker, is_kept in zip(
                chosen.owner.tolist(), chosen.taker.tolist(), chosen.is_kept.tolist(), strict=True
            )
        ],
        moved_load=float(load[has_moved].sum() / load.sum()) if load.sum() else 0.0,
        overlay=chosen.overlay,
    )


def _reason(owner: str, *, is_own: bool, is_kept: bool) -> str:
    if is_own:
        return "owner of its zone"
    return f"kept: {owner} owns its zone" if is_kept else f"forwarded from {owner}: load"
