"""Nest ranges slowly and obviously right: the twin of `ipmicra.hierarchy`.

A range is (first, last, what it stands for), ends included. Of two ranges the wider one is above; of two
equally wide ones the one that starts earlier. The rules are those of `native/hierarchy/nest.c` and
`native/hierarchy/duplicates.c`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ipmicra.model.organisation import HolderEvidence
from ipmicra.model.registry import Registry
from tests.reference.slow_parser import SlowOrganisation, SlowRegistration

BITS = {4: 32, 6: 128}
MOST_PIECES = 64


class SlowRange(NamedTuple):
    """An inclusive range and the registration it stands for; None for a root that nobody registered."""

    first: int
    last: int
    registration: SlowRegistration | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRow:
    """A node of the tree: a range, or the piece that was cut off one."""

    first: int
    last: int
    whole: SlowRange
    parent: int
    """Row of the parent; the root's own row for the root."""
    depth: int


def from_top(whole: SlowRange) -> tuple[int, int]:
    """Order ranges from the top of the tree down: the widest first, then the earliest."""
    return -(whole.last - whole.first), whole.first


def with_root(ranges: Iterable[SlowRange], bits: int) -> list[SlowRange]:
    """Add the whole space, unless somebody registered it."""
    last = 2**bits - 1
    listed = list(ranges)
    is_there = any((whole.first, whole.last) == (0, last) for whole in listed)
    return listed if is_there else [SlowRange(0, last), *listed]


def lineage(ranges: Iterable[SlowRange], address: int) -> list[SlowRange]:
    """Return all ranges that hold an address, from the top down: try every range."""
    return sorted((whole for whole in ranges if whole.first <= address <= whole.last), key=from_top)


def cuts(ranges: Iterable[SlowRange], whole: SlowRange) -> list[int]:
    """Return the addresses inside a range at which a wider range starts or the one behind it begins."""
    above = [other for other in ranges if from_top(other) < from_top(whole)]
    bounds = {bound for other in above for bound in (other.first, other.last + 1)}
    return sorted(bound for bound in bounds if whole.first < bound <= whole.last)


def pieces(ranges: Sequence[SlowRange], whole: SlowRange) -> list[tuple[int, int]]:
    """Cut a range at the bounds of the wider ones inside it; return the ends of the parts.

    10-19 beside 15-34 gives 10-14 and 15-19.
    """
    starts = [whole.first, *cuts(ranges, whole)]
    return list(zip(starts, [*(start - 1 for start in starts[1:]), whole.last], strict=True))


def bearable(ranges: Sequence[SlowRange]) -> list[SlowRange]:
    """Leave out the ranges that all others together would cut into too many pieces."""
    return [whole for whole in ranges if len(pieces(ranges, whole)) <= MOST_PIECES]


def nested(ranges: Iterable[SlowRange], bits: int) -> list[SlowRow]:
    """Build the tree in preorder: rows by start, and of those that start together from the top down."""
    rooted = bearable(with_root(ranges, bits))
    parts = [(first, last, whole) for whole in rooted for first, last in pieces(rooted, whole)]
    parts.sort(key=lambda part: (part[0], from_top(part[2])))
    rows: list[SlowRow] = []
    for first, last, whole in parts:
        holding = lineage(rooted, first)
        above = holding[: holding.index(whole)]
        parent = len(rows)
        if above:
            parent = max(i for i, row in enumerate(rows) if row.whole is above[-1])
        rows.append(SlowRow(first=first, last=last, whole=whole, parent=parent, depth=len(above)))
    return rows


def narrowest(rows: Sequence[SlowRow], address: int) -> int:
    """Return the row of the deepest node that holds an address: try every node."""
    return max(
        (i for i, row in enumerate(rows) if row.first <= address <= row.last), key=lambda i: rows[i].depth
    )


# --- duplicates ---------------------------------------------------------------------------------------------


def evidence_of(registration: SlowRegistration) -> tuple[HolderEvidence, str]:
    """Return what names the holder best: a handle, else a name, else a maintainer, else the description."""
    if registration.handle:
        return HolderEvidence[registration.holder], registration.handle
    if registration.owner:
        return HolderEvidence.OWNER, registration.owner
    if registration.maintainer:
        return HolderEvidence.MAINTAINER, registration.maintainer
    if registration.descr:
        return HolderEvidence.DESCRIPTION, registration.descr
    return HolderEvidence.NONE, ""


