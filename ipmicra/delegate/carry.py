"""Delegations of an old edition carried over to a new one. Nothing is dropped without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from ipmicra.delegate.subnets import SubnetTree, key_of
from ipmicra.model.address import Address
from ipmicra.model.delegation import Delegation, Evidence, Origin


class Fate(StrEnum):
    """What became of a delegated subnet in the new edition."""

    SAME = "same"
    """It is there, with the same bounds."""
    SPLIT = "split"
    """It is gone, and several subnets lie in its range: each inherits."""
    MERGED = "merged"
    """It is gone, and a wider subnet has its range: that one inherits, unless it has a better heir."""
    MOVED = "moved"
    """Its bounds changed: the subnet that now holds its first address inherits."""


@dataclass(frozen=True, slots=True)
class Carried:
    """One delegation's way into the new edition."""

    old: Delegation
    fate: Fate
    keys: tuple[int, ...]
    """Subnets of the new edition that got it."""
    lost_to: str | None = None
    """The crawler that had a better claim on the same subnet; None if there was none."""


@dataclass(frozen=True, slots=True)
class CarryReport:
    """All of them."""

    carried: tuple[Carried, ...]
    delegations: dict[int, Delegation] = field(default_factory=dict)
    """What the new edition starts with, by key."""

    @property
    def counts(self) -> dict[Fate, int]:
        """Count by fate; they add up to the old delegations."""
        return Counter(one.fate for one in self.carried)


def carry_over(delegations: Iterable[Delegation], tree: SubnetTree) -> CarryReport:
    """Find the new home of each delegation.

    Exact bounds go first, then samples before guesses, then the newer: so the order of input does not matter.
    """
    ordered = sorted(delegations, key=lambda one: (one.first.version, int(one.first), -int(one.last)))
    found = [(one, *_home(one, tree)) for one in ordered]
    claims = sorted(range(len(found)), key=lambda i: _claim(*found[i][:2]))
    taken: dict[int, Delegation] = {}
    result: dict[int, Carried] = {}
    for i in claims:
        old, fate, keys = found[i]
        free = tuple(key for key in keys if key not in taken)
        for key in free:
            taken[key] = _inherited(old, fate, key, tree)
        rivals = [taken[key].crawler for key in keys if key not in free and taken[key].crawler != old.crawler]
        result[i] = Carried(old, fate, free, rivals[0] if rivals else None)
    return CarryReport(tuple(result[i] for i in range(len(found))), taken)


def _claim(old: Delegation, fate: Fate) -> tuple[object, ...]:
    return (
        fate is not Fate.SAME,
        old.evidence is not Evidence.PROBED,
        -old.created_s,
        -(int(old.last) - int(old.first)),
        int(old.first),
        old.crawler,
    )


def _home(old: Delegation, tree: SubnetTree) -> tuple[Fate, tuple[int, ...]]:
    key = key_of(tree, old.first)
    if key < 0:
        inside = _inside(old, tree)
        return (Fate.SPLIT, inside) if inside else (Fate.SAME if _is_slice(old) else Fate.MOVED, (key,))
    row: int | None = key
    while row is not None:
        first, last = tree.bounds(row)
        if (first, last) == (old.first, old.last):
            return Fate.SAME, (row,)
        row = tree.parent(row)
    inside = _inside(old, tree)
    if inside:
        return Fate.SPLIT if len(inside) > 1 else Fate.MOVED, inside
    first, last = tree.bounds(key)
    return Fate.MERGED if first <= old.first and old.last <= last else Fate.MOVED, (key,)  # type: ignore[operator]


def _inside(old: Delegation, tree: SubnetTree) -> tuple[int, ...]:
    """Return the widest new subnets that lie within the old range."""
    row = tree.row_of(str(old.first))
    while (above := tree.parent(row)) is not None and not _holds(tree.bounds(row), old.last):
        row = above
    inside: list[int] = []
    behind = -1
    for candidate in tree.descendants(row):
        if candidate < behind:
            continue
        first, last = tree.bounds(candidate)
        if int(first) > int(old.last):
            break
        if int(old.first) <= int(first) and int(last) <= int(old.last):
            inside.append(candidate)
            below = tree.descendants(candidate)
            behind = below[-1] + 1 if len(below) else candidate + 1
    return tuple(inside)


def _holds(bounds: tuple[Address, Address], address: Address) -> bool:
    return int(bounds[0]) <= int(address) <= int(bounds[1])


def _is_slice(old: Delegation) -> bool:
    size = int(old.last) - int(old.first) + 1
    return size & (size - 1) == 0


def _inherited(old: Delegation, fate: Fate, key: int, tree: SubnetTree) -> Delegation:
    """Rewrite a delegation for its new subnet; only the same subnet keeps the evidence of its samples."""
    if fate is Fate.SAME or key < 0:
        return old
    first, last = tree.bounds(key)
    evidence = Evidence.INHERITED if old.evidence is Evidence.PROBED else old.evidence
    origin = old.origin or Origin(old.first, old.last)
    return replace(old, first=first, last=last, evidence=evidence, origin=origin)
