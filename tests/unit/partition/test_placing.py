"""Places for sites whose location is unknown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ipmicra.partition.placing import place_by_subnet
from ipmicra.partition.sites import SiteTable

NAN = float("nan")


def test_unplaced_sites_go_to_their_subnet_then_country_then_the_middle() -> None:
    sites = SiteTable.of(list("abcdef"), places=([10, NAN, 20, NAN, NAN, NAN], [0, NAN, 0, NAN, NAN, NAN]))
    sites = replace(
        sites,
        subnets=np.array([[1, 1, 2, 3, -1, -1], [9, 9, 8, 8, -1, -1]]),
        country=np.array([5, 5, 6, 6, 6, 0]),
    )
    found, tally = place_by_subnet(sites)
    assert found.latitude.tolist() == pytest.approx([10, 10, 20, 20, 20, 15])
    assert (tally.known, tally.by_subnet, tally.by_country, tally.by_all, tally.nowhere) == (2, 2, 1, 1, 0)
    assert tally.missing == 4


def test_sites_stay_without_a_place_if_none_has_one() -> None:
    found, tally = place_by_subnet(SiteTable.of(["a", "b"]))
    assert not found.has_location.any()
    assert tally.nowhere == 2
