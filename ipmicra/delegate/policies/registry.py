"""Every policy under its name, with its settings: the one list that commands, library and experiments use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ipmicra.delegate.config import (
    FRUGAL,
    DelegatorConfig,
    PaperConfig,
    PredictConfig,
    mean_probes,
    price_ms_of,
)
from ipmicra.delegate.policies.baselines import Everyone, Geo, Hash, Random
from ipmicra.delegate.policies.paper import Paper
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.policies.predict.stakes import Stakes
from ipmicra.delegate.ports import Policy, Settlements

POLICIES = ("predict", "paper", "geo", "everyone", "random", "hash")
"""Names of the policies, in the order in which they are shown."""
WITHOUT_PROBES = frozenset({"random", "hash"})
"""Policies that send no probes, so that crawlers need no agent."""
READINGS = (PaperConfig(), PaperConfig(beyond_organisation=True))
"""How the paper's step by organisations may be read: ends at its best sample, or goes on to climb."""
PUBLISHED_PROBES = 2.99
"""Probes per site of the published procedure (Papapetrou & Samaras 2004)."""
Maker = Callable[[np.random.Generator], Policy]


@dataclass(frozen=True, slots=True)
class ProbeCost:
    """Probes that a policy takes for one subnet."""

    most: int
    expected: float
    is_fixed: bool = True
    """Whether `expected` holds whatever is learnt; else the mean of past delegations is better."""


def probe_cost(name: str, *, crawlers: int, nearest: int) -> ProbeCost:
    """Return what a policy may cost with so many crawlers; `nearest` is the setting of `geo`."""
    if name in WITHOUT_PROBES:
        return ProbeCost(0, 0.0)
    if name == "geo":
        most = nearest + DelegatorConfig().losses_allowed
        return ProbeCost(min(crawlers, most), min(crawlers, nearest))
    if name == "everyone":
        return ProbeCost(crawlers, crawlers)
    aim = PUBLISHED_PROBES if name == "paper" else mean_probes(PredictConfig(), crawlers) or 2.0
    return ProbeCost(crawlers, min(float(crawlers), aim), is_fixed=False)


def weigh_pages(policy: Policy, pages: Mapping[str, float]) -> None:
    """Let the price of a probe follow the pages of sites, by host, where the policy has prices."""
    if isinstance(policy, Predict):
        policy.stakes = Stakes(pages)


def price_range(price_ms: float, pages: Mapping[str, float]) -> tuple[float, float]:
    """Return the lowest and the highest price of a probe among hosts of known pages."""
    low, high = Stakes(pages).range()
    return round(price_ms * low, 4), round(price_ms * high, 4)


def price_of(price_ms: float | None, crawlers: int) -> tuple[float, float | None]:
    """Return the price of a probe for `predict`, and the mean of probes per site above which it rises.

    `price_ms` is the user's, which is fixed; None for the default, which follows the fleet.
    """
    config = PredictConfig()
    if price_ms is not None:
        return price_ms, None
    return round(price_ms_of(config, crawlers), 4), round(mean_probes(config, crawlers) or 0.0, 2)


@dataclass(frozen=True, slots=True)
class PolicyVariant:
    """A policy with a setting; made anew for every order of arrival."""

    policy: str
    setting: str
    make: Maker


def policy_variants(
    names: Sequence[str],
    *,
    thresholds_ms: Sequence[float],
    prices_ms: Sequence[float],
    nearest: Sequence[int],
    paper: Sequence[PaperConfig] = (PaperConfig(),),
    settlements: Settlements | None = None,
) -> list[PolicyVariant]:
    """Return the policy_variants of some policies; several settings make several of a policy.

    `paper` has readings of the paper's procedure, each of which is taken with all thresholds; `settlements`
    tell `predict` where in a country sites are likely.
    """
    found: list[PolicyVariant] = []
    for name in names:
        if name == "predict":
            found += _predictors(prices_ms, settlements)
        elif name == "paper":
            found += [_paper(replace(one, threshold_ms=ms)) for one in paper for ms in thresholds_ms]
        elif name == "geo":
            found += [_geo(count) for count in nearest]
        else:
            found.append(_plain(name))
    return found


def _predictors(prices_ms: Sequence[float], settlements: Settlements | None) -> list[PolicyVariant]:
    """Return the default and the frugal setting, or fixed prices."""
    fixed = {f"{price:g} ms a probe": _fixed(price) for price in prices_ms}
    configs = fixed or {"default": PredictConfig(), "frugal": FRUGAL}
    return [_predict(name, config, settlements) for name, config in configs.items()]


def _predict(setting: str, config: PredictConfig, settlements: Settlements | None) -> PolicyVariant:
    return PolicyVariant("predict", setting, lambda _rng: Predict(config, settlements))


def _fixed(price_ms: float) -> PredictConfig:
    return replace(PredictConfig(), probe_price_ms=price_ms, probes_per_site=None)


def _paper(config: PaperConfig) -> PolicyVariant:
    beyond = ", beyond the organisation" if config.beyond_organisation else ""
    return PolicyVariant("paper", f"{config.threshold_ms:g} ms{beyond}", lambda _rng: Paper(config))


def _geo(nearest: int) -> PolicyVariant:
    return PolicyVariant("geo", f"nearest {nearest}", lambda _rng: Geo(nearest))


def _plain(name: str) -> PolicyVariant:
    makers: dict[str, Maker] = {
        "everyone": lambda _rng: Everyone(),
        "random": Random,
        "hash": lambda _rng: Hash(),
    }
    return PolicyVariant(name, "", makers[name])
