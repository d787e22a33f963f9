"""The experiment of Xu et al.: crawlers and sites of a population under each splitting scheme.

How it works
------------
A population is a matrix of round trips. `prepare` draws which nodes are crawlers, takes the first of them as
landmarks, and places every node in coordinate space by GNP; the order of joining and of insertion is drawn
too. All schemes of a seed then run on that same stage, so that they differ by nothing but how zones are
split.

`run_scheme` replays the paper's schedule on an overlay: one crawler owns the whole space, some sites are
inserted, then each further crawler joins (splitting the zone it stands in, as the scheme says) and some more
sites are inserted; the rest come when all have joined. Every insertion starts at a random crawler, and its
hops are counted.

What is measured at the end, per scheme:

- *average PRD*: distance between a site and its crawler, in the original coordinates. Coordinates are
  clamped to the space for owning a zone only; measuring clamped ones would flatter schemes that push nodes
  to the rim;
- *in zone*: crawlers that stand inside a zone of their own. It explains the distance: a crawler outside its
  zone serves sites that are near another crawler;
- *load diversity*: standard deviation ÷ mean of sites per crawler;
- *hops* of an insertion.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.config import GnpConfig
from ipmicra.assign.coordinate.gnp import place_hosts
from ipmicra.assign.coordinate.landmarks import place_landmarks
from ipmicra.assign.coordinate.samples import clean, clean_mutual
from ipmicra.assign.coordinate.space import Space, learn_space_moving
from ipmicra.assign.overlay.options import OverlayOptions
from ipmicra.assign.overlay.overlay import Overlay
from ipmicra.lab.worlds.populations import Population
from ipmicra.model.types import Floats

SCHEME_NAMES = ("DL", "MPP", "NH", "GH", "MP", "MP_30_NH", "DL_30_NH", "NS")
"""The schemes of the paper and our own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplittingOptions:
    """What the paper leaves open."""

    overlay: OverlayOptions = field(default_factory=OverlayOptions)
    moved: float = 0.05
    """Share of hosts that clamping to the space moves; 5 % in the paper."""
    gnp: GnpConfig = field(default_factory=GnpConfig)
    """Three dimensions in the paper."""

    def described(self) -> dict[str, Any]:
        """Return what a report names."""
        overlay = asdict(self.overlay)
        overlay["half"], overlay["cut"] = str(self.overlay.half), str(self.overlay.cut)
        return {**overlay, "moved": self.moved, "dimensions": self.gnp.dimensions}


@dataclass(frozen=True, slots=True, kw_only=True)
class SplittingStage:
    """A population in coordinate space, ready for any scheme: the same for all of them."""

    population: Population
    crawlers: Floats
    """Coordinates in the order of joining; originals, not clamped."""
    sites: Floats
    """The same in the order of insertion."""
    space: Space


@dataclass(frozen=True, slots=True, kw_only=True)
class SplittingOutcome:
    """What one scheme made of one stage."""

    average_prd: float
    """Mean distance of crawler and site over all sites, in original coordinates (ms)."""
    in_zone: float
    """Share of crawlers that stand in their own zone."""
    load_diversity: float
    """Standard deviation ÷ mean of the crawlers' numbers of sites."""
    hops: float
    """Mean hops of an insertion through a random crawler."""
    prd_of_crawlers: Floats
    """Mean distance to its sites of each crawler, NaN for one without any, in the order of joining."""
    prd_of_sites: Floats


def prepare(population: Population, rng: np.random.Generator, options: SplittingOptions) -> SplittingStage:
    """Draw crawlers and landmarks, and place all nodes by GNP."""
    order = rng.permutation(len(population.rtt_ms))
    crawlers, sites = order[: population.crawlers], order[population.crawlers :]
    landmarks = crawlers[: population.landmarks]
    mutual = clean_mutual(population.rtt_ms[np.ix_(landmarks, landmarks)])
    anchors = place_landmarks(mutual, options.gnp, rng)
    samples = clean(population.rtt_ms[np.ix_(order, landmarks)]).rtt_ms
    points = place_hosts(samples, anchors, options.gnp).points
    joining = rng.permutation(len(crawlers))  # landmarks join among the others
    return SplittingStage(
        population=population,
        crawlers=points[: len(crawlers)][joining],
        sites=points[len(crawlers) :][rng.permutation(len(sites))],
        space=learn_space_moving(points, options.moved),
    )


def run_scheme(
    stage: SplittingStage, scheme: str, rng: np.random.Generator, options: SplittingOptions
) -> SplittingOutcome:
    """Insert sites before, at and after the joins, each through a random crawler that has joined."""
    overlay = Overlay(
        stage.space, scheme=scheme, options=options.overlay, expected=len(stage.crawlers), rng=rng
    )
    overlay.join(stage.crawlers[0])
    hops: list[NDArray[np.int64]] = []
    pending = stage.sites
    pending = _inserted(overlay, pending, stage.population.initial, hops, rng)
    for point in stage.crawlers[1:]:
        overlay.join(point)
        pending = _inserted(overlay, pending, stage.population.per_join, hops, rng)
    _inserted(overlay, pending, len(pending), hops, rng)
    return _outcome(stage, overlay, float(np.concatenate(hops).mean()))


def _inserted(
    overlay: Overlay, sites: Floats, count: int, hops: list[NDArray[np.int64]], rng: np.random.Generator
) -> Floats:
    """Insert the next sites; return the rest."""
    now = sites[:count]
    if len(now):
        hops.append(overlay.hops(rng.integers(0, len(overlay), len(now)), now))
        overlay.insert(now)
    return sites[count:]


def _outcome(stage: SplittingStage, overlay: Overlay, hops: float) -> SplittingOutcome:
    holder = overlay.sites.holder
    distance = np.linalg.norm(stage.crawlers[holder] - stage.sites, axis=1)
    loads = overlay.loads()
    total = np.bincount(holder, weights=distance, minlength=len(loads))
    crawlers = range(len(stage.crawlers))
    return SplittingOutcome(
        average_prd=float(distance.mean()),
        in_zone=float(np.mean([overlay.is_in_zone(crawler) for crawler in crawlers])),
        load_diversity=float(loads.std(ddof=1) / loads.mean()),
        hops=hops,
        prd_of_crawlers=np.where(loads > 0, total / np.maximum(loads, 1), np.nan),
        prd_of_sites=distance,
    )
