"""Graphs, METIS, moves of single vertices, and the way from parts to crawlers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from ipmicra.errors import InputError
from ipmicra.native import kernels
from ipmicra.partition.compare import costs_of
from ipmicra.partition.config import MetisConfig
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.methods.metis.cut import cut, cut_by_both, parents_of
from ipmicra.partition.methods.metis.graph import combined, distance_graph, link_graph, make_vertices
from ipmicra.partition.methods.metis.mapping import parts_to_crawlers, renumbered
from ipmicra.partition.methods.metis.refine import Objective, Room, cut_weight, refined
from ipmicra.partition.methods.registry import METHODS, partition
from ipmicra.partition.sites import Grain, SiteTable
from tests.reference.slow_partition import slow_cut
from tests.unit.partition.problems import clustered, links_of

Edges = list[tuple[int, int, float]]
edges_of_ten = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.floats(0.1, 50)), min_size=1, max_size=30
)
parts_of_ten = st.lists(st.integers(0, 2), min_size=10, max_size=10)


def ten_vertices() -> SiteTable:
    return SiteTable.of([str(number) for number in range(10)])


def graph_of(edges: Edges) -> Any:
    return link_graph(make_vertices(ten_vertices(), MetisConfig()), links_of(edges))


@given(edges_of_ten, parts_of_ten)
def test_cut_of_a_link_graph_is_the_weight_between_parts(edges: Edges, part: list[int]) -> None:
    assert cut_weight(graph_of(edges), np.array(part)) == pytest.approx(slow_cut(edges, part))


@given(edges_of_ten, edges_of_ten, parts_of_ten)
def test_cut_of_a_sum_is_the_sum_of_cuts(first: Edges, second: Edges, part: list[int]) -> None:
    total = combined(graph_of(first), graph_of(second), (2.0, 0.5))
    expected = 2 * slow_cut(first, part) + 0.5 * slow_cut(second, part)
    assert cut_weight(total, np.array(part)) == pytest.approx(expected)


@given(edges_of_ten, edges_of_ten, parts_of_ten, st.floats(1, 8))
def test_moves_keep_their_books_and_never_overfill(
    first: Edges, second: Edges, start: list[int], power: float
) -> None:
    near, linked = graph_of(first), graph_of(second)
    part, weight = np.array(start), np.arange(1.0, 11.0)
    load = np.bincount(part, weight, 3).astype(float)
    limit = np.maximum(load, 25.0)
    cuts = np.array([cut_weight(near, part), cut_weight(linked, part)])
    columns, other = (
        (one.indptr.astype(np.int64), one.indices.astype(np.int64), one.data) for one in (near, linked)
    )
    kernels.move_once(columns, other, np.array([0.5, 0.5]), power, part, load, limit, weight, cuts)
    assert cuts == pytest.approx([cut_weight(near, part), cut_weight(linked, part)])
    assert load == pytest.approx(np.bincount(part, weight, 3))
    assert np.all(load <= limit)


@given(edges_of_ten, parts_of_ten)
def test_plain_sum_never_gets_worse_by_moves(edges: Edges, start: list[int]) -> None:
    graph, part = graph_of(edges), np.array(start)
    objective = Objective(graph=graph, unit=1.0, preference=0.5)
    room = Room(weight=np.ones(10, np.int64), limit=np.full(3, 10.0))
    before = refined(part, (objective, objective), room, 0, 1.0)
    after = refined(part, (objective, objective), room, 5, 1.0)
    assert after.badness <= before.badness + 1e-9
    assert part.tolist() == start


def test_overfull_part_is_emptied_to_where_there_is_room() -> None:
    objective = Objective(graph=graph_of([(0, 1, 1.0)]), unit=1.0, preference=1.0)
    room = Room(weight=np.ones(10, np.int64), limit=np.full(2, 6.0))
    after = refined(np.zeros(10, np.int64), (objective, objective), room, 1, 1.0)
    assert sorted(np.bincount(after.part).tolist()) == [4, 6]


def test_vertices_at_one_place_hang_together_and_reach_the_next_place() -> None:
    """A graph of nearest vertices alone would fall apart into cities."""
    from scipy.sparse.csgraph import connected_components

    places = ([40.0] * 50 + [41.0] * 50 + [42.0] * 50, [-8.0] * 150)
    sites = SiteTable.of([str(number) for number in range(150)], places=places)
    graph = distance_graph(make_vertices(sites, MetisConfig()), MetisConfig(nearest=1, inside=2))
    assert connected_components(graph)[0] == 1
    assert np.diff(graph.indptr).max() < 20


def test_nearer_places_have_heavier_edges() -> None:
    sites = SiteTable.of(["a", "b", "c"], places=([40.0, 40.5, 44.0], [-8.0] * 3))
    graph = distance_graph(make_vertices(sites, MetisConfig()), MetisConfig())
    assert graph[0, 1] > graph[0, 2] > 0
    assert (graph != graph.T).nnz == 0


@pytest.mark.parametrize(
    ("grain", "expected"),
    [(Grain.HOST, 4), (Grain.ADDRESS, 3), (Grain.SUBNET, 2), (Grain.AGGREGATE, 2), (Grain.AS, 1)],
)
def test_coarser_grain_keeps_more_sites_together(grain: Grain, expected: int) -> None:
    sites = SiteTable.of(["a", "b", "c", "d"], addresses=["x", "x", "y", "z"], pages=[1, 2, 3, 4])
    sites = replace(
        sites,
        subnets=np.array([[5, 5, 5, -1]]),
        aggregate=np.array([7, 7, 8, 8]),
        system=np.array([64500, 64500, 64500, 64500]),
    )
    vertices = make_vertices(sites, MetisConfig(grain=grain))
    assert len(vertices) == expected
    assert vertices.pages.sum() == 10


@pytest.mark.parametrize("name", ["metis-geo", "metis-links", "metis-multi", "metis-paper"])
def test_towns_become_parts(name: str) -> None:
    """Four equal towns with links inside: everybody finds the cut that a person would."""
    problem = clustered(4, 40, 4)
    column = partition(METHODS[name], problem)
    towns = np.round(problem.sites.latitude / 20).astype(int)
    for town in np.unique(towns):
        assert len(set(column[towns == town].tolist())) == 1
    assert costs_of(problem, column).load_variation < 0.01


def test_sites_of_one_address_stay_together() -> None:
    problem = clustered(2, 20, 4)
    sites = replace(problem.sites, address=np.arange(40) // 4)
    for name in ("metis-geo", "metis-links", "metis-multi", "metis-paper"):
        column = partition(METHODS[name], replace(problem, sites=sites))
        assert all(len(set(column[sites.address == one].tolist())) == 1 for one in range(10))


def test_larger_crawler_gets_a_larger_part() -> None:
    problem = clustered(8, 30, 3)
    problem = replace(problem, crawlers=CrawlerTable.of(["a", "b", "c"], capacity=[1, 1, 2]))
    column = partition(METHODS["metis-geo"], problem)
    assert np.bincount(column, minlength=3) / 240 == pytest.approx([0.25, 0.25, 0.5], abs=0.03)


def test_parts_go_to_the_crawlers_that_stand_there() -> None:
    problem = clustered(4, 30, 4)
    standing = ([20.0, 0.0, -40.0, -20.0], [75.0, 0.0, -150.0, -75.0])
    problem = replace(problem, crawlers=CrawlerTable.of(["d", "c", "a", "b"], standing))
    column = partition(METHODS["metis-geo"], problem)
    assert column.tolist() == partition(METHODS["city"], problem).tolist()


def test_new_numbers_keep_as_many_sites_as_possible() -> None:
    before = np.array([0, 0, 0, 1, 1, 2], np.int32)
    assert renumbered(np.array([2, 2, 2, 0, 0, 1], np.int32), before, 3).tolist() == before.tolist()


@pytest.mark.parametrize("preference", [0.2, 0.5, 0.8])
def test_cut_by_both_is_at_least_as_good_as_either_parent(preference: float) -> None:
    """Twelve towns into eight parts: some are cut, and the two objectives disagree on where."""
    problem = replace(clustered(12, 40, 8, seed=3), metis=MetisConfig(preference=preference))
    vertices = make_vertices(problem.sites, problem.metis)
    objectives, parents = parents_of(vertices, problem)
    room = Room(weight=np.ones(480, np.int64), limit=np.full(8, 480.0))
    badness = [
        refined(part, objectives, room, 0, problem.metis.power).badness
        for part in (cut_by_both(vertices, problem), *parents)
    ]
    assert badness[0] <= min(badness[1:])


@pytest.mark.parametrize("preference", [0.2, 0.5, 0.8])
def test_plain_sum_cuts_preference_times_weight_divided_by_the_cut(preference: float) -> None:
    """The twin adds the graphs entry by entry, as Exposto et al. describe it."""
    problem = replace(clustered(6, 20, 4, seed=5), metis=MetisConfig(preference=preference))
    vertices = make_vertices(problem.sites, problem.metis)
    (near, linked), parents = parents_of(vertices, problem)
    cuts = [
        sum(graph[i, j] for i in range(120) for j in range(i) if part[i] != part[j])
        for graph, part in zip((near.graph.toarray(), linked.graph.toarray()), parents, strict=True)
    ]
    slow = preference * near.graph.toarray() / cuts[0] + (1 - preference) * linked.graph.toarray() / cuts[1]
    expected = parts_to_crawlers(problem, vertices, cut(csr_array(slow), vertices, problem))
    assert partition(METHODS["metis-paper"], problem).tolist() == expected.tolist()


@pytest.mark.parametrize("preference", [-0.1, 1.1])
def test_preference_outside_its_range_is_refused(preference: float) -> None:
    problem = replace(clustered(2, 5, 2), metis=MetisConfig(preference=preference))
    with pytest.raises(InputError, match="preference"):
        partition(METHODS["metis-multi"], problem)
