"""What is kept for sites and places stays small however large the fleet."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from ipaddress import IPv4Address

import numpy as np
import pytest

from ipmicra.delegate.attempt import Attempt
from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.policies.predict.forest import Branches
from ipmicra.delegate.policies.predict.prior import Field, Geography, Samples
from tests.fakes.fleet import place
from tests.fakes.subnet_tree import flat_tree

CONFIG = PredictConfig(mixed_places=0)
ATHENS = place(37.98, 23.73)
CRAWLERS = 1_000
VECTOR = 8 * CRAWLERS
"""Bytes of a number for each crawler."""


def geography(crawlers: int) -> Geography:
    found = Geography(CONFIG)
    for number in range(crawlers):
        found.add(place(number % 80, number % 180))
    return found


def kept_bytes(make: Callable[[], object]) -> int:
    """Return how many bytes stay in use as long as what was made is kept."""
    tracemalloc.start()
    try:
        made = make()
        found, _most = tracemalloc.get_traced_memory()
        del made
    finally:
        tracemalloc.stop()
    return found


def test_outlooks_of_ever_more_places_take_no_more_than_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    some = geography(100)
    each = 3 * some.outlook(ATHENS).levels.nbytes
    bound = 10 * each
    monkeypatch.setattr("ipmicra.delegate.policies.predict.prior.OUTLOOKS_BYTES", bound)

    def ask() -> None:
        for number in range(500):
            some.outlook(place(number / 10, number / 10))

    assert kept_bytes(ask) < 2 * bound < 500 * each / 10


def test_place_that_comes_again_has_its_outlook_by_then() -> None:
    some = geography(100)
    assert some.outlook(ATHENS) is some.outlook(place(37.98, 23.73))


@pytest.mark.parametrize("learns", [False, True])
def test_what_is_expected_of_a_site_grows_with_the_fleet_and_not_with_its_square(*, learns: bool) -> None:
    field = Field(CONFIG, 0.05 * np.eye(CRAWLERS) + 0.02)
    outlook = geography(CRAWLERS).outlook(ATHENS)
    attempt = Attempt(0, -1, 0, IPv4Address("10.0.0.1"), ATHENS)
    branch = Branches(CONFIG, flat_tree(1)).branch(field.forest, attempt, is_placed=True)
    if learns:
        samples = Samples(np.array([2, 7]), np.array([40.0, 90.0]), np.ones(1))
        field.learn(field.expect(outlook, branch), samples)
    sites = 8
    kept = kept_bytes(lambda: [field.expect(outlook, branch) for _ in range(sites)])
    assert kept < sites * 20 * VECTOR, "a whole covariance has 1,000 such vectors"
    of_site = field.expect(outlook, branch).covariance
    assert of_site.base is field.within.base
    assert len(of_site.weights) == (3 if learns else 0)
