"""Define a loopback world: round trips between crawlers and sites, and the faults of some sites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address
from math import isfinite
from pathlib import Path

from ipmicra.edge.files.worlds.load import load_world as read_world_folder
from ipmicra.edge.loopback.web_plan import WebPlan, load_plan
from ipmicra.errors import InputError
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site

MAX_SITES, MAX_CRAWLERS = 15_000, 250
"""As many listening sockets, and as many agents, as one process may have."""


class Fault(StrEnum):
    """What can be wrong with a site."""

    REFUSES = "refuses"
    """Refuses connections."""
    SILENT = "silent"
    """Accepts connections and never answers."""
    SLOW = "slow"
    """Waits for `slow_ms` before each answer, and does not declare it."""
    SLOW_DECLARED = "slow-declared"
    """Waits for `slow_ms`, and declares it in Server-Timing."""
    FLAPS = "flaps"
    """Answers every second request and drops the others."""
    LOSES = "loses"
    """Drops a share of the requests, `loss`."""
    NO_HEAD = "no-head"
    """Disconnects on HEAD and answers GET."""
    GARBAGE = "garbage"
    """Answers, but not in HTTP."""
    REDIRECTS = "redirects"
    """Sends every visitor elsewhere."""
    HANGS_UP = "hangs-up"
    """Closes each connection immediately."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopbackWorld:
    """Crawlers, sites and the round trips between them."""

    crawlers: tuple[Crawler, ...]
    sites: tuple[Site, ...]
    rtt_ms: Mapping[tuple[str, Address], float]
    """By crawler and address, of a site or of another crawler; a pair that is missing is never answered."""
    page_ms: Mapping[tuple[str, Address], float] = field(default_factory=dict)
    """How long main pages take after their first byte, by crawler and address; 0 where it is missing."""
    faults: Mapping[Address, Fault] = field(default_factory=dict)
    slow_ms: float = 200.0
    loss: float = 0.3
    seed: int = 0
    """Decides which requests are lost."""
    web: WebPlan | None = None
    """The pages of the sites; None if they answer with empty ones."""

    def addresses(self) -> dict[Address, IPv4Address]:
        """Return the loopback address of each site's address: from 127.64.0.1 on, in order.

        Crawlers to which there is a round trip follow; they answer as sites do.
        """
        unique = dict.fromkeys(site.address for site in self.sites)
        reached = {address for _, address in self.rtt_ms}
        unique |= dict.fromkeys(one.address for one in self.crawlers if one.address in reached)
        if len(unique) > MAX_SITES or len(self.crawlers) > MAX_CRAWLERS:
            raise InputError(f"on loopback {MAX_SITES:,} addresses and {MAX_CRAWLERS} crawlers are the most")
        first = int(IPv4Address("127.64.0.1"))
        return {address: IPv4Address(first + number) for number, address in enumerate(unique)}

    def sources(self) -> dict[str, IPv4Address]:
        """Return the loopback address from which each crawler probes: from 127.32.0.1 on, in order."""
        first = int(IPv4Address("127.32.0.1"))
        return {crawler.name: IPv4Address(first + number) for number, crawler in enumerate(self.crawlers)}


def load_world(folder: Path) -> LoopbackWorld:
    """Read a world to run: hosts that share an address are all kept, and every row must be valid."""
    findings: list[str] = []
    world = read_world_folder(folder, findings, keeps_shared=True)
    if findings:
        raise InputError(f"{folder}: {findings[0]}")
    rtt_ms = {
        (crawler.name, site.address): float(world.rtt_ms[i, j])
        for i, crawler in enumerate(world.crawlers)
        for j, site in enumerate(world.sites)
        if isfinite(world.rtt_ms[i, j])
    }
    if world.mutual_ms is not None:
        rtt_ms |= {
            (one.name, other.address): float(world.mutual_ms[i, j])
            for i, one in enumerate(world.crawlers)
            for j, other in enumerate(world.crawlers)
            if isfinite(world.mutual_ms[i, j])
        }
    return LoopbackWorld(crawlers=world.crawlers, sites=world.sites, rtt_ms=rtt_ms, web=load_plan(folder))
