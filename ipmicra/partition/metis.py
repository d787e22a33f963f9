"""Partitioning graphs of distances and links by METIS [7], as in [1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.partition.config import MetisConfig
from ipmicra.partition.graph import (
    Vertices,
    combined,
    cut_weight,
    distance_graph,
    link_graph,
    make_vertices,
)
from ipmicra.partition.links import LinkTable
from ipmicra.partition.mapping import parts_to_crawlers
from ipmicra.partition.problem import Column, Problem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_PERMILLE = 1000
_LARGEST_TOTAL = 2**30
"""Sums of weights stay below: METIS may be built with 32-bit numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A partitioned graph."""

    part: NDArray[np.int64]
    """By vertex."""
    weight: float
    """Of the edges that were cut, in the graph's own unit."""


def metis_geo(problem: Problem) -> Column:
    """Cut the graph of distances."""
    vertices = make_vertices(problem.sites, problem.metis)
    graph = distance_graph(vertices, problem.metis)
    return parts_to_crawlers(problem, vertices, cut(graph, vertices, problem).part)


def metis_links(problem: Problem) -> Column:
    """Cut the graph of links."""
    vertices = make_vertices(problem.sites, problem.metis)
    graph = link_graph(vertices, _links(problem))
    return parts_to_crawlers(problem, vertices, cut(graph, vertices, problem).part)


def metis_multi(problem: Problem) -> Column:
    """Cut by distances and links together.

    Both graphs are cut apart; each one's weights are divided by its edge cut, which makes them comparable,
    weighed by the preference, and added; the sum is cut again [1].
    """
    vertices = make_vertices(problem.sites, problem.metis)
    graph = multi_graph(vertices, problem)
    return parts_to_crawlers(problem, vertices, cut(graph, vertices, problem).part)


def multi_graph(vertices: Vertices, problem: Problem) -> csr_array:
    """Add up the graphs of distances and links, each in units of its own edge cut."""
    preference = problem.metis.preference
    if not 0 <= preference <= 1:
        raise InputError(f"a preference lies between 0 (links) and 1 (distance), not at {preference}")
    near = distance_graph(vertices, problem.metis)
    linked = link_graph(vertices, _links(problem))
    scales = [cut(graph, vertices, problem).weight or float(graph.data.sum()) or 1.0 for graph in (near, linked)]
    return combined(near, linked, (preference / scales[0], (1 - preference) / scales[1]))


def cut(graph: csr_array, vertices: Vertices, problem: Problem) -> Cut:
    """Let METIS cut a graph into a part a crawler, weighted by pages and capacities.

    More crawlers than vertices: the last ones get nothing.
    """
    parts = min(problem.parts, len(vertices))
    if parts < 2:  # noqa: PLR2004 - METIS needs two parts
        return Cut(part=np.zeros(len(vertices), np.int64), weight=0.0)
    part = _call_metis(graph, _page_weights(vertices), _shares(problem, parts), problem)
    return Cut(part=part, weight=cut_weight(graph, part))


def _call_metis(
    graph: csr_array, pages: NDArray[np.int64], shares: list[float], problem: Problem
) -> NDArray[np.int64]:
    try:
        import pymetis
    except ImportError as error:
        raise InputError("METIS is missing: pip install 'ipmicra[partition]'") from error
    kind = pymetis.zero_copy_dtype()
    adjacency = pymetis.CSRAdjacency(
        adj_starts=graph.indptr.astype(kind, copy=False), adjacent=graph.indices.astype(kind, copy=False)
    )
    options = pymetis.Options()
    options.seed = problem.seed
    options.ufactor = max(int(problem.metis.imbalance * _PERMILLE), 1)
    options.ncuts = problem.metis.tries
    is_even = max(shares) - min(shares) < 1e-12  # noqa: PLR2004 - rounding
    found = pymetis.part_graph(
        len(shares),
        adjacency,
        vweights=pages.astype(kind, copy=False),
        eweights=edge_weights(graph, problem.metis).astype(kind, copy=False),
        tpwgts=None if is_even else shares,
        recursive=False,
        options=options,
    )
    return np.asarray(found.vertex_part, np.int64)


def edge_weights(graph: csr_array, config: MetisConfig) -> NDArray[np.int64]:
    """Scale weights to whole numbers from 1 on, the largest at most the configured range."""
    data = graph.data
    if not len(data):
        return np.zeros(0, np.int64)
    scale = min(config.weight_range / float(data.max()), _LARGEST_TOTAL / float(data.sum()))
    return np.maximum(np.round(data * scale), 1).astype(np.int64)


def _page_weights(vertices: Vertices) -> NDArray[np.int64]:
    """Weigh vertices by pages, 1 at least: a site of no pages is visited all the same."""
    total = float(vertices.pages.sum())
    scale = min(1.0, _LARGEST_TOTAL / total) if total else 1.0
    return np.maximum(np.round(vertices.pages * scale), 1).astype(np.int64)


def _shares(problem: Problem, parts: int) -> list[float]:
    capacity = problem.crawlers.capacity[:parts]
    shares: list[float] = (capacity / capacity.sum()).tolist()
    return shares


def _links(problem: Problem) -> LinkTable:
    if problem.links is None:
        raise InputError("links are needed")
    return problem.links
