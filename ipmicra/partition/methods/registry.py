"""Every method of partitioning under its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec

import numpy as np

from ipmicra.errors import InputError
from ipmicra.partition.methods.by_assigner import by_load, by_overlay
from ipmicra.partition.methods.by_hash import at_random, by_host, centralised
from ipmicra.partition.methods.by_place import by_city, by_country, by_isp_city
from ipmicra.partition.methods.by_rtt import rtt_balanced, rtt_best
from ipmicra.partition.methods.circle import chord, consistent
from ipmicra.partition.methods.metis.cut import metis_geo, metis_links, metis_multi, metis_paper
from ipmicra.partition.methods.two_level import by_subsite, by_subsite_again, two_level, two_level_again
from ipmicra.partition.problem import Column, Problem


class Need(StrEnum):
    """What a method cannot do without; the value says how a user gives it."""

    LOCATIONS = "locations of sites (--locate, --sites with latitude and longitude, or --world)"
    COUNTRIES = "countries of sites (--locate, --sites with country, or --world)"
    HOLDERS = "holders of addresses (a hierarchy: `ipmicra build`, --hierarchy; or --sites with holder)"
    LINKS = "links (--links FILE or --generate-links SEED)"
    CRAWLER_LOCATIONS = "locations of crawlers (of your fleet, --crawlers or --world)"
    ROUND_TRIPS = "round trips (--world, or samples of your fleet in the store)"
    METIS = "METIS: pip install 'ipmicra[partition]'"
    DECIDER = (
        "a hierarchy and round trips (--hierarchy and --world), or sites that are delegated in the store"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to partition sites among crawlers."""

    name: str
    partition: Callable[[Problem], Column]
    needs: tuple[Need, ...] = ()
    again: Callable[[Problem, Problem, Column], Column] | None = None
    """After the last crawler joined or left: problems before and after, column before; None starts over."""
    has_numbered_parts: bool = False
    """Parts have numbers without a meaning: after a change they are matched with those of before."""
    is_given: bool = False
    """The column was worked out elsewhere, for this fleet alone."""


def _delegated(problem: Problem) -> Column:
    if problem.decider is None:
        raise InputError(f"delegated needs {Need.DECIDER.value}")
    return problem.decider.decide(problem)


def _delegated_again(before: Problem, after: Problem, column: Column) -> Column:
    return column if after.decider is None else after.decider.decide_again(before, after)


_METHODS = (
    Method(name="hash", partition=by_host),
    Method(name="two-level", partition=two_level, again=two_level_again),
    Method(name="subsite", partition=by_subsite, again=by_subsite_again),
    Method(name="consistent", partition=consistent),
    Method(name="chord", partition=chord),
    Method(name="country", partition=by_country, needs=(Need.COUNTRIES,)),
    Method(name="city", partition=by_city, needs=(Need.LOCATIONS,)),
    Method(name="isp-city", partition=by_isp_city, needs=(Need.LOCATIONS, Need.HOLDERS)),
    Method(name="random", partition=at_random),
    Method(name="centralised", partition=centralised),
    Method(
        name="metis-geo", partition=metis_geo, needs=(Need.METIS, Need.LOCATIONS), has_numbered_parts=True
    ),
    Method(
        name="metis-links", partition=metis_links, needs=(Need.METIS, Need.LINKS), has_numbered_parts=True
    ),
    Method(
        name="metis-multi",
        partition=metis_multi,
        needs=(Need.METIS, Need.LOCATIONS, Need.LINKS),
        has_numbered_parts=True,
    ),
    Method(
        name="metis-paper",
        partition=metis_paper,
        needs=(Need.METIS, Need.LOCATIONS, Need.LINKS),
        has_numbered_parts=True,
    ),
    Method(name="rtt-best", partition=rtt_best, needs=(Need.ROUND_TRIPS,)),
    Method(name="rtt-balanced", partition=rtt_balanced, needs=(Need.ROUND_TRIPS,)),
    Method(name="delegated", partition=_delegated, needs=(Need.DECIDER,), again=_delegated_again),
    Method(name="can", partition=by_overlay, needs=(Need.LOCATIONS, Need.CRAWLER_LOCATIONS)),
    Method(name="balance", partition=by_load, needs=(Need.ROUND_TRIPS,)),
)
METHODS = {method.name: method for method in _METHODS}
"""In the order in which reports list them."""


def given_column(name: str, column: Column) -> Method:
    """Make a method of an assignment made elsewhere: a crawler for each site.

    What they would do after a change is not known from one column: nothing is said of sites that move.
    """

    def partition(problem: Problem) -> Column:
        if len(column) != len(problem.sites):
            raise InputError(f"{name}: {len(column)} crawlers for {len(problem.sites)} sites")
        if len(column) and (column.min() < 0 or column.max() >= problem.parts):
            raise InputError(f"{name}: a site has a crawler that is not in the fleet")
        return column

    return Method(name=name, partition=partition, is_given=True)


def missing(method: Method, problem: Problem) -> list[Need]:
    """List what a method needs and a problem does not have."""
    sites = problem.sites
    has = {
        Need.METIS: bool(find_spec("pymetis") and find_spec("scipy")),
        Need.LOCATIONS: bool(sites.has_location.any()),
        Need.COUNTRIES: bool((sites.country > 0).any()),
        Need.HOLDERS: bool((sites.holder >= 0).any()),
        Need.LINKS: problem.links is not None,
        Need.ROUND_TRIPS: problem.rtt_ms is not None,
        Need.CRAWLER_LOCATIONS: bool(np.isfinite(problem.crawlers.latitude).all()),
        Need.DECIDER: problem.decider is not None,
    }
    return [need for need in method.needs if not has[need]]


def partition(method: Method, problem: Problem) -> Column:
    """Partition the sites, after checking that the method has what it needs."""
    lacking = missing(method, problem)
    if lacking:
        raise InputError(f"{method.name} needs {' and '.join(need.value for need in lacking)}")
    if not len(problem.sites):
        return np.zeros(0, np.int32)
    return method.partition(problem)
