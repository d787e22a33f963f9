"""Bulk writes into PostgreSQL: samples, results and delegations beside a bare COPY of the same rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial

import psycopg

from benchmarks.bench import Bench
from benchmarks.keeping import AT_ONCE, make_delegations, make_results, make_samples, write_in_parts
from benchmarks.measure import side_by_side
from benchmarks.results import Row, Target, against
from ipmicra.edge.store.batches import RESULTS
from ipmicra.edge.store.delegations import DELEGATIONS
from ipmicra.edge.store.probes import SAMPLES
from ipmicra.edge.store.schema import Row as Values
from ipmicra.edge.store.schema import Table
from ipmicra.edge.store.store import Store
from tests.servers.postgres import HOW, PostgresServer, binaries

LEAST = 0.5
"""Of the speed of a bare COPY of the same rows into the same table."""
_TYPES = {bytes: "bytea", str: "text", float: "float8", int: "int8"}


def measure_postgres(bench: Bench) -> list[Row]:
    """Measure the wall clock of both, as the server works in processes of its own."""
    if binaries() is None:
        bench.say(HOW)
        return []
    count = bench.sizes.kept
    bench.say(f"keeping {count:,} rows of each kind in PostgreSQL")
    samples, delegations, results = make_samples(count), make_delegations(count), make_results(count)
    with PostgresServer() as server:
        url = server.new_store()
        with Store.open(url) as store, closing(psycopg.connect(url, autocommit=True)) as raw:
            jobs: dict[str, tuple[Table, Callable[[], None]]] = {
                "samples": (SAMPLES, lambda: write_in_parts(store.samples.add_many, samples)),
                "results of sites": (
                    RESULTS,
                    lambda: write_in_parts(partial(store.results.add_many, 1), results),
                ),
                "delegations, each with its account": (
                    DELEGATIONS,
                    lambda: write_in_parts(store.delegations.put_many, delegations),
                ),
            }
            return [_row(bench, raw, name, *job) for name, job in jobs.items()]


def _row(
    bench: Bench, raw: psycopg.Connection[Values], name: str, table: Table, ours: Callable[[], None]
) -> Row:
    """Let the store write once, take its rows as they are, and then take turns."""
    ours()
    columns = ", ".join(table.filled)
    rows = raw.execute(f"SELECT {columns} FROM {table.name} ORDER BY id".encode()).fetchall()
    actions = {"ours": ours, "bare": partial(_bare_copy, raw, table, rows)}
    empty = f"TRUNCATE {table.name}".encode()
    times = side_by_side(actions, bench.sizes.short_rounds, before=lambda: raw.execute(empty))
    limit = Target(sense="≥", limit=LEAST) if table is SAMPLES else None
    rates = [f"{which} {len(rows) / one.median:,.0f} rows/s by the clock" for which, one in times.items()]
    what = f"{name}, written {AT_ONCE:,} at a time: speed, times a bare `COPY` of the same rows"
    return against(what, times["ours"], times["bare"], limit, (f"{len(rows):,} rows", *rates))


def _bare_copy(raw: psycopg.Connection[Values], table: Table, rows: list[Values]) -> None:
    """Copy tuples that are ready, in as many transactions."""
    sql = f"COPY {table.name} ({', '.join(table.filled)}) FROM STDIN (FORMAT BINARY)".encode()
    kinds = [_TYPES[table.kind(name)] for name in table.filled]
    for start in range(0, len(rows), AT_ONCE):
        with raw.cursor() as cursor, cursor.copy(sql) as copy:
            copy.set_types(kinds)
            for row in rows[start : start + AT_ONCE]:
                copy.write_row(row)
