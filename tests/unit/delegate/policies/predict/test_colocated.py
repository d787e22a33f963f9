"""Crawlers side by side share the sites that are as near to each of them."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv4Address

from ipmicra.delegate.actions import Assigned, Delegated
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.model.location import Location
from ipmicra.model.sample import Sample
from tests.fakes.fleet import Answer, arrived, crawler, joined, place
from tests.fakes.subnet_tree import flat_tree

FRANKFURT, TOKYO = place(50.11, 8.68), place(35.68, 139.69)
SITES = 20


def delegated(
    mutual_ms: float, answer: Answer, beside: Location = FRANKFURT
) -> tuple[Counter[str], list[str]]:
    """Let sites arrive after two crawlers measured each other; return who got them, and the reasons."""
    machine = DelegationMachine(flat_tree(SITES), Predict())
    fleet = {"a": FRANKFURT, "b": beside, "far": TOKYO}
    joined(machine, *(crawler(name, location=at) for name, at in fleet.items()))
    address = crawler("b").address
    machine.learn([Sample(crawler="a", address=address, rtt_ms=mutual_ms)])
    given: Counter[str] = Counter()
    reasons: list[str] = []
    for i in range(SITES):
        for action in arrived(machine, str(IPv4Address("10.0.0.1") + 256 * i), answer):
            if isinstance(action, Assigned):
                given[action.decision.crawler] += 1
            elif isinstance(action, Delegated):
                reasons.append(action.account.tried[0].reason)
    return given, reasons


def even(name: str, _address: str) -> float:
    return {"a": 10.0, "b": 10.4, "far": 230.0}[name]


def test_load_chooses_between_crawlers_within_a_millisecond_of_each_other() -> None:
    given, reasons = delegated(0.5, even)
    assert abs(given["a"] - given["b"]) <= 1
    assert given["far"] == 0
    assert any("within 1 ms of each other, and it has fewer sites than a" in reason for reason in reasons)


def test_crawlers_that_are_not_side_by_side_are_chosen_by_round_trip() -> None:
    given, reasons = delegated(3.0, even)
    assert given["a"] > given["b"]
    assert not any("each other" in reason for reason in reasons)


def test_crawlers_side_by_side_that_differ_are_chosen_by_round_trip() -> None:
    given, _reasons = delegated(0.5, lambda name, _address: {"a": 10.0, "b": 14.0, "far": 230.0}[name])
    assert given["a"] > 3 * given["b"]


def test_round_trip_that_contradicts_the_places_makes_no_neighbours() -> None:
    _given, reasons = delegated(0.5, even, beside=place(52.5, 13.4))
    assert not any("each other" in reason for reason in reasons)
