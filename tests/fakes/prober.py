"""A desk for orders without a network: round trips from a table, paid from a budget."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from ipaddress import IPv4Address

from ipmicra.model.address import Address
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Loss, Rung, Sample


class FakeDesk:
    """Answers at once; a pair that is missing is lost, a crawler that is missing has no agent."""

    def __init__(
        self, crawlers: Iterable[str], rtt_ms: Mapping[tuple[str, Address], float], budget: int | None = None
    ) -> None:
        self.crawlers = set(crawlers)
        self.rtt_ms = rtt_ms
        self.left = budget
        self.sent: list[Probe] = []

    async def probe(self, probes: Iterable[Probe]) -> AsyncIterator[Sample]:
        for probe in probes:
            yield self._sample(probe)

    def _sample(self, probe: Probe) -> Sample:
        address = probe.address or IPv4Address(0)
        if self.left == 0:
            return Sample(crawler=probe.crawler, address=address, rtt_ms=None, loss=Loss.BUDGET)
        if probe.crawler not in self.crawlers:
            return Sample(crawler=probe.crawler, address=address, rtt_ms=None, loss=Loss.AGENT)
        self.left = None if self.left is None else self.left - 1
        self.sent.append(probe)
        rtt_ms = self.rtt_ms.get((probe.crawler, address))
        if rtt_ms is None:
            return Sample(crawler=probe.crawler, address=address, rtt_ms=None, loss=Loss.TIMEOUT)
        return Sample(crawler=probe.crawler, address=address, rtt_ms=rtt_ms, rung=Rung.HEAD, all_ms=(rtt_ms,))
