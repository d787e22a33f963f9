"""Policies side by side: every one on the same random orders of arrival."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.config import FRUGAL, DelegatorConfig, PaperConfig, PredictConfig
from ipmicra.delegate.delegator import Delegator
from ipmicra.delegate.policies.baselines import Everyone, Geo, Hash, Random, hashed
from ipmicra.delegate.policies.paper import Paper
from ipmicra.delegate.policies.predict import Predict
from ipmicra.delegate.ports import LocationSource, Policy
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.simulate.replay import Judge, Replay, Score, score
from ipmicra.simulate.world import Floats, World

Maker = Callable[[np.random.Generator], Policy]


@dataclass(frozen=True, slots=True)
class Contestant:
    """A policy with a setting; made anew for every order of arrival."""

    policy: str
    setting: str
    make: Maker


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a contestant did: one score for each order of arrival."""

    policy: str
    setting: str
    training: tuple[Score, ...]
    test: tuple[Score, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The rules that all contestants share."""

    world: World
    tree: SubnetTree
    locations: LocationSource | None
    train: int
    """Sites that arrive before those that count; policies delegate them with probes of their own."""
    seeds: int
    """Random orders of arrival: seeds 0, 1, …"""
    config: DelegatorConfig = field(default_factory=DelegatorConfig)
    others_ms: Mapping[str, Floats] = field(default_factory=dict)
    """Round trips by site of ways that contestants are compared with; see `other_ways`."""

    def run(self, contestant: Contestant) -> Iterator[tuple[Score, Score]]:
        """Give the scores of training and test for each order of arrival."""
        for seed in range(self.seeds):
            order = self._order(seed)
            policy = contestant.make(np.random.default_rng([seed, 1]))
            replay = Replay(self.world, Delegator(self.tree, policy, self.config, locations=self.locations))
            training = score(replay.run(order[: self.train]), self.others_ms)
            yield training, score(replay.run(order[self.train :]), self.others_ms)

    def run_given(self, crawlers: NDArray[np.int64]) -> Iterator[tuple[Score, Score]]:
        """Score crawlers that the sites have already; sites without one (-1) are left out."""
        judge = Judge(self.world)
        for seed in range(self.seeds):
            order = self._order(seed)
            training, test = (
                score(
                    [judge.outcome(i, int(crawlers[i]), 0) for i in part if crawlers[i] >= 0], self.others_ms
                )
                for part in (order[: self.train], order[self.train :])
            )
            yield training, test

    def _order(self, seed: int) -> list[int]:
        order: list[int] = np.random.default_rng(seed).permutation(len(self.world.sites)).tolist()
        return order


def other_ways(world: World) -> dict[str, Floats]:
    """Give each site's round trip by ways that everybody can be compared with: site hash, and today's."""
    found = [world.measured_from(i) for i in range(len(world.sites))]
    chosen = [some[hashed(site.address, len(some))] for some, site in zip(found, world.sites, strict=True)]
    ways = {"hash": world.given_ms(np.array(chosen, np.int64))}
    if world.today is not None:
        ways["today"] = world.given_ms(world.today)
    return ways


def contestants(
    names: Sequence[str],
    *,
    thresholds_ms: Sequence[float],
    prices_ms: Sequence[float],
    nearest: Sequence[int],
) -> list[Contestant]:
    """Give the contestants of some policies; several settings make several of a policy."""
    found: list[Contestant] = []
    for name in names:
        if name == "predict":
            found += _predictors(prices_ms)
        elif name == "paper":
            found += [_paper(threshold) for threshold in thresholds_ms]
        elif name == "geo":
            found += [_geo(count) for count in nearest]
        else:
            found.append(_plain(name))
    return found


def _predictors(prices_ms: Sequence[float]) -> list[Contestant]:
    """Give the default and the frugal setting, or fixed prices."""
    if not prices_ms:
        return [
            Contestant("predict", "default", lambda _rng: Predict()),
            Contestant("predict", "frugal", lambda _rng: Predict(FRUGAL)),
        ]
    return [_predict_at(price) for price in prices_ms]


def _predict_at(price_ms: float) -> Contestant:
    config = replace(PredictConfig(), probe_price_ms=price_ms, probes_per_site=None)
    return Contestant("predict", f"{price_ms:g} ms a probe", lambda _rng: Predict(config))


def _paper(threshold_ms: float) -> Contestant:
    config = PaperConfig(threshold_ms=threshold_ms)
    return Contestant("paper", f"{threshold_ms:g} ms", lambda _rng: Paper(config))


def _geo(nearest: int) -> Contestant:
    return Contestant("geo", f"nearest {nearest}", lambda _rng: Geo(nearest))


def _plain(name: str) -> Contestant:
    makers: dict[str, Maker] = {
        "everyone": lambda _rng: Everyone(),
        "random": Random,
        "hash": lambda _rng: Hash(),
    }
    return Contestant(name, "", makers[name])
