"""A resolver for Scrapy whose answers change: the first is one address, all others another."""

from __future__ import annotations

from collections import Counter
from typing import Any

from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer

FIRST, THEN = "127.0.0.2", "127.0.0.3"


class RebindingResolver(CachingThreadedResolver):
    """Answers as the DNS of an attacker does."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.asked: Counter[str] = Counter()

    def getHostByName(self, name: str, timeout: Any = ()) -> Any:  # noqa: N802 - Twisted's name
        del timeout
        self.asked[name] += 1
        return defer.succeed(FIRST if self.asked[name] == 1 else THEN)
