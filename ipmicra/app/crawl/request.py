"""What an operator asks of a crawl, and the folder that it is kept in."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ipmicra.edge.crawl_node.limits import Limits
from ipmicra.errors import InputError

USER_AGENT = "ipmicra-crawl"
MEGABYTE = 1_000_000
KEPT_TYPES = ("text/*", "application/xhtml+xml", "application/xml")

__all__ = ["CoordinatorAccess", "CrawlRequest", "Limits", "NodeFolder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorAccess:
    """How to reach the coordinator of a crawl."""

    url: str
    crawl: str
    """Name of the crawl; nodes of the same name share it."""
    token: Path | None = None
    """A file with a token."""
    authority: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRequest:
    """A crawl by one node."""

    seeds: tuple[str, ...]
    """URLs."""
    node: str
    crawler: str = ""
    """The crawler that the node works for; empty if it works alone."""
    assignments: Path | None = None
    """Who owns which sites, where it does not work alone."""
    coordinator: CoordinatorAccess | None = None
    """Who is asked instead of a file, and keeps the queue."""
    mode: str = "drop"
    """What is done with links to sites of other crawlers."""
    limits: Limits = field(default_factory=Limits)
    depth: int | None = None
    """Links from a seed to a page at most."""
    page_bytes: int = 10 * MEGABYTE
    """Larger responses are not read."""
    timeout_s: float = 60.0
    content_types: tuple[str, ...] = KEPT_TYPES
    """Types that are kept; others end after their headers."""
    stays: bool = True
    """Whether a node that works alone stays on the hosts of the seeds."""
    follows_sitemaps: bool = True
    has_warc: bool = True
    warc_bytes: int = 1_000 * MEGABYTE
    is_parquet: bool = False
    is_again: bool = False
    """Start a new turn even if the last one was not finished."""
    hosts: Path | None = None
    """Addresses of hosts, as in /etc/hosts."""
    source: str | None = None
    """Address to connect from."""
    user_agent: str = USER_AGENT
    allowed: tuple[str, ...] = ()
    """Prefixes that may be fetched from although they are not public."""
    own_places: frozenset[tuple[str, int]] = frozenset()
    """Hosts and ports that were typed as seeds, and are addresses themselves: these may be private."""


@dataclass(frozen=True, slots=True)
class NodeFolder:
    """The folder of a node."""

    path: Path

    @property
    def database(self) -> Path:
        """The frontier."""
        return self.path / "crawl.db"

    @property
    def crawled(self) -> Path:
        """What the last turn crawled, as `ipmicra assign --crawled` reads it."""
        return self.path / "crawled.csv"

    @property
    def job(self) -> Path:
        """What the node has to tell its coordinator."""
        return self.path / "job"

    @property
    def token(self) -> Path:
        """The token for the coordinator."""
        return self.path / "coordinator.token"

    @property
    def assignments(self) -> Path:
        """The sites of the present turn, where they come from a store."""
        return self.path / "assignments.csv"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InputError(
                    f"another process crawls in {self.path}: wait for it, or name another --node"
                ) from error
            yield
        finally:
            os.close(descriptor)
