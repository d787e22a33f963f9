"""What a node observes of hosts while it downloads, reported to the coordinator now and then."""

from __future__ import annotations

import time
from dataclasses import dataclass

from scrapy import Request, signals
from scrapy.http import Response
from scrapy.signalmanager import SignalManager
from scrapy.utils.httpobj import urlparse_cached

from ipmicra.edge.scrapy.requests import host_of
from ipmicra.wire.observed import Observed

EVERY_S = 5.0
"""How often observations are reported."""
MOST = 500
"""Hosts in one message."""
REFUSALS = (429, 503)


@dataclass(slots=True)
class _Sight:
    address: str = ""
    pages: int = 0
    received_bytes: int = 0
    waited_s: float = 0.0
    first_byte_s: float | None = None
    refusals: int = 0
    failures: int = 0
    port: int | None = None


class Observer:
    """Sums up by host what Scrapy downloads."""

    def __init__(self) -> None:
        """Start empty."""
        self._sights: dict[str, _Sight] = {}
        self._reported_s = time.monotonic()

    def connect(self, manager: SignalManager) -> None:
        """Listen to what is downloaded."""
        manager.connect(self.downloaded, signals.response_downloaded)

    def downloaded(self, response: Response, request: Request) -> None:
        """Take a response into account."""
        host = host_of(request)
        if host is None:
            return
        sight = self._sights.setdefault(host, _Sight())
        sight.address = str(response.ip_address or sight.address)
        sight.port = urlparse_cached(request).port
        sight.pages += 1
        sight.received_bytes += len(response.body)
        sight.refusals += response.status in REFUSALS
        latency_s = request.meta.get("download_latency")
        if isinstance(latency_s, float):
            sight.waited_s += latency_s
            before_s = sight.first_byte_s
            sight.first_byte_s = latency_s if before_s is None else min(before_s, latency_s)

    def failed(self, request: Request) -> None:
        """Take a request without an answer into account."""
        host = host_of(request)
        if host is not None:
            self._sights.setdefault(host, _Sight()).failures += 1

    def due(self, *, is_last: bool = False) -> tuple[Observed, ...]:
        """Return what is to be reported now, and forget it; nothing within `EVERY_S` of the last report."""
        if not is_last and time.monotonic() - self._reported_s < EVERY_S:
            return ()
        self._reported_s = time.monotonic()
        hosts = list(self._sights)[:MOST]
        return tuple([_observed(host, self._sights.pop(host)) for host in hosts])


def _observed(host: str, sight: _Sight) -> Observed:
    return Observed(
        host=host,
        address=sight.address,
        pages=sight.pages,
        received_bytes=sight.received_bytes,
        waited_s=sight.waited_s,
        first_byte_ms=None if sight.first_byte_s is None else 1e3 * sight.first_byte_s,
        refusals=sight.refusals,
        failures=sight.failures,
        port=sight.port,
    )
