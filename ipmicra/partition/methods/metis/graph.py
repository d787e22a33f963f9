"""Graphs of distances and of links, sparse and weighted, for METIS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ipmicra.model.geo import arc_km, unit_vectors
from ipmicra.partition.centres import centres
from ipmicra.partition.config import MetisConfig
from ipmicra.partition.links.table import LinkTable
from ipmicra.partition.sites import SiteTable
from ipmicra.partition.sums import sums_by

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertices:
    """What is partitioned: groups of sites that stay together."""

    of_site: NDArray[np.int64]
    """The vertex of each site."""
    pages: NDArray[np.float64]
    """By vertex."""
    latitude: NDArray[np.float64]
    """By vertex; not a number where no site of it has a location."""
    longitude: NDArray[np.float64]

    def __len__(self) -> int:
        """Count the vertices."""
        return len(self.pages)


def make_vertices(sites: SiteTable, config: MetisConfig) -> Vertices:
    """Group sites by the grain; a vertex stands at the centre of its sites."""
    of_site, count = sites.vertices(config.grain)
    latitude, longitude = centres(
        of_site, count, (sites.latitude, sites.longitude), np.maximum(sites.pages, 1.0)
    )
    return Vertices(
        of_site=of_site,
        pages=sums_by(of_site, sites.pages, count),
        latitude=latitude,
        longitude=longitude,
    )


def distance_graph(vertices: Vertices, config: MetisConfig) -> csr_array:
    """Join each vertex to some of its own place and of the nearest places, by inverse distance.

    Many vertices stand in the same place (a city), and the nearest ones of each are its own neighbours there:
    a plain graph of nearest vertices would split into separate cities. So places have nearest places, and
    a vertex is joined to one vertex of each. Vertices without a place are joined to none.
    """
    rows = np.flatnonzero(np.isfinite(vertices.latitude))
    if not len(rows):
        return _symmetric(rows, rows, np.zeros(0), len(vertices))
    place, order, start, size = _by_place(vertices, rows)
    rank = np.empty(len(rows), np.int64)
    rank[order] = np.arange(len(rows)) - np.repeat(start, size)
    from_inside, to_inside = _inside_pairs(place, rank, order, (start, size), config.inside)
    nearest, away_km = _nearest_places(vertices, rows[order[start]], config.nearest)
    found = nearest[place]
    to_near = order[start[found] + rank[:, None] % size[found]]
    source = np.concatenate((from_inside, np.repeat(np.arange(len(rows)), found.shape[1])))
    target = np.concatenate((to_inside, to_near.reshape(-1)))
    km = np.concatenate((np.zeros(len(from_inside)), away_km[place].reshape(-1)))
    return _symmetric(rows[source], rows[target], 1.0 / (km + config.near_km), len(vertices))


def link_graph(vertices: Vertices, links: LinkTable) -> csr_array:
    """Join vertices by the number of links between their sites, in both directions."""
    source, target = vertices.of_site[links.source], vertices.of_site[links.target]
    differs = source != target
    return _symmetric(source[differs], target[differs], links.count[differs], len(vertices))


def combined(first: csr_array, second: csr_array, weights: tuple[float, float]) -> csr_array:
    """Add two graphs of the same vertices, each weighted."""
    return (first * weights[0] + second * weights[1]).tocsr()


def _symmetric(
    source: NDArray[np.int64], target: NDArray[np.int64], weight: NDArray[np.float64], count: int
) -> csr_array:
    """Make an undirected graph: both directions of every edge, repeated edges added up, no self links."""
    from scipy.sparse import coo_array

    differs = source != target
    ends = (source[differs], target[differs])
    one_way = coo_array((weight[differs], ends), shape=(count, count)).tocsr()
    return (one_way + one_way.T.tocsr()).tocsr()


def _by_place(
    vertices: Vertices, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Group rows by exact place: the place of each, their order by place, where each starts, its size."""
    # to a hundredth of a second of arc: what differs less stands in the same place
    key = np.round(vertices.latitude[rows] * 1e5) * 1e8 + np.round(vertices.longitude[rows] * 1e5)
    _, place, size = np.unique(key, return_inverse=True, return_counts=True)
    order = np.argsort(place, kind="stable")
    return place.astype(np.int64), order, np.cumsum(size) - size, size


def _inside_pairs(
    place: NDArray[np.int64],
    rank: NDArray[np.int64],
    order: NDArray[np.int64],
    groups: tuple[NDArray[np.int64], NDArray[np.int64]],
    steps: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Join each vertex to the next ones of its place, around a circle."""
    start, size = groups
    sources, targets = [], []
    for step in range(1, steps + 1):
        some = np.flatnonzero(size[place] > step)
        at = place[some]
        sources.append(some)
        targets.append(order[start[at] + (rank[some] + step) % size[at]])
    return np.concatenate(sources), np.concatenate(targets)


def _nearest_places(
    vertices: Vertices, first: NDArray[np.int64], nearest: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find the nearest other places of each place, and how many kilometres away they are."""
    from scipy.spatial import KDTree

    points = unit_vectors(vertices.latitude[first], vertices.longitude[first])
    count = min(nearest, len(first) - 1)
    if count < 1:
        return np.zeros((len(first), 0), np.int64), np.zeros((len(first), 0))
    chord, found = KDTree(points).query(points, count + 1)
    return found[:, 1:].astype(np.int64), arc_km(chord[:, 1:])
