"""Compare two editions: subnets added, removed, or with another holder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.hierarchy.hierarchy import Hierarchy
from ipmicra.model.organisation import HolderEvidence, Organisation


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Rows that differ between two editions."""

    came: NDArray[np.int64]
    """Rows of the new edition."""
    went: NDArray[np.int64]
    """Rows of the old edition."""
    changed: NDArray[np.int64]
    """Rows whose holder changed, (n, 2): old, new."""


def compare(old: Hierarchy, new: Hierarchy) -> Difference:
    """Compare two editions; subnets with the same range are the same subnet."""
    parts = [_match(old, new, family) for family in (4, 6)]
    came, went, old_rows, new_rows = (np.concatenate(column) for column in zip(*parts, strict=True))
    ids: dict[tuple[object, ...], int] = {}
    is_changed = _holders(old, old_rows, ids) != _holders(new, new_rows, ids)
    return Difference(
        came=came, went=went, changed=np.stack((old_rows[is_changed], new_rows[is_changed]), axis=1)
    )


def _match(old: Hierarchy, new: Hierarchy, family: int) -> tuple[NDArray[np.int64], ...]:
    """Return added rows, removed rows, and the rows of both editions that have the same range.

    Where overlaps were cut, several rows can have one range; the first of them, that of the widest
    registration, represents all.
    """
    keys = [_keys(hierarchy.bounds_array(family)) for hierarchy in (old, new)]
    bases = [0 if family == 4 else len(hierarchy.bounds_array(4)) for hierarchy in (old, new)]  # noqa: PLR2004
    uniques = [np.unique(key, return_index=True) for key in keys]
    (old_keys, old_first), (new_keys, new_first) = uniques
    _both, old_at, new_at = np.intersect1d(old_keys, new_keys, assume_unique=True, return_indices=True)
    came = np.delete(new_first, new_at) + bases[1]
    went = np.delete(old_first, old_at) + bases[0]
    return np.sort(came), np.sort(went), old_first[old_at] + bases[0], new_first[new_at] + bases[1]


def _keys(bounds: NDArray[np.generic]) -> NDArray[np.void]:
    """View each range as one comparable value."""
    contiguous = np.ascontiguousarray(bounds.astype(bounds.dtype.newbyteorder(">")))
    return contiguous.view(f"V{contiguous.dtype.itemsize * contiguous.shape[1]}").ravel()


def _holders(
    hierarchy: Hierarchy, rows: NDArray[np.int64], ids: dict[tuple[object, ...], int]
) -> NDArray[np.int64]:
    """Number the holders of rows consistently across editions; 0 means none."""
    numbers = hierarchy.organisation_many(rows)
    table = np.zeros(len(hierarchy.organisations) + 1, np.int64)
    for number in np.unique(numbers):
        if number:
            key = identity(hierarchy.organisations[int(number)])
            table[number] = ids.setdefault(key, len(ids) + 1)
    return table[numbers]


def identity(organisation: Organisation) -> tuple[object, ...]:
    """Return the key that identifies an organisation across editions."""
    if organisation.evidence is HolderEvidence.DESCRIPTION:
        return organisation.registry, " ".join((organisation.name or "").upper().split()).strip(" .,;")
    registry = None if organisation.evidence < HolderEvidence.OPAQUE else organisation.registry
    return registry, (organisation.handle or "").upper()
