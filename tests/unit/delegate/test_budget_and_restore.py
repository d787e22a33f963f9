"""What the delegator does when the budget is out, and with what a store gives back."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

from ipmicra.delegate.actions import AskProbe, Assigned, Delegated
from ipmicra.delegate.events import CrawlerJoined, ProbeLost, SampleReturned, SiteArrived
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.baselines import Everyone, Geo
from ipmicra.delegate.subnets import key_of_bounds, single, slice_of
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site
from tests.fakes.subnet_tree import ListedTree, flat_tree, listed

SITE = Site("a.example", ip_address("10.0.0.5"))


def joined(machine: DelegationMachine, *names: str) -> None:
    for i, name in enumerate(names):
        machine.handle(CrawlerJoined(Crawler(name=name, address=ip_address(f"192.0.2.{i + 1}")), 0.0))


def test_probe_that_the_budget_forbids_is_not_counted_and_the_best_sample_wins() -> None:
    machine = DelegationMachine(flat_tree(3), Everyone())
    joined(machine, "ath", "nyc")
    asks = [one for one in machine.handle(SiteArrived(SITE, 1.0)) if isinstance(one, AskProbe)]
    sample = Sample(crawler="ath", address=SITE.address, rtt_ms=9.0)
    assert machine.handle(SampleReturned(asks[0].attempt, sample, 1.0)) == []
    actions = machine.handle(ProbeLost(asks[1].attempt, "nyc", Loss.BUDGET, 1.0))
    (assigned,) = [one for one in actions if isinstance(one, Assigned)]
    assert (assigned.decision.crawler, assigned.decision.evidence, assigned.decision.probes) == (
        "ath",
        Evidence.PROBED,
        1,
    )


def test_site_without_any_paid_probe_is_answered_at_once_without_probes() -> None:
    machine = DelegationMachine(flat_tree(3), Geo(1))
    joined(machine, "ath", "nyc")
    (ask,) = machine.handle(SiteArrived(SITE, 1.0))
    assert isinstance(ask, AskProbe)
    actions = machine.handle(ProbeLost(ask.attempt, ask.probe.crawler, Loss.BUDGET, 1.0))
    (delegated,) = [one for one in actions if isinstance(one, Delegated)]
    assert (delegated.delegation.probes, delegated.delegation.evidence) == (0, Evidence.INHERITED)
    assert delegated.is_makeshift


def test_restored_delegation_is_reconsidered_for_those_who_joined_later() -> None:
    tree = flat_tree(3)
    one = Delegation(
        first=SITE.address,
        last=SITE.address,
        crawler="ath",
        evidence=Evidence.PROBED,
        rtt_ms=9.0,
        probes=1,
        created_s=1.0,
        expires_s=1e9,
    )
    for fleet_size, asked in ((2, []), (None, []), (1, ["nyc"])):
        machine = DelegationMachine(tree, Everyone())
        joined(machine, "ath", "nyc")
        assert machine.restore(single(SITE.address), one, fleet_size=fleet_size)
        actions = machine.handle(SiteArrived(SITE, 2.0))
        assert [action.probe.crawler for action in actions if isinstance(action, AskProbe)] == asked


def test_key_is_found_by_bounds() -> None:
    tree = ListedTree([listed("10.0.0.0/8", 0), listed("10.0.0.0/24", 1)])
    four = IPv4Address("10.0.0.0")
    assert key_of_bounds(tree, four, IPv4Address("10.255.255.255")) == 1
    assert key_of_bounds(tree, four, IPv4Address("10.0.0.255")) == 2
    assert key_of_bounds(tree, four, four) == single(four)
    outside = IPv4Address("80.1.2.0")
    assert key_of_bounds(tree, outside, IPv4Address("80.1.2.255")) == slice_of(outside)
    assert key_of_bounds(tree, outside, IPv4Address("80.1.2.127")) is None
    assert single(IPv6Address(1)) != single(IPv4Address(1))
