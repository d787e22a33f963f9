"""Colours that most eyes can tell apart, measured."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from ipmicra.app.report.plots.palette import CRAWLER_DARK, CRAWLER_LIGHT, DARK, LIGHT, colours, crawler_role

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
# Ottosson's Oklab.
TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
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


def nearest(palette: tuple[str, ...], eyes: NDArray[np.float64]) -> float:
    """Smallest distance between two colours, as those eyes see them."""
    seen = [np.cbrt(TO_LMS @ np.clip(eyes @ light(colour), 0, 1)) @ TO_LAB.T for colour in palette]
    return min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2))


@pytest.mark.parametrize("palette", [CRAWLER_LIGHT, CRAWLER_DARK], ids=["light", "dark"])
@pytest.mark.parametrize("eyes", EYES)
def test_twelve_crawlers_are_as_far_apart_as_a_known_safe_palette_of_seven(
    palette: tuple[str, ...], eyes: str
) -> None:
    assert len(set(palette)) == 12
    worst_of_seven = min(nearest(OKABE_ITO, EYES[other]) for other in EYES)
    assert nearest(palette, EYES[eyes]) >= worst_of_seven


@pytest.mark.parametrize("crawler", range(12))
def test_crawlers_stand_out_from_the_ground(crawler: int) -> None:
    assert contrast(CRAWLER_LIGHT[crawler], LIGHT["card"]) >= 3
    assert contrast(CRAWLER_DARK[crawler], DARK["card"]) >= 3


@pytest.mark.parametrize("roles", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("role", ["ink", "muted", "accent"])
@pytest.mark.parametrize("ground", ["card", "page"])
def test_texts_can_be_read(roles: dict[str, str], role: str, ground: str) -> None:
    assert contrast(roles[role], roles[ground]) >= 4.5


def test_both_surroundings_know_the_same_roles() -> None:
    assert colours().keys() == colours(is_dark=True).keys()
    assert crawler_role(12) == crawler_role(0) == "c0"
