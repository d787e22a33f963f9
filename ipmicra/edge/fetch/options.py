"""Define the settings and results of downloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ipmicra.edge.pace.rule import Pace
from ipmicra.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

Status = Literal["downloaded", "unchanged", "resumed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """Patience and limits of a download."""

    timeout_s: float = 60.0
    """Seconds without a single byte, or without complete headers, after which a connection counts as lost."""
    bytes_per_s: float = 1_000.0
    """Slowest speed of a download; one that is slower for longer than `timeout_s` counts as lost."""
    attempts: int = 5
    """Requests for one file before giving up; what was received stays for the next run."""
    backoff_s: float = 1.0
    """Seconds before the second attempt; doubles with each further one."""
    max_wait_s: float = 120.0
    """Longest pause in seconds; a server that asks for more is left alone."""
    max_bytes: int = 20_000_000_000
    """Largest dump; RIPE's, the largest, is below 1 GB."""
    at_once: int = 4
    """Registries in parallel; one file at a time from each."""

    @property
    def pace(self) -> Pace:
        """How slow a server may be."""
        return Pace(head_s=self.timeout_s, bytes_per_s=self.bytes_per_s, grace_s=self.timeout_s)

    def __post_init__(self) -> None:
        """Refuse invalid numbers."""
        for name in ("timeout_s", "bytes_per_s", "attempts", "max_bytes", "at_once"):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")
        for name in ("backoff_s", "max_wait_s"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} must not be negative, but is {getattr(self, name)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a download has come."""

    name: str
    bytes_done: int
    """Bytes on disk, those of earlier runs included."""
    bytes_total: int | None
    """None where the server does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult:
    """A dump that is complete on disk."""

    path: Path
    status: Status
    bytes_received: int
    """Bytes of the dump received over the network in this run."""
    bytes_total: int
    """Size of the dump."""
    checksum: str | None = None
    """The published sum that the dump agrees with; None if none is published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A temporary fault: trying again may help."""

    reason: str
    wait_s: float | None = None
    """Seconds the server asks to wait."""
