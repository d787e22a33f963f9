"""Assigning a thousand new hosts where few or many are assigned already."""

from __future__ import annotations

import sys
from functools import partial
from ipaddress import ip_address
from itertools import count
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import children_time, peak_memory, run_to_nowhere, side_by_side
from benchmarks.results import Row, Target, as_long, number_text, seconds_text
from ipmicra.edge.store.ports import Member
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler

TARGET = Target(sense="≤", limit=1.3)
NEW, CRAWLERS, AT_ONCE = 1000, 20, 1_000_000
_INDEXES = (
    "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL "
    "AND tbl_name IN ('assignments', 'recrawls')"
)
_PAGES = "1 + 10000000 / (1 + (i * 7919) % 10000000)"
"""Sizes of sites, by a power law."""
_ASSIGN = (
    "INSERT INTO assignments (host, vantage, piece, of, address, crawler, reason, backend, expected_ms, "
    "pages, filters, assigned_s, rule, seq) SELECT printf('h%09d.example', i), '', 1, 1, "
    f"CAST(printf('%016d', i) AS BLOB), printf('c%02d', i % {CRAWLERS}), 'nearest', 'balance', 20.0, "
    f"{_PAGES}, '[]', 1.0, '', i + 1 FROM n"
)
_SCHEDULE = (
    "INSERT INTO recrawls (host, vantage, piece, of, interval_s, first_s, submitted_s, pages, crawls, due_s) "
    f"SELECT printf('h%09d.example', i), '', 1, 1, 604800.0, 1.0, 1.0, {_PAGES}, 0, 1e10 + i FROM n"
)


def measure_assigned_store(bench: Bench) -> list[Row]:
    """Let the command take turns on both stores; each call assigns hosts that no call had before."""
    few, many = bench.sizes.stores
    stores = {
        number: bench.scratch.made(f"assigned-{number}.db", partial(fill, number)) for number in (few, many)
    }
    lists = count()
    bench.say(f"assigning {NEW:,} hosts beside {many:,}")

    def command(number: int) -> list[str | Path]:
        at = next(lists)
        seeds = bench.scratch.made(f"new-{at}.txt", partial(_write_seeds, at))
        url = f"sqlite:///{stores[number]}"
        return [sys.executable, "-m", "ipmicra", "--home", seeds.parent, "assign", seeds, "--store", url]

    peaks = {number: peak_memory([*command(number), "--json"]).total_bytes for number in stores}
    actions = {str(number): lambda number=number: run_to_nowhere(command(number)) for number in stores}
    times = side_by_side(actions, bench.sizes.command_rounds, clock=children_time)
    ours, theirs = times[str(many)], times[str(few)]
    figures = [
        f"{seconds_text(ours.median)} of CPU; {seconds_text(theirs.median)} beside {few:,}",
        f"peak memory {number_text(peaks[many] / 1e6)} MB; {number_text(peaks[few] / 1e6)} MB beside {few:,}",
        f"store {number_text(stores[many].stat().st_size / 1e9)} GB",
    ]
    return [
        as_long(
            f"{NEW:,} hosts beside {many:,} assigned ones ÷ beside {few:,}", ours, theirs, TARGET, figures
        )
    ]


def _write_seeds(at: int, path: Path) -> None:
    path.write_text("".join(f"10.{at}.{i // 250}.{i % 250}\n" for i in range(NEW)))


def fill(hosts: int, path: Path) -> None:
    """Fill a store with assigned and scheduled hosts, by SQL: the way of the command would take hours."""
    with Store.open(f"sqlite:///{path}") as store:
        for i in range(CRAWLERS):
            address = ip_address(f"192.0.2.{i + 1}")
            store.crawlers.put(Member(crawler=Crawler(name=f"c{i:02}", address=address)))
        run = store.connection.execute
        run("PRAGMA synchronous = OFF")
        indexes = list(store.connection.rows(_INDEXES))
        for name, _ in indexes:
            run(f"DROP INDEX {name}")
        for start in range(0, hosts, AT_ONCE):
            numbers = (
                f"WITH RECURSIVE n(i) AS (SELECT {start} UNION ALL "
                f"SELECT i + 1 FROM n WHERE i < {min(hosts, start + AT_ONCE) - 1})"
            )
            run(f"{numbers} {_ASSIGN}")
            run(f"{numbers} {_SCHEDULE}")
        for _, sql in indexes:
            run(sql)
        run("INSERT OR REPLACE INTO counters (name, value) VALUES ('assignments', ?)", (hosts,))
        run("DELETE FROM crawler_loads")
        run("DELETE FROM page_counts")
        run(
            "INSERT INTO crawler_loads (crawler, sites, sized, pages) "
            "SELECT crawler, count(*), count(*), sum(pages) FROM assignments GROUP BY crawler"
        )
        run("INSERT INTO page_counts (pages, sites) SELECT pages, count(*) FROM assignments GROUP BY pages")
