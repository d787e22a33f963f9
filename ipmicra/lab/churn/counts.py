"""What is counted while the experiment runs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ipmicra.lab.churn.crawling import EXECUTING, QUEUED, Crawling


@dataclass(slots=True, kw_only=True)
class Snapshot:
    """The fleet at one moment."""

    step: float
    crawlers: int
    executing_tasks: int
    executing_pages: int
    queued_tasks: int
    queued_pages: int
    variation: float
    """Standard deviation ÷ mean of the tasks a crawler holds."""
    executing_variation: float
    good_pages: float
    """Downloaded so far and not lost."""
    half_rtt_ms: float
    """Mean over the executing tasks."""
    migrated_tasks: int
    """Since the start."""
    migrated_pages: int


@dataclass
class CrawlCounts:
    """Sums over the run, and snapshots at regular times; times are in steps."""

    pieces: int
    done_pages: int = 0
    lost_pages: float = 0.0
    """Downloaded, and lost with a crawler."""
    part_pages: float = 0.0
    """Downloaded of pieces that were still executing at the end."""
    rtt_pages: float = 0.0
    """Sum over completed pages of the round trip, in milliseconds."""
    submitted: int = 0
    cancelled: int = 0
    """Pieces that were still queued when they were due again."""
    unplaced: int = 0
    """Submissions and inherited tasks that fell on a moment without a single crawler."""
    migrated_tasks: int = 0
    migrated_pages: int = 0
    elsewhere_pages: int = 0
    """Pages of pieces started on another crawler than the time before."""
    started_again_pages: int = 0
    """Pages of pieces that were started before."""
    snapshots: list[Snapshot] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Open an account for each piece."""
        self.crawls: NDArray[np.int64] = np.zeros(self.pieces, dtype=np.int64)
        self.crawl_steps: NDArray[np.float64] = np.zeros(self.pieces)
        """Time spent in completed crawls."""
        self.wait_steps: NDArray[np.float64] = np.zeros(self.pieces)
        """Time between the end of a crawl and the start of the next completed one."""
        self.last_end: NDArray[np.float64] = np.full(self.pieces, np.nan)

    def complete(self, piece: int, start: float, now: float) -> None:
        """Count a completed crawl."""
        self.crawls[piece] += 1
        self.crawl_steps[piece] += now - start
        since = self.last_end[piece]
        if since == since:  # not the first one  # noqa: PLR0124 - quicker than isnan on a single number
            self.wait_steps[piece] += start - since
        self.last_end[piece] = now

    def take_snapshot(self, crawling: Crawling, rtt_ms: NDArray[np.float64], now: float) -> None:
        """Append what the fleet is doing now."""
        runs, waits = np.flatnonzero(crawling.state == EXECUTING), np.flatnonzero(crawling.state == QUEUED)
        pages, site = crawling.work.pages, crawling.work.site
        there = np.flatnonzero(crawling.is_there)
        part = sum(crawling.done_share(piece, now) * int(pages[piece]) for piece in runs.tolist())
        self.snapshots.append(
            Snapshot(
                step=now,
                crawlers=len(there),
                executing_tasks=len(runs),
                executing_pages=int(pages[runs].sum()),
                queued_tasks=len(waits),
                queued_pages=int(pages[waits].sum()),
                variation=variation(crawling.held[there]),
                executing_variation=variation(crawling.executing[there]),
                good_pages=self.done_pages + part,
                half_rtt_ms=float(rtt_ms[crawling.holder[runs], site[runs]].mean()) / 2 if len(runs) else 0.0,
                migrated_tasks=self.migrated_tasks,
                migrated_pages=self.migrated_pages,
            )
        )


def variation(loads: NDArray[np.generic]) -> float:
    """Return standard deviation ÷ mean; 0 for loads that are all nothing."""
    values = loads.astype(np.float64)
    mean = float(values.mean()) if len(values) else 0.0
    return float(values.std()) / mean if mean else 0.0
