"""What was learnt about each crawler at each level, from the whole world down to a subnet.

Every node stands for a difference from its parent's level, one number for each crawler, with a known
spread. Samples are messages (precision, precision × value) that climb from the subnet to the root: at each
node the message gets weaker by the node's own spread. Going down again gives mean and variance at a subnet,
exactly, for a tree. Several trees with shifted grids over the Earth are averaged, so that a border between
two cells is no border for all; organisation and subnets below them are common to all trees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.geometry import Floats

NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Branch:
    """The nodes above a subnet: those of each tree, then those common to all; and the spreads' squares."""

    trees: NDArray[np.intp]
    """(level, tree)"""
    common: NDArray[np.intp]
    """(level,)"""
    tree_squares: tuple[float, ...]
    common_squares: tuple[float, ...]


class Forest:
    """Messages of all nodes, in arrays that grow."""

    def __init__(self, crawlers: int) -> None:
        """Begin with nothing learnt."""
        self._crawlers = crawlers
        self._count = 0
        self._numbers: dict[tuple[object, ...], int] = {}
        self._precision = np.zeros((16, crawlers), np.float32)
        self._weight = np.zeros((16, crawlers), np.float32)

    def __len__(self) -> int:
        """Count the nodes."""
        return self._count

    def __repr__(self) -> str:
        """Say how much there is."""
        return f"<Forest: {self._count} nodes, {self._crawlers} crawlers>"

    def node(self, *key: object) -> int:
        """Give the number of a node, a new one if need be; a key begins with the parent's number."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._count
            self._count += 1
            if number == len(self._precision):
                self._precision = np.concatenate([self._precision, np.zeros_like(self._precision)])
                self._weight = np.concatenate([self._weight, np.zeros_like(self._weight)])
        return number

    def add_crawler(self) -> None:
        """Make room for one more crawler, of which nothing is known."""
        self._crawlers += 1
        room = np.zeros((len(self._precision), 1), np.float32)
        self._precision = np.concatenate([self._precision, room], axis=1)
        self._weight = np.concatenate([self._weight, room], axis=1)

    def is_touched(self, branch: Branch) -> bool:
        """Tell whether a sample ever came in below the country of a branch."""
        near = np.concatenate([branch.trees[-1], branch.common])
        return bool(self._precision[near].any())

    def expect(self, branch: Branch) -> tuple[Floats, Floats]:
        """Give mean and variance of every crawler at the end of a branch."""
        precision, weight = self._precision, self._weight
        mean = np.zeros((branch.trees.shape[1], self._crawlers))
        variance = np.zeros_like(mean)
        last = len(branch.trees) - 1
        for level, square in enumerate(branch.tree_squares):
            nodes = branch.trees[level]
            below = branch.trees[level + 1] if level < last else branch.common[:1]
            below_square = branch.tree_squares[level + 1] if level < last else branch.common_squares[0]
            mean, variance = _descend(
                (mean, variance + square),
                (precision[nodes], weight[nodes]),
                _rise(precision[below], weight[below], below_square),
            )
        mean, variance = mean.mean(0), variance.mean(0)
        last = len(branch.common) - 1
        for level, square in enumerate(branch.common_squares):
            node = branch.common[level]
            message = None
            if level < last:
                below = branch.common[level + 1]
                message = _rise(precision[below], weight[below], branch.common_squares[level + 1])
            mean, variance = _descend((mean, variance + square), (precision[node], weight[node]), message)
        return mean, variance

    def learn(self, branch: Branch, crawlers: NDArray[np.intp], precision: Floats, weight: Floats) -> None:
        """Send a message about some crawlers up a branch."""
        message = precision[None], weight[None]
        common = zip(branch.common[::-1, None], branch.common_squares[::-1], strict=True)
        trees = zip(branch.trees[::-1], branch.tree_squares[::-1], strict=True)
        for nodes, square in (*common, *trees):
            message = self._climb(nodes, square, crawlers, message)

    def _climb(
        self,
        nodes: NDArray[np.intp],
        square: float,
        crawlers: NDArray[np.intp],
        message: tuple[Floats, Floats],
    ) -> tuple[Floats, Floats]:
        """Add messages to nodes of different trees; give what changes for each parent."""
        at = nodes[:, None], crawlers
        old_precision, old_weight = self._precision[at].astype(np.float64), self._weight[at]
        new_precision, new_weight = old_precision + message[0], old_weight + message[1]
        self._precision[at] = new_precision
        self._weight[at] = new_weight
        before, after = 1.0 / (1.0 + old_precision * square), 1.0 / (1.0 + new_precision * square)
        return (
            new_precision * after - old_precision * before,
            new_weight * after - old_weight * before,
        )


def _rise(
    precision: NDArray[np.floating], weight: NDArray[np.floating], square: float
) -> tuple[Floats, Floats]:
    """Give a node's message to its parent: weaker by the node's own spread."""
    damping = 1.0 / (1.0 + precision * square)
    return precision * damping, weight * damping


def _descend(
    prior: tuple[Floats, Floats],
    own: tuple[NDArray[np.floating], NDArray[np.floating]],
    below: tuple[Floats, Floats] | None,
) -> tuple[Floats, Floats]:
    """Give mean and variance at a node from its parent's and its own messages, without the child's."""
    mean, variance = prior
    precision = 1.0 / variance + own[0]
    weight = mean / variance + own[1]
    if below is not None:
        # Single precision may lose the child's share: a node never knows less than its parent told it.
        precision = np.maximum(precision - below[0], 1.0 / variance)
        weight = weight - below[1]
    return weight / precision, 1.0 / precision
