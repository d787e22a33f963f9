"""Sites that must stay together, as hosts of one address: they are assigned as one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.model.types import NOBODY, Floats, Rows

_LEAST = 1e-9
"""Weight of a site without load: its round trips still count where nothing else does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Rows by group; groups are numbered by their first row's number in sorted order."""

    of_row: Rows | None
    """Group of each row; None if every row is a group of its own."""
    load: Floats
    """Of each group."""

    def mean_cost(self, cost: NDArray[np.float32], load: Floats) -> NDArray[np.float32]:
        """Return each group's cost: the mean of its sites', weighed by load."""
        if self.of_row is None:
            return cost
        order = np.argsort(self.of_row, kind="stable")
        counts = np.bincount(self.of_row)
        starts = np.cumsum(counts) - counts
        mean: NDArray[np.float32] = cost[order[starts]]
        several = np.flatnonzero(counts > 1)
        if len(several):
            rows = order[np.repeat(counts > 1, counts)]
            weight = np.maximum(load[rows], _LEAST).astype(np.float32)
            inner = np.cumsum(counts[several]) - counts[several]
            total = np.add.reduceat(cost[rows] * weight[:, None], inner, axis=0)
            mean[several] = total / np.add.reduceat(weight, inner)[:, None]
        return mean

    def first_of(self, values: Rows) -> Rows:
        """Return one value per group: the one that most of its rows have; of several, the highest."""
        if self.of_row is None:
            return values
        chosen = np.full(len(self.load), NOBODY)
        known = np.flatnonzero(values >= 0)
        pairs, counts = np.unique(np.stack([self.of_row[known], values[known]]), axis=1, return_counts=True)
        order = np.argsort(counts, kind="stable")
        chosen[pairs[0, order]] = pairs[1, order]  # the most frequent comes last and stays
        return chosen

    def spread(self, values: Rows) -> Rows:
        """Return the group's value for each row."""
        return values if self.of_row is None else values[self.of_row]


def group_rows(group: Rows | None, load: Floats) -> Groups:
    """Number the groups and sum up their loads."""
    if group is None:
        return Groups(of_row=None, load=load)
    names, of_row = np.unique(group, return_inverse=True)
    if len(names) == len(group):
        return Groups(of_row=None, load=load)
    total: Floats = np.bincount(of_row, load, len(names)).astype(np.float64)
    return Groups(of_row=of_row, load=total)
