"""Partitioning a list of sites and comparing methods."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ipmicra.app.partition.inputs import Gathered
from ipmicra.app.partition.table_state import USERS, change
from ipmicra.edge.files.sites import read_assigned
from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.errors import InputError
from ipmicra.model.foreign_text import csv_text
from ipmicra.partition.compare import PartitionResult, result_of
from ipmicra.partition.methods.registry import METHODS, Method, given_column, missing
from ipmicra.partition.methods.two_level import table_of

ALL = "all"


def choose_methods(names: list[str], assigned: Mapping[str, Path], gathered: Gathered) -> list[Method]:
    """Return the methods that were named or given as columns; `all` means all that can run."""
    given = {name: _assigned_method(name, path, gathered) for name, path in assigned.items()}
    stored = {name: given_column(name, column) for name, column in gathered.given.items()}
    known = {**METHODS, **stored, **given}
    unknown = [name for name in names if name not in {ALL, *known}]
    if unknown:
        raise InputError(f"no method {', '.join(unknown)}; there are {', '.join(known)} and {ALL}")
    if ALL in names:
        return [method for method in known.values() if not missing(method, gathered.problem)]
    chosen = [known[name] for name in dict.fromkeys([*names, *given])]
    for method in chosen:
        lacking = missing(method, gathered.problem)
        if lacking:
            raise InputError(f"{method.name} needs {_needs(method, gathered)}")
    return chosen


def _needs(method: Method, gathered: Gathered) -> str:
    """Say what a method lacks, and why the store does not have it."""
    needs = " and ".join(need.value for need in missing(method, gathered.problem))
    reason = gathered.reasons.get(method.name)
    return f"{needs}; {reason}" if reason else needs


def left_out(gathered: Gathered, chosen: list[Method]) -> list[str]:
    """Report which methods `all` leaves out, and what they would need."""
    names = {method.name for method in chosen}
    return [
        f"{method.name} left out: it needs {_needs(method, gathered)}"
        for method in METHODS.values()
        if method.name not in names
    ]


def compare(methods: list[Method], gathered: Gathered) -> list[PartitionResult]:
    """Partition the sites by each method."""
    return [result_of(method, gathered.problem) for method in methods]


def keep_table(gathered: Gathered, results: list[PartitionResult], *, is_kept: bool) -> list[str]:
    """Keep the logical table where a method has used it; return what to tell about it."""
    if not USERS & {result.method for result in results}:
        return []
    if is_kept and not gathered.is_supposed:
        said = gathered.place.keep(gathered.kept, gathered.problem)
        return [] if said is None else [said]
    changed = f"logical table: {change(gathered.kept, table_of(gathered.problem))}"
    why = "; not kept: `ipmicra crawler add` and `remove` change your fleet" if gathered.is_supposed else ""
    return [changed + why] if gathered.kept else []


def write_assignments(path: Path, gathered: Gathered, results: list[PartitionResult]) -> None:
    """Write `host,address,crawler`, with a column `method` in front if there are several."""
    names = np.array(gathered.problem.crawlers.names, object)
    is_single = len(results) == 1
    rows = (
        [*(() if is_single else (result.method,)), host, address or "", crawler]
        for result in results
        for host, address, crawler in zip(
            gathered.hosts, gathered.addresses, names[result.column].tolist(), strict=True
        )
    )
    columns = ["host", "address", "crawler"] if is_single else ["method", "host", "address", "crawler"]
    write_atomically(path, [csv_text(columns, rows).encode()])


def _assigned_method(name: str, path: Path, gathered: Gathered) -> Method:
    """Read a column of crawlers; every site must have one that is in the fleet."""
    crawler_of = read_assigned(path)
    numbers = {crawler: number for number, crawler in enumerate(gathered.problem.crawlers.names)}
    lacking = [host for host in gathered.hosts if host not in crawler_of]
    if lacking:
        raise InputError(f"{path} has no crawler for {len(lacking):,} sites, such as {lacking[0]}")
    unknown = sorted({crawler_of[host] for host in gathered.hosts} - numbers.keys())
    if unknown:
        raise InputError(f"{path}: {', '.join(unknown[:3])} are not among the crawlers {', '.join(numbers)}")
    return given_column(name, np.array([numbers[crawler_of[host]] for host in gathered.hosts], np.int32))
