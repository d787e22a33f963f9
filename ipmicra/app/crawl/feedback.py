"""What nodes observe while they download, kept as samples; a site that seems to have moved is measured again.

Observations of one crawler and site are gathered until they are enough to be judged. A sample is kept of them
now and then, and whenever they speak of drift; the sample belongs to a rung of its own, which nothing decides
by. What is not judged yet is lost with the process: more of it comes with the next pages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf

from ipmicra.delegate.drift import DriftConfig, Seen, drift_of, is_enough
from ipmicra.edge.log import EventLog
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.address import read_address
from ipmicra.model.quantities import plural
from ipmicra.model.sample import Loss, Sample, SideRung, Timings
from ipmicra.model.site import Site
from ipmicra.wire.observed import Observed

events = EventLog("crawl")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackConfig:
    """Numbers of the feedback."""

    drift: DriftConfig = field(default_factory=DriftConfig)
    keep_every_s: float = 600.0
    """A sample of a crawler and site is kept so often, if there is no drift."""
    most_open: int = 100_000
    """Pairs of crawler and site that are gathered or remembered at a time; more are forgotten."""


@dataclass(slots=True)
class _Gathered:
    seen: Seen = field(default_factory=Seen)
    received_bytes: int = 0
    refusals: int = 0

    def add(self, one: Observed) -> None:
        times = [ms for ms in (self.seen.first_byte_ms, one.first_byte_ms) if ms is not None]
        self.seen = Seen(
            pages=self.seen.pages + one.pages,
            first_byte_ms=min(times, default=None),
            failures=self.seen.failures + one.failures,
        )
        self.received_bytes += one.received_bytes
        self.refusals += one.refusals

    @property
    def text(self) -> str:
        parts = [plural(self.seen.pages, "page"), f"{self.received_bytes:,} bytes"]
        parts += [plural(self.refusals, "refusal")] if self.refusals else []
        parts += [f"{self.seen.failures:,} without an answer"] if self.seen.failures else []
        return ", ".join(parts)


class Feedback:
    """Gathers, judges and keeps what nodes observe; belongs to the thread of the store."""

    def __init__(
        self,
        store: StorePort,
        recheck: Callable[[Site, str], bool],
        clock: Callable[[], float],
        config: FeedbackConfig | None = None,
    ) -> None:
        """Keep samples in a store; `recheck` has a site measured again, and returns whether it will be."""
        self._store, self._recheck, self._clock = store, recheck, clock
        self._config = config or FeedbackConfig()
        self._gathered: dict[tuple[str, str], _Gathered] = {}
        self._kept_s: dict[tuple[str, str], float] = {}

    def take(self, crawler: str, sights: Iterable[Observed]) -> None:
        """Take what nodes of a crawler observed."""
        for known in (self._gathered, self._kept_s):
            if len(known) > self._config.most_open:
                known.clear()
        for one in sights:
            gathered = self._gathered.setdefault((crawler, one.host), _Gathered())
            gathered.add(one)
            if is_enough(gathered.seen, self._config.drift):
                del self._gathered[crawler, one.host]
                site = self._site_of(one)
                if site is not None:
                    self._judge(crawler, site, gathered)

    def _site_of(self, one: Observed) -> Site | None:
        """Return a site at the address that was probed, else at the one that a node saw."""
        known = self._store.sites.get(one.host)
        if known is not None:
            return known
        scheme = None if one.port is None else "http"
        for assignment in self._store.assignments.of(one.host):
            return Site(one.host, assignment.address, scheme, one.port)
        return Site(one.host, read_address(one.address), scheme, one.port) if one.address else None

    def _judge(self, crawler: str, site: Site, gathered: _Gathered) -> None:
        now_s, tick_s, pair = self._clock(), time.monotonic(), (crawler, site.host)
        probed = self._store.samples.latest(site.address).get(crawler)
        before = [one for one in self._store.samples.crawled(site.address) if one.crawler == crawler]
        before_ms = [one.rtt_ms for one in before if one.rtt_ms is not None]
        drift = drift_of(gathered.seen, probed.rtt_ms if probed else None, before_ms, self._config.drift)
        if drift is None and tick_s - self._kept_s.get(pair, -inf) < self._config.keep_every_s:
            return
        detail = gathered.text
        if drift is not None:
            is_checked = self._recheck(site, drift)
            detail = f"{detail}; {drift}" + ("; measured again" if is_checked else "")
            events.info(
                "drift_seen",
                "{host}: {drift}",
                host=site.host,
                crawler=crawler,
                drift=drift,
                measured_again=is_checked,
            )
        self._kept_s[pair] = tick_s
        self._store.samples.add_many([_sample_of(crawler, site, gathered.seen, detail, now_s)])


def _sample_of(crawler: str, site: Site, seen: Seen, detail: str, now_s: float) -> Sample:
    first_ms = seen.first_byte_ms
    return Sample(
        crawler=crawler,
        address=site.address,
        rtt_ms=first_ms,
        loss=Loss.TIMEOUT if first_ms is None else None,
        rung=SideRung.CRAWL,
        all_ms=() if first_ms is None else (first_ms,),
        timings=None if first_ms is None else Timings(first_byte_ms=first_ms),
        detail=detail,
        taken_s=now_s,
    )
