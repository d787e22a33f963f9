"""Coordinates: worlds that can be embedded exactly, bad input, updates, saving."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ipmicra import Coordinates, CorruptStateError, InputError
from ipmicra.assign.coordinate.config import GnpConfig, VivaldiConfig
from ipmicra.assign.coordinate.coordinates import METHODS, rank
from ipmicra.assign.coordinate.gnp import place_hosts
from ipmicra.assign.coordinate.landmarks import choose_landmarks, place_landmarks
from ipmicra.assign.coordinate.samples import clean, clean_mutual
from ipmicra.assign.coordinate.space import learn_space, learn_space_moving
from ipmicra.assign.coordinate.vivaldi import place_by_vivaldi
from ipmicra.model.types import Floats


def world(count: int, seed: int = 1, height_ms: float = 0.0) -> Floats:
    """Round trips of points in space, with access delays."""
    rng = np.random.default_rng(seed)
    points, heights = rng.random((count, 3)) * 100, rng.random(count) * height_ms
    apart = np.linalg.norm(points[:, None] - points, axis=-1) + heights[:, None] + heights
    np.fill_diagonal(apart, 0)
    return np.asarray(apart)


def fitted(method: str = "gnp", seed: int = 1, **more: object) -> tuple[Coordinates, Floats, Floats]:
    """A fleet of 20, and 80 hosts with their samples of the landmarks."""
    rtt = world(100, seed)
    coordinates = Coordinates.fit(
        rtt[:20, :20],
        rng=np.random.default_rng(0),
        landmarks=10,
        method=method,
        **more,  # type: ignore[arg-type]
    )
    samples = np.full((80, 20), np.nan)
    samples[:, coordinates.landmarks] = rtt[20:, coordinates.landmarks]
    return coordinates, samples, rtt[20:, :20]


def test_a_world_that_fits_into_space_is_found_exactly() -> None:
    coordinates, samples, truth = fitted()
    assert np.abs(coordinates.predict(samples) / truth - 1).max() < 0.02
    assert coordinates.errors(samples).max() < 0.01
    assert (coordinates.nearest(samples)[:, 0] == truth.argmin(axis=1)).mean() > 0.97


def test_heights_are_found_where_they_are() -> None:
    rtt = world(60, height_ms=30)
    for has_height, is_good in ((True, True), (False, False)):
        config = GnpConfig(has_height=has_height)
        anchors = place_landmarks(clean_mutual(rtt[:20, :20]), config, np.random.default_rng(1))
        placed = place_hosts(rtt[20:, :20], anchors, config)
        assert bool(np.median(placed.error) < 0.01) is is_good
        assert (placed.heights >= 0).all()


def test_missing_samples_are_left_out() -> None:
    coordinates, samples, truth = fitted()
    samples[:, coordinates.landmarks[:4]] = np.nan
    assert np.median(np.abs(coordinates.predict(samples) / truth - 1)) < 0.02


def test_measured_round_trips_stay_as_measured() -> None:
    coordinates, samples, _ = fitted("blend")
    told = coordinates.predict(samples)
    is_measured = np.isfinite(samples)
    assert (told[is_measured] == samples[is_measured]).all()
    assert np.isfinite(told).all()


def test_zero_negative_and_infinite_round_trips_count_as_missing() -> None:
    cleaned = clean([[1.0, 0.0, -3.0, np.inf, np.nan]])
    assert (cleaned.refused, cleaned.rtt_ms[0, 0]) == (3, 1.0)
    assert np.isnan(cleaned.rtt_ms[0, 1:]).all()


def test_repeated_samples_count_by_their_median() -> None:
    layers = np.array([[[1.0, 5.0]], [[100.0, np.nan]], [[3.0, 0.0]]])
    assert clean(layers).rtt_ms.tolist() == [[3.0, 5.0]]


def test_a_host_without_samples_gets_an_answer_all_the_same() -> None:
    for method in METHODS:
        coordinates, samples, _ = fitted(method)
        assert np.isfinite(coordinates.predict(np.full_like(samples, np.nan))).all()
        assert np.isnan(coordinates.errors(np.full_like(samples, np.nan))).all()


def test_a_landmark_that_never_answers_is_named() -> None:
    rtt = world(20)
    rtt[3] = rtt[:, 3] = np.nan
    with pytest.raises(InputError, match="landmark 3 has no round trip"):
        Coordinates.fit(rtt, rng=np.random.default_rng(0), landmarks=range(10), method="gnp")
    chosen = choose_landmarks(clean_mutual(rtt), 10, floor_ms=5, noise=0.2)
    assert 3 not in chosen


def test_crawlers_that_all_stand_on_one_point_are_placed_together() -> None:
    rtt = np.full((12, 12), 1e-3)
    for method in METHODS:
        coordinates = Coordinates.fit(rtt, rng=np.random.default_rng(0), landmarks=6, method=method)
        told = coordinates.predict(np.where(np.arange(12) < 6, 1e-3, np.nan)[None])
        assert np.isfinite(told).all()
        assert told.max() < 20


@pytest.mark.parametrize(
    ("rtt", "landmarks", "told"),
    [
        (np.full((4, 4), np.nan), range(4), "at least"),
        (np.ones((1, 1)), [0], "at least"),
        (np.ones((3, 4)), 2, "square"),
        (np.ones((3, 3)), 4, "cannot be chosen"),
        (np.ones((3, 3)), [0, 0], "different crawlers"),
        (np.ones((3, 3)), [0, 7], "different crawlers"),
    ],
)
def test_a_fleet_that_cannot_be_placed_is_refused(
    rtt: Floats, landmarks: Sequence[int] | int, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        Coordinates.fit(rtt, rng=np.random.default_rng(0), landmarks=landmarks, method="gnp")


def test_wrong_method_and_wrong_width_are_told() -> None:
    with pytest.raises(InputError, match="no method named 'x'; there are gnp"):
        fitted("x")
    coordinates, samples, _ = fitted()
    with pytest.raises(InputError, match="5 columns, but there are 20 crawlers"):
        coordinates.predict(samples[:, :5])


def test_several_starts_never_end_worse_and_need_a_generator() -> None:
    rtt = world(100)
    anchors = place_landmarks(clean_mutual(rtt[:8, :8]), GnpConfig(), np.random.default_rng(1))
    noisy = rtt[20:, :8] * np.random.default_rng(2).uniform(0.7, 1.3, (80, 8))
    once = place_hosts(noisy, anchors, GnpConfig())
    often = place_hosts(noisy, anchors, GnpConfig(starts=4), rng=np.random.default_rng(3))
    assert once.error.mean() >= often.error.mean() - 1e-3
    with pytest.raises(InputError, match="generator"):
        place_hosts(noisy, anchors, GnpConfig(starts=2))


def test_vivaldi_comes_close_without_landmarks() -> None:
    rtt = world(40)
    placed = place_by_vivaldi(clean_mutual(rtt), VivaldiConfig(), np.random.default_rng(1))
    told = placed.distances(placed)
    off = np.abs(told - rtt)[rtt > 0] / rtt[rtt > 0]
    assert np.median(off) < 0.1


def test_of_the_crawlers_that_measured_only_the_best_can_be_nearest() -> None:
    samples = np.array([[10.0, 11.0, np.nan, np.nan]])
    told = np.array([[10.0, 11.0, 12.0, 30.0]])
    assert rank(told, samples, 4).tolist() == [[0, 2, 3, 1]]


def test_samples_of_delegation_place_subnets_and_siblings_inherit() -> None:
    coordinates, _, truth = fitted("blend")
    lineage = {5: [1, 5], 6: [1, 6], 7: [2, 7]}
    crawlers = np.arange(20)
    used = coordinates.update([5] * 20, crawlers, truth[0], lineage_of=lineage.__getitem__)
    assert used == 20
    told = coordinates.predict_subnets([5, 6, 7], lineage_of=lineage.__getitem__)
    assert told[0].tolist() == truth[0].tolist()
    assert told[1] == pytest.approx(told[0])
    assert np.isnan(told[2]).all()
    coordinates.update([5, 5, 5], [0, 0, 0], [np.nan, 0.0, -1.0])
    assert coordinates.predict_subnets([5])[0].tolist() == truth[0].tolist()


def test_few_samples_lean_on_siblings() -> None:
    coordinates, _, truth = fitted("gnp")
    host, lineage = truth[0], {row: [1, row] for row in range(2, 9)}
    for row in range(2, 6):
        coordinates.update([row] * 20, np.arange(20), host, lineage_of=lineage.__getitem__)
    coordinates.predict_subnets(list(range(2, 6)), lineage_of=lineage.__getitem__)
    coordinates.update([8], [3], [host[3]], lineage_of=lineage.__getitem__)
    helped = coordinates.predict_subnets([8], lineage_of=lineage.__getitem__)[0]
    coordinates.update([99], [3], [host[3]])
    alone = coordinates.predict_subnets([99])[0]
    assert np.abs(helped - host).mean() < np.abs(alone - host).mean() / 2


def test_repeated_samples_of_a_subnet_are_remembered_by_their_median() -> None:
    coordinates, _, _ = fitted()
    coordinates.update([1] * 7, [4] * 7, [900.0, 800.0, 10.0, 11.0, 12.0, 13.0, 500.0])
    assert coordinates.predict_subnets([1])[0, 4] == 12.0


@pytest.mark.parametrize("method", METHODS)
def test_saved_coordinates_answer_alike(method: str) -> None:
    coordinates, samples, truth = fitted(method)
    coordinates.update([5, 5], [0, 1], truth[0, :2])
    again = Coordinates.from_bytes(coordinates.to_bytes())
    assert repr(again) == repr(coordinates) == f"<Coordinates {method}: 20 crawlers, 10 landmarks, 1 subnets>"
    # The same numbers in another layout are added up in another order.
    assert again.predict(samples) == pytest.approx(coordinates.predict(samples), rel=1e-6)
    assert again.predict_subnets([5]) == pytest.approx(coordinates.predict_subnets([5]), rel=1e-6)


def test_damaged_saved_coordinates_are_refused() -> None:
    data = fitted()[0].to_bytes()
    rng = np.random.default_rng(1)
    for place in rng.integers(0, len(data), 200).tolist():
        altered = bytearray(data)
        altered[place] ^= 0x55
        with pytest.raises(CorruptStateError):
            Coordinates.from_bytes(bytes(altered))


def test_the_space_cuts_a_share_off_and_keeps_room() -> None:
    points = np.random.default_rng(1).normal(size=(2000, 3))
    space = learn_space(points, 0.1)
    assert ((points[:, 0] < space.low[0]).mean(), (points[:, 0] > space.high[0]).mean()) == (
        pytest.approx(0.1, abs=0.002),
        pytest.approx(0.1, abs=0.002),
    )
    assert learn_space_moving(points, 0.05).moved(points).mean() == pytest.approx(0.05, abs=0.003)
    assert space.clamped([[99, 0, -99]]).tolist() == [[space.high[0], 0, space.low[2]]]
    equal = learn_space(np.full((5, 2), 7.0), 0.05)
    assert (equal.low < 7).all()
    assert (equal.high > 7).all()
    for cut in (-0.1, 0.5):
        with pytest.raises(InputError):
            learn_space(points, cut)
    with pytest.raises(InputError):
        learn_space(np.full((2, 2), np.nan), 0.1)
