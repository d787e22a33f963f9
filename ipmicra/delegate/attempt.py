"""One try to find a crawler for a subnet."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

from ipmicra.delegate.lifecycle import Stage, Step, next_stage
from ipmicra.model.address import Address
from ipmicra.model.delegation import Evidence
from ipmicra.model.location import Location
from ipmicra.model.sample import Loss
from ipmicra.model.site import Site


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask these crawlers, by index, all at once."""

    crawlers: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Settle:
    """Return the subnet to this crawler, by index."""

    crawler: int
    evidence: Evidence
    rtt_ms: float | None
    reason: str


Choice = Ask | Settle


@dataclass(slots=True)
class Attempt:
    """What is known in the course of a try. Crawlers are indices of the fleet."""

    number: int
    key: int
    row: int
    """The subnet's row, the root's for a slice."""
    address: Address
    location: Location | None
    """None, too, if the samples say that the place is wrong."""
    sites: list[Site] = field(default_factory=list)
    """Sites of the subnet that wait for the answer; the first one started it."""
    known: tuple[int, ...] = ()
    """Crawlers whose sample was there before."""
    asked: list[int] = field(default_factory=list)
    samples: dict[int, float] = field(default_factory=dict)
    """Round trips in ms, by crawler."""
    losses: dict[int, Loss] = field(default_factory=dict)
    rejected: dict[int, float] = field(default_factory=dict)
    """Round trips that cannot be true, most of them because the place makes them impossible."""
    outstanding: set[int] = field(default_factory=set)
    reasons: dict[int, str] = field(default_factory=dict)
    """Why each crawler was asked."""
    stage: Stage = Stage.OPEN
    scratch: Any = None
    """The policy's own notes."""

    @property
    def probes(self) -> int:
        """Count the probes asked for, without those that the budget did not allow."""
        return len(self.asked) - sum(loss is Loss.BUDGET for loss in self.losses.values())

    @property
    def best(self) -> int | None:
        """The crawler with the shortest round trip so far; the one that was asked first among equals."""
        return min(self.samples, key=self.samples.__getitem__, default=None)

    @property
    def against_place(self) -> dict[int, float]:
        """The rejected round trips that are possible elsewhere: if the place is wrong, they are samples."""
        return {crawler: rtt_ms for crawler, rtt_ms in self.rejected.items() if 0 < rtt_ms < inf}

    def follow(self, step: Step) -> None:
        """Go on to the next stage."""
        self.stage = next_stage(self.stage, step)

    def was_tried(self, crawler: int) -> bool:
        """Return whether a crawler was asked or is known."""
        return crawler in self.reasons or crawler in self.samples
