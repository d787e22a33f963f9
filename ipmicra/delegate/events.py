"""What enters the delegator. Every event says when it happened, in seconds since 1970, UTC."""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.model.crawler import Crawler, TrackRecord
from ipmicra.model.location import Hint
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site


@dataclass(frozen=True, slots=True)
class SiteArrived:
    """A site needs a crawler."""

    site: Site
    now_s: float


@dataclass(frozen=True, slots=True)
class SampleReturned:
    """A probe came back with a round trip."""

    attempt: int
    sample: Sample
    now_s: float


@dataclass(frozen=True, slots=True)
class ProbeLost:
    """A probe came back without a round trip."""

    attempt: int
    crawler: str
    loss: Loss
    now_s: float


@dataclass(frozen=True, slots=True)
class PlaceFound:
    """A site that cannot be probed was located, or could not be."""

    attempt: int
    found: Hint | str
    """The vote that counts, or why there is none."""
    now_s: float


@dataclass(frozen=True, slots=True)
class CrawlerJoined:
    """A crawler takes part, for the first time or again."""

    crawler: Crawler
    now_s: float
    record: TrackRecord | None = None
    """What the store has of it; looked at only when it joins for the first time."""


@dataclass(frozen=True, slots=True)
class CrawlerLeft:
    """A crawler is gone."""

    name: str
    now_s: float


@dataclass(frozen=True, slots=True)
class DelegationExpired:
    """A subnet's delegation came to its end."""

    key: int
    """The subnet (see `ipmicra.delegate.subnets`)."""
    now_s: float


Event = (
    SiteArrived | SampleReturned | ProbeLost | PlaceFound | CrawlerJoined | CrawlerLeft | DelegationExpired
)
