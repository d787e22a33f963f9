"""Delegation: how often the nearest crawler is found, for how many probes, how quickly.

The quality on a world of real round trips is measured where there is one (`benchmarks.data`); the rest needs
no data.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pytricia

from benchmarks.bench import SEED, Bench
from benchmarks.data import NO_REGISTRY, NO_WORLD, other_worlds, registry_dumps, world_folder
from benchmarks.measure import run, side_by_side
from benchmarks.results import Row, Target, as_long, number_text, seconds_text
from benchmarks.scratch import build_hierarchy
from ipmicra.delegate.events import CrawlerJoined, SiteArrived
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.policies.registry import POLICIES, policy_variants
from ipmicra.delegate.replay.quality import SiteOutcome, quality_of
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import LocationKind, locations_of
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.lab.evaluate.comparison import Comparison
from ipmicra.lab.evaluate.evaluate import EvaluateOptions, evaluate
from ipmicra.lab.worlds.hosting import HOSTING_PLAN, invent_hosting
from ipmicra.lab.worlds.synthetic import PAPER_PLAN, invent
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site

TRAIN = 57
PUBLISHED = "Papapetrou & Samaras 2004: 75 % at 2.99 probes, other sites"
LIMITS = {
    (LocationKind.WORLD, "default"): (0.90, 0.97, 2.0),
    (LocationKind.COUNTRY, "default"): (0.82, 0.92, 2.0),
    (LocationKind.WORLD, "frugal"): (0.76, None, 1.2),
}
"""Least share optimal, least share within 2 ms, most probes per site."""
_CHILD = "benchmarks.child_delegate"


def measure_delegation(bench: Bench) -> list[Row]:
    """Measure quality, then speed and memory."""
    return [
        *_real(bench),
        *_others(bench),
        *_paper_size(bench),
        *_hosting(bench),
        *_speed(bench),
        *_large(bench),
    ]


def _real(bench: Bench) -> list[Row]:
    """Replay all policies on real round trips."""
    world, dumps = world_folder(), registry_dumps()
    if world is None or not dumps:
        return [Row(what="quality on real round trips", missing=NO_REGISTRY if world else NO_WORLD)]
    bench.say("replaying real round trips")
    hierarchy = bench.scratch.made("registry.ipm", lambda path: build_hierarchy(dumps, path))
    rows: list[Row] = []
    for kind in (LocationKind.WORLD, LocationKind.COUNTRY, LocationKind.LOCATE, LocationKind.NONE):
        policies = POLICIES if kind is LocationKind.WORLD else ("predict",)
        options = EvaluateOptions(
            world=world,
            hierarchy=hierarchy,
            location=kind,
            train=TRAIN,
            seeds=bench.sizes.world_seeds,
            policies=policies,
        )
        for found in evaluate(options).rows:
            rows += _quality(found, kind)
    return rows


def _others(bench: Bench) -> list[Row]:
    """Replay `predict` on other worlds of real round trips, by what users know of places."""
    dumps = registry_dumps()
    if not dumps:
        return []
    hierarchy = bench.scratch.made("registry.ipm", lambda path: build_hierarchy(dumps, path))
    rows: list[Row] = []
    for folder in other_worlds():
        bench.say(f"replaying {folder.name}")
        # Pairs that are missing in this one were not measured: it is replayed as a file of measurements.
        is_partial = folder.name == "atlas-cloud"
        for kind in (LocationKind.WORLD, LocationKind.LOCATE if is_partial else LocationKind.COUNTRY):
            options = EvaluateOptions(
                world=folder / "rtt.csv" if is_partial else folder,
                crawlers=folder / "crawlers.csv" if is_partial else None,
                sites=folder / "sites.csv" if is_partial else None,
                hierarchy=hierarchy,
                location=kind,
                seeds=max(bench.sizes.world_seeds // 2, 1),
                policies=("predict",),
            )
            found = evaluate(options).rows[0]
            (row,) = _quality({**found, "policy": f"{folder.name}: predict"}, kind)
            rows.append(row)
    return rows


def _hosting(bench: Bench) -> list[Row]:
    """Replay `predict` in an invented world where a third of the subnets span continents."""
    sites = bench.sizes.delegated // 50
    bench.say(f"delegating {sites:,} sites of access providers and hosting companies")
    world, tree = invent_hosting(
        replace(HOSTING_PLAN, sites=sites, subnets=max(sites // 5, 1)), np.random.default_rng(SEED)
    )
    machine = DelegationMachine(tree, Predict(), locations=locations_of(world, LocationKind.WORLD, {}))
    outcomes, taken = _timed(Replay(world, machine), sites)
    parts = [quality_of(outcomes[sites * i // 4 : sites * (i + 1) // 4]) for i in range(4)]
    curve = " → ".join(f"{one.probes_per_site:.2f}" for one in parts)
    near = 100 * quality_of(outcomes).within_2ms
    return [
        Row(
            what=f"predict default, a third hosting, {sites:,} sites, 50 crawlers: optimal",
            value=100 * quality_of(outcomes).optimal,
            unit="%",
            figures=(f"within 2 ms {near:.1f} %", f"probes a site by quarters of the list: {curve}"),
            is_exact=True,
        ),
        Row(
            what=f"the same: a decision with probes, processor time, median of {len(taken):,}",
            value=1e3 * float(np.median(taken)),
            unit="ms",
            target=Target(sense="≤", limit=1.0),
            figures=(
                f"mean {1e3 * float(np.mean(taken)):.2f} ms",
                f"{sum(one.probes for one in outcomes) / max(1, len(taken)):.2f} probes each",
            ),
        ),
    ]


def measure_hosting(bench: Bench) -> list[Row]:
    """Delegate a million sites of a world with hosting, in a process of its own."""
    sites = bench.sizes.hosted
    bench.say(f"delegating {sites:,} sites of access providers and hosting companies")
    child = json.loads(run([sys.executable, "-m", _CHILD, "hosting", str(sites)]))
    what = f"a third hosting, {sites:,} sites in {sites // 5:,} subnets, 50 crawlers"
    curve = " → ".join(f"{probes:.2f}" for probes in child["probes_by_quarter"])
    return [
        Row(
            what=f"{what}: optimal",
            value=100 * child["optimal"],
            unit="%",
            target=Target(sense="≥", limit=95.0),
            figures=(
                f"within 2 ms {100 * child['within_2ms']:.1f} %",
                f"probes a site by quarters of the list: {curve}",
                "everyone: 100 % at 50",
            ),
            is_exact=True,
        ),
        _memory_row(what, child),
        Row(
            what=f"{what}: a decision with probes, processor time",
            value=child["probed_ms"],
            unit="ms",
            target=Target(sense="≤", limit=1.0),
            figures=(
                f"mean {child['probed_mean_ms']:.2f} ms",
                f"{child['probed']:,} of {sites:,} decisions, {child['probes_each']:.2f} probes each",
            ),
        ),
    ]


def _timed(replay: Replay, sites: int) -> tuple[list[SiteOutcome], list[float]]:
    """Let sites arrive; return their outcomes, and the processor time of each that was probed."""
    outcomes, taken = [], []
    for site in range(sites):
        start = time.process_time()
        outcome = replay.arrive(site)
        outcomes.append(outcome)
        if outcome.probes:
            taken.append(time.process_time() - start)
    return outcomes, taken


def _quality(found: dict[str, float | str], kind: LocationKind) -> list[Row]:
    """Return the rows of one variant; several where there are several targets."""
    name = f"{found['policy']} {found['setting']}".strip() + f", places: {kind}"
    optimal, near, probes = (float(found[key]) for key in ("optimal", "within_2ms", "probes_per_site"))
    figures = (
        f"within 2 ms {100 * near:.1f} %",
        f"{probes:.2f} probes a site",
        f"{float(found['training_probes_per_site']):.2f} in training",
        f"{float(found['mean_excess_ms']):.2f} ms over the shortest",
    )
    limits = LIMITS.get((kind, str(found["setting"])))
    if limits is None or found["policy"] != "predict":
        extra = (PUBLISHED,) if found["policy"] == "paper" else ()
        return [
            Row(
                what=f"{name}: optimal",
                value=100 * optimal,
                unit="%",
                figures=figures + extra,
                is_exact=True,
                is_of_peer=found["policy"] != "predict",
            )
        ]
    least, least_near, most = limits
    rows = [
        Row(
            what=f"{name}: optimal",
            value=100 * optimal,
            unit="%",
            target=Target(sense="≥", limit=100 * least),
            figures=figures,
            is_exact=True,
        ),
        Row(
            what=f"{name}: probes a site",
            value=probes,
            unit="",
            target=Target(sense="≤", limit=most),
            is_exact=True,
        ),
    ]
    if least_near is not None:
        target = Target(sense="≥", limit=100 * least_near)
        within = Row(what=f"{name}: within 2 ms", value=100 * near, unit="%", target=target, is_exact=True)
        rows.insert(1, within)
    return rows


def _paper_size(bench: Bench) -> list[Row]:
    """Replay an invented world of the paper's size."""
    bench.say("replaying an invented world of the paper's size")
    world, tree = invent(PAPER_PLAN, np.random.default_rng(SEED))
    comparison = Comparison(
        world=world,
        tree=tree,
        locations=locations_of(world, LocationKind.WORLD, {}),
        train=650,
        seeds=bench.sizes.paper_seeds,
    )
    rows = []
    for one in policy_variants(
        ["predict", "paper", "geo"], thresholds_ms=(50.0,), prices_ms=(), nearest=(2,)
    ):
        scores = [test for _training, test in comparison.run(one)]
        optimal, near, probes = (
            float(np.mean([getattr(found, key) for found in scores]))
            for key in ("optimal", "within_2ms", "probes_per_site")
        )
        figures = f"within 2 ms {100 * near:.1f} %", f"{probes:.2f} probes a site"
        what = f"{one.policy} {one.setting}, invented, 12 crawlers, 650 + 350 sites: optimal"
        is_of_peer = one.policy != "predict"
        rows.append(
            Row(
                what=what,
                value=100 * optimal,
                unit="%",
                figures=figures,
                is_exact=True,
                is_of_peer=is_of_peer,
            )
        )
    return rows


