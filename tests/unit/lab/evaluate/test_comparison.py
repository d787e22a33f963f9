"""Replays of worlds in which not every pair was measured, and the tree that stands in for a hierarchy."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address

import numpy as np
import pytest

from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.baselines import Everyone, Hash, Random
from ipmicra.delegate.policies.paper import Paper
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.ports import Policy
from ipmicra.delegate.replay.quality import SiteOutcome, quality_of
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import World
from ipmicra.lab.evaluate.comparison import Comparison, other_ways
from ipmicra.lab.worlds.synthetic import WorldPlan, invent
from ipmicra.lab.worlds.trees import InventedTree, PrefixTree

ADDRESSES = [ip_address(one) for one in ("10.1.2.3", "10.1.2.9", "10.9.0.1", "11.0.0.1", "2001:db8::1")]


@pytest.fixture(scope="module")
def sparse() -> tuple[World, InventedTree]:
    """A world of which half of the pairs were measured, two or more of each site."""
    rng = np.random.default_rng(4)
    world, tree = invent(WorldPlan(crawlers=6, sites=60, subnets=45, loss=0.05), rng)
    measured = rng.random(world.rtt_ms.shape) < 0.5
    measured[:2] |= measured.sum(axis=0) < 2
    return replace(world, rtt_ms=np.where(measured, world.rtt_ms, np.nan), measured=measured), tree


def outcomes(world: World, tree: InventedTree, policy: Policy) -> list[SiteOutcome]:
    return Replay(world, DelegationMachine(tree, policy)).run(range(len(world.sites)))


@pytest.mark.parametrize("policy", [Everyone, Hash, lambda: Random(np.random.default_rng(0))])
def test_policies_that_decide_site_by_site_choose_among_those_that_measured(
    sparse: tuple[World, InventedTree], policy: type[Everyone]
) -> None:
    assert all(one.is_measured for one in outcomes(*sparse, policy()))


def test_everyone_asks_all_that_measured_and_nobody_else(sparse: tuple[World, InventedTree]) -> None:
    found = outcomes(*sparse, Everyone())
    assert [one.probes for one in found] == sparse[0].pairs_per_site().tolist()
    assert quality_of(found).optimal == 1.0


@pytest.mark.parametrize("policy", [Paper, Predict])
def test_only_an_inherited_crawler_may_be_beyond_judgement(
    sparse: tuple[World, InventedTree], policy: type[Paper]
) -> None:
    world, _ = sparse
    found = outcomes(*sparse, policy())
    numbers = {crawler.name: i for i, crawler in enumerate(world.crawlers)}
    for one in found:
        assert one.crawler is not None
        assert one.is_measured == world.is_measured(numbers[one.crawler], one.site)
        assert one.is_measured or (one.probes == 0 and np.isnan(one.excess_ms))
    assert 0.5 < quality_of(found).judged < 1
    assert all(one.probes <= one.askable for one in found)


def test_hash_to_compare_with_is_what_the_hash_policy_chooses(sparse: tuple[World, InventedTree]) -> None:
    found = outcomes(*sparse, Hash())
    np.testing.assert_array_equal([one.rtt_ms for one in found], other_ways(sparse[0])["hash"])
    own = quality_of(found, other_ways(sparse[0]))
    assert (own.saved_ms["hash"], own.others_ms["hash"]) == (0.0, own.mean_rtt_ms)


def test_crawlers_of_today_are_scored_without_a_probe() -> None:
    world, tree = invent(WorldPlan(crawlers=3, sites=20, subnets=10), np.random.default_rng(2))
    nearest = np.nanargmin(world.rtt_ms, axis=0).astype(np.int64)
    nearest[5] = -1
    world = replace(world, today=nearest)
    comparison = Comparison(
        world=world, tree=tree, locations=None, train=10, seeds=2, others_ms=other_ways(world)
    )
    for training, test in comparison.run_given(nearest):
        assert (training.optimal, test.optimal, test.probes_per_site) == (1.0, 1.0, 0.0)
        assert training.sites + test.sites == 19
        assert (test.saved_ms["today"], test.saved_ms["hash"] > 0) == (0.0, True)


def test_prefixes_nest_around_the_addresses() -> None:
    tree = PrefixTree(ADDRESSES)
    assert repr(tree) == "<PrefixTree: 12 subnets>"
    narrow = tree.row_of("10.1.2.77")
    assert tree.bounds(narrow) == (IPv4Address("10.1.2.0"), IPv4Address("10.1.2.255"))
    widths = []
    row: int | None = narrow
    while row is not None:
        assert narrow == row or narrow in tree.descendants(row)
        first, last = tree.bounds(row)
        widths.append(33 - (int(last) - int(first) + 1).bit_length())
        row = tree.parent(row)
    assert widths == [24, 16, 8, 0]
    assert tree.bounds(tree.row_of("2001:db8::ff"))[0] == IPv6Address("2001:db8::")


def test_address_outside_every_prefix_is_in_a_root() -> None:
    tree = PrefixTree(ADDRESSES)
    for address in ("12.0.0.1", "9.255.255.255", "255.255.255.255", "::1", "fe80::1"):
        assert tree.parent(tree.row_of(address)) is None
    assert (tree.organisation_number(3), tree.country(3), tree.registry_number(3)) == (0, None, 0)
