"""The two assigners as methods: the overlay over places, and fair load over round trips."""

from __future__ import annotations

import numpy as np

from ipmicra.assign.balance.auction.assigner import assign_sites
from ipmicra.assign.balance.demand import Demand
from ipmicra.assign.coordinate.space import learn_space
from ipmicra.assign.overlay.overlay import Overlay
from ipmicra.model.geo import unit_vectors
from ipmicra.partition.problem import Column, Problem


def by_overlay(problem: Problem) -> Column:
    """Let crawlers join an overlay at their places in the order of the list; zones own the sites in them.

    Places on a sphere of radius one stand for network coordinates: a whole list seldom has samples.
    """
    crawlers, sites = problem.crawlers, problem.sites
    points = unit_vectors(crawlers.latitude, crawlers.longitude)
    placed = unit_vectors(sites.latitude, sites.longitude)
    overlay = Overlay(learn_space(np.vstack((points, placed)), 0.0))
    overlay.join_many(points)
    owners: Column = overlay.owners(placed).astype(np.int32)
    return owners


def by_load(problem: Problem) -> Column:
    """Assign each site to the nearest crawler that has room, by round trips; one address, one crawler."""
    if problem.rtt_ms is None:
        raise ValueError("round trips are needed")
    known = np.where(np.isfinite(problem.rtt_ms), problem.rtt_ms, problem.costs.unknown_rtt_ms)
    demand = Demand(
        cost_ms=known,
        load=np.maximum(problem.sites.pages, 1e-9),
        units=problem.crawlers.capacity,
        group=problem.sites.address,
    )
    column: Column = assign_sites(demand).crawler.astype(np.int32)
    return column
