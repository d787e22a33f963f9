"""The delegator as a method of partitioning: what it does when a crawler joins or leaves."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

import numpy as np
import pytest

from ipmicra.app.partition.delegated import WorldDecider
from ipmicra.errors import InputError
from ipmicra.model.site import Site
from ipmicra.partition.compare import moved_on_join, moved_on_leave
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.methods.registry import METHODS, partition
from ipmicra.partition.problem import Problem
from ipmicra.partition.sites import SiteTable
from tests.fakes.subnet_tree import Listed, ListedTree

SITES, CRAWLERS = 40, 5
FIRST = int(ip_address("10.0.0.0"))


def problem(seed: int = 1) -> Problem:
    """Sites and crawlers on a line; every site has a subnet of its own."""
    rng = np.random.default_rng(seed)
    places, own = rng.uniform(0, 100, SITES), np.array([0.0, 100.0, 50.0, 25.0, 75.0])
    hosts = [f"s{number}.example" for number in range(SITES)]
    tree = ListedTree([Listed(FIRST + 256 * row, FIRST + 256 * row + 255, 0) for row in range(SITES)])
    return Problem(
        sites=SiteTable.of(hosts),
        crawlers=CrawlerTable.floating(CRAWLERS),
        rtt_ms=np.abs(places[:, None] - own[None]) + 2.0,
        decider=WorldDecider(
            tree=tree,
            sites=[Site(host, ip_address(FIRST + 256 * row + 7)) for row, host in enumerate(hosts)],
            fleet=[ip_address(f"192.0.2.{number + 1}") for number in range(CRAWLERS)],
        ),
    )


def test_a_join_goes_on_from_what_was_delegated_and_moves_sites_to_the_newcomer_alone() -> None:
    whole = problem()
    before = whole.first(CRAWLERS - 1)
    assert whole.decider is not None
    column = whole.decider.decide(before)
    after = whole.decider.decide_again(before, whole)
    assert set(after[after != column].tolist()) == {CRAWLERS - 1}
    assert moved_on_join(METHODS["delegated"], whole, after) == pytest.approx(np.mean(after != column))
    assert whole.rtt_ms is not None
    gains = whole.rtt_ms[np.arange(SITES), after] - whole.rtt_ms[np.arange(SITES), column]
    assert (gains[after != column] < 0).all()


def test_a_leave_moves_what_the_leaver_held_alone() -> None:
    whole = problem()
    assert whole.decider is not None
    column = whole.decider.decide(whole)
    after = whole.decider.decide_again(whole, whole.first(CRAWLERS - 1))
    assert (after != column).tolist() == (column == CRAWLERS - 1).tolist()
    told = moved_on_leave(METHODS["delegated"], whole, column)
    assert told == pytest.approx(np.mean(column == CRAWLERS - 1))


def test_without_a_delegator_or_round_trips_it_says_what_it_needs() -> None:
    with pytest.raises(InputError, match="--hierarchy"):
        partition(METHODS["delegated"], replace(problem(), decider=None))
    with pytest.raises(InputError, match="--world"):
        partition(METHODS["delegated"], replace(problem(), rtt_ms=None))
