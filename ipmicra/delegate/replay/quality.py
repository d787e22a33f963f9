"""How well sites were delegated, measured against a world's true round trips.

A site's *excess* is the round trip from its crawler beyond the shortest that any crawler has to it: 0 if the
delegation is optimal. Four cases need care, because real worlds have holes:

| the crawler's round trip | the shortest | excess |
|---|---|---|
| known | known | the difference |
| lost | known | infinite: another crawler would have reached the site |
| lost | no crawler reaches the site | NaN: no answer would have been better |
| never measured | any | NaN: nothing can be said, and `is_measured` is false |

Means leave NaN out; shares (`optimal`, `within_2ms`) count an infinite excess as a miss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ipmicra.delegate.replay.world import World
from ipmicra.model.types import Floats

NEAR_MS = 2.0
"""What counts as nearly the shortest round trip."""


@dataclass(frozen=True, slots=True)
class SiteOutcome:
    """What a site got."""

    site: int
    """Index in the world."""
    crawler: str | None
    """None if the delegator gave up."""
    probes: int
    rtt_ms: float
    """From its crawler; NaN if that does not reach it or never measured it."""
    excess_ms: float
    """Beyond the shortest round trip; infinite if its crawler does not reach it, NaN if none does or the
    pair was never measured."""
    is_measured: bool
    """Whether the pair was measured."""
    askable: int
    """Crawlers that measured the site."""
    evidence: str | None = None
    """How the answer was reached."""
    chance: float | None = None
    """How likely the policy said its crawler is the nearest, if it can say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """How well a list of sites was delegated; shares of the sites that anybody reaches."""

    sites: int
    optimal: float
    within_2ms: float
    probes_per_site: float
    mean_excess_ms: float
    """Over the sites whose crawler reaches them."""
    excess_of_suboptimal_ms: float
    """The same over those that another crawler would reach sooner; 0 if there is none."""
    unreached: int
    """Sites whose crawler does not reach them though another would."""
    mean_rtt_ms: float
    """Over the sites whose crawler reaches them."""
    judged: float
    """Share of the sites whose crawler measured them; the others count for nothing but their probes."""
    everyone_probes_per_site: float
    """What it takes to ask every crawler that measured a site."""
    saved_ms: dict[str, float]
    """Mean round trip that is saved on other ways to assign, by name, over sites where both are known."""
    others_ms: dict[str, float]
    """Mean round trip of those other ways, over the sites that they reach."""


class GroundTruth:
    """What each crawler is worth to each site of a world."""

    def __init__(self, world: World) -> None:
        """Find each site's shortest round trip."""
        self._world = world
        self._nearest_ms, self._askable = world.nearest_ms(), world.pairs_per_site()

    def outcome(self, site: int, crawler: int | None, probes: int) -> SiteOutcome:
        """Return what a site gets from the crawler that it is given; None if it is given to none."""
        askable = int(self._askable[site])
        if crawler is None:
            return SiteOutcome(site, None, probes, float("nan"), float("inf"), True, askable)  # noqa: FBT003
        rtt_ms, nearest_ms = float(self._world.rtt_ms[crawler, site]), float(self._nearest_ms[site])
        is_measured = self._world.is_measured(crawler, site)
        excess = rtt_ms - nearest_ms
        if is_measured and np.isnan(rtt_ms) and not np.isnan(nearest_ms):
            excess = float("inf")
        name = self._world.crawlers[crawler].name
        return SiteOutcome(site, name, probes, rtt_ms, excess, is_measured, askable)


def quality_of(outcomes: Sequence[SiteOutcome], others_ms: Mapping[str, Floats] | None = None) -> Quality:
    """Count how many sites got the nearest crawler, and at what cost; `others_ms` has round trips by site."""
    sites = np.array([outcome.site for outcome in outcomes], np.int64)
    rtt_ms = np.array([outcome.rtt_ms for outcome in outcomes])
    others = others_ms or {}
    excess = np.array([outcome.excess_ms for outcome in outcomes])
    excess = excess[~np.isnan(excess)]
    reached = excess[np.isfinite(excess)]
    worse = reached[reached > 0]
    return Quality(
        sites=len(outcomes),
        optimal=float((excess <= 0).mean()) if len(excess) else 0.0,
        within_2ms=float((excess <= NEAR_MS).mean()) if len(excess) else 0.0,
        probes_per_site=float(np.mean([outcome.probes for outcome in outcomes])) if outcomes else 0.0,
        mean_excess_ms=float(reached.mean()) if len(reached) else 0.0,
        excess_of_suboptimal_ms=float(worse.mean()) if len(worse) else 0.0,
        unreached=int(len(excess) - len(reached)),
        mean_rtt_ms=_mean(rtt_ms),
        judged=float(np.mean([outcome.is_measured for outcome in outcomes])) if outcomes else 0.0,
        everyone_probes_per_site=_mean(np.array([outcome.askable for outcome in outcomes], np.float64)),
        saved_ms={name: _mean(other[sites] - rtt_ms) for name, other in others.items()},
        others_ms={name: _mean(other[sites]) for name, other in others.items()},
    )


def _mean(values: Floats) -> float:
    """Return the mean of what is known; NaN if nothing is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
