"""The holders of subnets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ipmicra.model.registry import Registry


class HolderEvidence(IntEnum):
    """How an organisation was recognised as the holder; files store the number."""

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
    """A maintainer that is not a registry's own."""
    DESCRIPTION = 6
    """The first line of the description."""
    OWNER = 7
    """LACNIC's `owner:` without an `ownerid:`, a name and no handle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation:
    """A holder of subnets."""

    number: int
    """Number in its hierarchy, from 1; differs between editions."""
    handle: str | None
    name: str | None
    address: str | None
    """Postal address in one line, parts separated by commas."""
    country: str | None
    registry: Registry
    evidence: HolderEvidence

    @property
    def label(self) -> str:
        """Display name: the name, else the handle."""
        return self.name or self.handle or "?"