def detail_of(registration: SlowRegistration) -> int:
    """Count the values of a registration, also those that no hierarchy keeps."""
    said = registration
    named = (said.descr, said.handle, said.owner, said.maintainer)
    shown = (said.netname, said.status, said.geoloc, said.geofeed, said.address)
    return sum(bool(value) for value in (*named, *shown, said.country, said.date))


def worth(registration: SlowRegistration) -> tuple[object, ...]:
    """Order registrations of one range, the best first: more detail, then newer, then by what is kept."""
    evidence, holder = evidence_of(registration)
    said = registration
    texts = (said.netname, holder, said.status, said.geoloc, said.geofeed, said.address)
    return (
        -detail_of(registration),
        -registration.date,
        registration.registry,
        registration.country,
        evidence,
        [value.encode() for value in texts],
    )


def merged(registrations: Iterable[SlowRegistration], family: int) -> list[SlowRange]:
    """Keep the best registration of each range."""
    same: dict[tuple[int, int], list[SlowRegistration]] = defaultdict(list)
    for registration in registrations:
        if registration.family == family:
            same[registration.first, registration.last].append(registration)
    return [SlowRange(*ends, min(found, key=worth)) for ends, found in same.items()]


# --- holders ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowHolder:
    """Who holds a subnet, and how that is known; absent values are empty."""

    evidence: HolderEvidence
    handle: str = ""
    name: str = ""
    address: str = ""
    country: str = ""


def folded(value: str) -> str:
    """Bring a handle into the form in which it is compared: ASCII letters in upper case."""
    return "".join(letter.upper() if letter.isascii() else letter for letter in value)


def organisation_worth(organisation: SlowOrganisation) -> tuple[object, ...]:
    """Order organisation objects of one handle, the best first."""
    said = (organisation.handle, organisation.name, organisation.address)
    return (
        -sum(bool(value) for value in (*said, organisation.country, organisation.date)),
        -organisation.date,
        organisation.registry,
        organisation.country,
        [value.encode() for value in said],
    )


def holder_of(
    registration: SlowRegistration, objects: Iterable[tuple[str, SlowOrganisation]]
) -> SlowHolder | None:
    """Find the holder by the best evidence; objects are (kind of handle, organisation)."""
    if registration.handle:
        found = [
            each
            for kind, each in objects
            if kind == registration.holder and folded(each.handle) == folded(registration.handle)
        ]
        evidence = HolderEvidence[registration.holder]
        if found and evidence is not HolderEvidence.OPAQUE:
            best = min(found, key=organisation_worth)
            return SlowHolder(
                evidence=evidence,
                handle=best.handle,
                name=best.name,
                address=best.address,
                country=best.country,
            )
        return SlowHolder(evidence=evidence, handle=registration.handle)
    if registration.owner:
        return SlowHolder(evidence=HolderEvidence.OWNER, name=registration.owner)
    if registration.maintainer:
        return SlowHolder(evidence=HolderEvidence.MAINTAINER, handle=registration.maintainer)
    if registration.descr:
        return SlowHolder(evidence=HolderEvidence.DESCRIPTION, name=registration.descr)
    return None


def holder_key(registration: SlowRegistration) -> tuple[object, ...] | None:
    """Say what makes two registrations those of one holder; None where nothing names one."""
    is_local = registration.holder == "OPAQUE" or not registration.handle
    registry = registration.registry if is_local else Registry.NONE
    if registration.handle:
        return registration.holder, registry, one_spaced(registration.handle)
    if registration.owner:
        return "OWNER", registry, one_spaced(registration.owner.strip(" \t,.;"))
    if registration.maintainer:
        return "MAINTAINER", registry, one_spaced(registration.maintainer)
    if registration.descr:
        return "DESCRIPTION", registry, one_spaced(registration.descr.strip(" \t,.;"))
    return None


def one_spaced(value: str) -> str:
    """Fold a text and make runs of blanks one space."""
    return " ".join(word for word in folded(value).replace("\t", " ").split(" ") if word)
