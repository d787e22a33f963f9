"""The hierarchy, level by level: registries, their widest subnets, what lies in those, and who crawls it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.registry import Registry
from ipmicra.model.subnet import Subnet

PAGE = 100
"""Subnets on a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A subnet in a list."""

    subnet: Subnet
    inside: int
    """Subnets in it, at any depth."""
    crawler: str | None
    """To whom it is delegated as a whole; None if nobody has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One page of what lies in a subnet or belongs to a registry."""

    title: str
    above: tuple[Subnet, ...]
    """Subnets around it, widest first, and itself last; none for a registry."""
    lines: tuple[Line, ...]
    total: int
    start: int
    crawler: str | None = None

    @property
    def next_start(self) -> int | None:
        """Where the next page begins; None if this is the last."""
        return self.start + PAGE if self.start + PAGE < self.total else None


def registry_counts(hierarchy: Hierarchy) -> list[tuple[str, int]]:
    """Count the widest subnets of each registry."""
    return [(name, len(rows)) for name, rows in sorted(_widest(hierarchy).items()) if len(rows)]


def registry_level(store: StorePort, hierarchy: Hierarchy, name: str, start: int) -> Level | None:
    """Return a page of the widest subnets of a registry; None if there is no such registry."""
    rows = _widest(hierarchy).get(name)
    if rows is None:
        return None
    return Level(
        title=name, above=(), lines=_lines(store, hierarchy, rows, start), total=len(rows), start=start
    )


def subnet_level(store: StorePort, hierarchy: Hierarchy, row: int, start: int) -> Level | None:
    """Return a page of what lies directly in a subnet; None if there is no such row."""
    if not 0 <= row < len(hierarchy):
        return None
    subnet = hierarchy.subnet(row)
    rows = hierarchy.children(row)
    return Level(
        title=subnet.label,
        above=tuple(hierarchy.lineage(subnet)),
        lines=_lines(store, hierarchy, rows, start),
        total=len(rows),
        start=start,
        crawler=_holder(store, subnet),
    )


def _lines(store: StorePort, hierarchy: Hierarchy, rows: NDArray[np.int64], start: int) -> tuple[Line, ...]:
    return tuple(
        Line(
            subnet=(subnet := hierarchy.subnet(row)),
            inside=len(hierarchy.descendants(row)),
            crawler=_holder(store, subnet),
        )
        for row in rows[start : start + PAGE].tolist()
    )


def _holder(store: StorePort, subnet: Subnet) -> str | None:
    record = store.delegations.get(subnet.first, subnet.last)
    return record.delegation.crawler if record is not None else None


@lru_cache(maxsize=2)
def _widest(hierarchy: Hierarchy) -> dict[str, NDArray[np.int64]]:
    """Return the rows of each registry that lie in no subnet of the same; worked out once per edition.

    Most subnets of a registry lie in a block that IANA has given it, not directly below the root.
    """
    rows = np.arange(len(hierarchy))
    registry, above = hierarchy.registry_many(rows), hierarchy.parent_many(rows)
    is_widest = (above >= 0) & (registry != registry[above])
    return {
        name: np.flatnonzero(is_widest & (registry == one.value)) for one in Registry if (name := one.label)
    }
