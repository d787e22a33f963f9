"""The lives of a subnet and of an attempt, as tables.

A subnet is FREE until an attempt opens; it is then CONTESTED until the attempt ends, and HELD until its
delegation expires or its crawler leaves. A held subnet is contested again when a crawler joined that may be
nearer. An attempt is OPEN until its policy asks, WAITING while probes are out, and SETTLED or ABANDONED at
its end.
"""

from __future__ import annotations

from enum import Enum, auto

from ipmicra.errors import LifeCycleError


class Hold(Enum):
    """What a subnet can be."""

    FREE = auto()
    CONTESTED = auto()
    HELD = auto()


class Stage(Enum):
    """What an attempt can be."""

    OPEN = auto()
    WAITING = auto()
    SETTLED = auto()
    ABANDONED = auto()


class Step(Enum):
    """What happens to either."""

    ATTEMPT_OPENED = auto()
    ATTEMPT_SETTLED = auto()
    ATTEMPT_ABANDONED = auto()
    DELEGATION_EXPIRED = auto()
    CRAWLER_LEFT = auto()
    OWN_SUBNET = auto()
    PROBE_ASKED = auto()
    PROBES_IN = auto()
    CRAWLER_CHOSEN = auto()
    NOBODY_LEFT = auto()


NEXT_HOLD = {
    (Hold.FREE, Step.ATTEMPT_OPENED): Hold.CONTESTED,
    (Hold.FREE, Step.OWN_SUBNET): Hold.HELD,
    (Hold.CONTESTED, Step.ATTEMPT_SETTLED): Hold.HELD,
    (Hold.CONTESTED, Step.ATTEMPT_ABANDONED): Hold.FREE,
    (Hold.CONTESTED, Step.OWN_SUBNET): Hold.CONTESTED,
    (Hold.CONTESTED, Step.DELEGATION_EXPIRED): Hold.CONTESTED,
    (Hold.HELD, Step.ATTEMPT_OPENED): Hold.CONTESTED,
    (Hold.HELD, Step.DELEGATION_EXPIRED): Hold.FREE,
    (Hold.HELD, Step.CRAWLER_LEFT): Hold.FREE,
    (Hold.HELD, Step.OWN_SUBNET): Hold.HELD,
}
NEXT_STAGE = {
    (Stage.OPEN, Step.PROBE_ASKED): Stage.WAITING,
    (Stage.OPEN, Step.CRAWLER_CHOSEN): Stage.SETTLED,
    (Stage.OPEN, Step.NOBODY_LEFT): Stage.ABANDONED,
    (Stage.WAITING, Step.PROBES_IN): Stage.OPEN,
    (Stage.WAITING, Step.NOBODY_LEFT): Stage.ABANDONED,
}


def next_hold(hold: Hold, step: Step) -> Hold:
    """Follow the subnets' table."""
    try:
        return NEXT_HOLD[hold, step]
    except KeyError:
        raise LifeCycleError(hold.name, step.name) from None


def next_stage(stage: Stage, step: Step) -> Stage:
    """Follow the attempts' table."""
    try:
        return NEXT_STAGE[stage, step]
    except KeyError:
        raise LifeCycleError(stage.name, step.name) from None
