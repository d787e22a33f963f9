"""The answer for one site: which crawler downloads it, and why."""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.model.address import Address

TaskKey = tuple[str, str, int, int]
"""Host, vantage, number of the piece, and number of pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A site, or a piece of one, with its crawler."""

    host: str
    vantage: str = ""
    """Where the site is seen from, if a rule asks for it; one with several vantages has an owner for each."""
    piece: int = 1
    """Number of the piece, from 1."""
    of: int = 1
    """Number of pieces of the site; 1 if it is not split."""
    address: Address
    crawler: str | None
    """None if no crawler can take it; `reason` says why."""
    reason: str
    """`nearest`, `forwarded from X: load`, `kept: X is nearer`; for a piece `piece 2/3, nearest`."""
    backend: str
    expected_ms: float | None = None
    """Expected round trip; None if unknown."""
    pages: int | None = None
    """Pages found by the last crawl; None if unknown."""
    filters: tuple[str, ...] = ()
    """First-level directories of the piece, as `/news/`; `-/news/` is not part of the rest."""
    rule: str = ""
    """The rules that limited the choice: `rule 3`; empty if none did."""
    assigned_s: float = 0.0
    """Seconds since 1970, UTC."""

    @property
    def key(self) -> TaskKey:
        """What identifies it among all assignments."""
        return self.host, self.vantage, self.piece, self.of


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentChange:
    """The last thing that happened to a site or a piece of one, as a crawler sees it."""

    seq: int
    """Numbers of changes only grow."""
    host: str
    vantage: str = ""
    piece: int = 1
    of: int = 1
    crawler: str | None
    at_s: float
    """Seconds since 1970, UTC."""
    assignment: Assignment | None = None
    """What the crawler has from now on; None if it lost it."""
