"""Figures 4 to 7 of paper 001: geographic partitions against a hash of hosts and one crawler for all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ipmicra.partition.compare import costs_of, moved_on_join, moved_on_leave
from ipmicra.partition.costs import relocation_s
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.methods.registry import METHODS, partition
from ipmicra.partition.problem import Column, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresConfig:
    """What is varied; the ranges are those of paper 001."""

    parts: tuple[int, ...] = tuple(range(1, 51))
    """n of figures 4 to 6."""
    fixed_parts: int = 20
    """n of figure 7."""
    probabilities: tuple[float, ...] = tuple(step / 10 for step in range(11))
    """p of figure 7."""
    methods: tuple[str, ...] = ("metis-geo", "hash", "centralised")


@dataclass(frozen=True, slots=True, kw_only=True)
class FigurePoint:
    """One point of a figure."""

    figure: int
    method: str
    parts: int
    """n, as asked for."""
    same_scope: float | None
    """p; None where it plays no part."""
    value: float
    """Parts achieved (figure 4), seconds (5 to 7)."""


TITLES = {
    4: "Parts achieved",
    5: "Download time (s)",
    6: "Exchange time (s)",
    7: "Relocation time (s)",
}


def figures(problem: Problem, config: FiguresConfig) -> Iterator[FigurePoint]:
    """Work out all points, those of one partition together."""
    for parts in sorted({*config.parts, config.fixed_parts}):
        some = replace(problem, crawlers=CrawlerTable.floating(parts), rtt_ms=None)
        for method in config.methods:
            column = partition(METHODS[method], some)
            if parts in config.parts:
                yield from _by_parts(method, some, column)
            if parts == config.fixed_parts:
                yield from _by_scope(method, some, column, config)


def _by_parts(method: str, problem: Problem, column: Column) -> Iterator[FigurePoint]:
    costs = costs_of(problem, column)
    values = {4: float(costs.parts), 5: costs.download_s, 6: costs.exchange_s}
    for figure, value in values.items():
        if value is not None:
            yield FigurePoint(figure=figure, method=method, parts=problem.parts, same_scope=None, value=value)


def _by_scope(method: str, problem: Problem, column: Column, config: FiguresConfig) -> Iterator[FigurePoint]:
    for probability in config.probabilities:
        some = replace(problem, costs=replace(problem.costs, same_scope=probability))
        yield FigurePoint(
            figure=7,
            method=method,
            parts=problem.parts,
            same_scope=probability,
            value=float(relocation_s(some, column).max()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """Sites that change their crawler."""

    method: str
    parts: int
    moved_on_join: float | None
    moved_on_leave: float | None
    least: float
    """What must move at least for an even load: 1 ÷ (n + 1)."""


def stability(problem: Problem, methods: tuple[str, ...], parts: tuple[int, ...]) -> Iterator[Moves]:
    """Let one crawler join, and one leave, at several sizes of the fleet."""
    for count in parts:
        some = replace(problem, crawlers=CrawlerTable.floating(count), rtt_ms=None)
        for name in methods:
            column = partition(METHODS[name], some)
            yield Moves(
                method=name,
                parts=count,
                moved_on_join=moved_on_join(METHODS[name], some, column),
                moved_on_leave=moved_on_leave(METHODS[name], some, column),
                least=1 / (count + 1),
            )


def wins(points: list[FigurePoint], figure: int, method: str, other: str) -> dict[int, float]:
    """Return for each n how many times as long the other takes in a figure; above 1 the method wins."""
    by_method = {
        name: {
            point.parts: point.value for point in points if point.figure == figure and point.method == name
        }
        for name in (method, other)
    }
    shared = sorted(by_method[method].keys() & by_method[other].keys())
    return {
        parts: by_method[other][parts] / by_method[method][parts] if by_method[method][parts] else np.inf
        for parts in shared
    }