def _speed(bench: Bench) -> list[Row]:
    """Time answers from delegations beside a look-up in pytricia."""
    bench.say("answers without a probe")
    with Hierarchy.open(bench.shared_hierarchy()) as tree:
        rng = np.random.default_rng(SEED)
        sites = [
            Site("", tree.bounds(int(row))[0])
            for row in rng.integers(1, len(tree.bounds_array(4)), bench.sizes.single)
        ]
        sites = [site for site in sites if tree.parent(tree.row_of(str(site.address))) is not None]
        delegator = DelegationMachine(tree, Predict())
        delegator.handle(CrawlerJoined(Crawler(name="a", address=sites[0].address), 0.0))
        events = [SiteArrived(site, 1.0) for site in sites]
        for event in events:
            delegator.handle(event)
        texts = [str(site.address) for site in sites]
        trie = pytricia.PyTricia(32)
        for text in texts:
            trie[f"{text}/32"] = 1
        actions = {"ours": partial(_handled, delegator, events), "theirs": partial(_got, trie, texts)}
        times = side_by_side(actions, bench.sizes.short_rounds)
    ours, theirs = (times[name].scaled(1 / len(events)) for name in ("ours", "theirs"))
    figures = (seconds_text(ours.median), f"pytricia {seconds_text(theirs.median)}")
    what = "an answer without a probe, times a `get` of pytricia"
    return [as_long(what, ours, theirs, Target(sense="≤", limit=30), figures)]


