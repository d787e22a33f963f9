"""Colours that most eyes can tell apart, measured."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from ipmicra.app.report.plots.palette import (
    CRAWLERS,
    DARK,
    LIGHT,
    SAME,
    colours,
    crawler_form,
    crawler_role,
    looks,
)

# Machado, Oliveira and Fernandes 2009, full severity, on linear light.
EYES = {
    "all cones": np.eye(3),
    "no red cones": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green cones": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue cones": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# From linear sRGB to CIE XYZ under D65.
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
CLOSEST = 23.0
"""Distance in CIELAB; one that is just noticeable is 2.3."""
OKABE_ITO = ("#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#000000")


def light(colour: str) -> NDArray[np.float64]:
    """Linear red, green and blue."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Contrast by WCAG 2."""
    weights = np.array([0.2126, 0.7152, 0.0722])
    low, high = sorted(float(light(colour) @ weights) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """CIELAB of linear light."""
    x, y, z = TO_XYZ @ linear / (TO_XYZ @ np.ones(3))
    fx, fy, fz = (np.cbrt(t) if t > (6 / 29) ** 3 else t * (29 / 6) ** 2 / 3 + 4 / 29 for t in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def nearest(palette: tuple[str, ...], eyes: NDArray[np.float64]) -> float:
    """Smallest distance between two colours, as those eyes see them."""
    seen = [lab(np.clip(eyes @ light(colour), 0, 1)) for colour in palette]
    return min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2))


@pytest.mark.parametrize("eyes", EYES)
def test_crawlers_and_shared_boxes_are_told_apart_by_all_eyes(eyes: str) -> None:
    """Also farther apart than the known safe palette of seven."""
    palette = (*CRAWLERS, SAME["shared"])
    assert len(set(CRAWLERS)) == len(CRAWLERS) <= 8
    assert nearest(palette, EYES[eyes]) >= CLOSEST
    assert nearest(palette, EYES[eyes]) >= min(nearest(OKABE_ITO, EYES[other]) for other in EYES)


@pytest.mark.parametrize("colour", [*CRAWLERS, *SAME.values()])
@pytest.mark.parametrize(
    "ground", [*(LIGHT[role] for role in ("card", "page")), *(DARK[role] for role in ("card", "page"))]
)
def test_crawlers_and_curves_stand_out_from_light_and_dark_grounds(colour: str, ground: str) -> None:
    assert contrast(colour, ground) >= 3


def test_crawlers_and_curves_have_the_same_colours_in_both_themes() -> None:
    dark = colours(is_dark=True)
    kept = {role for role, colour in colours().items() if dark[role] == colour}
    assert kept == {*SAME, *(f"c{i}" for i in range(len(CRAWLERS)))}


def test_no_two_of_the_first_crawlers_look_the_same() -> None:
    found = {(crawler_role(i), crawler_form(i)) for i in range(looks())}
    assert len(found) == looks() >= 28
    assert all(crawler_form(i) != crawler_form(i + 1) for i in range(6))


@pytest.mark.parametrize("roles", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("role", ["ink", "muted", "accent"])
@pytest.mark.parametrize("ground", ["card", "page"])
def test_texts_can_be_read(roles: dict[str, str], role: str, ground: str) -> None:
    assert contrast(roles[role], roles[ground]) >= 4.5


def test_both_surroundings_know_the_same_roles() -> None:
    assert colours().keys() == colours(is_dark=True).keys()
    assert crawler_role(len(CRAWLERS)) == crawler_role(0) == "c0"
