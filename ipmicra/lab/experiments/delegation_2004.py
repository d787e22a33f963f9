"""The experiment of Papapetrou & Samaras 2004 [1], with its published figures.

[1] had 12 crawlers at affiliated organisations and 1,000 sites: 650 to initialise the hierarchy, 350 to
count. Neither the sites nor the organisations are published, so every seed draws another world
(`lab.worlds.registries`) and another order of arrival. Each policy delegates the same sites in the same
order, on the deep hierarchy and on the flat one.

Three figures of [1] need a word:

- Its "last 50" and "first 300" are parts of the 350 that count: did probing become cheaper as the hierarchy
  was trained?
- The tenth of the time was measured with sites probed by *all* crawlers against sites assigned at random,
  before there was a hierarchy. So `everyone` and `random` are replayed too.
- That time is of downloads. Ours comes from the equation of Exposto et al. 2005 with the line of Xu et al.
  2010 (decision 0071); the ratio of round trips beside it is what a line that is never busy would show.

[1] O. Papapetrou, G. Samaras: Distributed Location Aware Web Crawling, WWW 2004.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields

import numpy as np

from ipmicra.delegate.config import PaperConfig
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.registry import POLICIES, PolicyVariant, policy_variants
from ipmicra.delegate.replay.quality import SiteOutcome, quality_of
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import LocationKind, locations_of
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.errors import InputError
from ipmicra.lab.worlds.registries import RegisteredWorld, RegistryPlan, invent_registries
from ipmicra.model.types import Floats
from ipmicra.partition.config import CostConfig
from ipmicra.partition.costs import site_download_s

TRAIN_SHARE = 650 / 1000
"""Share of the sites that come first and do not count."""
LAST = 50 / 350
"""Share of the counted sites that are its last."""
LINE = CostConfig(bandwidth_bps=1_000_000.0, polite_wait_s=0.1)
"""Xu et al. 2010."""
HIERARCHIES = ("deep", "flat")
ANY = "any"
"""Stands for the hierarchy of baselines."""
BASELINES = ("everyone", "random")
"""Policies that never ask the hierarchy; they are replayed once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is measured, of the sites that count; means over seeds."""

    optimal: float | None = None
    """Share of the sites that got their nearest crawler."""
    optimal_sites: float | None = None
    within_2ms: float | None = None
    probes: float | None = None
    probes_per_site: float | None = None
    probes_first: float | None = None
    """Per site, without the last ones."""
    probes_last: float | None = None
    """Per site, of the last seventh: 50 of 350."""
    excess_of_suboptimal_ms: float | None = None
    mean_rtt_ms: float | None = None
    rtt_by_random: float | None = None
    """Mean round trip, divided by that of sites assigned at random."""
    download_by_random: float | None = None
    """Time to download as many pages from each site, divided likewise."""


PUBLISHED_SETTING = "50 ms"
PUBLISHED = Figures(
    optimal=0.75,
    optimal_sites=261,
    probes=1048,
    probes_per_site=2.99,
    probes_first=3.05,
    probes_last=2.66,
    excess_of_suboptimal_ms=13,
)
"""Of the procedure with 50 ms; the excess is an upper bound."""
PUBLISHED_EVERYONE = Figures(optimal=1.0, probes=4200, probes_per_site=12, download_by_random=0.1)
"""Of probing from everywhere; the times were measured apart from the experiment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A policy on one of the hierarchies."""

    hierarchy: str
    policy: str
    setting: str
    figures: Figures
    errors: Figures
    """Standard errors of the means."""

    @property
    def published(self) -> Figures:
        """What [1] says of it, as far as it does; the procedure was tried with 50 ms."""
        if self.policy == "paper" and self.setting.startswith(PUBLISHED_SETTING):
            return PUBLISHED
        return PUBLISHED_EVERYONE if self.policy == "everyone" else Figures()

    def record(self) -> dict[str, object]:
        """Return one row: means, their errors, and published figures."""
        published = {name: value for name, value in asdict(self.published).items() if value is not None}
        names = {"hierarchy": self.hierarchy, "policy": self.policy, "setting": self.setting}
        return {**names, **asdict(self.figures), "errors": asdict(self.errors), "published": published}


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """What is replayed."""

    variants: Sequence[PolicyVariant]
    hierarchies: Sequence[str] = HIERARCHIES
    train: int
    seeds: int = 20
    plan: RegistryPlan = field(default_factory=RegistryPlan)

    def __post_init__(self) -> None:
        """Refuse an experiment in which nothing counts."""
        if not 0 <= self.train < self.plan.sites:
            raise InputError(f"{self.train} sites to train with leave none of {self.plan.sites} to count")
        if unknown := set(self.hierarchies) - set(HIERARCHIES):
            raise InputError(f"no hierarchy named {min(unknown)!r}: there are {', '.join(HIERARCHIES)}")


def variants_of(
    policies: Sequence[str], thresholds_ms: Sequence[float], *, is_beyond: bool = False
) -> list[PolicyVariant]:
    """Return policies by name, followed by the baselines.

    `is_beyond` lets the procedure climb on when no crawler of the organisation is under the threshold.
    """
    names = list(dict.fromkeys([*policies, *BASELINES]))
    if unknown := [name for name in names if name not in POLICIES]:
        raise InputError(f"no policy named {unknown[0]!r}: there are {', '.join(POLICIES)}")
    variants = policy_variants(
        names,
        thresholds_ms=thresholds_ms,
        prices_ms=(),
        nearest=(1, 2),
        paper=[PaperConfig(beyond_organisation=is_beyond)],
    )
    return [one for one in variants if one.setting != "frugal"]


def run_experiment(experiment: Experiment, say: Callable[[str], None]) -> list[Result]:
    """Replay every policy in every world."""
    found: dict[tuple[str, str, str], list[Figures]] = {}
    for seed in range(experiment.seeds):
        say(f"seed {seed + 1} of {experiment.seeds}")
        for key, figures in _seed_figures(experiment, seed):
            found.setdefault(key, []).append(figures)
    return [
        Result(
            hierarchy=hierarchy,
            policy=policy,
            setting=setting,
            figures=_over_seeds(every, np.mean),
            errors=_over_seeds(every, _standard_error),
        )
        for (hierarchy, policy, setting), every in found.items()
    ]


def _seed_figures(experiment: Experiment, seed: int) -> Iterator[tuple[tuple[str, str, str], Figures]]:
    made = invent_registries(experiment.plan, np.random.default_rng([seed, 2004]))
    order: list[int] = np.random.default_rng(seed).permutation(len(made.world.sites)).tolist()
    at_random = made.world.rtt_ms.mean(axis=0, dtype=np.float64)
    for variant in experiment.variants:
        is_baseline = variant.policy in BASELINES
        for hierarchy in ("",) if is_baseline else experiment.hierarchies:
            tree = made.flat if hierarchy == "flat" else made.deep
            outcomes = _delegated(made, tree, variant, order, seed)
            key = hierarchy or ANY, variant.policy, variant.setting
            yield key, _figures(outcomes[experiment.train :], at_random)


def _delegated(
    made: RegisteredWorld, tree: SubnetTree, variant: PolicyVariant, order: list[int], seed: int
) -> list[SiteOutcome]:
    places = locations_of(made.world, LocationKind.WORLD, {})
    machine = DelegationMachine(tree, variant.make(np.random.default_rng([seed, 1])), locations=places)
    return Replay(made.world, machine).run(order)


def _figures(outcomes: Sequence[SiteOutcome], at_random: Floats) -> Figures:
    quality = quality_of(outcomes)
    probes = np.array([one.probes for one in outcomes])
    last = max(round(len(probes) * LAST), 1)
    rtt_ms = np.array([one.rtt_ms for one in outcomes])
    by_random = at_random[[one.site for one in outcomes]]
    return Figures(
        optimal=quality.optimal,
        optimal_sites=quality.optimal * len(outcomes),
        within_2ms=quality.within_2ms,
        probes=float(probes.sum()),
        probes_per_site=quality.probes_per_site,
        probes_first=float(probes[:-last].mean()) if len(probes) > last else None,
        probes_last=float(probes[-last:].mean()),
        excess_of_suboptimal_ms=quality.excess_of_suboptimal_ms,
        mean_rtt_ms=quality.mean_rtt_ms,
        rtt_by_random=float(rtt_ms.mean() / by_random.mean()),
        download_by_random=float(_download_s(rtt_ms).mean() / _download_s(by_random).mean()),
    )


def _download_s(rtt_ms: Floats) -> Floats:
    """Return the time of a page; every site has as many pages, so their number cancels out."""
    return site_download_s(np.ones(len(rtt_ms)), rtt_ms / 1000, LINE)


def _over_seeds(every: Sequence[Figures], summed_up: Callable[[list[float]], np.floating | float]) -> Figures:
    columns = {one.name: [getattr(figures, one.name) for figures in every] for one in fields(Figures)}
    return Figures(
        **{name: float(summed_up(values)) if None not in values else None for name, values in columns.items()}
    )


def _standard_error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
