"""Partitioning whole lists: what location and links are worth, and how long it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pymetis

from benchmarks.bench import SEED, Bench
from benchmarks.data import NO_WORLD, world_folder
from benchmarks.measure import side_by_side
from benchmarks.results import Row, Target, as_long, number_text, rate, seconds_text, timed
from ipmicra.app.partition.inputs import gather
from ipmicra.app.partition.options import PartitionInputs
from ipmicra.lab.worlds.national_web import NationalWebConfig, national_web
from ipmicra.partition.compare import Costs, costs_of, moved_on_join
from ipmicra.partition.config import CostConfig
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.hashing import hash_many
from ipmicra.partition.methods.metis.cut import edge_weights, metis_multi, page_weights, parents_of
from ipmicra.partition.methods.metis.graph import combined, make_vertices
from ipmicra.partition.methods.registry import METHODS, partition
from ipmicra.partition.names import PackedNames
from ipmicra.partition.problem import Column, Problem

PARTS = 20
HASHES = ("hash", "two-level", "subsite", "consistent", "chord")
MORE, LESS = Target(sense="≥", limit=1.0), Target(sense="≤", limit=1.1)


def measure_partitioning(bench: Bench) -> list[Row]:
    """Measure quality on an invented web and on a real world, then speed."""
    bench.say(f"inventing a web of {bench.sizes.web_hosts:,} hosts")
    problem = web_problem(bench.sizes.web_hosts)
    label = f"invented web of {bench.sizes.web_hosts:,} hosts"
    sweep, few = bench.sizes.web_parts, bench.sizes.multi_parts
    rows = [*geography_rows(problem, label, sweep, few)]
    rows += [*multi_rows(problem, label, few), *join_rows(problem, label, few)]
    rows += atlas_rows()
    rows += [multi_speed(bench, problem), *hash_speed(bench), cost_speed(bench)]
    return rows


def web_problem(hosts: int, seed: int = SEED) -> Problem:
    web = national_web(NationalWebConfig(hosts=hosts), CostConfig(), np.random.default_rng(seed))
    return Problem(sites=web.sites, links=web.links, crawlers=CrawlerTable.floating(PARTS))


def floating(problem: Problem, parts: int) -> Problem:
    return replace(problem, crawlers=CrawlerTable.floating(parts), rtt_ms=None)


def geography_rows(
    problem: Problem, label: str, sweep: tuple[int, ...], shown: tuple[int, ...]
) -> Iterator[Row]:
    """Compare metis-geo with the hash of hosts for every number of parts."""
    times: dict[str, dict[int, Costs]] = {"metis-geo": {}, "hash": {}}
    for name, by_parts in times.items():
        for parts in sweep:
            some = floating(problem, parts)
            by_parts[parts] = costs_of(some, partition(METHODS[name], some))
    for figure in ("download_s", "exchange_s"):
        ratios = {
            parts: getattr(times["hash"][parts], figure) / getattr(times["metis-geo"][parts], figure)
            for parts in sweep
        }
        worst = min(ratios, key=ratios.__getitem__)
        notes = (f"n = {parts}: {ratios[parts]:.3f}" for parts in shown)
        yield Row(
            what=f"{label}: {figure} of `hash` ÷ `metis-geo`, least over n = {sweep[0]}…{sweep[-1]}",
            value=ratios[worst],
            target=MORE,
            figures=(f"least at n = {worst}", *notes),
            is_exact=True,
        )


def multi_rows(problem: Problem, label: str, counts: tuple[int, ...]) -> Iterator[Row]:
    """Compare metis-multi with the better of its parents, on both cuts and on both times."""
    ratios: dict[str, dict[int, float]] = {}
    for parts in counts:
        some = floating(problem, parts) if not problem.crawlers.is_placed else problem
        columns = {
            name: partition(METHODS[name], some) for name in ("metis-geo", "metis-links", "metis-multi")
        }
        for what, figures in cuts_and_times(some, columns).items():
            best = min(figures["metis-geo"], figures["metis-links"])
            ratios.setdefault(what, {})[parts] = figures["metis-multi"] / best if best else 1.0
    for what, by_parts in ratios.items():
        yield Row(
            what=f"{label}: `metis-multi` at preference 0.5 ÷ the better parent, {what}, most of n",
            value=max(by_parts.values()),
            target=LESS,
            figures=tuple(f"n = {parts}: {ratio:.3f}" for parts, ratio in by_parts.items()),
            is_exact=True,
        )


def cuts_and_times(problem: Problem, columns: dict[str, Column]) -> dict[str, dict[str, float]]:
    vertices = make_vertices(problem.sites, problem.metis)
    (near, linked), _ = parents_of(vertices, problem)
    found: dict[str, dict[str, float]] = {"cut of distances": {}, "cut of links": {}}
    for name, column in columns.items():
        part = np.zeros(len(vertices), np.int64)
        part[vertices.of_site] = column
        found["cut of distances"][name] = near.cut(part)
        found["cut of links"][name] = linked.cut(part)
        costs = costs_of(problem, column)
        found.setdefault("download time", {})[name] = costs.download_s
        found.setdefault("exchange time", {})[name] = costs.exchange_s or 0.0
    return found


def join_rows(problem: Problem, label: str, counts: tuple[int, ...]) -> Iterator[Row]:
    """Count sites that move when a crawler joins."""
    for name in ("two-level", "consistent", "hash"):
        moved = {}
        for parts in counts:
            some = floating(problem, parts)
            moved[parts] = (moved_on_join(METHODS[name], some, partition(METHODS[name], some)) or 0.0) * parts
        yield Row(
            what=f"{label}: sites that `{name}` moves on a join, × n ÷ all sites, most of n",
            value=max(moved.values()),
            target=None if name == "hash" else Target(sense="≤", limit=1.5),
            figures=tuple(f"n = {parts}: {value / parts:.2%}" for parts, value in moved.items()),
            is_exact=True,
            is_of_peer=name == "hash",
        )


# --- the world of RIPE Atlas anchors


def atlas_rows() -> list[Row]:
    folder = world_folder()
    label = "atlas-anchors, 89 sites, 11 crawlers, true round trips"
    if folder is None:
        return [Row(what=label, missing=NO_WORLD)]
    with gather(PartitionInputs(world=folder, generate_links=SEED)) as gathered:
        problem = gathered.problem
    names = ("hash", "metis-geo", "rtt-balanced", "rtt-best", "city", "can", "balance", "metis-multi")
    costs = {name: costs_of(problem, partition(METHODS[name], problem)) for name in names}
    shown = tuple(f"{name} {number_text(one.download_s)} s" for name, one in costs.items())
    pairs = (("hash", "metis-geo", "download_s"), ("hash", "metis-geo", "exchange_s"))
    pairs += (("metis-geo", "rtt-balanced", "download_s"), ("metis-geo", "balance", "download_s"))
    rows = [
        Row(
            what=f"{label}: {figure} of `{slow}` ÷ `{quick}`",
            value=getattr(costs[slow], figure) / getattr(costs[quick], figure),
            target=MORE,
            figures=shown if figure == "download_s" else (),
            is_exact=True,
        )
        for slow, quick, figure in pairs
    ]
    rows += [*multi_rows(problem, label, (problem.parts,)), *join_rows(problem, label, (5, 11))]
    return rows


# --- speed


def multi_speed(bench: Bench, problem: Problem) -> Row:
    """Time metis-multi beside METIS on the graph that it cuts last."""
    vertices = make_vertices(problem.sites, problem.metis)
    (near, linked), _ = parents_of(vertices, problem)
    lean = problem.metis.link_lean
    graph = combined(
        near.graph, linked.graph, (near.preference / near.unit, lean * linked.preference / linked.unit)
    )
    kind = pymetis.zero_copy_dtype()
    adjacency = pymetis.CSRAdjacency(
        adj_starts=graph.indptr.astype(kind), adjacent=graph.indices.astype(kind)
    )
    pages, edges = page_weights(vertices).astype(kind), edge_weights(graph).astype(kind)
    times = side_by_side(
        {
            "metis-multi": lambda: metis_multi(problem),
            "pymetis": lambda: pymetis.part_graph(PARTS, adjacency, vweights=pages, eweights=edges),
        },
        bench.sizes.short_rounds,
    )
    return as_long(
        f"`metis-multi`, {len(problem.sites):,} hosts, {PARTS} parts, × pymetis on the same graph",
        times["metis-multi"],
        times["pymetis"],
        Target(sense="≤", limit=3.0),
        (
            *(f"{name} {seconds_text(one.median)}" for name, one in times.items()),
            f"{len(vertices):,} addresses, {graph.nnz // 2:,} edges",
        ),
    )


def hash_speed(bench: Bench) -> list[Row]:
    """Time the family of hashes on packed names, beside the plainest hash that numpy can make."""
    count = bench.sizes.cost_hosts
    hosts = [f"www.site{number * 7919 % 1_000_003}.example" for number in range(count)]
    packed = PackedNames.pack(hosts)
    problem = replace(
        named_problem(count, PARTS), sites=replace(named_problem(count, PARTS).sites, hosts=packed)
    )
    text, starts = packed.buffer[: packed.ends[-1]], packed.starts

    def bare() -> object:
        return np.add.reduceat(text.astype(np.uint64) * np.uint64(31), starts) % np.uint64(PARTS)

    actions = {name: (lambda name=name: partition(METHODS[name], problem)) for name in HASHES}
    times = side_by_side(
        {
            **actions,
            "hash alone": lambda: hash_many(packed),
            "packing": lambda: PackedNames.pack(hosts),
            "numpy": bare,
        },
        bench.sizes.rounds,
    )
    slowest = max(HASHES, key=lambda name: times[name].median)
    shown = tuple(f"{name} {count / one.median / 1e6:.1f} M/s" for name, one in times.items())
    family = f"family of hashes, {count:,} hosts at once, slowest"
    least = Target(sense="≥", limit=2.0)
    return [
        replace(
            rate(f"{family} (`{slowest}`)", times[slowest], count / 1e6, "M hosts/s", least, shown),
            key=family,
        ),
        as_long(
            "`hash`, × the time of a bare numpy hash (sum of weighed bytes, modulo n)",
            times["hash"],
            times["numpy"],
            Target(sense="≤", limit=5.0),
        ),
    ]


def named_problem(hosts: int, parts: int) -> Problem:
    """Make sites in random places with ten links each, without names of their own."""
    from ipmicra.partition.links.table import LinkTable
    from ipmicra.partition.sites import SiteTable

    rng = np.random.default_rng(SEED)
    sites = SiteTable(
        hosts=PackedNames.pack(["x"] * hosts),
        address=np.arange(hosts),
        subnets=np.zeros((0, hosts), np.int64),
        latitude=rng.uniform(37, 42, hosts),
        longitude=rng.uniform(-9.5, -6.5, hosts),
        country=np.zeros(hosts, np.int64),
        holder=np.full(hosts, -1, np.int64),
        pages=rng.integers(1, 1000, hosts).astype(np.float64),
    )
    links = LinkTable(
        source=np.repeat(np.arange(hosts, dtype=np.int32), 10),
        target=rng.integers(0, hosts, 10 * hosts).astype(np.int32),
        count=np.ones(10 * hosts),
    )
    return Problem(sites=sites, crawlers=CrawlerTable.floating(parts), links=links)


def cost_speed(bench: Bench) -> Row:
    """Time all cost equations together."""
    problem = named_problem(bench.sizes.cost_hosts, PARTS)
    column = np.random.default_rng(SEED).integers(0, PARTS, len(problem.sites)).astype(np.int32)
    times = side_by_side({"costs": lambda: costs_of(problem, column)}, bench.sizes.rounds)["costs"]
    what = f"all costs of {len(problem.sites):,} hosts, {len(problem.links or ()):,} links, {PARTS} parts"
    return timed(what, times, "s", Target(sense="<", limit=1.0))
