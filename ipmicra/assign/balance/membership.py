"""Crawlers that leave or fail: what they held is taken over and executed again from its first page on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ipmicra.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """One task that goes from a crawler that is gone to another."""

    task: str
    from_crawler: str
    to_crawler: str
    lost_pages: int
    """Downloaded there, and to be downloaded again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A task with the crawler that has it."""

    task: str
    crawler: str
    done_pages: int = 0


def take_over(held: Iterable[Held], gone: str, heirs: Mapping[str, str]) -> tuple[list[Takeover], list[str]]:
    """Say who executes again what a crawler held; give the takeovers, and the tasks that nobody can take.

    `heirs` names the new crawler of each task (by the overlay's takeover or the assigner). It makes no
    difference whether a crawler left or failed: no state of a download is carried over (Xu et al. 2010).
    A task without an heir, as when all crawlers are gone, stays without one until somebody joins.
    """
    takeovers, orphans = [], []
    for one in held:
        if one.crawler != gone:
            continue
        heir = heirs.get(one.task)
        if heir == gone:
            raise InputError(f"{gone} is gone and cannot inherit its own task {one.task}")
        if heir is None:
            orphans.append(one.task)
        else:
            takeovers.append(
                Takeover(task=one.task, from_crawler=gone, to_crawler=heir, lost_pages=one.done_pages)
            )
    return takeovers, orphans
