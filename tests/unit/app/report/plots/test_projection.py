"""The world on paper."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.report.plots.projection import HEIGHT, WIDTH, equal_earth, great_circle, land, on_map

PLACES = st.tuples(st.floats(-80, 80), st.floats(-179, 179))


def test_known_points_of_the_projection() -> None:
    x, y = equal_earth(np.array([0.0, 0.0, 90.0]), np.array([0.0, 180.0, 0.0]))
    np.testing.assert_allclose(x, [0.0, 2.7066299836, 0.0], atol=1e-9)
    np.testing.assert_allclose(y, [0.0, 0.0, 1.3173627591], atol=1e-9)


def test_equal_squares_have_equal_areas() -> None:
    """A cell of one degree shrinks with the cosine of its latitude, as on the globe."""
    for latitude in (0.0, 30.0, 60.0):
        x, _ = equal_earth(np.full(2, latitude), np.array([0.0, 1.0]))
        _, y = equal_earth(np.array([latitude - 0.5, latitude + 0.5]), np.zeros(2))
        area = float((x[1] - x[0]) * (y[1] - y[0]))
        assert math.isclose(area / math.radians(1) ** 2, math.cos(math.radians(latitude)), rel_tol=1e-3)


def test_land_lies_on_the_map_and_no_outline_runs_across_it() -> None:
    """Outlines that cross the date line once drew lines from edge to edge."""
    outlines = land()
    assert len(outlines) > 80
    for outline in outlines:
        xs = [x for x, _ in outline]
        assert min(xs) >= -0.5
        assert max(xs) <= WIDTH + 0.5
        steps = [math.dist(a, b) for a, b in itertools.pairwise(outline)]
        assert max(steps) < 130


@given(PLACES, PLACES)
def test_great_circle_joins_its_two_places(start: tuple[float, float], end: tuple[float, float]) -> None:
    lines = great_circle(start, end)
    for place, point in ((start, lines[0][0]), (end, lines[-1][-1])):
        x, y = on_map(np.array([place[0]]), np.array([place[1]]))
        assert math.dist(point, (float(x[0]), float(y[0]))) < 0.01
    assert all(-0.01 <= x <= WIDTH + 0.01 for line in lines for x, _ in line)


def test_way_over_the_date_line_is_cut_at_the_edges() -> None:
    first, second = great_circle((35.7, 139.7), (37.3, -121.9))
    assert first[-1][0] > first[0][0] > WIDTH / 2
    assert second[0][0] < second[-1][0] < WIDTH / 2
    assert abs(first[-1][1] - second[0][1]) < 0.01
    assert abs(first[-1][0] + second[0][0] - WIDTH) < 0.01


def test_crawlers_near_the_poles_stay_in_sight() -> None:
    _, y = on_map(np.array([78.0, -57.0]), np.zeros(2))
    assert abs(float(y[0])) < 1e-9
    assert 0 < float(y[1]) <= HEIGHT
