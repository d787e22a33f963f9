"""Answers about owners that were given before, as bytes: whoever asks the same again gets the same."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ipmicra.app.describe.owner import describe_owner
from ipmicra.model.foreign_text import json_text
from ipmicra.model.owner import Owner, OwnerSource


@dataclass(frozen=True, slots=True)
class Asked:
    """A host, URL or address, and the vantage from which it is seen."""

    text: str
    vantage: str | None = None
    """None if it has only one."""


@dataclass(slots=True)
class RenderedAnswers:
    """Keeps answers by what was asked, and by the query of its request; so many of each."""

    most: int
    _assigned: dict[Asked, bytes] = field(default_factory=dict)
    _delegated: dict[Asked, bytes] = field(default_factory=dict)
    _by_query: dict[bytes, bytes] = field(default_factory=dict)
    _since_s: float = field(default_factory=time.monotonic)

    @property
    def age_s(self) -> float:
        """How old the oldest may be."""
        return time.monotonic() - self._since_s

    def forget(self) -> None:
        """Forget all."""
        self._assigned, self._delegated, self._by_query = {}, {}, {}
        self._since_s = time.monotonic()

    def forget_delegated(self) -> None:
        """Forget those by delegation, and the queries, which may have been answered by one."""
        self._delegated, self._by_query = {}, {}

    def get(self, asked: Asked) -> bytes | None:
        """Return the answer to a question."""
        return self._assigned.get(asked) or self._delegated.get(asked)

    def keep(self, asked: Asked, owner: Owner) -> bytes:
        """Render an answer, and keep it."""
        body = json_text(describe_owner(owner)).encode()
        kept = self._assigned if owner.source is OwnerSource.ASSIGNMENT else self._delegated
        if len(kept) >= self.most:
            kept.clear()
        kept[asked] = body
        return body

    def of_query(self, query: bytes) -> bytes | None:
        """Return the answer to a query."""
        return self._by_query.get(query)

    def keep_query(self, query: bytes, body: bytes) -> None:
        """Keep an answer by the query that asked for it."""
        if len(self._by_query) >= self.most:
            self._by_query.clear()
        self._by_query[query] = body
