"""The owner of a site: the crawler that downloads it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ipmicra.model.address import Address
from ipmicra.model.assignment import Assignment
from ipmicra.model.delegation import Decision, Evidence


class OwnerSource(StrEnum):
    """What makes a crawler the owner of a site."""

    ASSIGNMENT = "assignment"
    """The site was assigned to it."""
    DELEGATION = "delegation"
    """The site was not assigned; its subnet is delegated to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A site, seen from one vantage, with the crawler that downloads it."""

    host: str
    vantage: str = ""
    """Where the site is seen from; empty unless a rule asks for several."""
    address: Address
    crawler: str
    source: OwnerSource
    reason: str
    """In a few words, as of an assignment."""
    subnet: str | None = None
    """The delegated subnet, as a prefix or by its two ends; None if none is known."""
    evidence: Evidence | None = None
    """What the delegation of the subnet rests on."""
    rtt_ms: float | None = None
    """Round trip to the owner, measured or expected; None if nothing is known."""
    since_s: float
    """When it became the owner; seconds since 1970, UTC."""
    pieces: tuple[Assignment, ...] = ()
    """Of a site that is cut into several; `crawler` has what no other piece names."""


def owner_by_assignment(pieces: tuple[Assignment, ...], decision: Decision | None) -> Owner | None:
    """Return the owner of a site by its assignments of one vantage; None if a piece has no crawler."""
    rest = next((one for one in pieces if any(word.startswith("-") for word in one.filters)), pieces[-1])
    if rest.crawler is None or any(one.crawler is None for one in pieces):
        return None
    is_measured = decision is not None and decision.crawler == rest.crawler and decision.rtt_ms is not None
    return Owner(
        host=rest.host,
        vantage=rest.vantage,
        address=rest.address,
        crawler=rest.crawler,
        source=OwnerSource.ASSIGNMENT,
        reason=rest.reason,
        subnet=decision.subnet if decision else None,
        evidence=decision.evidence if decision else None,
        rtt_ms=decision.rtt_ms if decision and is_measured else rest.expected_ms,
        since_s=max(one.assigned_s for one in pieces),
        pieces=pieces if len(pieces) > 1 else (),
    )


def owner_by_delegation(decision: Decision, since_s: float) -> Owner:
    """Return the owner of a site by the delegation of its subnet."""
    return Owner(
        host=decision.host,
        address=decision.address,
        crawler=decision.crawler,
        source=OwnerSource.DELEGATION,
        reason=f"its subnet is delegated: {decision.evidence.value}",
        subnet=decision.subnet,
        evidence=decision.evidence,
        rtt_ms=decision.rtt_ms,
        since_s=since_s,
    )
