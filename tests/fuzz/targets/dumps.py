"""Dumps of the registries, plain and packed."""

from __future__ import annotations

from collections.abc import Callable

from ipmicra.edge.dumps.reading import inspect
from ipmicra.errors import DumpError
from ipmicra.model.registry import Registry
from ipmicra.parse.dialect import Dialect, recognise
from ipmicra.parse.parser import parse_bytes
from tests.fuzz.held_file import held
from tests.fuzz.target import target
from tests.reference.fast_reading import in_order, spelled_out
from tests.reference.slow_parser import SlowDump, read_iana, read_paragraphs, read_statistics

SLOW: dict[Dialect, Callable[[bytes, Registry], SlowDump]] = {
    Dialect.STATISTICS: lambda data, _registry: read_statistics(data),
    Dialect.IANA: lambda data, _registry: read_iana(data),
}


@target("dumps", DumpError, longest=300)
def read_dump(data: bytes) -> None:
    """A dump of any dialect is read as the slow twin reads it."""
    found = recognise(data)
    if found is not None:
        columns = parse_bytes(data, *found)
        assert spelled_out(columns) == in_order(SLOW.get(found[0], read_paragraphs)(data, found[1]))


@target("packed-dumps", DumpError, longest=512)
def inspect_dump(data: bytes) -> None:
    """A packed dump is recognised, or refused with its name and the byte at which it is damaged."""
    inspect(held(data))
