"""From what was counted to the figures of the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.recrawl import birth_detect_delay
from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.counts import CrawlCounts, Snapshot
from ipmicra.lab.churn.population import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class ChurnFigures:
    """One run of one scheme."""

    goodput_mbps: float
    """Pages downloaded and not lost with a crawler."""
    gross_mbps: float
    """All pages downloaded."""
    half_rtt_ms: float
    """Half the round trip of the average page."""
    load_variation: float
    """Standard deviation ÷ mean of the tasks a crawler holds, mean over the snapshots."""
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
class SchemeRun:
    """An outcome with what plots need."""

    figures: ChurnFigures
    snapshots: list[Snapshot]
    site_crawls: NDArray[np.int64]


def figures_of(counts: CrawlCounts, work: Work, config: ChurnConfig) -> SchemeRun:
    """Sum up a run."""
    good = counts.done_pages + counts.part_pages
    crawls = site_crawls(counts.crawls, work)
    enough = config.enough_crawls * config.ideal_crawls
    least, most = _delays(counts, config)
    figures = ChurnFigures(
        goodput_mbps=config.mbps(good),
        gross_mbps=config.mbps(good + counts.lost_pages),
        half_rtt_ms=counts.rtt_pages / max(counts.done_pages, 1) / 2,
        load_variation=_mean(counts.snapshots, "variation"),
        executing_variation=_mean(counts.snapshots, "executing_variation"),
        recrawled_15_of_20=float((crawls >= enough).mean()),
        crawls_mean=float(crawls.mean()),
        executing_tasks=_mean(counts.snapshots, "executing_tasks"),
        executing_pages=_mean(counts.snapshots, "executing_pages"),
        queued_tasks=_mean(counts.snapshots, "queued_tasks"),
        queued_pages=_mean(counts.snapshots, "queued_pages"),
        migrated_tasks=counts.migrated_tasks,
        migrated_pages=counts.migrated_pages,
        cancelled_tasks=counts.cancelled,
        elsewhere=counts.elsewhere_pages / max(counts.started_again_pages, 1),
        delay_least_h=least,
        delay_most_h=most,
        unplaced_tasks=counts.unplaced,
    )
    return SchemeRun(figures=figures, snapshots=counts.snapshots, site_crawls=crawls)


def site_crawls(piece_crawls: NDArray[np.int64], work: Work) -> NDArray[np.int64]:
    """Count how often each site was crawled as a whole: as often as its least crawled piece."""
    least = np.full(int(work.site.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, work.site, piece_crawls)
    return least


def _delays(counts: CrawlCounts, config: ChurnConfig) -> tuple[float, float]:
    """Return the mean bounds of the birth-detect delay in hours, over what was crawled at least twice."""
    often = counts.crawls > 1
    if not often.any():
        return float("nan"), float("nan")
    crawl = counts.crawl_steps[often] / counts.crawls[often]
    wait = counts.wait_steps[often] / (counts.crawls[often] - 1)
    least, most = birth_detect_delay(crawl, np.maximum(wait, 0.0))
    hours = config.step_ms / 3.6e6
    return float(least.mean()) * hours, float(most.mean()) * hours


def _mean(snapshots: list[Snapshot], name: str) -> float:
    return float(np.mean([getattr(snapshot, name) for snapshot in snapshots])) if snapshots else 0.0
