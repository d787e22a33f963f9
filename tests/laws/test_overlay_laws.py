"""What holds of every overlay, whatever joins, leaves and fails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ipmicra import Overlay, Space
from ipmicra.assign.overlay.options import Half, OverlayOptions
from tests.reference.slow_overlay import neighbours_of, owners_of, total_volume

# Multiples of a sixteenth fall on cuts and on one another often; the ends stick out of the space.
numbers = st.integers(-2, 18).map(lambda n: n / 16) | st.floats(0, 1, allow_subnormal=False)
points = st.tuples(numbers, numbers).map(list)


class OverlayMachine(RuleBasedStateMachine):
    """Any order of joins, insertions, departures and moves."""

    @initialize(
        scheme=st.sampled_from(["DL", "MPP", "NH", "GH", "MP", "NS", "MP_30_NH"]),
        half=st.sampled_from(Half),
        is_torus=st.booleans(),
        moves_sites=st.booleans(),
        first=points,
    )
    def start(self, scheme: str, half: Half, is_torus: bool, moves_sites: bool, first: list[float]) -> None:
        self.overlay = Overlay(
            Space(low=np.zeros(2), high=np.ones(2)),
            scheme=scheme,
            options=OverlayOptions(half=half, is_torus=is_torus, moves_sites=moves_sites),
            expected=12,
            rng=np.random.default_rng(1),
        )
        self.overlay.join(first)
        self.inserted = 0

    def any_crawler(self, number: int) -> int:
        there = self.overlay.crawlers()
        return int(there[number % len(there)])

    @rule(point=points)
    def join(self, point: list[float]) -> None:
        before = len(self.overlay)
        self.overlay.join(point)
        assert len(self.overlay) == before + 1

    @rule(places=st.lists(points, max_size=4))
    def insert(self, places: list[list[float]]) -> None:
        if places and len(self.overlay):
            self.overlay.insert(places)
            self.inserted += len(places)

    @precondition(lambda self: len(self.overlay) > 1)
    @rule(number=st.integers(0, 99), is_failure=st.booleans())
    def depart(self, number: int, is_failure: bool) -> None:
        crawler = self.any_crawler(number)
        held = set(self.overlay.sites.of(crawler))
        gone = self.overlay.fail(crawler) if is_failure else self.overlay.leave(crawler)
        assert gone.takers
        assert crawler not in gone.takers
        assert set(gone.sites) == held

    @rule(number=st.integers(0, 99), point=points)
    def move(self, number: int, point: list[float]) -> None:
        before = len(self.overlay)
        now = self.overlay.move(self.any_crawler(number), point)
        assert len(self.overlay) == before
        assert now in self.overlay.crawlers()

    @rule(number=st.integers(0, 99), point=points)
    def route(self, number: int, point: list[float]) -> None:
        start = self.any_crawler(number)
        path = self.overlay.route(start, point)
        assert ([start, *path])[-1] == self.overlay.owner(point)
        for here, there in zip([start, *path], path, strict=False):
            assert there in self.overlay.neighbours(here)

    @rule()
    def save(self) -> None:
        again = Overlay.from_bytes(self.overlay.to_bytes(), rng=np.random.default_rng(1))
        grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 9)] * 2), axis=-1).reshape(-1, 2)
        assert again.owners(grid).tolist() == self.overlay.owners(grid).tolist()
        assert again.loads().tolist() == self.overlay.loads().tolist()

    @invariant()
    def zones_tile_the_space(self) -> None:
        assert total_volume(self.overlay) == pytest.approx(1)
        tree = self.overlay.zones.tree
        leaves = self.overlay.zones.leaves()
        assert (tree.low[leaves] < tree.high[leaves]).all()
        assert sorted(
            zone for one in self.overlay.crawlers() for zone in self.overlay.zones_of(int(one))
        ) == (leaves.tolist())

    @invariant()
    def every_point_has_one_owner(self) -> None:
        for point in ([0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [0.25, 0.75], [0.3, 1.0]):
            assert owners_of(self.overlay, point) == [self.overlay.owner(point)]

    @invariant()
    def neighbours_are_symmetric_and_those_of_the_slow_twin(self) -> None:
        lists = {crawler: self.overlay.neighbours(crawler) for crawler in self.overlay.crawlers().tolist()}
        for crawler, beside in lists.items():
            assert beside == neighbours_of(self.overlay, crawler)
            assert all(crawler in lists[other] for other in beside)

    @invariant()
    def no_site_is_lost(self) -> None:
        assert self.overlay.loads().sum() == self.inserted == len(self.overlay.sites)
        if self.overlay.options.moves_sites and self.inserted:
            owners = self.overlay.owners(self.overlay.sites.points)
            assert self.overlay.sites.holder.tolist() == owners.tolist()


TestOverlay = OverlayMachine.TestCase
TestOverlay.settings = settings(stateful_step_count=25)
