"""What came of a batch, gathered and written in one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain

from ipmicra.app.delegate.options import DrivingConfig
from ipmicra.app.delegate.payers import Payers
from ipmicra.delegate.actions import AnsweredMany, CrawlerChecked
from ipmicra.edge.store.ports import Bounds, DelegationRecord, StorePort
from ipmicra.model.crawler import TrackRecord
from ipmicra.model.delegation import Decision, Delegation
from ipmicra.model.sample import ImplausibleSample


@dataclass(slots=True)
class WriteQueue:
    """Gathers what came of a batch; `flush` writes it in one transaction, and only then hands it on.

    A decision is handed on after the transaction that holds it and the delegation behind it: a crash may
    repeat an answer, it never takes one back.
    """

    store: StorePort
    batch: int
    on_decision: Callable[[Decision], object]
    """Called with each decision after it is written."""
    explained: int = field(default_factory=lambda: DrivingConfig().explained)
    """Crawlers not asked that are kept for each subnet."""
    delegations: dict[Bounds, DelegationRecord] = field(default_factory=dict)
    ended: dict[Bounds, str] = field(default_factory=dict)
    renewed: dict[Bounds, Delegation] = field(default_factory=dict)
    decisions: list[Decision | AnsweredMany] = field(default_factory=list)
    """In the order in which they are handed on."""
    answered: int = 0
    """Sites in tables among them."""
    records: dict[str, TrackRecord] = field(default_factory=dict)
    """The last record of each crawler whose samples were checked."""
    rejected: list[ImplausibleSample] = field(default_factory=list)
    beside: list[Callable[[float], object]] = field(default_factory=list)
    """Called in each transaction: write what must be kept together with the decisions."""
    on_written: Callable[[float], object] = lambda _seconds: None
    """Called with the seconds that each transaction took."""
    fence: Callable[[WriteQueue], object] = lambda _writes: None
    """Called first in each transaction: refuses, or drops, what this process may not write."""
    payers: Payers | None = None
    """Set if several batches share the machine."""

    @property
    def rows(self) -> int:
        """Count what waits to be written."""
        gathered = (self.delegations, self.ended, self.renewed, self.decisions, self.records, self.rejected)
        return 2 * self.answered + sum(len(some) for some in gathered)

    def answer(self, answered: AnsweredMany) -> None:
        """Keep the answers for many sites, and the delegations behind them."""
        self.decisions.append(answered)
        self.answered += len(answered)

    def delegate(self, record: DelegationRecord) -> None:
        """Keep a delegation."""
        self.delegations[record.delegation.first, record.delegation.last] = record

    def renew(self, delegation: Delegation) -> None:
        """Keep the new end of a delegation; one that was never stored stays so."""
        self.renewed[delegation.first, delegation.last] = delegation

    def end(self, delegation: Delegation, reason: str, now_s: float) -> None:
        """End a delegation; one that was not written yet is written first, for the history."""
        bounds = delegation.first, delegation.last
        if bounds in self.delegations or delegation.created_s in self._answered_s():
            self.flush(now_s)
        self.ended[bounds] = reason

    def _answered_s(self) -> set[float]:
        """Return when the delegations of tables were made that are not written yet."""
        return {one.created_s for one in self.decisions if isinstance(one, AnsweredMany)}

    def check(self, checked: CrawlerChecked) -> None:
        """Keep what a sample did to its crawler's record."""
        self.records[checked.crawler] = checked.record
        if checked.implausible is not None:
            self.rejected.append(checked.implausible)

    def flush(self, now_s: float) -> None:
        """Write everything or nothing; then hand on the decisions."""
        if not self.rows:
            return
        tables = [one for one in self.decisions if isinstance(one, AnsweredMany)]
        decisions = [one for one in self.decisions if isinstance(one, Decision)]
        began_s = time.perf_counter()
        if self.beside:  # these change more than the store, so they cannot be repeated
            with self.store.transaction():
                self._write(decisions, tables, now_s)
                for write in self.beside:
                    write(now_s)
        else:
            self.store.repeated(lambda: self._write(decisions, tables, now_s))
        self.on_written(time.perf_counter() - began_s)
        written = self.decisions
        self.delegations, self.ended, self.renewed = {}, {}, {}
        self.decisions, self.answered, self.records, self.rejected = [], 0, {}, []
        if self.payers is not None:
            self.payers.settle()
        for one in written:
            for decision in one.decisions() if isinstance(one, AnsweredMany) else (one,):
                self.on_decision(decision)

    def _write(self, decisions: list[Decision], tables: list[AnsweredMany], now_s: float) -> None:
        self.fence(self)
        self.store.delegations.end_many(self.ended.items(), now_s)
        self.store.delegations.put_many(self.delegations.values())
        self.store.delegations.put_answered(tables, self.explained)
        self.store.delegations.renew_many(self.renewed.values())
        self._write_results(decisions, tables)
        self.store.track_records.put_many(self.records.items())
        self.store.track_records.reject_many(self.rejected)

    def _write_results(self, decisions: list[Decision], tables: list[AnsweredMany]) -> None:
        """Keep results with their batch, or with all the batches that wait for them."""
        if self.payers is None:
            self.store.results.add_many(self.batch, decisions)
            self.store.results.add_answered(self.batch, tables)
            return
        everything = chain(decisions, *(table.decisions() for table in tables))
        for batch, results in self.payers.share(everything).items():
            self.store.results.add_many(batch, results)
