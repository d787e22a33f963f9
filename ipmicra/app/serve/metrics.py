"""Metrics for Prometheus at `/metrics`, of the coordinator and of its agents.

How it works
------------
Agents behind NAT cannot be scraped, so the coordinator tells what it knows of each: its state, when it was
last heard of, its samples and losses, what waits for it. What happens in this process is counted here as it
happens, in plain dictionaries: a request that is answered in 20 µs must not pay 5 for being counted. The
classes of Prometheus are made from them when somebody asks. Whatever is a state (crawlers, sites,
delegations) is read then.

The labels are bounded: routes are those that exist, outcomes and evidence are enumerations, and of crawlers
the first `most_crawlers` by name have series of their own, all others share one.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Iterable, Iterator
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ipmicra.app.delegate.session import Session
from ipmicra.app.serve.api.app import OWNER_PATH
from ipmicra.app.serve.api.problem import problem
from ipmicra.app.serve.coordinator import Coordinator
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.delegation import Decision
from ipmicra.model.membership import state_word
from ipmicra.model.sample import Sample
from ipmicra.model.token import Role

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
ANSWERED = "answered"
OTHERS = "others"
"""Stands for crawlers beyond the limit, and for paths that do not exist."""
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)
"""Upper ends of the buckets of latencies."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
TRIPS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 1.0)
"""The same of round trips."""


@dataclass(slots=True)
class Histogram:
    """Counts values by bucket."""

    ends: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        """Start with nothing."""
        self.counts = [0] * (len(self.ends) + 1)

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.ends, value)] += 1
        self.total += value

    def buckets(self) -> list[tuple[str, float]]:
        """Return the counts up to each end, as Prometheus wants them."""
        found, so_far = [], 0
        for end, count in zip((*map(str, self.ends), "+Inf"), self.counts, strict=True):
            so_far += count
            found.append((end, float(so_far)))
        return found


