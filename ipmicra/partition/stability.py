"""How many sites change their crawler when one joins or leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ipmicra.partition.mapping import renumbered
from ipmicra.partition.methods import Method, partition
from ipmicra.partition.problem import Column, Problem


def moved_on_join(method: Method, problem: Problem, column: Column) -> float | None:
    """Return the share of sites that move when a crawler joins.

    One more crawler joins a floating fleet. In a fleet that stands somewhere nobody knows where the next one
    will stand: there the last crawler is taken to have joined last. None where nothing can be said.
    """
    if not len(column) or method.is_given:
        return None
    if not np.isfinite(problem.crawlers.latitude).any() and problem.rtt_ms is None:
        after = replace(problem, crawlers=problem.crawlers.with_newcomer())
        return _moved(method, problem, after, column)
    if problem.parts == 1:
        return None
    before = problem.first(problem.parts - 1)
    return _moved(method, before, problem, partition(method, before))


def moved_on_leave(method: Method, problem: Problem, column: Column) -> float | None:
    """Return the share of sites that move when the last crawler leaves; None for a fleet of one."""
    if problem.parts == 1 or not len(column) or method.is_given:
        return None
    return _moved(method, problem, problem.first(problem.parts - 1), column)


def _moved(method: Method, before: Problem, after: Problem, column: Column) -> float:
    if method.again is not None:
        changed = method.again(before, after, column)
    else:
        changed = partition(method, after)
        if method.has_numbered_parts and not after.crawlers.is_placed:
            changed = renumbered(changed, column, max(before.parts, after.parts))
    return float(np.mean(changed != column))
