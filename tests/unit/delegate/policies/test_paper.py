"""The published procedure, on the published figure: subnets 0 to 13, crawlers x and y, target 15.10.0.7."""

from __future__ import annotations

from ipmicra.delegate.actions import Delegated
from ipmicra.delegate.config import PaperConfig
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.paper import Paper
from ipmicra.model.delegation import Evidence
from tests.fakes.fleet import arrived, asked, crawler, decided, joined
from tests.fakes.subnet_tree import ListedTree, listed

COMPANY_1, COMPANY_2 = 1, 2
FIGURE = ListedTree(
    [
        listed("4.0.0.0/8", 0),  # 1
        listed("12.0.0.0 - 18.255.255.255", 0),  # 2
        listed("12.0.0.0/8", 2),  # 3
        listed("12.1.0.0/16", 3),  # 4
        listed("12.2.0.0/16", 3, COMPANY_1),  # 5
        listed("13.0.0.0/8", 2),  # 6
        listed("13.1.0.0/16", 6),  # 7
        listed("14.0.0.0 - 16.255.255.255", 2),  # 8
        listed("14.1.0.0/16", 8),  # 9
        listed("14.1.1.0/24", 9),  # 10
        listed("15.9.0.0/16", 8, COMPANY_1),  # 11: crawler x
        listed("15.10.0.0/16", 8),  # 12: the target
        listed("15.11.0.0/16", 8, COMPANY_2),  # 13: crawler y
        listed("17.0.0.0/8", 2),  # 14
    ]
)
TARGET = "15.10.0.7"


def figure(threshold_ms: float = 50.0) -> DelegationMachine:
    """Crawlers x and y hold the subnets that they stand in."""
    delegator = DelegationMachine(FIGURE, Paper(PaperConfig(threshold_ms=threshold_ms)))
    joined(delegator, crawler("x", "15.9.0.1"), crawler("y", "15.11.0.1"))
    return delegator


def test_crawlers_hold_the_subnets_they_stand_in() -> None:
    delegator = figure()
    held = {key: delegator.roster.name(one.crawler) for key, one in delegator.ledger}
    assert held == {11: "x", 13: "y"}


def test_first_sibling_under_the_threshold_takes_the_target() -> None:
    actions = arrived(figure(), TARGET, lambda *_: 20.0)
    assert asked(actions) == ["x"]
    one = decided(actions)
    assert (one.crawler, one.evidence, one.rtt_ms, one.probes) == ("x", Evidence.PROBED, 20.0, 1)
    assert (one.first, one.last) == FIGURE.bounds(12)


def test_search_goes_on_while_nobody_is_under_the_threshold() -> None:
    actions = arrived(figure(), TARGET, lambda name, _: {"x": 60.0, "y": 30.0}[name])
    assert asked(actions) == ["x", "y"]
    assert decided(actions).crawler == "y"


def test_lowest_sample_wins_when_nobody_is_under_the_threshold() -> None:
    actions = arrived(figure(10.0), TARGET, lambda name, _: {"x": 60.0, "y": 70.0}[name])
    assert asked(actions) == ["x", "y"]
    assert (decided(actions).crawler, decided(actions).rtt_ms) == ("x", 60.0)


def test_delegated_subnet_costs_no_further_probe() -> None:
    delegator = figure()
    arrived(delegator, TARGET, lambda *_: 20.0)
    again = arrived(delegator, "15.10.200.1", lambda *_: 1.0)
    assert asked(again) == []
    assert decided(again).crawler == "x"


def test_other_subnet_of_a_company_goes_to_its_only_crawler_without_a_probe() -> None:
    """Subnet 5 is company 1's, as is subnet 11, which x holds."""
    actions = arrived(figure(), "12.2.0.1", lambda *_: 999.0)
    assert asked(actions) == []
    assert (decided(actions).crawler, decided(actions).evidence) == ("x", Evidence.INHERITED)


def test_several_crawlers_of_a_company_probe_and_nobody_else_does() -> None:
    tree = ListedTree([listed(f"10.{i}.0.0/16", 0, COMPANY_1 if i < 3 else COMPANY_2) for i in range(4)])
    delegator = DelegationMachine(tree, Paper(PaperConfig(threshold_ms=5.0)))
    joined(delegator, crawler("a", "10.0.0.1"), crawler("b", "10.1.0.1"), crawler("z", "10.3.0.1"))
    actions = arrived(delegator, "10.2.0.9", lambda name, _: {"a": 90.0, "b": 80.0, "z": 1.0}[name])
    assert asked(actions) == ["a", "b"]
    assert decided(actions).crawler == "b"


def test_climbing_reaches_cousins_after_siblings() -> None:
    """Subnet 7 has no delegated sibling; the climb to subnet 2 finds 11 and 13 inside 8."""
    actions = arrived(figure(), "13.1.0.1", lambda *_: 60.0)
    assert sorted(asked(actions)) == ["x", "y"]


def test_no_crawler_is_asked_twice_in_an_attempt() -> None:
    delegator = figure(1.0)
    for address in (TARGET, "14.1.1.1", "13.1.0.1", "17.0.0.1", "4.0.0.1"):
        names = asked(arrived(delegator, address, lambda *_: 60.0))
        assert len(names) == len(set(names))


def test_account_tells_why_the_search_ended() -> None:
    actions = arrived(figure(), TARGET, lambda *_: 20.0)
    (done,) = (action for action in actions if isinstance(action, Delegated))
    entries = done.account.entries()
    assert [(one.crawler, str(one.verdict)) for one in entries] == [
        ("x", "chosen"),
        ("x", "asked"),
        ("y", "not-asked"),
    ]
    assert entries[0].reason == "under the threshold of 50 ms"
