"""Looking into hierarchies: targets, organisations, differences between editions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ipmicra.edge.dns import Resolver
from ipmicra.edge.files.seeds import Seed, UnresolvedSeed, read_runs, read_seeds
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import CorruptHierarchyError
from ipmicra.hierarchy.rendering import Targets
from ipmicra.model.address import Address
from ipmicra.model.organisation import Organisation
from ipmicra.model.subnet import Subnet
from ipmicra.parse.dialect import Dialect

RENDERED_BYTES = 1 << 20
"""Bytes of lines that are rendered at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A target with the subnets that hold it."""

    seed: Seed
    rows: list[int]
    """Rows of the subnets, widest first; many targets share them, so they are described once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """Lines of several targets in a row."""

    lines: memoryview
    """UTF-8, each with its end; valid until the next answer is asked for."""
    count: int


Answer = Found | UnresolvedSeed


def look_up(hierarchy: Hierarchy, words: Sequence[str]) -> Iterator[Answer]:
    """Look up what a user names, in order; a host name once for each of its addresses.

    Names of files are checked, and the first seed is read, before this returns; the rest is read on demand.
    """
    return _answers(hierarchy, Resolver(), read_seeds(words))


def look_up_texts(hierarchy: Hierarchy, texts: Iterable[str]) -> Iterator[Answer]:
    """Look up texts, none of which is taken for the name of a file."""
    return _answers(hierarchy, Resolver(), texts)


def look_up_lines(
    hierarchy: Hierarchy, words: Sequence[str], *, is_json: bool
) -> Iterator[Answer | Rendered]:
    """Look up as `look_up` does, with most of what long lists name already rendered.

    A line has the columns of a target with its narrowest subnet, or is the JSON of its lineage.
    """
    return _lines(hierarchy, read_runs(words), is_json=is_json)


def _lines(
    hierarchy: Hierarchy, pieces: Iterator[str | Targets], *, is_json: bool
) -> Iterator[Answer | Rendered]:
    resolver = Resolver()
    out = bytearray(RENDERED_BYTES)
    for piece in pieces:
        if isinstance(piece, str):
            yield from _answers(hierarchy, resolver, (piece,))
            continue
        rows = _rows_of_run(hierarchy, piece)
        at = 0
        while at < len(piece):
            stop, size = hierarchy.renderer.render(piece, rows, at, out, is_json=is_json) if rows else (at, 0)
            if stop > at:
                yield Rendered(lines=memoryview(out)[:size], count=stop - at)
            else:
                yield from _answers(hierarchy, resolver, (piece.text(at),))
            at = max(stop, at + 1)


def _rows_of_run(hierarchy: Hierarchy, targets: Targets) -> memoryview | None:
    """Find the rows of a run; None in a damaged file: one by one, targets before the damage get answers."""
    renderer = hierarchy.renderer  # raises if the file was truncated: then nothing of it may be touched
    try:
        return renderer.rows_of(targets)
    except CorruptHierarchyError:
        return None


def _answers(hierarchy: Hierarchy, resolver: Resolver, texts: Iterable[str]) -> Iterator[Answer]:
    for seed in resolver.resolve(texts):
        if isinstance(seed, UnresolvedSeed):
            yield seed
        elif seed.first is not None and seed.last is not None:  # as all that are resolved
            yield Found(seed=seed, rows=rows_of(hierarchy, seed.first, seed.last))


def rows_of(hierarchy: Hierarchy, first: Address, last: Address) -> list[int]:
    """Return the rows of the subnets that hold a whole range, widest first; ranges as registered decide."""
    rows = hierarchy.lineage_rows(hierarchy.row_of(first))
    if first == last:
        return rows
    return [row for row in rows if int(last) <= int(hierarchy.registered_range(row)[1])]


def lineage_of(hierarchy: Hierarchy, first: Address, last: Address) -> list[Subnet]:
    """Return the subnets of `rows_of`."""
    return hierarchy.subnets(rows_of(hierarchy, first, last))


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """An organisation with its subnets."""

    organisation: Organisation
    subnet_count: int
    subnets: list[Subnet]
    """The first of them, in the order of addresses."""


def find_holdings(hierarchy: Hierarchy, query: str, limit: int, subnet_limit: int) -> Iterator[Holding]:
    """Find organisations by part of a name or handle, with the first of their subnets."""
    for organisation in hierarchy.search(query, limit):
        rows = hierarchy.subnets_of(organisation)
        yield Holding(
            organisation=organisation,
            subnet_count=len(rows),
            subnets=hierarchy.subnets(rows[:subnet_limit]),
        )


def has_names(hierarchy: Hierarchy) -> bool:
    """Return whether organisations have names: statistics files have opaque ids only."""
    return any(dump.dialect != Dialect.STATISTICS.value for dump in hierarchy.edition.dumps)
