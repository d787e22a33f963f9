"""Count what an agent does, for Prometheus; each agent has its own registry."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ipmicra.wire.answers import Answer

_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


class AgentMetrics:
    """Counters of requests, answers and dropped connections."""

    def __init__(self) -> None:
        """Start at zero."""
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "ipmicra_agent_requests", "Requests by status.", ["status"], registry=self.registry
        )
        self.answers = Counter(
            "ipmicra_agent_answers", "Answers by rung or loss.", ["outcome"], registry=self.registry
        )
        self.dropped = Counter(
            "ipmicra_agent_dropped_connections",
            "Connections that were too slow or too many.",
            ["reason"],
            registry=self.registry,
        )
        self._outcomes: dict[str, Counter] = {}
        self.pending = Gauge(
            "ipmicra_agent_pending", "Orders in progress or waiting.", registry=self.registry
        )
        self.rtt = Histogram(
            "ipmicra_agent_rtt_seconds", "Round trips.", buckets=_BUCKETS_S, registry=self.registry
        )

    def note(self, answer: Answer) -> None:
        """Count an answer."""
        outcome = answer.loss or answer.rung
        name = outcome.value if outcome else "unknown"
        counter = self._outcomes.get(name)
        if counter is None:
            counter = self._outcomes[name] = self.answers.labels(name)
        counter.inc()
        if answer.rtt_ms is not None:
            self.rtt.observe(answer.rtt_ms / 1e3)

    def note_dropped(self, reason: str) -> None:
        """Count a dropped connection."""
        self.dropped.labels(reason).inc()

    def text(self) -> bytes:
        """Write everything in the text format of Prometheus."""
        return generate_latest(self.registry)
