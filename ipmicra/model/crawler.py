"""Crawlers: where they are, what they can handle, whether they take part."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ipmicra.model.address import Address
from ipmicra.model.location import Location

CALLS_OUT = "callout:"
"""Scheme of the URL of an agent that only calls out; the crawler's name follows."""


class CrawlerState(StrEnum):
    """Whether a crawler takes part."""

    JOINED = "joined"
    UNREACHABLE = "unreachable"
    """Its agent does not answer; it keeps its subnets until it comes back or leaves. People read `silent`."""
    DRAINING = "draining"
    """It keeps what it holds, and gets nothing new."""
    LEFT = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a crawler can handle; None where the operator did not specify it."""

    bandwidth_mbps: float | None = None
    """Megabits per second."""
    memory_gb: float | None = None
    """Gigabytes of 10^9 bytes."""
    max_pieces: int | None = None
    """Maximum number of concurrent sites or pieces of sites."""
    connections: int | None = None
    """Maximum number of concurrent downloads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawler:
    """A place on the network from which sites are downloaded."""

    name: str
    address: Address
    agent_url: str | None = None
    """URL of its agent; None if it has none and cannot probe. One that only calls out, and is reached when it
    polls the coordinator, has a URL with the scheme `callout:`."""
    location: Location | None = None
    labels: dict[str, str] = field(default_factory=dict)
    """Free-form labels, such as region and provider."""
    capacity: Capacity = field(default_factory=Capacity)
    state: CrawlerState = CrawlerState.JOINED
    joined_s: float = 0.0
    """When it joined; seconds since 1970, UTC."""
    changed_s: float = 0.0
    """When its state last changed; seconds since 1970, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRecord:
    """How a crawler's samples stood up to the speed of light, where the place of a site was known."""

    since_s: float = 0.0
    """When the crawler joined; one that is removed and added again starts a new record."""
    checked: int = 0
    """Samples that light could have disproved, the implausible ones included."""
    implausible: int = 0
    """Those that it did disprove."""
