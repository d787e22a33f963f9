"""How round trips and download rates vary: figure 10 of Xu et al. 2010 [1], and HTTP against ping (figure 8).

How it works
------------
[1] argues that round trips are what to schedule by. Between crawlers the round trip to a host varies more
than the download rate, so a good choice gains more; over a day the rate varies more than the round trip, so
a choice by round trips lasts. Both are read from coefficients of variation (standard deviation by mean),
taken per host: over crawlers of the medians over time, and over time at one crawler.

The figures are worked out from a user's measurements (crawler, host, time, round trip, rate; ping if known),
or from an invented day. That day has the lines of [1]'s small test (`lab.churn.small_test`) and this rule
for a download: a page takes its round trips (TCP's first windows), its bytes over the narrowest line, and
what the server and the paths' queues add at that moment. A rate is then bytes by time. So the outcome is not
put in by hand, but it depends on the invented loads: real measurements are better.

[1] Xu, Zhang, Zhang & Fang, IEICE Trans. 2010, section 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ipmicra.errors import InputError
from ipmicra.lab.churn.small_test import SmallConfig, small_world
from ipmicra.model.types import Floats

FEW = 2
"""Values below which there is no variation."""
CLOSE = 0.1
"""Relative error between HTTP and ping that [1] counts hosts by."""
PUBLISHED = {"http_within_tenth_of_ping": 0.7, "answer_ping": 0.4}


@dataclass(frozen=True, slots=True, kw_only=True)
class DayPlan:
    """A day to invent; ours where [1] is not cited."""

    crawlers: int = 10
    """[1]."""
    hosts: int = 1738
    """[1]."""
    rounds: int = 12
    """Measurements of each host: every 30 minutes for 6 hours [1]."""
    page_bytes: float = 10_000.0
    """[1]."""
    line_mbps: float = 1.0
    """A crawler's line [1]."""
    host_mbps: float = 4.0
    """Median of what a host gives to one client when it is idle; log-normal."""
    host_spread: float = 1.0
    """Standard deviation of its logarithm."""
    load_spread: float = 0.6
    """Standard deviation of the logarithm of what is left of a line at a moment."""
    queue_ms: float = 3.0
    """Mean delay in queues, added to each round trip."""
    think_ms: float = 2.0
    """Mean time that a server takes before it answers HTTP; ping is answered at once."""
    windows: float = 2.0
    """Round trips of a small download after the connection is open."""
    answer_ping: float = 0.4
    """Share of the hosts that do [1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """Measurements, (crawler, host, time); NaN where there is none."""

    rtt_ms: Floats
    rate: Floats
    """Of downloads, in any unit."""
    ping_ms: Floats | None = None


def invent_day(plan: DayPlan, rng: np.random.Generator) -> Day:
    """Invent measurements."""
    world = small_world(SmallConfig(crawlers=plan.crawlers, sites=plan.hosts), rng)
    shape = plan.crawlers, plan.hosts, plan.rounds
    ping_ms = world.to_sites_ms[:, :, None] + rng.exponential(plan.queue_ms, shape)
    rtt_ms = ping_ms + rng.exponential(plan.think_ms, shape)
    host = plan.host_mbps * np.exp(plan.host_spread * rng.standard_normal((1, plan.hosts, 1)))
    left = np.exp(-plan.load_spread * np.abs(rng.standard_normal(shape)))
    mbps = np.minimum(plan.line_mbps, host * left)
    taken_ms = plan.windows * rtt_ms + plan.page_bytes * 8 / mbps / 1000
    is_silent = rng.random(plan.hosts) >= plan.answer_ping
    ping_ms[:, is_silent] = np.nan
    return Day(rtt_ms=rtt_ms, rate=plan.page_bytes * 8 / taken_ms, ping_ms=ping_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """Coefficients of variation by host; hosts with too few measurements are left out."""

    rtt_between_crawlers: Floats
    rate_between_crawlers: Floats
    rtt_over_time: Floats
    rate_over_time: Floats
    http_by_ping: Floats
    """Relative difference of HTTP's round trip from ping's, by crawler and host."""
    answer_ping: float | None
    """Share of the hosts that answered any; None if nobody pinged."""


def variation_of(day: Day) -> Variation:
    """Work out the coefficients.

    Raises:
        InputError: No host was measured by two crawlers, or twice by one.
    """
    medians_rtt, medians_rate = (_median_over_time(one) for one in (day.rtt_ms, day.rate))
    found = Variation(
        rtt_between_crawlers=_coefficients(medians_rtt.T),
        rate_between_crawlers=_coefficients(medians_rate.T),
        rtt_over_time=_coefficients(day.rtt_ms.reshape(-1, day.rtt_ms.shape[2])),
        rate_over_time=_coefficients(day.rate.reshape(-1, day.rate.shape[2])),
        http_by_ping=_by_ping(day, medians_rtt),
        answer_ping=None if day.ping_ms is None else float(np.isfinite(day.ping_ms).any(axis=(0, 2)).mean()),
    )
    if not len(found.rtt_between_crawlers) and not len(found.rtt_over_time):
        raise InputError("no host was measured by two crawlers, or twice by one: nothing can vary")
    return found


def _by_ping(day: Day, medians_rtt: Floats) -> Floats:
    if day.ping_ms is None:
        return np.empty(0)
    ping = _median_over_time(day.ping_ms)
    error: Floats = np.abs(medians_rtt - ping) / ping
    return error[np.isfinite(error)]


def _median_over_time(values: Floats) -> Floats:
    known = np.isfinite(values).any(axis=2)
    found: Floats = np.full(values.shape[:2], np.nan)
    found[known] = np.nanmedian(values[known], axis=1)
    return found


def _coefficients(rows: Floats) -> Floats:
    """Return standard deviation by mean of each row that has two values or more."""
    rows = rows[np.isfinite(rows).sum(axis=1) >= FEW]
    if not len(rows):
        return np.empty(0)
    found: Floats = np.nanstd(rows, axis=1) / np.nanmean(rows, axis=1)
    return found


def variation_rows(found: Variation) -> list[dict[str, object]]:
    """Return quartiles of each distribution, and whether it is as [1] says."""
    rows: list[dict[str, object]] = []
    pairs = {
        "between crawlers": (found.rtt_between_crawlers, found.rate_between_crawlers),
        "over time": (found.rtt_over_time, found.rate_over_time),
    }
    for name, (rtt, rate) in pairs.items():
        for what, values in (("round trip", rtt), ("download rate", rate)):
            rows.append({"variation": name, "of": what, "hosts": len(values), **_quartiles(values)})
    if found.answer_ping is not None:
        close = float((found.http_by_ping < CLOSE).mean()) if len(found.http_by_ping) else None
        rows.append(
            {
                "variation": "HTTP by ping",
                "of": "round trip",
                "hosts": len(found.http_by_ping),
                **_quartiles(found.http_by_ping),
                "within_tenth": close,
                "answer_ping": found.answer_ping,
            }
        )
    return rows


def _quartiles(values: Floats) -> dict[str, float | None]:
    if not len(values):
        return {"quarter": None, "median": None, "three_quarters": None}
    lower, middle, upper = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return {"quarter": lower, "median": middle, "three_quarters": upper}


@dataclass(frozen=True, slots=True, kw_only=True)
class VariationClaim:
    """What [1] reads off its figure."""

    claim: str
    measured: str
    is_reproduced: bool


def variation_claims(found: Variation) -> list[VariationClaim]:
    """Check the two observations of [1]."""
    claims = []
    between = found.rtt_between_crawlers, found.rate_between_crawlers
    over_time = found.rate_over_time, found.rtt_over_time
    for claim, (more, less) in (
        ("between crawlers the round trip varies more than the rate", between),
        ("over time the rate varies more than the round trip", over_time),
    ):
        if len(more) and len(less):
            high, low = float(np.median(more)), float(np.median(less))
            claims.append(
                VariationClaim(claim=claim, measured=f"{high:.2f} and {low:.2f}", is_reproduced=high > low)
            )
    return claims
