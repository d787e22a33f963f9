"""Zones that are kept: frames that turn, things that drift, bytes that are damaged."""

from __future__ import annotations

import numpy as np
import pytest

from ipmicra.assign.coordinate.align import aligned
from ipmicra.assign.overlay.kept import KIND, KeptOverlay, Standing, drift
from ipmicra.assign.packing import pack, unpack
from ipmicra.errors import CorruptStateError

RNG = np.random.default_rng(3)
CRAWLERS, SITES = RNG.uniform(0, 100, (8, 3)), RNG.uniform(0, 100, (40, 3))
TURN = np.linalg.qr(RNG.normal(size=(3, 3)))[0]


def standing(points: np.ndarray, letter: str, unknown: tuple[int, ...] = ()) -> Standing:
    is_known = np.ones(len(points), bool)
    is_known[list(unknown)] = False
    return Standing(names=[f"{letter}{row}" for row in range(len(points))], points=points, is_known=is_known)


def turned(points: np.ndarray) -> np.ndarray:
    """The same places in another frame, mirrored or not."""
    other: np.ndarray = points @ TURN + [5.0, -7.0, 11.0]
    return other


def made(unknown: tuple[int, ...] = ()) -> KeptOverlay:
    return KeptOverlay.begin(standing(CRAWLERS, "c"), standing(SITES, "s", unknown))


NAMES = [f"s{row}" for row in range(len(SITES))]


def test_a_turned_frame_is_turned_back() -> None:
    assert aligned(turned(SITES), turned(CRAWLERS), CRAWLERS) == pytest.approx(SITES)
    assert drift((SITES, turned(SITES)), (CRAWLERS, turned(CRAWLERS))) == pytest.approx(0.0, abs=1e-9)
    assert drift((SITES, SITES), (CRAWLERS[:0], CRAWLERS[:0])).tolist() == [0.0] * len(SITES)


def test_the_same_fleet_in_another_frame_owns_what_it_owned() -> None:
    kept = made()
    before = kept.owners(NAMES)
    assert kept.carry(standing(turned(CRAWLERS), "c"), standing(turned(SITES), "s"))
    assert kept.owners(NAMES) == before
    assert kept.owners(["s0", "nowhere"]) == [before[0], None]


def test_a_site_that_drifted_far_is_inserted_anew_and_a_crawler_rejoins() -> None:
    kept = made()
    sites, crawlers = SITES.copy(), CRAWLERS.copy()
    sites[0] = crawlers[1] = [900.0, 900.0, 900.0]
    number = kept.crawlers["c1"]
    assert kept.carry(standing(crawlers, "c"), standing(sites, "s"))
    assert np.linalg.norm(kept.sites["s0"] - SITES[0]) > 500
    assert kept.crawlers["c1"] != number
    assert kept.sites["s1"].tolist() == SITES[1].tolist()


def test_a_site_without_samples_stays_until_it_has_some() -> None:
    kept = made(unknown=(0,))
    away = SITES + np.eye(1, len(SITES)).T * 30
    kept.carry(standing(CRAWLERS, "c"), standing(away, "s", (0,)))
    assert kept.sites["s0"].tolist() == SITES[0].tolist()
    kept.carry(standing(CRAWLERS, "c"), standing(away, "s"))
    assert kept.sites["s0"] == pytest.approx(away[0], abs=1.0)


def test_a_fleet_of_strangers_is_not_carried() -> None:
    assert not made().carry(standing(CRAWLERS, "x"), standing(SITES, "t"))


def test_it_comes_back_from_its_bytes() -> None:
    kept = made(unknown=(2,))
    kept.overlay.leave(kept.crawlers.pop("c3"))
    back = KeptOverlay.from_bytes(kept.to_bytes())
    assert (back.crawlers, back.known, back.owners(NAMES)) == (kept.crawlers, kept.known, kept.owners(NAMES))


def test_damaged_bytes_are_told() -> None:
    data = made().to_bytes()
    with pytest.raises(CorruptStateError):
        KeptOverlay.from_bytes(data[:-1] + b"!")
    facts, arrays = unpack(KIND, data)
    for wrong in ({"crawlers": {"c0": 99}}, {"sites": ["s0"]}, {"known": [True]}, {"crawlers": 3}):
        with pytest.raises(CorruptStateError):
            KeptOverlay.from_bytes(pack(KIND, facts | wrong, arrays))
