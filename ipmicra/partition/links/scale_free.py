"""Scale-free links by preferential attachment (Barabási & Albert 1999), inside places and across them.

Each new link ends at a site that is picked with a probability by the links it has already. A site is named
once in a list for every end of a link, and the new link copies a random earlier entry; entries that are
copies of copies are followed back, all at once, which takes about log n rounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def attach(
    group: NDArray[np.int64], degree: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return sources and targets of links, each within its group.

    Members join their group in random order, each with as many links as `degree` says. The first of
    a group can only link to itself; such links are left to the caller to sort out.
    """
    order = rng.permutation(len(group))
    order = order[np.argsort(group[order], kind="stable")]
    source = np.repeat(order, degree[order])
    start = _group_starts(group[source])
    slot = np.arange(len(source))
    # entry 2i of the list is link i's source, entry 2i + 1 its target: any entry of the group before that one
    picked = 2 * start + (rng.random(len(source)) * (2 * (slot - start) + 1)).astype(np.int64)
    while True:
        copies = np.flatnonzero(picked & 1)
        if not len(copies):
            break
        picked[copies] = picked[picked[copies] // 2]
    return source, source[picked // 2]


def _group_starts(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each entry of a sorted column where its group begins."""
    is_first = np.ones(len(group), bool)
    is_first[1:] = group[1:] != group[:-1]
    begins = np.flatnonzero(is_first)
    starts: NDArray[np.int64] = begins[np.cumsum(is_first) - 1]
    return starts
