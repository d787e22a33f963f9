"""What a batch leaves behind: gathered, written in one transaction, and only then handed to the caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ipmicra.delegate.actions import CrawlerChecked
from ipmicra.edge.store.ports import Bounds, DelegationRecord, StorePort
from ipmicra.model.crawler import TrackRecord
from ipmicra.model.delegation import Decision, Delegation
from ipmicra.model.sample import ImplausibleSample


@dataclass(slots=True)
class WriteQueue:
    """Gathers what came of a batch; `flush` makes it last.

    A decision is handed on after the transaction that holds it and the delegation behind it: a crash may
    repeat an answer, it never takes one back.
    """

    store: StorePort
    batch: int
    on_decision: Callable[[Decision], object]
    """Called with each decision after it is written."""
    delegations: dict[Bounds, DelegationRecord] = field(default_factory=dict)
    ended: dict[Bounds, str] = field(default_factory=dict)
    renewed: dict[Bounds, float] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    records: dict[str, TrackRecord] = field(default_factory=dict)
    """The last record of each crawler whose samples were checked."""
    rejected: list[ImplausibleSample] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Count what waits to be written."""
        gathered = (self.delegations, self.ended, self.renewed, self.decisions, self.records, self.rejected)
        return sum(len(some) for some in gathered)

    def delegate(self, record: DelegationRecord) -> None:
        """Keep a delegation."""
        self.delegations[record.delegation.first, record.delegation.last] = record

    def renew(self, delegation: Delegation) -> None:
        """Keep the new end of a delegation; one that was never stored stays so."""
        self.renewed[delegation.first, delegation.last] = delegation.expires_s

    def end(self, delegation: Delegation, reason: str, now_s: float) -> None:
        """End a delegation; one that was not written yet is written first, for the history."""
        bounds = delegation.first, delegation.last
        if bounds in self.delegations:
            self.flush(now_s)
        self.ended[bounds] = reason

    def check(self, checked: CrawlerChecked) -> None:
        """Keep what a sample did to its crawler's record."""
        self.records[checked.crawler] = checked.record
        if checked.implausible is not None:
            self.rejected.append(checked.implausible)

    def flush(self, now_s: float) -> None:
        """Write everything or nothing; then hand on the decisions."""
        if not self.rows:
            return
        with self.store.transaction():
            self.store.delegations.end_many(self.ended.items(), now_s)
            self.store.delegations.put_many(self.delegations.values())
            self.store.delegations.renew_many(self.renewed.items())
            self.store.results.add_many(self.batch, self.decisions)
            self.store.track_records.put_many(self.records.items())
            self.store.track_records.reject_many(self.rejected)
        decisions = self.decisions
        self.delegations, self.ended, self.renewed = {}, {}, {}
        self.decisions, self.records, self.rejected = [], {}, []
        for decision in decisions:
            self.on_decision(decision)
