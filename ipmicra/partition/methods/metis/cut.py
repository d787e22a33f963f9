"""Partitioning graphs of distances and links by METIS [7], as in [1].

Theory of operation
-------------------
A vertex is a group of sites that must stay together (`grain`), weighed by its pages; an edge is heavy where
its ends are near each other, or much linked. A partition is good if few heavy edges are cut and no part has
more pages than its crawler has room for. Part i is cut for the capacity of crawler i; `parts_to_crawlers`
may exchange parts of equal capacity afterwards, so that each is near its crawler.

One objective (`cut`): METIS bisects recursively, since its parts are more even that way. Where a few heavy
vertices spoil that, it also cuts into all parts directly, and the more even partition is kept.

Two objectives (`cut_by_both`), where METIS knows only one sum:

1. Each graph is cut on its own (`parents_of`). The weight of its cut becomes its unit: "1.1" then means ten
   per cent worse than it could be alone, for distances and links alike.
2. The graphs are added in these units, weighed by the preference and with links favoured by `link_lean`
   (decision 0051 says why), and the sum is bisected.
3. That partition and the one by distances are improved by moving single vertices, so that the sum of
   preference × (cut ÷ unit)^power falls (`refine.py`); the one by links is a candidate as it is.
4. Small graphs are cut again with other seeds, as far as `tried_edges` allows. Of all candidates that
   overflow no part, the one with the least badness is taken; only if all overflow, the best of those.

What METIS asks for: whole numbers as weights, each at least 1, whose sum fits into 32 bits (it may be built
that way); and at least two parts. With more crawlers than vertices the last crawlers get nothing. The same
seed gives the same partition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError, MissingExtraError
from ipmicra.partition.links.table import LinkTable
from ipmicra.partition.methods.metis.graph import (
    Vertices,
    combined,
    distance_graph,
    link_graph,
    make_vertices,
)
from ipmicra.partition.methods.metis.mapping import parts_to_crawlers
from ipmicra.partition.methods.metis.refine import Objective, Room, cut_weight, refined
from ipmicra.partition.problem import Column, Problem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_PERMILLE = 1000
_LARGEST_TOTAL = 2**30
"""Sums of weights stay below: METIS may be built with 32-bit numbers."""


def metis_geo(problem: Problem) -> Column:
    """Cut the graph of distances."""
    vertices = make_vertices(problem.sites, problem.metis)
    graph = distance_graph(vertices, problem.metis)
    return parts_to_crawlers(problem, vertices, cut(graph, vertices, problem))


def metis_links(problem: Problem) -> Column:
    """Cut the graph of links."""
    vertices = make_vertices(problem.sites, problem.metis)
    graph = link_graph(vertices, _links(problem))
    return parts_to_crawlers(problem, vertices, cut(graph, vertices, problem))


def metis_multi(problem: Problem) -> Column:
    """Cut by distances and links together.

    Both graphs are cut separately; each one's weights are divided by its edge cut, which makes them
    comparable, weighed by the preference, and added; the sum is cut again [1]. This partition and that of the
    distances are improved by moving single vertices, and the best one is kept (decision 0051). A small graph
    is cut with several seeds.
    """
    vertices = make_vertices(problem.sites, problem.metis)
    return parts_to_crawlers(problem, vertices, cut_by_both(vertices, problem))


def metis_paper(problem: Problem) -> Column:
    """Cut by distances and links together as [1] does, and no more.

    Each graph is cut separately; its weights are multiplied by its preference and divided by its edge cut;
    the sum of both is cut once.
    """
    vertices = make_vertices(problem.sites, problem.metis)
    objectives, _ = parents_of(vertices, problem)
    first, second = objectives
    weights = first.preference / first.unit, second.preference / second.unit
    total = combined(first.graph, second.graph, weights)
    return parts_to_crawlers(problem, vertices, cut(total, vertices, problem))


def cut_by_both(vertices: Vertices, problem: Problem) -> NDArray[np.int64]:
    """Cut so that neither distances nor links are cut much more than they would be alone."""
    config = problem.metis
    objectives, parents = parents_of(vertices, problem)
    first, second = objectives
    weights = first.preference / first.unit, config.link_lean * second.preference / second.unit
    total = combined(first.graph, second.graph, weights)
    room = _room(vertices, problem)
    starts = [
        (bisected(total, vertices, problem), config.rounds),
        (parents[0], config.rounds),
        (parents[1], 0),
    ]
    for number in range(1, min(config.most_tries, config.tried_edges // max(total.nnz, 1))):
        other = replace(problem, seed=problem.seed + number)
        graphs = (total, first.graph, second.graph)
        starts += [(bisected(graph, vertices, other), config.rounds) for graph in graphs]
    candidates = [refined(part, objectives, room, rounds, config.power) for part, rounds in starts]
    return min(candidates, key=lambda one: (_excess(one.part, vertices, problem) > 0, one.badness)).part


def parents_of(
    vertices: Vertices, problem: Problem
) -> tuple[tuple[Objective, Objective], list[NDArray[np.int64]]]:
    """Cut the graphs of distances and of links separately; return both objectives and both partitions."""
    preference = problem.metis.preference
    if not 0 <= preference <= 1:
        raise InputError(f"a preference lies between 0 (links) and 1 (distance), not at {preference}")
    graphs = (distance_graph(vertices, problem.metis), link_graph(vertices, _links(problem)))
    parts = [cut(graph, vertices, problem) for graph in graphs]
    near, linked = (
        Objective(
            graph=graph, unit=cut_weight(graph, part) or float(graph.data.sum()) or 1.0, preference=weight
        )
        for graph, part, weight in zip(graphs, parts, (preference, 1 - preference), strict=True)
    )
    return (near, linked), parts


def cut(graph: csr_array, vertices: Vertices, problem: Problem) -> NDArray[np.int64]:
    """Let METIS cut a graph into one part per crawler, by pages and capacities; return each vertex's part.

    More crawlers than vertices: the last ones get nothing. Bisection comes first, since its parts are more
    even; where a few heavy vertices spoil that, a direct cut into all parts is tried too and the more even
    one kept.
    """
    first = bisected(graph, vertices, problem)
    if _excess(first, vertices, problem) <= 0 or min(problem.parts, len(vertices)) < 2:  # noqa: PLR2004
        return first
    direct = _call_metis(graph, vertices, problem, is_bisected=False)
    return min((first, direct), key=lambda part: _excess(part, vertices, problem))


def bisected(graph: csr_array, vertices: Vertices, problem: Problem) -> NDArray[np.int64]:
    """Let METIS bisect a graph recursively."""
    if min(problem.parts, len(vertices)) < 2:  # noqa: PLR2004 - METIS needs two parts
        return np.zeros(len(vertices), np.int64)
    return _call_metis(graph, vertices, problem, is_bisected=True)


def _excess(part: NDArray[np.int64], vertices: Vertices, problem: Problem) -> float:
    """Return by how many pages the fullest part is over its limit."""
    room = _room(vertices, problem)
    return float((np.bincount(part, room.weight, problem.parts) - room.limit).max())


def _room(vertices: Vertices, problem: Problem) -> Room:
    """Return how much each part may hold: its share and a little more, or the heaviest vertex.

    Vertices are not split: 89 of the same weight in 11 parts are 8.09 each, and one part must hold 9. So a
    part may be over its share by one ordinary vertex; without that nothing could move in a small graph.
    """
    weight = page_weights(vertices)
    share = weight.sum() * problem.crawlers.shares * (1 + problem.metis.uneven)
    ordinary = float(np.median(weight)) if len(weight) else 0.0
    return Room(weight=weight, limit=np.maximum(share + ordinary, float(weight.max(initial=0))))


def _call_metis(
    graph: csr_array, vertices: Vertices, problem: Problem, *, is_bisected: bool
) -> NDArray[np.int64]:
    try:
        import pymetis
    except ImportError as error:
        raise MissingExtraError("METIS", "pymetis") from error
    kind = pymetis.zero_copy_dtype()
    adjacency = pymetis.CSRAdjacency(
        adj_starts=graph.indptr.astype(kind, copy=False), adjacent=graph.indices.astype(kind, copy=False)
    )
    options = pymetis.Options()
    options.seed = problem.seed
    options.ufactor = max(int(problem.metis.imbalance * _PERMILLE), 1)
    shares = _shares(problem, min(problem.parts, len(vertices)))
    is_even = max(shares) - min(shares) < 1e-12  # noqa: PLR2004 - rounding
    found = pymetis.part_graph(
        len(shares),
        adjacency,
        vweights=page_weights(vertices).astype(kind, copy=False),
        eweights=edge_weights(graph).astype(kind, copy=False),
        tpwgts=None if is_even else shares,
        recursive=is_bisected,
        options=options,
    )
    return np.asarray(found.vertex_part, np.int64)


def edge_weights(graph: csr_array) -> NDArray[np.int64]:
    """Scale weights to whole numbers from 1 on whose sum METIS can hold."""
    total = float(graph.data.sum())
    if not total:
        return np.ones(len(graph.data), np.int64)
    weights: NDArray[np.int64] = np.maximum(np.round(graph.data * (_LARGEST_TOTAL / total)), 1).astype(
        np.int64
    )
    return weights


def page_weights(vertices: Vertices) -> NDArray[np.int64]:
    """Weigh vertices by pages, 1 at least: a site of no pages is visited all the same."""
    total = float(vertices.pages.sum())
    scale = min(1.0, _LARGEST_TOTAL / total) if total else 1.0
    weights: NDArray[np.int64] = np.maximum(np.round(vertices.pages * scale), 1).astype(np.int64)
    return weights


def _shares(problem: Problem, parts: int) -> list[float]:
    capacity = problem.crawlers.capacity[:parts]
    shares: list[float] = (capacity / capacity.sum()).tolist()
    return shares


def _links(problem: Problem) -> LinkTable:
    if problem.links is None:
        raise InputError("links are needed")
    return problem.links
