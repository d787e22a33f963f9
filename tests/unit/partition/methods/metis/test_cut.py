"""Both objectives on graphs of a few vertices, where whole vertices hardly fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ipmicra.partition.methods.metis.cut import cut_by_both, page_weights, parents_of
from ipmicra.partition.methods.metis.graph import make_vertices
from ipmicra.partition.problem import Problem
from tests.unit.partition.problems import clustered, links_of


def unrelated(seed: int) -> Problem:
    """89 sites in 11 parts, linked without regard to places: no part can have its 8.09 exactly."""
    problem = clustered(1, 89, 11, seed)
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 89, (400, 2)).tolist()
    return replace(problem, links=links_of([(a, b, 1.0) for a, b in pairs if a != b]))


def badness(problem: Problem) -> float:
    vertices = make_vertices(problem.sites, problem.metis)
    objectives, _ = parents_of(vertices, problem)
    part = cut_by_both(vertices, problem)
    weight = page_weights(vertices)
    assert np.bincount(part, weight, problem.parts).max() <= weight.sum() / problem.parts * 1.02 + 1
    return float(sum(one.preference * one.cut(part) ** problem.metis.power for one in objectives))


@pytest.mark.parametrize("seed", [1, 2])
def test_vertices_move_though_parts_cannot_be_even_and_more_tries_are_no_worse(seed: int) -> None:
    problem = unrelated(seed)
    once = replace(problem, metis=replace(problem.metis, most_tries=1))
    still = replace(once, metis=replace(once.metis, rounds=0))
    assert badness(problem) <= badness(once) < badness(still)