def _handled(delegator: DelegationMachine, events: list[SiteArrived]) -> None:
    for event in events:
        delegator.handle(event)


def _got(trie: pytricia.PyTricia, texts: list[str]) -> None:
    for text in texts:
        trie.get(text)


def _large(bench: Bench) -> list[Row]:
    """Delegate the large invented world in a process of its own."""
    sites = bench.sizes.delegated
    bench.say(f"delegating {sites:,} invented sites")
    child = json.loads(run([sys.executable, "-m", _CHILD, "large", str(sites)]))
    what = f"{sites:,} sites in {sites // 5:,} subnets, 50 crawlers"
    figures = (
        f"{child['probed']:,} of {child['decided']:,} decisions with {child['probes_each']:.2f} probes each",
        f"{100 * child['optimal']:.1f} % optimal",
    )
    return [
        Row(
            what=f"{what}: a decision with probes, processor time",
            value=child["probed_ms"],
            unit="ms",
            target=Target(sense="≤", limit=1.0),
            figures=figures,
        ),
        _memory_row(what, child),
    ]


def _memory_row(what: str, child: Mapping[str, float]) -> Row:
    return Row(
        what=f"{what}: memory, the world itself included",
        value=child["peak_bytes"] / 1e9,
        unit="GB",
        target=Target(sense="<", limit=2.0),
        figures=(
            f"the world {child['world_bytes'] / 1e9:.2f} GB",
            f"{number_text(child['seconds'])} s of processor time in all",
        ),
    )
