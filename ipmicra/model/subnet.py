"""A node of the hierarchy."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from ipmicra.model.address import Address, prefix_text, range_text
from ipmicra.model.organisation import Organisation
from ipmicra.model.registry import Registry

DAY_ZERO = datetime.date(1969, 12, 31)
"""Dates are stored as days after this one; 0 means none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subnet:
    """An inclusive range of addresses with its registration."""

    row: int
    """Number in its hierarchy; differs between editions."""
    first: Address
    last: Address
    depth: int
    """Number of subnets above it; 0 for the root."""
    netname: str | None
    organisation: Organisation | None
    registry: Registry
    country: str | None
    status: str | None
    date: datetime.date | None
    """Date of the last change of the registration."""
    geoloc: str | None
    """Latitude and longitude as registered."""
    geofeed: str | None
    """URL of an RFC 8805 geofeed."""
    postal_address: str | None = None
    """Postal address in the registration itself, in one line; None, too, if it is the holder's."""

    @property
    def prefix(self) -> str | None:
        """The subnet as a CIDR prefix, or None if it is not one."""
        return prefix_text(self.first, self.last)

    @property
    def label(self) -> str:
        """The prefix, or first and last address."""
        return range_text(self.first, self.last)

    def __contains__(self, address: Address) -> bool:
        """Return whether an address lies inside."""
        return self.first.version == address.version and int(self.first) <= int(address) <= int(self.last)
