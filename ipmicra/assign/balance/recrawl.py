"""Crawling again: when a site is due, and how late a new page is seen.

[1] Xu, Zhang, Zhang & Fang 2010, section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ipmicra.errors import InputError
from ipmicra.model.types import Floats


class TaskState(StrEnum):
    """Where a site (or piece) is between two submissions."""

    IDLE = "idle"
    QUEUED = "queued"
    EXECUTING = "executing"


class Step(StrEnum):
    """What is to be done with a site when it is due."""

    SUBMIT = "submit"
    CANCEL_AND_SUBMIT = "cancel and submit"
    """It has been queued for a whole interval, or its crawler changed: the old task is dropped."""
    WAIT = "wait"
    """It is still being downloaded: at most one connection to a site, so it is submitted when that ends."""


NEXT_STEP = {
    TaskState.IDLE: Step.SUBMIT,
    TaskState.QUEUED: Step.CANCEL_AND_SUBMIT,
    TaskState.EXECUTING: Step.WAIT,
}


def birth_detect_delay(crawl: ArrayLike, wait: ArrayLike) -> tuple[Floats, Floats]:
    """Give the least and the most expected delay of new pages (equations 2 and 1 of [1]).

    `crawl` is how long a site is being downloaded, `wait` how long it then is not. At best a page is seen
    when the download starts, at worst when it ends: wait 3, crawl 1 gives 9/4 and 1 + 9/4.
    """
    crawls, waits = np.asarray(crawl, np.float64), np.asarray(wait, np.float64)
    if (crawls < 0).any() or (waits < 0).any():
        raise InputError("times of crawling and waiting cannot be negative")
    total = crawls + waits
    least = np.where(total > 0, waits**2 / np.where(total > 0, total, 1.0), 0.0)
    return least, crawls + least


@dataclass(frozen=True, slots=True, kw_only=True)
class Recrawls:
    """When sites are due: every site at its own interval, from its own first time on; seconds."""

    first_s: Floats
    interval_s: Floats

    def __post_init__(self) -> None:
        """Refuse intervals without length."""
        if not (np.asarray(self.interval_s) > 0).all():
            raise InputError("the interval between two crawls of a site must be above 0")

    def due(self, since_s: float, until_s: float) -> NDArray[np.int64]:
        """Name the sites that fall due after one moment and up to another, earliest first."""
        next_s = self.next_after(since_s)
        rows = np.flatnonzero(next_s <= until_s)
        return rows[np.argsort(next_s[rows], kind="stable")]

    def next_after(self, now_s: float | Floats) -> Floats:
        """Give when each site is due next, after a moment, or each after its own."""
        turns = np.floor((now_s - self.first_s) / self.interval_s) + 1
        due: Floats = self.first_s + np.maximum(turns, 0) * self.interval_s
        return due
