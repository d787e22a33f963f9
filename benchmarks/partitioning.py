"""Partitioning whole lists: what location and links are worth, and how long it takes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pymetis

from benchmarks.bench import SEED, Bench
from benchmarks.measure import ROOT, side_by_side
from benchmarks.results import Row, Target, number_text, seconds_text
from ipmicra.app.partition_inputs import PartitionInputs, gather
from ipmicra.partition.compare import Costs, costs_of
from ipmicra.partition.config import CostConfig
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.graph import combined, make_vertices
from ipmicra.partition.hashing import hash_many
from ipmicra.partition.methods import METHODS, partition
from ipmicra.partition.metis import edge_weights, metis_multi, page_weights, parents_of
from ipmicra.partition.names import PackedNames
from ipmicra.partition.problem import Column, Problem
from ipmicra.partition.stability import moved_on_join
from ipmicra.simulate.national_web import NationalWebConfig, national_web

PARTS = 20
SWEEP = range(5, 51)
MULTI = (5, 10, 20, 50)
HASHES = ("hash", "two-level", "subsite", "consistent", "chord")
MORE, LESS = Target(sense="≥", limit=1.0), Target(sense="≤", limit=1.1)


def measure_partitioning(bench: Bench) -> list[Row]:
    """Measure quality on an invented web and on a real world, then speed."""
    bench.say(f"inventing a web of {bench.sizes.web_hosts:,} hosts")
    problem = web_problem(bench.sizes.web_hosts)
    label = f"invented web of {bench.sizes.web_hosts:,} hosts"
    rows = [*geography_rows(problem, label), *multi_rows(problem, label), *join_rows(problem, label, MULTI)]
    rows += atlas_rows()
    rows += [multi_speed(bench, problem), *hash_speed(bench), cost_speed(bench)]
    return rows


def web_problem(hosts: int, seed: int = SEED) -> Problem:
    web = national_web(NationalWebConfig(hosts=hosts), CostConfig(), np.random.default_rng(seed))
    return Problem(sites=web.sites, links=web.links, crawlers=CrawlerTable.floating(PARTS))


def floating(problem: Problem, parts: int) -> Problem:
    return replace(problem, crawlers=CrawlerTable.floating(parts), rtt_ms=None)


def geography_rows(problem: Problem, label: str) -> Iterator[Row]:
    """Compare metis-geo with the hash of hosts for every number of parts."""
    times: dict[str, dict[int, Costs]] = {"metis-geo": {}, "hash": {}}
    for name, by_parts in times.items():
        for parts in SWEEP:
            some = floating(problem, parts)
            by_parts[parts] = costs_of(some, partition(METHODS[name], some))
    for figure in ("download_s", "exchange_s"):
        ratios = {
            parts: getattr(times["hash"][parts], figure) / getattr(times["metis-geo"][parts], figure)
            for parts in SWEEP
        }
        worst = min(ratios, key=ratios.__getitem__)
        shown = (f"n = {parts}: {ratios[parts]:.3f}" for parts in MULTI)
        yield Row(
            what=f"{label}: {figure} of `hash` ÷ `metis-geo`, least over n = 5…50",
            value=ratios[worst],
            target=MORE,
            figures=(f"least at n = {worst}", *shown),
        )


def multi_rows(problem: Problem, label: str, counts: tuple[int, ...] = MULTI) -> Iterator[Row]:
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
        )


# --- the world of RIPE Atlas anchors


def atlas_folder() -> Path | None:
    """Find the world: where IPMICRA_ATLAS_WORLD says, else in `shared` beside or above the project."""
    told = os.environ.get("IPMICRA_ATLAS_WORLD")
    places = (
        [Path(told)]
        if told
        else [parent / "shared" / "data" / "worlds" / "atlas-anchors" for parent in ROOT.parents]
    )
    return next((place for place in places if (place / "sites.csv").is_file()), None)


def atlas_rows() -> list[Row]:
    folder = atlas_folder()
    label = "atlas-anchors, 89 sites, 11 crawlers, true round trips"
    if folder is None:
        return [Row(what=label, missing="there is no such world here; name it with IPMICRA_ATLAS_WORLD")]
    problem = gather(PartitionInputs(world=folder, generate_links=SEED)).problem
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
    ours, theirs = times["metis-multi"], times["pymetis"]
    pairs = [a / b for a, b in zip(ours.seconds, theirs.seconds, strict=True)]
    return Row(
        what=f"`metis-multi`, {len(problem.sites):,} hosts, {PARTS} parts, × pymetis on the same graph",
        value=ours.median / theirs.median,
        low=min(pairs),
        high=max(pairs),
        target=Target(sense="≤", limit=3.0),
        figures=(
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
    rates = {name: count / one.median / 1e6 for name, one in times.items()}
    slowest = min(HASHES, key=rates.__getitem__)
    shown = tuple(f"{name} {rate:.1f} M/s" for name, rate in rates.items())
    return [
        Row(
            what=f"family of hashes, {count:,} hosts at once, slowest (`{slowest}`)",
            value=rates[slowest],
            unit="M hosts/s",
            target=Target(sense="≥", limit=2.0),
            figures=shown,
        ),
        Row(
            what="`hash`, × the time of a bare numpy hash (sum of weighed bytes, modulo n)",
            value=times["hash"].median / times["numpy"].median,
            target=Target(sense="≤", limit=5.0),
        ),
    ]


def named_problem(hosts: int, parts: int) -> Problem:
    """Make sites in random places with ten links each, without names of their own."""
    from ipmicra.partition.links import LinkTable
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
    return Row(
        what=f"all costs of {len(problem.sites):,} hosts, {len(problem.links or ()):,} links, {PARTS} parts",
        value=times.median,
        unit="s",
        low=min(times.seconds),
        high=max(times.seconds),
        target=Target(sense="<", limit=1.0),
    )
