"""Joining, owning, leaving: single cases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ipmicra import InputError, Overlay, OverlayError, Space
from ipmicra.assign.overlay.options import CutRule, Half, OverlayOptions
from ipmicra.assign.overlay.schemes import SCHEMES, Cut, JoinView, scheme_named
from ipmicra.errors import CorruptStateError

SQUARE = Space(low=np.zeros(2), high=np.ones(2))
CUBE = Space(low=np.zeros(3), high=np.ones(3))


def made(scheme: str, points: list[list[float]], **options: object) -> Overlay:
    overlay = Overlay(SQUARE, scheme=scheme, options=OverlayOptions(**options), rng=np.random.default_rng(1))  # type: ignore[arg-type]
    for point in points:
        overlay.join(point)
    return overlay


def test_repr_is_short() -> None:
    assert repr(made("MP", [[0.1, 0.1], [0.9, 0.9]])) == "<Overlay MP: 2 crawlers, 0 sites>"


def test_a_single_crawler_owns_everything_and_borders_nobody() -> None:
    overlay = made("DL", [[0.3, 0.3]])
    assert overlay.owners([[0, 0], [1, 1], [7, -7]]).tolist() == [0, 0, 0]
    assert overlay.neighbours(0) == []
    assert overlay.route(0, [0.9, 0.9]) == []
    on_torus = made("DL", [[0.3, 0.3]], is_torus=True)
    assert on_torus.neighbours(0) == []


def test_an_empty_overlay_owns_nothing_and_starts_again() -> None:
    overlay = made("MP", [[0.3, 0.3]])
    overlay.insert([[0.5, 0.5]])
    gone = overlay.leave(0)
    assert (gone.takers, gone.sites, len(overlay)) == ((), (0,), 0)
    with pytest.raises(OverlayError, match="let a crawler join first"):
        overlay.owner([0.5, 0.5])
    with pytest.raises(OverlayError, match="not in the overlay"):
        overlay.leave(0)
    again = overlay.join([0.2, 0.2])
    assert overlay.owner([0.5, 0.5]) == again == 1


def test_middle_point_cuts_half_way_where_two_differ_most() -> None:
    overlay = made("MP", [[0.2, 0.4], [0.4, 0.8]])
    low, high = overlay.bounds(overlay.zones_of(1)[0])
    assert (low.tolist(), high.tolist()) == ([0, pytest.approx(0.6)], [1, 1])


def test_dimension_loop_leaves_the_old_crawler_outside_when_both_stand_in_one_half() -> None:
    overlay = made("DL", [[0.1, 0.1], [0.2, 0.2]])
    assert [overlay.is_in_zone(crawler) for crawler in (0, 1)] == [False, True]


def test_load_schemes_cut_the_busiest_zone_nearby_or_anywhere() -> None:
    start = [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.6, 0.9]]
    expected = {"NH": 3, "GH": 2}
    for scheme, victim in expected.items():
        overlay = made("DL", start)
        overlay._choose, overlay.code = scheme_named(scheme), None
        overlay.insert([[0.95, 0.9]] * 3 + [[0.55, 0.9]] * 2)
        before = overlay.loads()
        assert before.tolist() == [0, 0, 3, 2]
        overlay.join([0.1, 0.1])  # borders crawlers 1 and 3
        changed = overlay.zones_of(4)[0]
        assert overlay.zones.tree.owner[overlay.zones.sibling(changed)] == victim


def test_median_cut_halves_the_load() -> None:
    sites = [[x / 20, 0.5] for x in (1, 2, 3, 19)]
    overlay = made("MPP", [[0.1, 0.1]])
    overlay.insert(sites)
    overlay.join([0.9, 0.9])
    assert sorted(overlay.loads().tolist()) == [2, 2]
    by_load = made("NH", [[0.1, 0.1]], cut=CutRule.MEDIAN)
    by_load.insert(sites)
    by_load.join([0.9, 0.9])
    assert sorted(by_load.loads().tolist()) == [2, 2]


def test_sites_stay_where_they_are_if_they_do_not_move() -> None:
    overlay = made("MP", [[0.1, 0.1]], moves_sites=False)
    overlay.insert([[0.9, 0.9]])
    overlay.join([0.8, 0.8])
    assert (overlay.loads().tolist(), overlay.owner([0.9, 0.9])) == ([1, 0], 1)


def test_nearer_side_parts_sites_better_than_middle_point() -> None:
    sites = [[0.45, 0.55]] * 30  # nearer to the newcomer, but below the middle point
    distance = {}
    for scheme in ("MP", "NS"):
        overlay = made(scheme, [[0.2, 0.4]])
        overlay.insert(sites)
        overlay.join([0.4, 0.8])
        places = overlay.points[overlay.sites.holder]
        distance[scheme] = np.linalg.norm(places - sites, axis=1).sum()
        assert all(overlay.is_in_zone(crawler) for crawler in (0, 1))
    assert distance["NS"] < distance["MP"]


def test_switch_changes_scheme_at_its_share() -> None:
    with pytest.raises(InputError, match="how many are expected"):
        Overlay(SQUARE, scheme="MP_30_NH")
    seen: list[str] = []

    def spy(name: str) -> None:
        inner = SCHEMES[name]

        def choose(view: JoinView) -> Cut:
            seen.append(name)
            return inner(view)

        spies[name] = choose

    spies = dict(SCHEMES)
    spy("MP")
    spy("NH")
    overlay = Overlay(SQUARE, scheme="MP_30_NH", expected=10)
    from ipmicra.assign.overlay.schemes.switch import switch

    overlay._choose = switch(spies["MP"], 0.3, spies["NH"])
    for x in np.linspace(0.05, 0.95, 10):
        overlay.join([x, x])
    assert seen == ["MP"] * 2 + ["NH"] * 7


@pytest.mark.parametrize("name", ["XX", "MP_30", "MP_x_NH", "MP_130_NH", ""])
def test_unknown_scheme_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(InputError, match="DL, MPP, NH, GH, MP, NS"):
        scheme_named(name)


@pytest.mark.parametrize("scheme", ["DL", "MP"])
@pytest.mark.parametrize("half", list(Half))
def test_compiled_joins_equal_the_plain_steps(scheme: str, half: Half) -> None:
    points = np.random.default_rng(5).random((300, 3)).round(2)  # duplicates happen
    options = OverlayOptions(half=half)
    fast = Overlay(CUBE, scheme=scheme, options=options, rng=np.random.default_rng(2))
    plain = Overlay(CUBE, scheme=scheme, options=options, rng=np.random.default_rng(2))
    for point in points:
        fast.join(point)
        plain._make_room(1)
        plain.points[plain._joined] = point
        plain._join_by_scheme(plain._joined) if len(plain) else plain._found(0)
    asked = np.random.default_rng(6).random((2000, 3))
    assert fast.owners(asked).tolist() == plain.owners(asked).tolist()
    if half is Half.HOLDING:
        at_once = Overlay(CUBE, scheme=scheme, options=options)
        at_once.join_many(points)
        assert at_once.owners(asked).tolist() == fast.owners(asked).tolist()


def test_crawlers_on_one_coordinate_get_zones_of_their_own() -> None:
    for scheme in SCHEMES:
        overlay = made(scheme, [[0.3, 0.3]] * 40)
        leaves = overlay.zones.leaves()
        tree = overlay.zones.tree
        assert len(leaves) == 40
        assert (tree.low[leaves] < tree.high[leaves]).all()


def test_too_many_on_one_coordinate_is_told() -> None:
    overlay = Overlay(Space(low=np.array([1.0]), high=np.array([2.0])), scheme="DL")
    with pytest.raises(OverlayError, match="too many crawlers stand on one coordinate"):
        overlay.join_many(np.ones((200, 1)))
    assert 50 < len(overlay) < 60
    assert overlay.owner([1.5]) >= 0


def test_a_departed_zone_merges_with_its_other_half() -> None:
    overlay = made("DL", [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9]])
    gone = overlay.leave(2)
    assert gone.takers == (1,)
    low, high = overlay.bounds(overlay.zones_of(1)[0])
    assert (low.tolist(), high.tolist()) == ([0.5, 0], [1, 1])


def test_the_smallest_neighbour_takes_a_zone_whose_other_half_is_split() -> None:
    overlay = made("DL", [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.6, 0.9]])
    gone = overlay.fail(0)
    assert (gone.takers, gone.is_failure) == ((3,), True)
    assert len(overlay.zones_of(3)) == 2
    newcomer = overlay.join([0.2, 0.2])
    assert overlay.zones_of(newcomer) == [1]
    assert len(overlay.zones_of(3)) == 1


def test_a_crawler_that_drifts_beyond_its_diagonal_rejoins() -> None:
    overlay = made("DL", [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.9, 0.6]])
    assert overlay.move(3, [0.8, 0.8]) == 3
    assert overlay.move(3, [0.0, 0.0]) == 4
    assert len(overlay) == 4


@pytest.mark.parametrize("bad", [[float("nan"), 0.0], [0.0], [[0.0, 0.0]], [0.0, float("inf")]])
def test_a_coordinate_that_cannot_be_placed_is_refused(bad: list[float]) -> None:
    overlay = made("MP", [[0.1, 0.1]])
    with pytest.raises(InputError):
        overlay.join(bad)
    assert len(overlay) == 1


def test_greedy_walks_are_as_short_as_theory_says_on_a_torus() -> None:
    rng = np.random.default_rng(3)
    for count in (200, 2000):
        overlay = Overlay(CUBE, scheme="DL", options=OverlayOptions(is_torus=True))
        overlay.join_many(rng.random((count, 3)))
        hops = overlay.hops(rng.integers(0, count, 500), rng.random((500, 3)))
        assert 0 < hops.mean() <= 3 * count ** (1 / 3) / 4


@pytest.mark.parametrize("is_torus", [False, True])
def test_walks_to_the_ends_of_the_space_end_at_the_owner(is_torus: bool) -> None:
    rng = np.random.default_rng(4)
    overlay = made("MP", rng.random((30, 2)).tolist(), is_torus=is_torus)
    for point in itertools.product([0.0, 0.5, 1.0], repeat=2):
        for start in range(30):
            assert [start, *overlay.route(start, list(point))][-1] == overlay.owner(point)


def test_random_half_and_missing_chance_are_told() -> None:
    with pytest.raises(InputError, match="generator"):
        Overlay(SQUARE, options=OverlayOptions(half=Half.RANDOM))


def test_any_altered_byte_of_a_saved_overlay_is_found() -> None:
    overlay = made("MP", [[0.1, 0.1], [0.9, 0.1], [0.5, 0.9]])
    overlay.insert([[0.2, 0.2]])
    data = overlay.to_bytes()
    for place in range(len(data)):
        altered = bytearray(data)
        altered[place] ^= 0xFF
        with pytest.raises(CorruptStateError):
            Overlay.from_bytes(bytes(altered))
    for length in (0, 5, len(data) - 1):
        with pytest.raises(CorruptStateError):
            Overlay.from_bytes(data[:length])


@pytest.mark.parametrize(("low", "high"), [([0.0], [0.0]), ([1.0], [0.0]), ([float("nan")], [1.0]), ([], [])])
def test_a_space_without_room_is_refused(low: list[float], high: list[float]) -> None:
    with pytest.raises(InputError):
        Space(low=np.array(low), high=np.array(high))


@pytest.mark.parametrize("is_torus", [False, True])
def test_walks_find_their_way_among_zones_too_small_for_distances(is_torus: bool) -> None:
    overlay = made("DL", [[0.0, 0.0]] * 60 + [[0.0, 1e-220], [1e-220, 0.0], [1.0, 1.0]], is_torus=is_torus)
    for point in ([0.0, 0.0], [0.0, 1e-220], [1e-220, 1e-220], [1.0, 1.0], [0.5, 0.0]):
        for start in overlay.crawlers().tolist():
            assert [start, *overlay.route(start, point)][-1] == overlay.owner(point)
