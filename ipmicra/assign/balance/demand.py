"""The question and the answer of every assigner, as arrays: sites in rows, crawlers in columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.model.types import NOBODY, Floats, Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Sites to assign, and what is known about them."""

    cost_ms: NDArray[np.floating]
    """Expected round trip of each site (row) to each crawler (column); NaN or infinite: cannot serve."""
    load: Floats
    """Pages of each site, or anything else that fills crawlers."""
    units: Floats
    """Capacity of each crawler, relative to the others; 0 for one that gets nothing."""
    group: Rows | None = None
    """Sites with the same number go to the same crawler, as hosts of one address must."""
    previous: Rows | None = None
    """The crawler that had each site before; -1 for none."""
    held: Floats | None = None
    """Load that crawlers have besides these sites, and keep."""
    held_sites: Floats | None = None
    """Number of sites behind `held`; only LBI counts them."""

    def __post_init__(self) -> None:
        """Refuse tables that do not fit together, and values that are not loads."""
        sites, crawlers = self.cost_ms.shape
        if self.load.shape != (sites,) or self.units.shape != (crawlers,):
            raise InputError(f"{sites} sites × {crawlers} crawlers need as many loads and capacities")
        if not (np.isfinite(self.load) & (self.load >= 0)).all():
            raise InputError("loads must be finite and not negative: estimate them first (`believed_pages`)")
        if any(one is not None and one.shape != (crawlers,) for one in (self.held, self.held_sites)):
            raise InputError("there must be one load held for each crawler")
        if not (np.isfinite(self.units) & (self.units >= 0)).all():
            raise InputError("capacities must be finite and not negative")

    @property
    def before(self) -> Rows:
        """The crawler that had each site before; -1 everywhere if nothing was assigned."""
        return self.previous if self.previous is not None else np.full(len(self.load), NOBODY)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedSites:
    """The crawler of each site."""

    crawler: Rows
    """-1 where no crawler can serve a site."""
    preferred: Rows
    """The crawler that would get the site if load did not count; -1 where no crawler can serve it."""
    is_kept: NDArray[np.bool_]
    """Whether a site stays where it was before."""
    used: Floats
    """Load of each crawler."""
    room: Floats
    """Load that each crawler has room for; infinite where the assigner sets no limit."""
    moved_load: float
    """Part of all load that changed from one crawler to another; new sites do not count."""
    bids: int = 0
    overfull: tuple[int, ...] = ()
    """Crawlers with more load than room: some site is larger than any crawler's share."""

    @classmethod
    def of(cls, demand: Demand, crawler: Rows, preferred: Rows, room: Floats, bids: int = 0) -> Self:
        """Sum up what assigning these crawlers means."""
        before, load = demand.before, demand.load
        has_moved = (before >= 0) & (crawler >= 0) & (crawler != before)
        total = float(load.sum())
        used: Floats = np.bincount(crawler[crawler >= 0], load[crawler >= 0], len(room)).astype(np.float64)
        return cls(
            crawler=crawler,
            preferred=preferred,
            is_kept=(before >= 0) & (crawler == before),
            used=used,
            room=room,
            moved_load=float(load[has_moved].sum()) / total if total else 0.0,
            bids=bids,
            overfull=tuple(np.flatnonzero(used > room * (1 + 1e-9)).tolist()),
        )
