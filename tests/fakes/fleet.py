"""Crawlers, sites and a driver for tests of the delegator."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, ip_address

from ipmicra.delegate.actions import Action, AskProbe, Assigned, Delegated
from ipmicra.delegate.events import CrawlerJoined, Event, ProbeLost, SampleReturned, SiteArrived
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Decision
from ipmicra.model.location import Location
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site

Answer = Callable[[str, str], float | None]
"""Crawler and address to a round trip, None for a loss."""


def place(latitude: float, longitude: float, radius_km: float = 5.0) -> Location:
    return Location(latitude=latitude, longitude=longitude, radius_km=radius_km)


def crawler(name: str, address: str = "", location: Location | None = None) -> Crawler:
    number = sum(map(ord, name)) % 250
    return Crawler(name=name, address=IPv4Address(address or f"192.0.2.{number}"), location=location)


def site(address: str) -> Site:
    return Site(address, ip_address(address))


def joined(delegator: DelegationMachine, *crawlers: Crawler, now_s: float = 0.0) -> list[Action]:
    return [action for one in crawlers for action in delegator.handle(CrawlerJoined(one, now_s))]


def arrived(delegator: DelegationMachine, address: str, answer: Answer, now_s: float = 1.0) -> list[Action]:
    """Let a site arrive, answer all probes in order, and return every action."""
    actions_so_far: list[Action] = []
    events: list[Event] = [SiteArrived(site(address), now_s)]
    while events:
        actions = delegator.handle(events.pop(0))
        actions_so_far += actions
        events += [answered(action, answer, now_s) for action in actions if isinstance(action, AskProbe)]
    return actions_so_far


def answered(ask: AskProbe, answer: Answer, now_s: float) -> Event:
    probe = ask.probe
    assert probe.address is not None
    rtt_ms = answer(probe.crawler, str(probe.address))
    if rtt_ms is None:
        return ProbeLost(ask.attempt, probe.crawler, Loss.TIMEOUT, now_s)
    sample = Sample(crawler=probe.crawler, address=probe.address, rtt_ms=rtt_ms)
    return SampleReturned(ask.attempt, sample, now_s)


def asked(actions: list[Action]) -> list[str]:
    return [action.probe.crawler for action in actions if isinstance(action, AskProbe)]


def delegated(actions: list[Action]) -> Delegated:
    """Return the one delegation among actions."""
    (found,) = (action for action in actions if isinstance(action, Delegated))
    return found


def decided(actions: list[Action]) -> Decision:
    """Return the decision that the last action is."""
    assert isinstance(actions[-1], Assigned), actions
    return actions[-1].decision
