"""What the DNS answers for a name: here, or where a crawler stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ipmicra.model.address import Address


class NameStatus(StrEnum):
    """The outcome of a DNS query."""

    FOUND = "found"
    NXDOMAIN = "nxdomain"
    """There is no such name."""
    NO_ADDRESS = "no-address"
    """The name exists and has no address, or no record of the kind."""
    SERVFAIL = "servfail"
    """The server failed."""
    REFUSED = "refused"
    """The server refused."""
    TIMEOUT = "timeout"
    BAD_NAME = "bad-name"
    """Not a name that can be asked for."""
    FORBIDDEN = "forbidden"
    """It has addresses, but none that the agent may probe; they are not told."""
    BUSY = "busy"
    """The agent has resolved as many names as it does in a while."""


FAILURES = frozenset({NameStatus.SERVFAIL, NameStatus.REFUSED, NameStatus.TIMEOUT, NameStatus.BUSY})
"""Outcomes that say nothing about the name: the next question may be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameAnswer:
    """The answer of the DNS for a name, and until when it holds."""

    name: str
    status: NameStatus
    addresses: tuple[Address, ...] = ()
    expires_s: float = 0.0
    """Seconds since 1970, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The answer that a crawler gets for a name, where it stands."""

    crawler: str
    answer: NameAnswer
    asked_s: float
    """Seconds since 1970, UTC."""
