"""Other prefix tables, filled with the same subnets; ipmicra's row numbers are their answers."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from importlib import import_module
from ipaddress import IPv4Address, IPv6Address, summarize_address_range
from pathlib import Path
from socket import AF_INET6
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.ranges_dump import dotted

Get = Callable[[Any], int | None]
Bounds = NDArray[np.uint32] | NDArray[np.uint64]
"""First and last address of each subnet of a family, in one word each or in two."""


def prefixes_of(first: int, last: int) -> list[str]:
    """Split an inclusive range into prefixes: 10.0.0.0-10.0.0.5 is 10.0.0.0/30 and 10.0.0.4/31."""
    size = last - first + 1
    if size & (size - 1) == 0 and first % size == 0:
        return [f"{dotted(first)}/{33 - size.bit_length()}"]
    return [str(prefix) for prefix in summarize_address_range(IPv4Address(first), IPv4Address(last))]


def prefixes6_of(first: int, last: int) -> list[str]:
    """Split an inclusive range of IPv6 into prefixes."""
    return [str(prefix) for prefix in summarize_address_range(IPv6Address(first), IPv6Address(last))]


def all_prefixes(bounds: Bounds) -> Iterator[tuple[str, int]]:
    """Return the prefixes of all subnets but the root, with their rows in the family; children after parents.

    A child that has the same prefix as a part of its parent comes later and takes its place.
    """
    if bounds.shape[1] == 2:
        ranges = ((prefixes_of(first, last)) for first, last in bounds[1:].tolist())
    else:
        words = bounds[1:].tolist()
        ranges = (prefixes6_of(high << 64 | low, end << 64 | last) for high, low, end, last in words)
    for row, prefixes in enumerate(ranges, start=1):
        for prefix in prefixes:
            yield prefix, row


def filled_pytricia(bounds: Bounds) -> Any:  # noqa: ANN401 - the package has no types
    """Fill a table of pytricia."""
    table = import_module("pytricia").PyTricia(*((32,) if bounds.shape[1] == 2 else (128, AF_INET6)))
    for prefix, row in all_prefixes(bounds):
        table[prefix] = row
    return table


def radix_get(bounds: Bounds) -> Get:
    """Fill a table of py-radix; give its search for the narrowest prefix, whose answer is a node."""
    table = import_module("radix").Radix()
    for prefix, row in all_prefixes(bounds):
        table.add(prefix).data["row"] = row
    search: Get = table.search_best
    return search


def write_mmdb(bounds: Bounds, path: Path) -> None:
    """Write a MaxMind database whose records are row numbers."""
    network_set = import_module("netaddr").IPSet
    writer = import_module("mmdb_writer").MMDBWriter(
        ip_version=4 if bounds.shape[1] == 2 else 6,
        database_type="rows",
        languages=["en"],
        description="rows",
        int_type="u32",
    )
    for prefix, row in all_prefixes(bounds):
        writer.insert_network(network_set([prefix]), row)
    writer.to_db_file(str(path))


def mmdb_get(path: Path) -> Get:
    """Open a MaxMind database with the reader written in C."""
    maxminddb = import_module("maxminddb")
    get: Get = maxminddb.open_database(str(path), maxminddb.MODE_MMAP_EXT).get
    return get


def write_pickle(bounds: NDArray[np.uint32], path: Path) -> None:
    """Write a pickled table of pytricia, which has to be frozen for that."""
    table = filled_pytricia(bounds)
    table.freeze()
    path.write_bytes(pickle.dumps(table, pickle.HIGHEST_PROTOCOL))


def check_agreement(name: str, expected: list[int], answers: list[int | None], questions: list[str]) -> None:
    """Check that a peer returns the same rows of a family; it has no root, which is row 0."""
    for question, row, answer in zip(questions, expected, answers, strict=True):
        if (answer or 0) != row:
            raise RuntimeError(f"{question}: {name} finds row {answer}, ipmicra row {row}")
