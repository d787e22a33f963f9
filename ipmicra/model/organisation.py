"""Who holds subnets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ipmicra.model.registry import Registry


class HolderEvidence(IntEnum):
    """How an organisation was recognised as the holder; the number is what files store."""

    NONE = 0
    ORG = 1
    """The handle in `org:`."""
    OWNERID = 2
    """LACNIC's `ownerid:`."""
    ORGID = 3
    """ARIN's `OrgID:`."""
    OPAQUE = 4
    """The opaque id of extended statistics."""
    MAINTAINER = 5
    """A maintainer that is no registry's own."""
    DESCRIPTION = 6
    """The first line of the description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation:
    """A holder of subnets."""

    number: int
    """Number in its hierarchy, from 1; another edition may number differently."""
    handle: str | None
    name: str | None
    address: str | None
    """Postal address in one line, parts separated by commas."""
    country: str | None
    registry: Registry
    evidence: HolderEvidence

    @property
    def label(self) -> str:
        """What to call it: the name, else the handle."""
        return self.name or self.handle or "?"
