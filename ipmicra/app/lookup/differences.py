"""Differences between two editions, spelled out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.hierarchy.compare import Difference, compare
from ipmicra.model.subnet import Subnet


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One subnet that differs."""

    kind: str
    """`came`, `went` or `changed`."""
    subnet: Subnet
    """As it is in the new edition, or was in the old."""
    old_holder: str | None
    new_holder: str | None


class Changes:
    """All changes, spelled out one by one when asked for."""

    def __init__(self, old: Hierarchy, new: Hierarchy, difference: Difference, limit: int | None) -> None:
        """Show at most a number of each kind."""
        self._old, self._new = old, new
        self._difference = difference
        self._limit = limit
        self.came_count = len(difference.came)
        self.went_count = len(difference.went)
        self.changed_count = len(difference.changed)

    def __iter__(self) -> Iterator[Change]:
        """Yield subnets that came, then those that went, then those that changed their holder."""
        for row in self._difference.came[: self._limit]:
            subnet = self._new.subnet(int(row))
            yield Change(kind="came", subnet=subnet, old_holder=None, new_holder=_holder(subnet))
        for row in self._difference.went[: self._limit]:
            subnet = self._old.subnet(int(row))
            yield Change(kind="went", subnet=subnet, old_holder=_holder(subnet), new_holder=None)
        for old_row, new_row in self._difference.changed[: self._limit]:
            before, subnet = self._old.subnet(int(old_row)), self._new.subnet(int(new_row))
            yield Change(
                kind="changed", subnet=subnet, old_holder=_holder(before), new_holder=_holder(subnet)
            )


def compare_files(old: Path, new: Path, limit: int | None = None) -> Changes:
    """Compare two hierarchy files."""
    return list_changes(Hierarchy.open(old), Hierarchy.open(new), limit)


def list_changes(old: Hierarchy, new: Hierarchy, limit: int | None = None) -> Changes:
    """Compare two editions."""
    return Changes(old, new, compare(old, new), limit)


def _holder(subnet: Subnet) -> str | None:
    return subnet.organisation.label if subnet.organisation else None
