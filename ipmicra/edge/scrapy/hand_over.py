"""Polite hand-over: requests of a slot that another process held before wait for one polite delay."""

from __future__ import annotations

from scrapy import Request


class HandOver:
    """Requests that wait, each until its time."""

    def __init__(self) -> None:
        """Start empty."""
        self._waiting: list[tuple[float, Request]] = []

    def add(self, request: Request, until_s: float) -> None:
        """Let a request wait."""
        self._waiting.append((until_s, request))

    def due(self, now_s: float) -> list[Request]:
        """Return the requests that have waited long enough, and forget them."""
        due = [request for until_s, request in self._waiting if until_s <= now_s]
        if due:
            self._waiting = [(until_s, request) for until_s, request in self._waiting if until_s > now_s]
        return due

    def void(self) -> None:
        """Forget all of them."""
        self._waiting = []