class Metrics(Collector):
    """Counts what happens in a coordinator, and describes what is."""

    def __init__(self, coordinator: Coordinator, most_crawlers: int = 500) -> None:
        """Watch a coordinator from now on."""
        self._coordinator, self._most = coordinator, most_crawlers
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.latencies: dict[str, Histogram] = {}
        self.under_way = 0
        self.samples: Counter[tuple[str, str]] = Counter()
        self.trips: dict[str, Histogram] = {}
        self.decisions: Counter[str] = Counter()
        self.commits = Histogram(SECONDS)
        self.sessions = 0
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        coordinator.deciding.on_open.append(self._watch)
        if coordinator.deciding.session is not None:
            self._watch(coordinator.deciding.session)

    # --- what happens

    def _watch(self, session: Session) -> None:
        """Count what a new session does."""
        self.sessions += 1
        writes = session.driver.writes
        hand_on = writes.on_decision

        def decided(decision: Decision) -> None:
            self.decisions[decision.evidence.value] += 1
            hand_on(decision)

        writes.on_decision = decided
        writes.on_written = self.commits.add
        if session.driver.probes is not None:
            session.driver.probes.watchers.append(self.sampled)

    def sampled(self, sample: Sample) -> None:
        """Count a sample."""
        outcome = sample.loss.value if sample.loss is not None else ANSWERED
        self.samples[sample.crawler, outcome] += 1
        if sample.rtt_ms is not None:
            trips = self.trips.get(sample.crawler)
            if trips is None:
                trips = self.trips[sample.crawler] = Histogram(TRIPS_S)
            trips.add(sample.rtt_ms / 1000.0)

    def counted(self, app: ASGIApp) -> ASGIApp:
        """Count the requests of an application."""
        return _Counted(app, self)

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests[route, method, status] += 1
        latency = self.latencies.get(route)
        if latency is None:
            latency = self.latencies[route] = Histogram(SECONDS)
        latency.add(seconds)

    # --- for Prometheus

    def routes(self) -> list[BaseRoute]:
        """Return the route of the metrics."""
        return [Route("/metrics", self._answer)]

    async def _answer(self, request: Request) -> Response:
        identity = self._coordinator.access.identify(request.headers.get("authorization"))
        if identity is None:
            given = request.headers.get("authorization")
            return problem(RefusedError("unauthenticated", self._coordinator.access.refusal(given)))
        if not identity.may(Role.CRAWLER):
            return problem(RefusedError("forbidden", f"the role {identity.role.value} may not read metrics"))
        return Response(self.text(), media_type=CONTENT_TYPE)

    def text(self) -> bytes:
        """Write all metrics."""
        return generate_latest(self._registry)

    def describe(self) -> Iterable[Metric]:
        """Say nothing before anybody asks: names are the same with and without values."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Return the metrics of this moment."""
        yield from self._process()
        yield from self._work()
        yield from self._crawlers()

    def _process(self) -> Iterator[Metric]:
        coordinator = self._coordinator
        health, ready = coordinator.health(), coordinator.readiness()
        info = {"version": str(health["ipmicra"]), "edition": coordinator.hierarchy.content_hash[:12]}
        yield InfoMetricFamily("ipmicra_build", "Version and edition in use", info)
        yield _gauge("ipmicra_ready", "1 if questions are answered", float(bool(ready["is_ready"])))
        yield _gauge("ipmicra_up_seconds", "Seconds since the start", float(health["up_s"]))
        yield _gauge("ipmicra_requests_under_way", "Requests that are being answered", float(self.under_way))
        requests = CounterMetricFamily(
            "ipmicra_requests", "Requests by route and status", labels=("route", "method", "status")
        )
        for (route, method, status), count in sorted(self.requests.items()):
            requests.add_metric((route, method, str(status)), count)
        yield requests
        latencies = HistogramMetricFamily(
            "ipmicra_request_seconds", "Time to the last byte of an answer", labels=("route",)
        )
        for route, histogram in sorted(self.latencies.items()):
            latencies.add_metric((route,), histogram.buckets(), histogram.total)
        yield latencies

    def _work(self) -> Iterator[Metric]:
        deciding = self._coordinator.deciding
        yield _gauge("ipmicra_hosts_waiting", "Hosts that wait for a decision", float(deciding.pending))
        yield _gauge("ipmicra_delegations", "Delegated subnets", float(deciding.store.delegations.count()))
        decisions = CounterMetricFamily("ipmicra_decisions", "Decisions by evidence", labels=("evidence",))
        for evidence, count in sorted(self.decisions.items()):
            decisions.add_metric((evidence,), count)
        yield decisions
        yield CounterMetricFamily("ipmicra_sessions", "Delegation sessions opened", value=self.sessions)
        began_s = time.perf_counter()
        deciding.store.meta.get("fleet")
        read_s = time.perf_counter() - began_s
        yield _gauge("ipmicra_store_read_seconds", "Time of one small read, taken now", read_s)
        commits = HistogramMetricFamily("ipmicra_store_commit_seconds", "Time to write what was decided")
        commits.add_metric((), self.commits.buckets(), self.commits.total)
        yield commits

    def _crawlers(self) -> Iterator[Metric]:
        coordinator = self._coordinator
        members = coordinator.fleet().members()
        named = {one.crawler.name for one in members[: self._most]}
        states = Counter(one.crawler.state for one in members)
        fleet = GaugeMetricFamily("ipmicra_crawlers", "Crawlers by state", labels=("state",))
        for state in CrawlerState:
            fleet.add_metric((state_word(state),), states[state])
        yield fleet
        is_up = _Shared("ipmicra_crawler_up", "1 if its agent answers", named)
        for one in members:
            if one.crawler.name in named and one.crawler.state is not CrawlerState.LEFT:
                is_up.add(one.crawler.name, float(one.crawler.state is not CrawlerState.UNREACHABLE))
        sites = _Shared("ipmicra_crawler_sites", "Sites assigned", named)
        for name, (count, _pages) in coordinator.owners.loads().items():
            sites.add(name, count)
        yield from (is_up.family(), sites.family())
        yield from self._agents(named)
        yield from self._samples(named)

    def _agents(self, named: set[str]) -> Iterator[Metric]:
        seen = GaugeMetricFamily(
            "ipmicra_agent_seen_timestamp_seconds",
            "When an agent that calls out last did",
            labels=("crawler",),
        )
        ignored = CounterMetricFamily(
            "ipmicra_agent_answers_ignored", "Answers that came twice, late or unasked", labels=("crawler",)
        )
        switchboard, now_s = self._coordinator.switchboard, self._coordinator.clock()
        for agent in self._coordinator.deciding.store.agents.all():
            if agent.crawler in named:
                is_present = switchboard.is_present(agent.crawler)
                seen.add_metric((agent.crawler,), now_s if is_present else agent.seen_s)
                ignored.add_metric((agent.crawler,), switchboard.ignored(agent.crawler))
        waiting = _Shared("ipmicra_agent_orders_waiting", "Probes that wait for room at an agent", named)
        out = _Shared("ipmicra_agent_orders_under_way", "Probes that an agent was asked for", named)
        session = self._coordinator.deciding.session
        probes = session.driver.probes if session is not None else None
        for name, (queued, sent) in (probes.load() if probes is not None else {}).items():
            waiting.add(name, queued)
            out.add(name, sent)
        yield from (seen, ignored, waiting.family(), out.family())

    def _samples(self, named: set[str]) -> Iterator[Metric]:
        samples = CounterMetricFamily(
            "ipmicra_crawler_samples",
            "Samples by outcome: answered, or why there is no round trip",
            labels=("crawler", "outcome"),
        )
        sums: Counter[tuple[str, str]] = Counter()
        for (name, outcome), count in self.samples.items():
            sums[name if name in named else OTHERS, outcome] += count
        for labels, count in sorted(sums.items()):
            samples.add_metric(labels, count)
        trips = HistogramMetricFamily(
            "ipmicra_crawler_round_trip_seconds", "Round trips measured", labels=("crawler",)
        )
        for name, histogram in sorted(self.trips.items()):
            if name in named:
                trips.add_metric((name,), histogram.buckets(), histogram.total)
        yield from (samples, trips)


