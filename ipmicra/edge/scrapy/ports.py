"""What the parts inside Scrapy need from outside."""

from __future__ import annotations

from typing import Protocol

from scrapy import Request

from ipmicra.model.link import Share


class OwnerSource(Protocol):
    """Knows who owns a host."""

    def shares_of(self, host: str) -> tuple[Share, ...] | None:
        """Return the shares of a host; None if nothing is known of it."""


class Queue(Protocol):
    """The queue of a node: Scrapy's own scheduler."""

    def push(self, request: Request) -> bool:
        """Queue a request unless it was seen before; return whether it was queued."""

    def __len__(self) -> int:
        """Count the queued requests."""


class Node(Protocol):
    """A process that downloads for a crawler, as seen by scheduler, fence and extension."""

    def open(self, queue: Queue) -> None:
        """Start with a queue."""

    def take(self, request: Request) -> bool:
        """Take a request from the spider: queue it, hand it over or drop it; return whether it was kept."""

    def must_wait(self, request: Request) -> bool:
        """Return whether it is too early for a request to leave the queue."""

    def may_start(self, request: Request) -> bool:
        """Return whether a request that leaves the queue may be downloaded; it is taken care of if not."""

    def has_room(self) -> bool:
        """Return whether downloads may start at all."""

    def admits(self, request: Request) -> bool:
        """Return whether a request that reached the downloader may be sent, and set its slot."""

    def failed(self, request: Request) -> None:
        """Take note of a request that got no answer."""

    def tick(self) -> None:
        """Do what is due; called ten times a second."""

    def is_waiting(self) -> bool:
        """Return whether anything may still arrive; called when there is nothing left to do."""

    def close(self) -> None:
        """Save what is not handed over yet."""
