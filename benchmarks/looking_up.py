"""Looking up many addresses at once and one by one, beside other tables."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers
from benchmarks.addresses import Case, drawn, texts
from benchmarks.bench import SEED, Bench
from benchmarks.measure import Times, side_by_side
from benchmarks.results import Row, Target, against, number_text, rate
from ipmicra import Hierarchy
from ipmicra.hierarchy.format import SEGMENTS
from ipmicra.hierarchy.sections import Sections

PYTRICIA = Target(sense="≥", limit=40)
SEARCHSORTED = Target(sense="≥", limit=9)
TAKE = Target(sense="≥", limit=0.5, aim="0.6 ×")
ONE_PYTRICIA = Target(sense="≥", limit=4.0, aim="6 ×")
ONE_MAXMINDDB = Target(sense="≥", limit=2.5, aim="4 ×")
IPV6_SHARE = Target(sense="≥", limit=0.5)
TAKE_ENTRIES, SMALL_TAKE_ENTRIES = 1 << 24, 1 << 20
"""Entries of the arrays of bare gathers: as many as IPv4 has /24s, and a sixteenth of it."""
GRID = tuple(Case(family=family, kind=kind) for family in (4, 6) for kind in ("hit", "hit, sorted", "miss"))


def loop(get: Callable[[Any], object], questions: list[Any]) -> None:
    """Ask one by one."""
    for question in questions:
        get(question)


def rate_text(name: str, count: int, times: Times) -> str:
    """Write a speed in millions of addresses per second."""
    return f"{name} {number_text(count / times.median / 1e6)} M/s"


def held_text(rows: list[int]) -> str:
    """Say how many of the addresses lie in a registered subnet; row 0 is the root."""
    share = sum(row != 0 for row in rows) / len(rows)
    return "" if share == 1 else f" ({share:.0%} in a subnet)"


# --- many at once, beside peers


def measure_many(bench: Bench) -> list[Row]:
    """Look up arrays of random addresses."""
    path = bench.shared_hierarchy()
    bench.say("filling pytricia")
    with Hierarchy.open(path) as hierarchy:
        table = peers.filled_pytricia(hierarchy.bounds_array(4))
    rows = [row for kind in ("hit", "anywhere") for row in _many_rows(bench, path, table.get, kind)]
    return [*rows, _family_row(bench, path)]


def _family_row(bench: Bench, path: Path) -> Row:
    """Look up as many hits of each family in turns."""
    hierarchy = Hierarchy.open(path, threads=1)
    asked = {
        family: drawn(
            np.random.default_rng(SEED), hierarchy, Case(family=family, kind="hit"), bench.sizes.addresses
        )
        for family in (4, 6)
    }
    times = side_by_side(
        {f"IPv{family}": partial(hierarchy.lookup_many, asked[family]) for family in asked},
        bench.sizes.rounds,
    )
    count = bench.sizes.addresses
    return against(
        f"`lookup_many`, one thread ({count:,} hit addresses, {len(hierarchy):,} subnets), IPv6 × IPv4",
        times["IPv6"],
        times["IPv4"],
        IPV6_SHARE,
        [rate_text(name, count, one) for name, one in times.items()],
    )


def _many_rows(bench: Bench, path: Path, get: peers.Get, kind: str) -> list[Row]:
    """Let all take turns on addresses of one kind; hits are in registered subnets, the harder case."""
    bench.say(f"looking up many: {kind}")
    rng = np.random.default_rng(SEED)
    one, every = Hierarchy.open(path, threads=1), Hierarchy.open(path)
    asked = drawn(rng, one, Case(family=4, kind=kind), bench.sizes.addresses)
    some = asked[: bench.sizes.single]
    as_numbers, as_texts = some.tolist(), texts(some)
    expected = one.lookup_many(some).tolist()
    peers.check_agreement("pytricia", expected, [get(text) for text in as_texts], as_texts)
    times = side_by_side(
        {
            "one thread": lambda: one.lookup_many(asked),
            "all threads": lambda: every.lookup_many(asked),
            **_gathers(rng, path, asked),
            "pytricia, texts": lambda: loop(get, as_texts),
            "pytricia, numbers": lambda: loop(get, as_numbers),
        },
        bench.sizes.rounds,
    )
    for name in ("pytricia, texts", "pytricia, numbers"):
        times[name] = times[name].scaled(len(asked) / len(some))
    about = f"{len(asked):,} {kind} addresses{held_text(expected)}, {len(one):,} subnets"
    return [row for name in ("one thread", "all threads") for row in _beside(name, about, times, len(asked))]


def _gathers(
    rng: np.random.Generator, path: Path, asked: NDArray[np.uint32]
) -> dict[str, Callable[[], object]]:
    """Return what numpy can do with as many addresses: a search, and bare random gathers."""
    with path.open("rb") as file:
        segments = Sections(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))).array(SEGMENTS)
    starts = (segments >> np.uint64(32)).astype(np.uint32)
    count = len(asked)
    same, small = np.arange(TAKE_ENTRIES, dtype=np.int32), np.arange(SMALL_TAKE_ENTRIES, dtype=np.int32)
    in_same, in_small = rng.integers(0, len(same), count), rng.integers(0, len(small), count)
    return {
        "searchsorted": lambda: np.searchsorted(starts, asked, side="right"),
        "take": lambda: np.take(same, in_same),
        "small take": lambda: np.take(small, in_small),
    }


def _beside(name: str, about: str, times: dict[str, Times], count: int) -> list[Row]:
    """Make the rows of one way to look up."""
    ours = times[name]
    quicker = min(("pytricia, texts", "pytricia, numbers"), key=lambda peer: times[peer].median)
    peers_of = (
        (quicker, f"`get` loop of {quicker}, extrapolated", PYTRICIA),
        ("searchsorted", "`np.searchsorted` on the same segment starts", SEARCHSORTED),
        ("take", f"`np.take` from {TAKE_ENTRIES:,} entries", TAKE),
        ("small take", f"`np.take` from {SMALL_TAKE_ENTRIES:,} entries", None),
    )
    mine = rate_text("ipmicra", count, ours)
    rows = [
        against(
            f"`lookup_many`, {name} ({about}), × {title}",
            ours,
            times[peer],
            target,
            [mine, rate_text(peer, count, times[peer])],
        )
        for peer, title, target in peers_of
    ]
    rows[0] = replace(rows[0], key=f"`lookup_many`, {name} ({about}), × the quicker `get` loop of pytricia")
    return rows


# --- one by one, beside peers


def measure_scalar(bench: Bench) -> list[Row]:
    """Look up single addresses given as text."""
    hierarchy = Hierarchy.open(bench.shared_hierarchy())
    rows: list[Row] = []
    for family, kinds in ((4, ("hit", "anywhere")), (6, ("hit",))):
        gets = _scalar_gets(bench, hierarchy, family)
        for kind in kinds:
            rows += _scalar_rows(bench, hierarchy, gets, Case(family=family, kind=kind))
    return rows


def _scalar_gets(bench: Bench, hierarchy: Hierarchy, family: int) -> dict[str, peers.Get]:
    """Fill the tables of all peers with the subnets of a family."""
    bounds = hierarchy.bounds_array(family)
    name = f"{bench.shared_hierarchy().stem}-{family}.mmdb"
    database = bench.scratch.made(name, lambda place: peers.write_mmdb(bounds, place))
    bench.say(f"filling pytricia and py-radix with IPv{family}")
    search = peers.radix_get(bounds)
    return {
        "ipmicra": hierarchy.row_of,
        "pytricia": peers.filled_pytricia(bounds).get,
        "maxminddb": peers.mmdb_get(database),
        "py-radix": search,
    }


def _scalar_rows(bench: Bench, hierarchy: Hierarchy, gets: dict[str, peers.Get], case: Case) -> list[Row]:
    """Let all take turns on the same texts."""
    rng = np.random.default_rng(SEED)
    asked = texts(drawn(rng, hierarchy, case, bench.sizes.single))
    root = 0 if case.family == 4 else len(hierarchy.bounds_array(4))
    expected = [hierarchy.row_of(text) - root for text in asked]
    for name, get in gets.items():
        answers: list[Any] = [get(text) for text in asked]
        if name == "py-radix":
            answers = [node and node.data["row"] for node in answers]
        if name == "ipmicra":
            answers = [row - root for row in answers]
        peers.check_agreement(name, expected, answers, asked)
    actions = {name: partial(loop, get, asked) for name, get in gets.items()}
    times = side_by_side(actions, bench.sizes.short_rounds)
    targets = {"pytricia": ONE_PYTRICIA, "maxminddb": ONE_MAXMINDDB, "py-radix": None}
    about = f"{len(asked):,} {_described(case)} addresses{held_text(expected)}, {len(hierarchy):,} subnets"
    each = {name: f"{name} {one.median / len(asked) * 1e9:.0f} ns" for name, one in times.items()}
    return [
        against(
            f"`row_of(text)` ({about}), × {name}",
            times["ipmicra"],
            times[name],
            target,
            [each["ipmicra"], each[name]],
        )
        for name, target in targets.items()
    ]


def _described(case: Case) -> str:
    """Name a case; IPv4, which came first, by its kind alone."""
    return case.kind if case.family == 4 else case.label


# --- the grid: hit and miss, both families, one and many


def measure_grid(bench: Bench) -> list[Row]:
    """Look up all kinds of addresses in a hierarchy of each size."""
    return [
        _grid_row(bench, path, case)
        for path in (bench.shared_hierarchy(), bench.large_hierarchy())
        for case in GRID
    ]


def _grid_row(bench: Bench, path: Path, case: Case) -> Row:
    """Time one kind in one hierarchy: all threads, one thread, one by one."""
    one, every = Hierarchy.open(path, threads=1), Hierarchy.open(path)
    bench.say(f"looking up: {case.label}, {len(one):,} subnets")
    asked = drawn(np.random.default_rng(SEED), one, case, bench.sizes.addresses)
    some = texts(asked[: bench.sizes.single])
    times = side_by_side(
        {
            "all threads": lambda: every.lookup_many(asked),
            "one thread": lambda: one.lookup_many(asked),
            "one by one": lambda: loop(one.row_of, some),
        },
        bench.sizes.rounds,
    )
    found = rate(
        f"{len(one):,} subnets, {case.label}, many at once",
        times["all threads"],
        len(asked) / 1e6,
        "M/s",
        None,
        [
            rate_text("one thread", len(asked), times["one thread"]),
            f"one by one {times['one by one'].median / len(some) * 1e9:.0f} ns",
        ],
    )
    return replace(found, key=f"{path.stem}, {case.label}, many at once")
