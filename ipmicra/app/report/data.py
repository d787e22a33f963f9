"""What a report is made from; anything that has sites and crawlers can fill it in."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.trade import Trade
from ipmicra.model.address import Address
from ipmicra.model.crawler import Capacity
from ipmicra.model.delegation import Evidence
from ipmicra.model.location import Location

Milliseconds = NDArray[np.float64]


class Flag(StrEnum):
    """What makes a site special."""

    ANYCAST = "anycast"
    """In many places at once: any crawler will do."""
    UNPROBEABLE = "unprobeable"
    """No crawler gets an answer from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCrawler:
    """A crawler, as far as the report shows it."""

    name: str
    address: Address | None = None
    place: Location | None = None
    capacity: Capacity = field(default_factory=Capacity)
    load: float | None = None
    """Work in relation to capacity, as its assigner counts it; 1 is full. None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSubnet:
    """The subnet that was delegated, by its addresses."""

    first: Address
    last: Address
    label: str
    """Prefix, or first and last address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSite:
    """A site with its assignment."""

    host: str
    address: Address | None = None
    subnet: ReportSubnet | None = None
    organisation: str | None = None
    country: str | None = None
    """Two letters, ISO 3166."""
    place: Location | None = None
    crawler: int | None = None
    """Number of the crawler in the report's list; None if the site is unassigned."""
    rtt_ms: float | None = None
    """To its crawler, as its assignment says; None if nothing is known."""
    is_expected: bool = False
    """The round trip is what a model expects, not what a probe found."""
    evidence: Evidence | None = None
    probes: int | None = None
    """Probes spent on it; None if unknown."""
    pages: int | None = None
    flag: Flag | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """Round trips that other ways of assigning would give; one value per site, not-a-number where unknown."""

    oracle_ms: Milliseconds | None = None
    """To the nearest crawler."""
    hash_ms: Milliseconds | None = None
    """To the crawler that a hash of the host name picks."""
    random_ms: Milliseconds | None = None
    """To any crawler: the mean over them, or one drawn."""
    is_expected: bool = False
    """The values are what a model expects, not what was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetNode:
    """A subnet of the nested tree above the sites."""

    label: str
    parent: int | None
    """Number of the node above in the list; it comes before this one. None for a root."""
    name: str | None = None
    """Who holds it, or what it is called."""
    is_delegated: bool = False
    crawlers: tuple[tuple[int, int], ...] = ()
    """Crawlers with the number of sites directly in this subnet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryStep:
    """What happened in one step of time."""

    start_s: float
    """Seconds since 1970, UTC."""
    length_s: float
    delegations: int
    """Subnets that were delegated, anew or for the first time."""
    probes: int
    mean_rtt_ms: float | None
    """Of the probes that were answered; None if there are none."""
    moves: int
    """Subnets that went to another crawler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchyFigures:
    """How large the hierarchy is."""

    edition: str
    subnets: int
    organisations: int
    max_depth: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """Everything a report shows."""

    crawlers: tuple[ReportCrawler, ...]
    sites: tuple[ReportSite, ...]
    title: str = "Which crawler has which site"
    policy: str = "delegated"
    """How sites got their crawlers, in a word or two: it names our curve."""
    when: str = ""
    """When the sites were assigned, as people write it."""
    command: str = ""
    """What was run."""
    true_rtt_ms: Milliseconds | None = None
    """Round trips (crawlers × sites) that are known to be true; not-a-number for a lost probe."""
    baselines: Baselines = field(default_factory=Baselines)
    """Columns computed elsewhere, for use without a matrix of true round trips."""
    trade: Trade | None = None
    """Nearness against load, as `ipmicra assign` found it; computed if true round trips are known."""
    history: tuple[HistoryStep, ...] = ()
    """What the store did over time, in even steps."""
    hierarchy: HierarchyFigures | None = None
    tree: tuple[SubnetNode, ...] = ()
    """Subnets above the sites; if empty, sites are nested by prefix length."""
    notes: tuple[str, ...] = ()
    """What the reader must know of how this came about: lines that could not be read, for one."""

    @property
    def is_oracle(self) -> bool:
        """Whether each site simply has its nearest crawler, for lack of an assignment."""
        return self.policy == ORACLE


ORACLE = "oracle"
"""Policy of a report in which each site has the nearest crawler by the true round trips."""


class ReportSource(Protocol):
    """Whatever can give a report's data: files of results, a world, a store."""

    def load(self) -> ReportData:
        """Read everything."""
        ...
