"""Tokens: who may ask the coordinator for what."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What the bearer of a token may do."""

    OPERATOR = "operator"
    """Everything."""
    CRAWLER = "crawler"
    """Ask: owners, explanations, look-ups, assignments, exports."""
    AGENT = "agent"
    """Fetch probe orders, hand in results, leave."""
    JOIN = "join"
    """Turn an agent into a member of the fleet, once."""
    PEER = "peer"
    """Have a site decided, for another coordinator of the same database; coordinators make their own."""


LETTERS = {Role.OPERATOR: "o", Role.CRAWLER: "c", Role.AGENT: "a", Role.JOIN: "j", Role.PEER: "p"}
"""The letter of each role in the text of a token: `ipm_o_…`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRecord:
    """What is kept of a token; the token itself is not."""

    name: str
    role: Role
    hash: bytes
    """SHA-256 of the token's text."""
    created_s: float
    """Seconds since 1970, UTC, as all times here."""
    expires_s: float | None = None
    """When it stops working; None for never."""
    revoked_s: float | None = None
    last_used_s: float | None = None
    """For a join token: when an agent joined with it. For others: known to the minute."""
    crawler: str | None = None
    """The crawler for which it speaks; None for none in particular."""

    def state(self, now_s: float) -> str:
        """Return `good`, or why it no longer works: `revoked`, `used` or `expired`."""
        if self.revoked_s is not None:
            return "revoked"
        if self.role is Role.JOIN and self.last_used_s is not None:
            return "used"
        return "expired" if self.expires_s is not None and self.expires_s <= now_s else "good"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The bearer of a token that works."""

    name: str
    role: Role
    crawler: str | None = None
    """The crawler for which it speaks; None for none in particular."""

    def may(self, role: Role) -> bool:
        """Return whether the bearer may do what a role may; an operator may do everything."""
        return self.role in {role, Role.OPERATOR}
