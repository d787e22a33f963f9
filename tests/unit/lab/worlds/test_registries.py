"""Invented registries: levels, organisations, sites and the two hierarchies."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from ipmicra import InputError
from ipmicra.lab.worlds.registries import RegisteredWorld, RegistryPlan, invent_registries
from ipmicra.lab.worlds.trees import RegisteredRanges


@pytest.fixture(scope="module", params=[0, 1, 2])
def made(request: pytest.FixtureRequest) -> RegisteredWorld:
    return invent_registries(RegistryPlan(), np.random.default_rng(request.param))


def leaves(tree: RegisteredRanges) -> list[int]:
    return [row for row in range(len(tree)) if not tree.descendants(row)]


def test_a_hierarchy_has_four_to_seven_levels_and_sites_on_all_of_them(made: RegisteredWorld) -> None:
    levels = made.deep.levels()
    assert max(levels) == 7
    # An LIR without customers may end at level 3; customers never do.
    assert {levels[row] for row in leaves(made.deep)} - {3} == {4, 5, 6, 7}
    homes = {levels[made.deep.row_of(str(site.address))] for site in made.world.sites}
    assert homes == {3, 4, 5, 6, 7}


def test_ranges_are_nested_and_no_two_are_equal(made: RegisteredWorld) -> None:
    bounds = [tuple(map(int, made.deep.bounds(row))) for row in range(len(made.deep))]
    assert len(set(bounds)) == len(bounds)
    for row, (first, last) in enumerate(bounds):
        above = made.deep.parent(row)
        if above is not None:
            assert bounds[above][0] <= first
            assert last <= bounds[above][1]


def test_most_organisations_have_few_subnets(made: RegisteredWorld) -> None:
    held = Counter(made.deep.organisation_number(row) for row in leaves(made.deep))
    assert sum(count <= 2 for count in held.values()) > 0.75 * len(held)
    assert max(held.values()) > 3


def test_the_flat_hierarchy_lists_allocations_of_the_same_world(made: RegisteredWorld) -> None:
    assert set(made.flat.levels()) == {1, 2}
    deep = {made.deep.bounds(row): row for row in range(len(made.deep))}
    levels = made.deep.levels()
    for row in range(1, len(made.flat)):
        twin = deep[made.flat.bounds(row)]
        assert levels[twin] == 3
        assert made.flat.organisation_number(row) == made.deep.organisation_number(twin)
    for site in made.world.sites:
        assert made.flat.row_of(str(site.address)) > 0


def test_crawlers_stand_in_different_cities_in_subnets_of_their_own(made: RegisteredWorld) -> None:
    crawlers = made.world.crawlers
    assert len({(one.location.latitude, one.location.longitude) for one in crawlers if one.location}) == 12
    assert len({made.deep.row_of(str(one.address)) for one in crawlers}) == 12
    addresses = [site.address for site in made.world.sites] + [one.address for one in crawlers]
    assert len(set(addresses)) == len(addresses)


def test_a_seed_makes_the_same_world_again() -> None:
    one, other = (invent_registries(RegistryPlan(), np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(one.world.rtt_ms, other.world.rtt_ms)
    assert one.world.sites == other.world.sites
    assert [one.deep.bounds(row) for row in range(len(one.deep))] == [
        other.deep.bounds(row) for row in range(len(other.deep))
    ]


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (RegistryPlan(crawlers=500), "500 crawlers need as many cities"),
        (RegistryPlan(sites=100_000, lirs_each=1, customers_each=1.0, crawlers=1), "do not fit"),
    ],
)
def test_a_plan_that_cannot_be_built_is_refused(plan: RegistryPlan, words: str) -> None:
    with pytest.raises(InputError, match=words):
        invent_registries(plan, np.random.default_rng(1))
