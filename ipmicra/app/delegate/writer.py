"""What is kept: gathered, written in one transaction, and only then told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ipmicra.edge.store.ports import Bounds, DelegationRecord, MarkRecord, ResultRecord, StorePort
from ipmicra.model.address import Address


@dataclass(slots=True)
class Writer:
    """Gathers what came of a batch; `flush` makes it last."""

    store: StorePort
    batch: int
    tell: Callable[[ResultRecord], object]
    """Told each result after it is written."""
    delegations: dict[Bounds, DelegationRecord] = field(default_factory=dict)
    ended: dict[Bounds, str] = field(default_factory=dict)
    renewed: dict[Bounds, float] = field(default_factory=dict)
    results: list[ResultRecord] = field(default_factory=list)
    marks: list[MarkRecord] = field(default_factory=list)
    cleared: list[tuple[str, Address]] = field(default_factory=list)
    """Crawlers and addresses whose marks are taken back."""

    @property
    def rows(self) -> int:
        """Count what waits."""
        gathered = (self.delegations, self.ended, self.results, self.marks, self.cleared)
        return sum(len(some) for some in gathered)

    def delegate(self, record: DelegationRecord) -> None:
        """Keep a delegation."""
        self.delegations[record.delegation.first, record.delegation.last] = record

    def end(self, bounds: Bounds, reason: str, now_s: float) -> None:
        """End a delegation; one that was not written yet is written first, for the history."""
        if bounds in self.delegations:
            self.flush(now_s)
        self.ended[bounds] = reason

    def clear(self, crawler: str, address: Address) -> None:
        """Take back a mark, written or not."""
        self.marks = [one for one in self.marks if (one.crawler, one.address) != (crawler, address)]
        self.cleared.append((crawler, address))

    def flush(self, now_s: float) -> None:
        """Write everything or nothing; then tell the results."""
        if not self.rows and not self.renewed:
            return
        with self.store.transaction():
            self.store.delegations.end_many(self.ended.items(), now_s)
            self.store.delegations.put_many(self.delegations.values())
            self.store.delegations.renew_many(self.renewed.items())
            self.store.results.add_many(self.batch, self.results)
            self.store.marks.remove_many(self.cleared)
            self.store.marks.add_many(self.marks)
        results = self.results
        self.delegations, self.ended, self.renewed = {}, {}, {}
        self.results, self.marks, self.cleared = [], [], []
        for result in results:
            self.tell(result)
