"""From what was counted to the figures of the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.recrawl import birth_detect_delay
from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.ledger import Ledger, Look
from ipmicra.lab.churn.world import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One run of one scheme."""

    goodput_mbps: float
    """Pages downloaded and not lost with a crawler."""
    gross_mbps: float
    """All pages downloaded."""
    half_rtt_ms: float
    """Half the round trip of the average page."""
    load_variation: float
    """Standard deviation ÷ mean of the tasks a crawler holds, mean over the looks."""
    executing_variation: float
    recrawled_15_of_20: float
    """Share of sites all of whose pieces were crawled at least 15 of 20 times."""
    crawls_mean: float
    """Completed crawls of the average site; a cut one counts with its least crawled piece."""
    executing_tasks: float
    executing_pages: float
    queued_tasks: float
    queued_pages: float
    migrated_tasks: int
    migrated_pages: int
    cancelled_tasks: int
    elsewhere: float
    """Part of the pages that were crawled by another crawler than the time before."""
    delay_least_h: float
    """Least expected time from a page's birth until it is seen, in hours; mean over sites (or pieces)."""
    delay_most_h: float
    unplaced_tasks: int
    """Tasks that came up while no crawler was there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """An outcome with what plots need."""

    outcome: Outcome
    looks: list[Look]
    site_crawls: NDArray[np.int64]


def outcome_of(ledger: Ledger, work: Work, config: ChurnConfig) -> Run:
    """Sum up a run."""
    good = ledger.done_pages + ledger.part_pages
    crawls = site_crawls(ledger.crawls, work)
    enough = config.enough_crawls * config.ideal_crawls
    least, most = _delays(ledger, config)
    outcome = Outcome(
        goodput_mbps=config.mbps(good),
        gross_mbps=config.mbps(good + ledger.lost_pages),
        half_rtt_ms=ledger.rtt_pages / max(ledger.done_pages, 1) / 2,
        load_variation=_mean(ledger.looks, "variation"),
        executing_variation=_mean(ledger.looks, "executing_variation"),
        recrawled_15_of_20=float((crawls >= enough).mean()),
        crawls_mean=float(crawls.mean()),
        executing_tasks=_mean(ledger.looks, "executing_tasks"),
        executing_pages=_mean(ledger.looks, "executing_pages"),
        queued_tasks=_mean(ledger.looks, "queued_tasks"),
        queued_pages=_mean(ledger.looks, "queued_pages"),
        migrated_tasks=ledger.migrated_tasks,
        migrated_pages=ledger.migrated_pages,
        cancelled_tasks=ledger.cancelled,
        elsewhere=ledger.elsewhere_pages / max(ledger.started_again_pages, 1),
        delay_least_h=least,
        delay_most_h=most,
        unplaced_tasks=ledger.unplaced,
    )
    return Run(outcome=outcome, looks=ledger.looks, site_crawls=crawls)


def site_crawls(piece_crawls: NDArray[np.int64], work: Work) -> NDArray[np.int64]:
    """Count how often each site was crawled as a whole: as often as its least crawled piece."""
    least = np.full(int(work.site.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, work.site, piece_crawls)
    return least


def _delays(ledger: Ledger, config: ChurnConfig) -> tuple[float, float]:
    """Give the mean bounds of the birth-detect delay in hours, over what was crawled at least twice."""
    often = ledger.crawls > 1
    if not often.any():
        return float("nan"), float("nan")
    crawl = ledger.crawl_steps[often] / ledger.crawls[often]
    wait = ledger.wait_steps[often] / (ledger.crawls[often] - 1)
    least, most = birth_detect_delay(crawl, np.maximum(wait, 0.0))
    hours = config.step_ms / 3.6e6
    return float(least.mean()) * hours, float(most.mean()) * hours


def _mean(looks: list[Look], name: str) -> float:
    return float(np.mean([getattr(look, name) for look in looks])) if looks else 0.0
