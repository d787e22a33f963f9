"""What was learnt about each crawler at each level, from the whole world down to a subnet.

Every node stands for a difference from its parent's level, one number for each crawler, with a known
spread. Samples are messages (precision, precision × value) that climb from the subnet to the root: at each
node the message gets weaker by the node's own spread. Going down again gives mean and variance at a subnet,
exactly, for a tree. Several trees with shifted grids over the Earth are averaged, so that a border between
two cells is no border for all; organisation and subnets below them are common to all trees. The loops are
compiled (`ipmicra/native/delegate/forest.c`).

Of a large fleet few ever measure a site of one subnet. So a node has its numbers in blocks of some crawlers
each, and only those blocks that a message reached.

Every subnet that is asked about has a branch, and few are sampled. So the nodes common to all trees are made
when a message first climbs to them (`Forest.grown`); until then NOTHING stands in their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.attempt import Attempt
from ipmicra.delegate.config import LevelSpread, PredictConfig
from ipmicra.delegate.policies.predict.kinship import Kinship
from ipmicra.delegate.subnets import SubnetTree, is_narrow, slice_of
from ipmicra.model.geo import EARTH_RADIUS_KM, unit_vectors
from ipmicra.model.location import Location
from ipmicra.model.types import Floats
from ipmicra.native import kernels

BLOCK = 16
"""Crawlers whose numbers are kept together; compiled code knows it, too."""
NOTHING = 0
"""Number of a node that no sample reaches."""
Key = tuple[object, ...]
Floats32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Branch:
    """The nodes above a subnet: those of each tree, then those common to all; and the spreads' squares."""

    trees: NDArray[np.intp]
    """(level, tree)"""
    common: NDArray[np.intp]
    """(level,)"""
    tree_squares: tuple[float, ...]
    common_squares: tuple[float, ...]
    slice_square: float | None = None
    """Variance between slices of the subnet; None if it is no wider than one and `common` ends with it."""
    path: tuple[Key, ...] = ()
    """What each of the common nodes is called below the one before; empty if no sample is to climb it."""

    def arrays(self) -> kernels.Branch:
        """Return what compiled code needs."""
        squares = np.array(self.tree_squares), np.array(self.common_squares)
        return np.ascontiguousarray(self.trees), squares[0], self.common, squares[1]

    def another_slice(self, square: float) -> Branch:
        """Return the branch of a slice of the same subnet of which nothing is known."""
        common, squares = np.append(self.common[:-1], NOTHING), (*self.common_squares[:-1], square)
        return Branch(self.trees, common, self.tree_squares, squares, square)


