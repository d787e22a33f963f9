"""Fair load: what the churn experiment costs, and how fast and well sites are assigned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from benchmarks.bench import SEED, Bench
from benchmarks.measure import side_by_side
from benchmarks.results import Row, Target, against, as_long, rate, seconds_text
from ipmicra.assign.balance.auction.assigner import assign_sites
from ipmicra.assign.balance.config import AuctionConfig
from ipmicra.assign.balance.demand import Demand
from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.experiment import draw
from ipmicra.lab.churn.schemes.table import scheme_named
from ipmicra.lab.worlds.populations import KingLike, king_like

CRAWLERS = 100
CHURN_COST = Target(sense="≤", limit=3)
RATE = Target(sense="≥", limit=200_000)
COST = Target(sense="≤", limit=1.03)
SHOWN = ("dht", "nc-can", "lbi", "lbi-split", "balance-neighbours", "balance")


def measure_balance(bench: Bench) -> list[Row]:
    """Measure the experiment and the assigner."""
    return [*_churn_quality(bench), _churn_cost(bench), *_assigning(bench), *_slices(bench)]


def _config(bench: Bench) -> ChurnConfig:
    return ChurnConfig(steps=bench.sizes.churn_steps)


def _churn_quality(bench: Bench) -> list[Row]:
    """Run the schemes in King-like worlds: goodput beside each other and beside the bound."""
    good: dict[str, list[float]] = {name: [] for name in SHOWN}
    bounds = []
    for seed in range(bench.sizes.churn_seeds):
        drawn = draw(lambda rng: king_like(rng).rtt_ms, _config(bench), seed)
        bounds.append(drawn.bound_mbps())
        for name in SHOWN:
            bench.say(f"churn, seed {seed}: {name}")
            good[name].append(drawn.run(scheme_named(name)).figures.goodput_mbps)
    mean = {name: float(np.mean(values)) for name, values in good.items()}
    bound = float(np.mean(bounds))
    pairs = (
        ("nc-can", "dht", 1.15),
        ("lbi", "dht", 1.40),
        ("lbi-split", "lbi", 1.09),
        ("balance-neighbours", "lbi-split", None),
        ("balance", "lbi-split", 1.17),
    )
    rows = [
        Row(
            what=f"goodput of {one} beside {other}'s (churn, King-like, {len(bounds)} seeds)",
            value=mean[one] / mean[other],
            target=Target(sense="≥", limit=limit) if limit else None,
            figures=(f"{mean[one]:.1f} Mb/s", f"{mean[other]:.1f} Mb/s"),
            is_exact=True,
        )
        for one, other, limit in pairs
    ]
    share = Target(sense="≥", limit=0.93)
    figures = (f"{mean['balance']:.1f} of {bound:.1f} Mb/s",)
    return [
        *rows,
        Row(
            what="goodput of balance beside the bound",
            value=mean["balance"] / bound,
            target=share,
            figures=figures,
            is_exact=True,
        ),
    ]


def _churn_cost(bench: Bench) -> Row:
    """Time one scheme and one seed: ours beside LBI."""
    drawn = draw(lambda rng: king_like(rng).rtt_ms, _config(bench), 0)
    lbi, ours = scheme_named("lbi"), scheme_named("balance")
    times = side_by_side({"lbi": lambda: drawn.run(lbi), "ours": lambda: drawn.run(ours)}, 3)
    figures = (f"balance {seconds_text(times['ours'].median)}", f"LBI {seconds_text(times['lbi'].median)}")
    what = "time of the churn experiment, balance beside LBI"
    return as_long(what, times["ours"], times["lbi"], CHURN_COST, figures)


def _costs(sites: int, crawlers: int) -> NDArray[np.float32]:
    """Return round trips of a King-like world, sites drawn with replacement and jittered."""
    rng = np.random.default_rng(SEED)
    nodes = 2000 + crawlers
    matrix = king_like(rng, KingLike(nodes=nodes)).rtt_ms.astype(np.float32)
    table: NDArray[np.float32] = matrix[crawlers:, :crawlers][rng.integers(0, 2000, sites)]
    table *= rng.uniform(0.9, 1.1, table.shape).astype(np.float32)
    return table


def _assigning(bench: Bench) -> list[Row]:
    """Assign a batch, then again after a join and after a leave."""
    sites = bench.sizes.assigned
    bench.say(f"assigning {sites:,} sites")
    cost, load = _costs(sites, CRAWLERS + 1), np.random.default_rng(SEED).lognormal(8, 1, sites)
    units = np.ones(CRAWLERS + 1)
    units[-1] = 0
    first = Demand(cost_ms=cost, load=load, units=units)
    placed = assign_sites(first)
    joined = Demand(cost_ms=cost, load=load, units=np.ones(CRAWLERS + 1), previous=placed.crawler)
    after = assign_sites(joined)
    units = np.ones(CRAWLERS + 1)
    units[0] = 0
    left = assign_sites(Demand(cost_ms=cost, load=load, units=units, previous=after.crawler))
    times = side_by_side({"batch": lambda: assign_sites(first), "join": lambda: assign_sites(joined)}, 3)
    share = Target(sense="≤", limit=2 / CRAWLERS)
    about = f"{sites:,} sites, {CRAWLERS} crawlers"
    return [
        rate(f"assigned in a batch ({about})", times["batch"], sites, "sites/s", RATE),
        rate(f"the same after a join ({about})", times["join"], sites, "sites/s"),
        Row(
            what="load moved by a join, part of all",
            value=after.moved_load,
            unit="",
            target=share,
            is_exact=True,
        ),
        Row(
            what="load moved by a leave, part of all",
            value=left.moved_load,
            unit="",
            target=share,
            is_exact=True,
        ),
    ]


def _slices(bench: Bench) -> list[Row]:
    """Compare cost with the best assignment of a slice: 20 slots each, and one crawler per site."""
    bench.say("best assignment of a slice")
    config, sites = AuctionConfig(slack=0.0), bench.sizes.sliced
    rows: list[Row] = []
    for crawlers in (CRAWLERS, sites):
        cost = _costs(sites, crawlers)
        slots = np.repeat(cost, sites // crawlers, axis=1)
        demand = Demand(cost_ms=cost, load=np.ones(sites), units=np.ones(crawlers))
        times = side_by_side(
            {
                "ours": lambda d=demand: assign_sites(d, config),
                "best": lambda s=slots: linear_sum_assignment(s),
            },
            bench.sizes.rounds,
        )
        found, (at, slot) = assign_sites(demand, config), linear_sum_assignment(slots)
        ours, best = (
            float(table.sum()) for table in (cost[np.arange(sites), found.crawler], slots[at, slot])
        )
        about = f"{sites:,} sites on {crawlers:,} crawlers"
        rows += [
            Row(
                what=f"cost beside `linear_sum_assignment`, {about}",
                value=ours / best,
                target=COST,
                figures=(f"{ours / sites:.2f} and {best / sites:.2f} ms a site",),
                is_exact=True,
            ),
            against(f"assigning {about}, × `linear_sum_assignment`", times["ours"], times["best"]),
        ]
    return rows
