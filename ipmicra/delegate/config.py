"""Every tuning number of delegation, with its source.

[1] Papapetrou & Samaras 2004, IPMicra. [2] Gueye et al. 2006 and Katz-Bassett et al. 2006, location by delay.
[3] Cicalese et al. 2015, anycast census by the speed of light.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log2

TAUGHT_SAMPLES = 20_000
"""Samples of earlier runs, the newest, that a model learns from when it starts: about ten seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhysicsConfig:
    """What light allows."""

    sure_radius_km: float = 25.0
    """Only a location known as well as this can make a sample implausible."""
    doubt_radii: float = 3.0
    """Radii by which the true place may be off before a sample counts as implausible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegatorConfig:
    """Rules of the machine that hold for every policy."""

    lifetime_s: float = 90 * 86400.0
    """A delegation's life: registries change enough for a rebuild every three months [1]."""
    renew_below: float = 0.5
    """Share of the life that must be gone before a use renews it."""
    recheck_share: float = 0.03
    """Share of the delegations in use that are measured again in each `recheck_period_s`; 0 for none."""
    recheck_period_s: float = 30 * 86400.0
    """The time that `recheck_share` refers to."""
    doubt_pause_s: float = 3600.0
    """A subnet that was compared so short a time ago is not measured again for a doubt."""
    again_before_s: float | None = None
    """Delegations that were last compared before this are decided anew when they are used; None for none."""
    probe_budget: int | None = None
    """Most probes of an attempt; None for as many as there are crawlers."""
    losses_allowed: int = 3
    """Probes lost in a row, without a sample, after which a site counts as one that cannot be probed."""
    apart_km: float = 100.0
    """Beyond this, and both radii, a site is elsewhere than the rest of its subnet."""
    check_every: int = 20
    """Of so many answers from delegations of subnets wider than a slice, one is checked by a probe."""
    implausible_allowed: int = 3
    """Fewer implausible samples than this never flag a crawler (see `ipmicra.delegate.roster`)."""
    physics: PhysicsConfig = field(default_factory=PhysicsConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperConfig:
    """The procedure of [1]."""

    threshold_ms: float = 50.0
    """First sample under it takes the subnet; 50 ms in [1]."""
    reconsiders: bool = True
    """Whether crawlers that join later probe the subnets that others hold; [1] does not say."""
    beyond_organisation: bool = False
    """Whether to climb on when no crawler of the organisation is under the threshold, as [1] may be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSpread:
    """How much a crawler's mean of log round trips differs from level to level (standard deviations).

    0.1 is about 10 % of the round trip. The figures are round on purpose: detours of a region are larger than
    those of a holder inside it. What the samples say soon counts for more.
    """

    root: float = 0.15
    """Between crawlers everywhere: access lines."""
    coarse: float = 0.15
    """Between regions about 1500 km wide, or registries where the place is unknown."""
    country: float = 0.08
    fine: float = 0.1
    """Between regions about 150 km wide, or blocks of 2^24 addresses where the place is unknown."""
    organisation: float = 0.1
    wider: float = 0.05
    """Between subnets above the site's own."""
    subnet: float = 0.1
    slice: float = 0.1
    """Between slices of a subnet that is wider, before samples tell (`Kinship`)."""


UNPLACED = LevelSpread(
    root=0.3, coarse=0.5, country=0.5, fine=0.2, organisation=0.3, wider=0.15, subnet=0.15, slice=0.3
)
"""Without a place the levels stand for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictConfig:
    """The model behind `predict`; see `docs/delegation.md` for what was tried."""

    probe_price_ms: float = 0.2
    """A probe is asked only if its expected saving exceeds this, in a fleet of `fleet`; see `fixed_ms` for
    what saving means. Unless the user sets it, it falls as the fleet grows (`price_fall`)."""
    probes_per_site: float | None = 1.9
    """Mean number of probes above which the price rises, for a fleet of `fleet`; None for a fixed price."""
    fleet: int = 11
    """Crawlers of the fleet that `probe_price_ms` and `probes_per_site` are for."""
    price_fall: float = 0.25
    """Exponent by which the price falls with the fleet: the more may be nearest, the more a probe finds."""
    probes_per_doubling: float = 0.25
    """Probes per site that each doubling of the fleet adds to that mean: more crawlers may be the nearest."""
    price_step: float = 0.015
    """Rise of the price's logarithm for each probe over the mean: about sixty sites to settle."""
    price_rise: float = 1.3
    """The price rises to this multiple at most: where much is unknown more probes are right."""
    fixed_ms: float = 20.0
    """Part of a download that does not depend on the crawler. A saving counts in proportion to round trip
    plus this, so that 10 ms of 300 count for less than 10 ms of 20."""
    offset_ms: float = 2.0
    """Added to round trips before the logarithm is taken: differences below it are noise."""
    floor_share: float = 0.7
    """Share of light's time that is taken off before the logarithm: what is left is the detour."""
    base_ms: float = 3.0
    """Round trip at no distance: access lines at both ends."""
    slope_ms_per_km: float = 0.02
    """Twice light's time in fibre: cables do not run straight."""
    typical_ms: float = 60.0
    """Expected round trip where no place is known."""
    intercept_spread: float = 0.2
    """Prior standard deviation of the mean over all sites and crawlers, in logarithms."""
    slope_spread: float = 0.2
    """Prior standard deviation of the dependence on distance, in logarithms."""
    site_spread: float = 0.2
    """Common to all crawlers of a site: its access line."""
    pair_spread: float = 0.25
    """Of a site and a crawler alone."""
    unknown_site_spread: float = 0.5
    """As `site_spread`, where no place is known."""
    unknown_pair_spread: float = 0.9
    """As `pair_spread`, where no place is known: round trips span a factor of a hundred."""
    together_km: float = 100.0
    """Crawlers closer than this share routes."""
    own_share: float = 0.25
    """Share of a pair's variance that is the crawler's own even beside another one: their networks differ."""
    mutual_weight: float = 0.5
    """What a round trip between crawlers counts beside one to a site: data centres are better connected."""
    prior_sites: float = 40.0
    """Sites' worth of trust in the covariance above, before samples change it."""
    tail: float = 4.0
    """Degrees of freedom of a Student distribution: a surprising sample widens what is still expected."""
    misplaced: float = 0.02
    """Share of wrong places that is assumed before any sample."""
    places_trusted: float = 50.0
    """Sites' worth of trust in that share."""
    refuting: float = 1.0
    """Logarithm by which samples must fit other places better than a site's own, beyond the odds: a detour
    looks like another place, and is the likelier explanation of small differences."""
    misplaced_loss_ms: float = 25.0
    """What believing a wrong place costs, before any was found: a site 60 ms away instead of 3."""
    losses_trusted: float = 2.0
    """Wrong places' worth of trust in that."""
    source_trust: float = 20.0
    """Sites' worth of trust in the share of all sources, when it comes to one of them."""
    check_every: int = 20
    """Of so many places that would be believed without a probe in a row, the last is looked at."""
    trees: int = 8
    """Shifted grids over the Earth; more make the map smoother."""
    coarse_km: float = 1500.0
    """Width of a coarse cell; over the trees from half to twice of it."""
    fine_km: float = 150.0
    """Width of a fine cell, likewise."""
    mixed_places: int = 10
    """Places of sites that must be known before a site without one is taken to be at any of them."""
    kin_trust: float = 4.0
    """Observations' worth of trust in what wider groups of subnets say of a subnet's spread."""
    spread_apart: float = 0.9
    """Least spread between slices of a subnet that is known to be in several places, in logarithms."""
    wider_levels: int = 2
    """Subnets above the site's own that count."""
    placed: LevelSpread = field(default_factory=LevelSpread)
    unplaced: LevelSpread = UNPLACED


FRUGAL = PredictConfig(probe_price_ms=0.7, probes_per_site=1.1)
"""Little more than one probe per site."""


def price_ms_of(config: PredictConfig, crawlers: int) -> float:
    """Return the price of a probe before a run adjusts it; one that the user sets is fixed."""
    if config.probes_per_site is None:
        return config.probe_price_ms
    return config.probe_price_ms * float((config.fleet / max(crawlers, 1)) ** config.price_fall)


def mean_probes(config: PredictConfig, crawlers: int) -> float | None:
    """Return the mean number of probes per site above which the price rises; None for a fixed price."""
    if config.probes_per_site is None:
        return None
    doublings = log2(max(crawlers, 1) / config.fleet)
    return max(1.0, config.probes_per_site + config.probes_per_doubling * doublings)
