"""Which nodes of the forest lie above a subnet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.attempt import Attempt
from ipmicra.delegate.config import LevelSpread, PredictConfig
from ipmicra.delegate.policies.predict.forest import Branch, Forest
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.model.geo import EARTH_RADIUS_KM, unit_vectors
from ipmicra.model.location import Location
from ipmicra.model.types import Floats

GOLDEN = 0.6180339887
"""Shifts by multiples of it fill the unit interval evenly."""
BLOCK_BITS = {4: 24, 6: 96}
"""Bits below a coarse block, by family."""


class Branches:
    """Builds branches. The trees differ in the grids that they lay over the Earth."""

    def __init__(self, config: PredictConfig, tree: SubnetTree) -> None:
        """Choose widths and shifts of the grids."""
        self._config, self._tree = config, tree
        turns = np.arange(config.trees)
        widths = 2.0 ** ((turns + 0.5) / config.trees * 2 - 1)
        self._nodes: dict[tuple[float, float, str | None], NDArray[np.intp]] = {}
        self._coarse, self._fine = config.coarse_km * widths[:, None], config.fine_km * widths[:, None]
        self._shifts: Floats = np.stack(
            [turns / config.trees, turns * GOLDEN % 1, (turns * GOLDEN**2 + 0.5) % 1], axis=1
        )

    def branch(self, forest: Forest, attempt: Attempt, *, is_placed: bool) -> Branch:
        """Give the nodes above an attempt's subnet."""
        country = self._tree.country(attempt.row)
        spread = self._config.placed if is_placed else self._config.unplaced
        place: tuple[object, ...]
        if is_placed and attempt.location is not None:
            place = round(attempt.location.latitude, 2), round(attempt.location.longitude, 2)
            nodes = self._over_place(forest, attempt.location, country)
        else:
            place = self._registered(attempt)
            nodes = self._over_registry(forest, place, country)
        common, squares = self._common(forest, attempt, ("place", *place, country), spread)
        levels = spread.root**2, spread.coarse**2, spread.country**2, spread.fine**2
        return Branch(nodes, np.array(common, dtype=np.intp), levels, squares)

    def _over_place(self, forest: Forest, location: Location, country: str | None) -> NDArray[np.intp]:
        """Give root, coarse cell, country and fine cell of each tree: (level, tree)."""
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
        """Give registry and coarse block, which stand for a place that is unknown."""
        block = int(attempt.address) >> BLOCK_BITS[attempt.address.version]
        return self._tree.registry_number(attempt.row), block

    @staticmethod
    def _over_registry(forest: Forest, place: tuple[object, ...], country: str | None) -> NDArray[np.intp]:
        """Give root, registry, country and coarse block, of a single tree."""
        root = forest.node("tree", 0)
        registry = forest.node(root, "registry", place[0])
        land = forest.node(registry, country)
        return np.array([[root], [registry], [land], [forest.node(land, place[1])]], dtype=np.intp)

    def _common(
        self, forest: Forest, attempt: Attempt, top: tuple[object, ...], spread: LevelSpread
    ) -> tuple[list[int], tuple[float, ...]]:
        """Give the nodes of organisation, wider subnets and the subnet itself."""
        organisation = self._tree.organisation_number(attempt.row) if attempt.key >= 0 else 0
        nodes = [forest.node(*top, organisation)]
        squares = [spread.organisation**2]
        for row in self._wider(attempt):
            nodes.append(forest.node(nodes[-1], row))
            squares.append(spread.wider**2)
        nodes.append(forest.node(nodes[-1], "subnet", attempt.key))
        squares.append(spread.subnet**2)
        return nodes, tuple(squares)

    def _wider(self, attempt: Attempt) -> list[int]:
        """Give the nearest subnets above, widest first, without the root."""
        rows: list[int] = []
        row = attempt.row if attempt.key >= 0 else None
        while row is not None and len(rows) <= self._config.wider_levels:
            row = self._tree.parent(row)
            if row is not None:
                rows.append(row)
        return [
            row for row in rows[self._config.wider_levels - 1 :: -1] if self._tree.parent(row) is not None
        ]
