"""The life of a member of the fleet, as one table.

    joined ──drain──▶ draining ──remove──▶ left ──join──▶ joined
      │ ▲                  ▲                ▲
      │ └─answer─ silent ──┘ drain          │
      └──fail_to_answer─▶ silent ──remove───┘

A member that is joined is asked, and gets subnets and sites. One that is silent (stored as `unreachable`)
keeps what it holds until it answers again or is removed. One that is draining keeps what it holds and gets
nothing new, whether it answers or not. One that left holds nothing; it comes back only by joining.
"""

from __future__ import annotations

from enum import StrEnum

from ipmicra.errors import LifeCycleError
from ipmicra.model.crawler import CrawlerState


class Change(StrEnum):
    """What happens to a member."""

    JOIN = "join"
    """It is added, or its agent joins; what drained is wanted again."""
    ANSWER = "answer"
    """Its agent answers, or polls."""
    FAIL_TO_ANSWER = "fail to answer"
    """Its agent does not."""
    DRAIN = "drain"
    REMOVE = "remove"


_JOINED, _SILENT, _DRAINING, _LEFT = (
    CrawlerState.JOINED,
    CrawlerState.UNREACHABLE,
    CrawlerState.DRAINING,
    CrawlerState.LEFT,
)
NEXT: dict[tuple[CrawlerState, Change], CrawlerState] = {
    (_JOINED, Change.JOIN): _JOINED,
    (_JOINED, Change.ANSWER): _JOINED,
    (_JOINED, Change.FAIL_TO_ANSWER): _SILENT,
    (_JOINED, Change.DRAIN): _DRAINING,
    (_JOINED, Change.REMOVE): _LEFT,
    (_SILENT, Change.JOIN): _JOINED,
    (_SILENT, Change.ANSWER): _JOINED,
    (_SILENT, Change.FAIL_TO_ANSWER): _SILENT,
    (_SILENT, Change.DRAIN): _DRAINING,
    (_SILENT, Change.REMOVE): _LEFT,
    (_DRAINING, Change.JOIN): _JOINED,
    (_DRAINING, Change.ANSWER): _DRAINING,
    (_DRAINING, Change.FAIL_TO_ANSWER): _DRAINING,
    (_DRAINING, Change.DRAIN): _DRAINING,
    (_DRAINING, Change.REMOVE): _LEFT,
    (_LEFT, Change.JOIN): _JOINED,
    (_LEFT, Change.ANSWER): _LEFT,
    (_LEFT, Change.FAIL_TO_ANSWER): _LEFT,
    (_LEFT, Change.REMOVE): _LEFT,
}
"""What becomes of a member; what is missing cannot happen: one that left does not drain."""
PRESENT = (_JOINED, _SILENT, _DRAINING)
"""States of members that have not left."""


def next_state(state: CrawlerState, change: Change) -> CrawlerState:
    """Return the state after a change."""
    try:
        return NEXT[state, change]
    except KeyError:
        raise LifeCycleError(state, change) from None


def state_word(state: CrawlerState) -> str:
    """Return the word for people: what is stored as `unreachable` is called silent."""
    return "silent" if state is CrawlerState.UNREACHABLE else state.value
