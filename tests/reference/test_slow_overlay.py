"""The slow twin of the overlay on cases worked by hand."""

from __future__ import annotations

import numpy as np

from ipmicra import Overlay, Space
from ipmicra.assign.overlay.options import OverlayOptions
from tests.reference.slow_overlay import boxes_of, holds, neighbours_of, owners_of, share_face, total_volume

UNIT = ((0.0, 0.0), (1.0, 1.0))


def test_lower_faces_belong_to_a_zone_and_upper_ones_only_at_the_end() -> None:
    assert holds(UNIT, [0.0, 0.5], [1.0, 1.0])
    assert holds(UNIT, [1.0, 0.5], [1.0, 1.0])
    assert not holds(UNIT, [1.0, 0.5], [2.0, 1.0])


def test_faces_are_shared_but_corners_are_not() -> None:
    assert share_face(UNIT, ((1.0, 0.5), (2.0, 3.0)))
    assert not share_face(UNIT, ((1.0, 1.0), (2.0, 2.0)))
    assert not share_face(UNIT, ((3.0, 0.0), (4.0, 1.0)))


def test_two_crawlers_halve_a_square() -> None:
    overlay = Overlay(Space(low=np.zeros(2), high=np.ones(2)), scheme="DL")
    overlay.join([0.1, 0.1])
    overlay.join([0.9, 0.9])
    assert boxes_of(overlay) == [(((0.0, 0.0), (0.5, 1.0)), 0), (((0.5, 0.0), (1.0, 1.0)), 1)]
    assert owners_of(overlay, [0.5, 0.2]) == [1]
    assert neighbours_of(overlay, 0) == [1]
    assert total_volume(overlay) == 1.0


def test_on_a_torus_the_ends_touch() -> None:
    space = Space(low=np.zeros(1), high=np.ones(1))
    overlay = Overlay(space, scheme="DL", options=OverlayOptions(is_torus=True))
    for place in (0.1, 0.9, 0.4):
        overlay.join([place])
    assert [neighbours_of(overlay, crawler) for crawler in range(3)] == [[1, 2], [0, 2], [0, 1]]
    overlay.options = OverlayOptions()
    assert [neighbours_of(overlay, crawler) for crawler in range(3)] == [[2], [2], [0, 1]]
