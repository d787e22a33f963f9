"""Messages up and down a tree give what the whole Gaussian gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.delegate.policies.predict.forest import Branch, Forest
from tests.reference.slow_forest import SlowForest

SQUARES = {"root": 0.3, "land": 0.2, "town": 0.1, "holder": 0.15, "subnet": 0.05}


def branch_of(forest: Forest, leaf: tuple[int, int, int, int], trees: int = 1) -> Branch:
    """Give a branch of five levels; the first three in each tree, the rest common."""
    above = []
    for tree in range(trees):
        root = forest.node("tree", tree)
        land = forest.node(root, leaf[0])
        above.append([root, land, forest.node(land, leaf[1])])
    holder = forest.node("holder", *leaf[:3])
    common = [holder, forest.node(holder, leaf[3])]
    squares = tuple(SQUARES.values())
    return Branch(np.array(above).T, np.array(common), squares[:3], squares[3:])


def names_of(leaf: tuple[int, int, int, int]) -> tuple[str, ...]:
    return tuple(f"{level}{leaf[:depth]}" for depth, level in enumerate(SQUARES))


leaves = st.tuples(*[st.integers(0, 2)] * 4)
sightings = st.lists(st.tuples(leaves, st.floats(-2, 2), st.floats(0.01, 1.0)), max_size=12)


@given(sightings=sightings, wanted=leaves)
def test_tree_agrees_with_the_whole_gaussian(
    sightings: list[tuple[tuple[int, int, int, int], float, float]], wanted: tuple[int, int, int, int]
) -> None:
    forest, slow = Forest(1), SlowForest()
    for leaf in [wanted, *(leaf for leaf, _value, _noise in sightings)]:
        slow.variances.update(zip(names_of(leaf), SQUARES.values(), strict=True))
    for leaf, value, noise in sightings:
        slow.seen.append((names_of(leaf), value, noise))
        forest.learn(branch_of(forest, leaf), np.array([0]), np.array([1 / noise]), np.array([value / noise]))
    mean, variance = forest.expect(branch_of(forest, wanted))
    expected_mean, expected_variance = slow.expect(names_of(wanted))
    assert mean[0] == pytest.approx(expected_mean, abs=2e-4)
    assert variance[0] == pytest.approx(expected_variance, abs=2e-4)


@given(sightings=sightings)
def test_learning_never_makes_a_leaf_less_sure(
    sightings: list[tuple[tuple[int, int, int, int], float, float]],
) -> None:
    forest = Forest(1)
    for leaf, value, noise in sightings:
        branch = branch_of(forest, leaf, trees=3)
        _mean, before = forest.expect(branch)
        forest.learn(branch, np.array([0]), np.array([1 / noise]), np.array([value / noise]))
        _mean, after = forest.expect(branch)
        assert after[0] <= before[0] + 1e-6


def test_what_is_learnt_of_one_crawler_says_nothing_of_another() -> None:
    forest = Forest(2)
    branch = branch_of(forest, (0, 0, 0, 0), trees=2)
    before = [values.copy() for values in forest.expect(branch)]
    forest.learn(branch, np.array([1]), np.array([5.0]), np.array([5.0]))
    mean, variance = forest.expect(branch)
    assert (mean[0], variance[0]) == (before[0][0], before[1][0])
    assert mean[1] > 0.3
    assert variance[1] < before[1][1]


def test_new_crawler_starts_unknown_and_the_others_keep_what_they_have() -> None:
    forest = Forest(1)
    branch = branch_of(forest, (0, 0, 0, 0))
    forest.learn(branch, np.array([0]), np.array([5.0]), np.array([5.0]))
    before, _variance = forest.expect(branch)
    forest.add_crawler()
    mean, variance = forest.expect(branch)
    assert mean.tolist() == [before[0], 0.0]
    assert variance[1] == pytest.approx(sum(SQUARES.values()))
    assert repr(forest) == "<Forest: 5 nodes, 2 crawlers>"


def test_forest_grows_beyond_its_first_room() -> None:
    forest = Forest(1)
    numbers = [forest.node("tree", i) for i in range(100)]
    assert numbers == list(range(1, 101))
    assert len(forest) == 100
    assert forest.node("tree", 7) == 8


def test_subnets_have_nodes_from_their_first_message_on() -> None:
    forest = Forest(1)
    trees = np.array([[forest.node("tree", 0)]])
    path = (("holder", 7), ("subnet", 1), ("slice", 4))
    asked = forest.found(Branch(trees, np.zeros(0, np.intp), (0.3,), (0.2, 0.1, 0.1), 0.1, path))
    before = [values.copy() for values in forest.expect(asked)]
    assert len(forest) == 1
    grown = forest.grown(asked)
    assert len(forest) == 4
    assert [values.tolist() for values in forest.expect(grown)] == [values.tolist() for values in before]
    forest.learn(grown, np.array([0]), np.array([5.0]), np.array([5.0]))
    again = forest.found(asked)
    assert again.common.tolist() == grown.common.tolist()
    assert forest.expect(again)[0][0] > 0.5


def test_messages_of_a_slice_climb_as_the_first_one_did() -> None:
    forest = Forest(1)
    trees = np.array([[forest.node("tree", 0)]])
    first, later = (
        Branch(trees, np.zeros(0, np.intp), (0.3,), (0.2, square), square, (("subnet", 1), ("slice", 4)))
        for square in (0.1, 0.9)
    )
    forest.grown(first)
    assert forest.grown(later).common_squares == (0.2, 0.1)
    assert forest.found(later).slice_square == 0.1
