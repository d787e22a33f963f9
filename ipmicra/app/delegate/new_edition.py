"""Delegations of another edition brought into this one; nothing is dropped without a word."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ipmicra.delegate.carry import Carried, Fate, carry_over
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.edge.store.ports import Bounds, DelegationRecord, StorePort
from ipmicra.model.delegation import Delegation

EDITION = "edition of delegations"
"""Key of the store's word that names the hierarchy whose subnets are delegated."""


@dataclass(slots=True)
class CarryingReport:
    """What became of the delegations of an earlier edition."""

    edition: str
    counts: Counter[str] = field(default_factory=Counter)
    """By fate."""
    lost: list[str] = field(default_factory=list)
    """Those whose subnet now belongs to another crawler."""

    def lines(self) -> list[str]:
        """Write it for people."""
        if not self.counts:
            return []
        fates = ", ".join(f"{count:,} {fate}" for fate, count in self.counts.items() if count)
        lines = [f"the hierarchy has changed: {self.counts.total():,} delegations carried over ({fates})"]
        return lines + self.lost


def carry_delegations(store: StorePort, tree: SubnetTree, edition: str, now_s: float) -> CarryingReport:
    """Bring delegations into this edition, in one transaction; the old ones stay in the history."""
    report = CarryingReport(edition)
    before = store.meta.get(EDITION)
    if before == edition:
        return report
    with store.transaction():
        records = list(store.delegations.all()) if before is not None else []
        if records:
            _carry(store, tree, records, report, now_s)
        store.meta.set(EDITION, edition)
    return report


def _carry(
    store: StorePort, tree: SubnetTree, records: list[DelegationRecord], report: CarryingReport, now_s: float
) -> None:
    """Write what changes; delegations of single addresses do not depend on any edition."""
    singles = [one for one in records if one.delegation.first == one.delegation.last]
    report.counts[Fate.SAME.value] += len(singles)
    by_bounds = {_bounds(one): one for one in records if one.delegation.first != one.delegation.last}
    carried = carry_over((one.delegation for one in by_bounds.values()), tree)
    changed = [one for one in carried.carried if one.fate is not Fate.SAME]
    store.delegations.end_many(
        (
            ((one.old.first, one.old.last), _reason(one))
            for one in changed
            if not _stays(one, carried.delegations)
        ),
        now_s,
    )
    fresh = []
    for one in changed:
        old = by_bounds[one.old.first, one.old.last]
        fresh += [
            DelegationRecord(delegation=carried.delegations[key], address=old.address, location=old.location)
            for key in one.keys
        ]
        if one.lost_to:
            text = f"{one.old.first} - {one.old.last} was {one.old.crawler}'s"
            report.lost.append(f"{text}; its range now belongs to {one.lost_to}, which had the better claim")
    store.delegations.put_many(fresh)
    report.counts.update({fate.value: count for fate, count in carried.counts.items()})


def _stays(one: Carried, delegations: dict[int, Delegation]) -> bool:
    """Return whether a delegation's own bounds are among those it got: put there, it is replaced."""
    bounds = one.old.first, one.old.last
    return any(
        (new.first, new.last) == bounds for key in one.keys if (new := delegations.get(key)) is not None
    )


def _reason(one: Carried) -> str:
    return f"a new edition of the hierarchy: {one.fate.value}"


def _bounds(record: DelegationRecord) -> Bounds:
    return record.delegation.first, record.delegation.last
