"""Links between sites, counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTable:
    """Directed links between different sites, by their row numbers."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    count: NDArray[np.float64]
    """Links on the pages of the source to pages of the target; above 0."""

    def __len__(self) -> int:
        """Count the pairs of sites that are linked."""
        return len(self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTally:
    """What became of the links that were handed in."""

    kept: int
    inside: int
    """Self links: from a site to itself; they never leave a crawler."""
    unknown: int
    """To or from a host that is not in the list."""
    empty: int
    """With a count of zero."""


def clean_links(
    source: NDArray[np.int64], target: NDArray[np.int64], count: NDArray[np.float64], sites: int
) -> tuple[LinkTable, LinkTally]:
    """Sort out self links, links of unknown hosts (numbers outside the list) and links of no weight."""
    if np.any(~np.isfinite(count)) or np.any(count < 0):
        raise InputError("counts of links must be numbers from 0 on")
    is_known = (source >= 0) & (source < sites) & (target >= 0) & (target < sites)
    is_inside = is_known & (source == target)
    is_empty = is_known & ~is_inside & (count == 0)
    is_kept = is_known & ~is_inside & ~is_empty
    table = LinkTable(
        source=source[is_kept].astype(np.int32),
        target=target[is_kept].astype(np.int32),
        count=count[is_kept],
    )
    tally = LinkTally(
        kept=len(table),
        inside=int(is_inside.sum()),
        unknown=int((~is_known).sum()),
        empty=int(is_empty.sum()),
    )
    return table, tally