class _Shared:
    """A gauge by crawler, in which those beyond the limit share one series."""

    def __init__(self, name: str, text: str, named: set[str]) -> None:
        self._name, self._text, self._named = name, text, named
        self._values: Counter[str] = Counter()

    def add(self, crawler: str, value: float) -> None:
        self._values[crawler if crawler in self._named else OTHERS] += value  # type: ignore[assignment]

    def family(self) -> Metric:
        made = GaugeMetricFamily(self._name, self._text, labels=("crawler",))
        for crawler, value in sorted(self._values.items()):
            made.add_metric((crawler,), value)
        return made


class _Counted:
    """Counts requests on their way through."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        metrics, began_s, status = self._metrics, time.perf_counter(), 500

        def noting(message: Message) -> Awaitable[None]:  # no coroutine of its own: that would cost as much
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            return send(message)

        metrics.under_way += 1
        try:
            await self._app(scope, receive, noting)
        finally:
            metrics.under_way -= 1
            took_s = time.perf_counter() - began_s
            metrics.answered(_route_of(scope), _method_of(scope), status, took_s)


def _route_of(scope: Scope) -> str:
    """Return the path that was asked for, with names instead of values; unknown paths share a label.

    Old versions of Starlette do not say which route it was, so it is put together: a part of the path that
    is a value becomes its name. `/v1/crawlers/fra` becomes `/v1/crawlers/{name}`.
    """
    path: str = scope["path"]
    if "endpoint" not in scope:  # nothing was found, or the gate has answered
        return path if path == OWNER_PATH else OTHERS
    names = {str(value): f"{{{name}}}" for name, value in scope.get("path_params", {}).items()}
    return "/".join(names.get(part, part) for part in path.split("/")) if names else path


def _method_of(scope: Scope) -> str:
    return scope["method"] if scope["method"] in METHODS else OTHERS


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)