class Forest:
    """Messages of all nodes, in arrays that grow."""

    def __init__(self, crawlers: int) -> None:
        """Begin with nothing learnt."""
        self._crawlers = crawlers
        self._count = 1  # NOTHING
        self._numbers: dict[Key, int] = {}
        self._slice_squares: dict[int, float] = {}
        """Variance that the messages of each slice climb with: its first one, or sums would not add up."""
        self._index = np.zeros((16, self._columns), np.int32)
        """Numbers of the blocks of each node."""
        self._blocks = np.zeros((16, 2, BLOCK), np.float32)
        """Precision and weight of as many crawlers; the first block is of nothing."""
        self._used = 1

    def __len__(self) -> int:
        """Count the nodes."""
        return self._count - 1

    def __repr__(self) -> str:
        """Say how much there is."""
        return f"<Forest: {len(self)} nodes, {self._crawlers} crawlers>"

    def node(self, *key: object) -> int:
        """Return the number of a node, a new one if need be; a key begins with the parent's number."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._count
            self._count += 1
            if number == len(self._index):
                _grow(self._index, number)
        return number

    @property
    def _columns(self) -> int:
        """Blocks of a node that all crawlers are in."""
        return -(-self._crawlers // BLOCK)

    def found(self, branch: Branch) -> Branch:
        """Return a branch with the nodes of its path that there are by now."""
        common: list[int] = []
        parent: tuple[int, ...] = ()
        for part in branch.path:
            parent = (self._numbers.get((*parent, *part), NOTHING),)
            common += parent
        return self._with_common(branch, common) if common else branch

    def grown(self, branch: Branch) -> Branch:
        """Return a branch with all nodes of its path, so that messages can climb it."""
        common: list[int] = []
        parent: tuple[int, ...] = ()
        for part in branch.path:
            parent = (self.node(*parent, *part),)
            common += parent
        if common and branch.slice_square is not None:
            self._slice_squares.setdefault(common[-1], branch.slice_square)
        return self._with_common(branch, common) if common else branch

    def _with_common(self, branch: Branch, common: list[int]) -> Branch:
        """Put nodes into a branch; messages of a slice that has climbed before climb as they did then."""
        square, squares = branch.slice_square, branch.common_squares
        if square is not None:
            square = self._slice_squares.get(common[-1], square)
            squares = (*squares[:-1], square)
        nodes = np.array(common, dtype=np.intp)
        return Branch(branch.trees, nodes, branch.tree_squares, squares, square, branch.path)

    def add_crawler(self) -> None:
        """Make room for one more crawler, of which nothing is known."""
        self._crawlers += 1
        if self._columns > self._index.shape[1]:
            self._index = np.pad(self._index, ((0, 0), (0, 1)))

    def _of(self, nodes: NDArray[np.intp] | int) -> tuple[Floats32, Floats32]:
        """Return precision and weight of every crawler at some nodes."""
        found = np.moveaxis(self._blocks[self._index[nodes]], -2, 0)
        precision, weight = found.reshape(*found.shape[:-2], -1)[..., : self._crawlers]
        return precision, weight

    def is_touched(self, branch: Branch) -> bool:
        """Return whether a sample ever came in below the country of a branch."""
        near = np.concatenate([branch.trees[-1], branch.common])
        return bool(self._of(near)[0].any())

    def knows(self, node: int) -> NDArray[np.bool_]:
        """Return the crawlers whose samples reached a node."""
        known: NDArray[np.bool_] = self._of(node)[0] > 0
        return known

    def expect(self, branch: Branch) -> tuple[Floats, Floats]:
        """Return mean and variance of every crawler at the end of a branch."""
        mean, variance = np.empty(self._crawlers), np.empty(self._crawlers)
        kernels.expect_branch(self._index, self._blocks, branch.arrays(), mean, variance)
        return mean, variance

    def expect_regions(self, nodes: NDArray[np.intp], spread: LevelSpread) -> Floats:
        """Return the mean of every crawler in some regions; nodes are (region, level, tree)."""
        levels = spread.root**2, spread.coarse**2, spread.country**2, spread.fine**2
        flat = nodes.transpose(1, 0, 2).reshape(nodes.shape[1], -1)
        precision, weight = self._of(flat)
        trees = precision.astype(np.float64), weight
        start = np.zeros(trees[0].shape[1:])
        received = _without_child(trees, _rise(*trees, np.array(levels)[:, None, None]), None)
        mean, _variance = _descend((start, start), received, levels)
        found: Floats = mean.reshape(nodes.shape[0], nodes.shape[2], -1).mean(axis=1)
        return found

    def learn(self, branch: Branch, crawlers: NDArray[np.intp], precision: Floats, weight: Floats) -> None:
        """Send a message about some crawlers up a branch."""
        self._make_room(np.concatenate([branch.trees.ravel(), branch.common]), crawlers)
        kernels.learn_branch(self._index, self._blocks, branch.arrays(), crawlers, precision, weight)

    def _make_room(self, nodes: NDArray[np.intp], crawlers: NDArray[np.intp]) -> None:
        """Let nodes have blocks for some crawlers."""
        for column in set((crawlers // BLOCK).tolist()):
            missing = nodes[self._index[nodes, column] == 0]
            if len(missing):
                last = self._used + len(missing)
                if last > len(self._blocks):
                    _grow(self._blocks, last)
                self._index[missing, column] = np.arange(self._used, last)
                self._used = last


def _grow(array: NDArray[Any], least: int) -> None:
    """Make an array longer, in place and by an eighth: most memory went to a copy of twice the size."""
    array.resize((least + least // 8 + 16, *array.shape[1:]), refcheck=False)


def _rise(precision: Floats, weight: Floats32, squares: Floats) -> tuple[Floats, Floats]:
    """Return nodes' messages to their parents: weaker by the nodes' own spreads."""
    damping = 1.0 / (1.0 + precision * squares)
    return precision * damping, weight * damping


def _without_child(
    own: tuple[Floats, Floats32], rising: tuple[Floats, Floats], last: tuple[Floats, Floats] | None
) -> tuple[Floats, Floats]:
    """Return what nodes know besides the next node of the branch, level by level.

    `last` is what rises into the last level, if anything does.
    """
    precision, weight = own[0].copy(), own[1].astype(np.float64)
    precision[:-1] -= rising[0][1:]
    weight[:-1] -= rising[1][1:]
    if last is not None:
        precision[-1] -= last[0]
        weight[-1] -= last[1]
    # Single precision may lose the child's share: a node never knows less than it received from its parent.
    weight[precision <= 0.0] = 0.0
    return np.maximum(precision, 0.0), weight


def _descend(
    start: tuple[Floats, Floats], received: tuple[Floats, Floats], squares: tuple[float, ...]
) -> tuple[Floats, Floats]:
    """Go down level by level: what the parent expects, wider by the spread, joined with what a node knows."""
    mean, variance = start
    for precision, weight, square in zip(*received, squares, strict=True):
        inverse = 1.0 / (variance + square)
        variance = 1.0 / (inverse + precision)
        mean = (mean * inverse + weight) * variance
    return mean, variance


GOLDEN = 0.6180339887
"""Shifts by multiples of it fill the unit interval evenly."""
BLOCK_BITS = {4: 24, 6: 96}
"""Bits below a coarse block, by family."""


class Branches:
    """Builds branches. The trees differ in the grids that they lay over the Earth."""

    def __init__(self, config: PredictConfig, tree: SubnetTree) -> None:
        """Choose widths and shifts of the grids."""
        self._config, self._tree = config, tree
        self.kinship = Kinship(config, tree)
        turns = np.arange(config.trees)
        widths = 2.0 ** ((turns + 0.5) / config.trees * 2 - 1)
        self._nodes: dict[tuple[float, float, str | None], NDArray[np.intp]] = {}
        self._coarse, self._fine = config.coarse_km * widths[:, None], config.fine_km * widths[:, None]
        self._shifts: Floats = np.stack(
            [turns / config.trees, turns * GOLDEN % 1, (turns * GOLDEN**2 + 0.5) % 1], axis=1
        )

    def branch(self, forest: Forest, attempt: Attempt, *, is_placed: bool) -> Branch:
        """Return the nodes above an attempt's subnet."""
        country = self._tree.country(attempt.row)
        spread = self._config.placed if is_placed else self._config.unplaced
        place: tuple[object, ...]
        if is_placed and attempt.location is not None:
            place = round(attempt.location.latitude, 2), round(attempt.location.longitude, 2)
            nodes = self._over_place(forest, attempt.location, country)
        else:
            place = self._registered(attempt)
            nodes = self._over_registry(forest, place, country)
        path, squares = self._common(attempt, ("place", *place, country), spread)
        between = self.between_slices(attempt, is_placed=is_placed)
        if between is not None:
            path.append(("slice", slice_of(attempt.address)))
            squares.append(between)
        levels = spread.root**2, spread.coarse**2, spread.country**2, spread.fine**2
        none = np.zeros(0, np.intp)
        return forest.found(Branch(nodes, none, levels, tuple(squares), between, tuple(path)))

    def between_slices(self, attempt: Attempt, *, is_placed: bool) -> float | None:
        """Return the variance between slices of an attempt's subnet; None if it is no wider than one."""
        row = attempt.row
        if self._tree.parent(row) is None or is_narrow(self._tree, row):
            return None
        return self.kinship.square(row, is_placed=is_placed)

    def _over_place(self, forest: Forest, location: Location, country: str | None) -> NDArray[np.intp]:
        """Return root, coarse cell, country and fine cell of each tree: (level, tree)."""
        place = location.latitude, location.longitude, country
        nodes = self._nodes.get(place)
        if nodes is None:
            nodes = self._nodes[place] = self._found(forest, location, country)
        return nodes

    def _found(self, forest: Forest, location: Location, country: str | None) -> NDArray[np.intp]:
        point = EARTH_RADIUS_KM * unit_vectors(location.latitude, location.longitude)
        coarse = np.floor(point / self._coarse + self._shifts).astype(np.int64).tolist()
        fine = np.floor(point / self._fine + self._shifts).astype(np.int64).tolist()
        roots = [forest.node("tree", tree) for tree in range(self._config.trees)]
        wide = [forest.node(root, *cell) for root, cell in zip(roots, coarse, strict=True)]
        lands = [forest.node(node, country) for node in wide]
        narrow = [forest.node(node, *cell) for node, cell in zip(lands, fine, strict=True)]
        return np.array([roots, wide, lands, narrow], dtype=np.intp)

    def _registered(self, attempt: Attempt) -> tuple[int, int]:
        """Return registry and coarse block, which stand for a place that is unknown."""
        block = int(attempt.address) >> BLOCK_BITS[attempt.address.version]
        return self._tree.registry_number(attempt.row), block

    @staticmethod
    def _over_registry(forest: Forest, place: tuple[object, ...], country: str | None) -> NDArray[np.intp]:
        """Return root, registry, country and coarse block, of a single tree."""
        root = forest.node("tree", 0)
        registry = forest.node(root, "registry", place[0])
        land = forest.node(registry, country)
        return np.array([[root], [registry], [land], [forest.node(land, place[1])]], dtype=np.intp)

    def _common(self, attempt: Attempt, top: Key, spread: LevelSpread) -> tuple[list[Key], list[float]]:
        """Return the path to organisation, wider subnets and the subnet itself; for the root, a slice's."""
        is_registered = self._tree.parent(attempt.row) is not None
        organisation = self._tree.organisation_number(attempt.row) if is_registered else 0
        path: list[Key] = [(*top, organisation)]
        squares = [spread.organisation**2]
        for row in self._wider(attempt.row) if is_registered else ():
            path.append((row,))
            squares.append(spread.wider**2)
        path.append(("subnet", attempt.row if is_registered else slice_of(attempt.address)))
        squares.append(spread.subnet**2)
        return path, squares

    def _wider(self, subnet: int) -> list[int]:
        """Return the nearest subnets above, widest first, without the root."""
        rows: list[int] = []
        row: int | None = subnet
        while row is not None and len(rows) <= self._config.wider_levels:
            row = self._tree.parent(row)
            if row is not None:
                rows.append(row)
        return [
            row for row in rows[self._config.wider_levels - 1 :: -1] if self._tree.parent(row) is not None
        ]
