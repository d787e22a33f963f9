"""Change the tables of SQLite stores as later versions did."""

from __future__ import annotations

from sqlite_utils import Database

from ipmicra.edge.store.keys import key_hash
from ipmicra.edge.store.published.tables import (
    FIRST_COLUMNS,
    NEEDED,
    ORIGIN_COLUMNS,
    SQL_TYPES,
    columns_text,
    create_trigger,
    make_table,
)
from ipmicra.model.delegation import OWN


def add_downloads(database: Database) -> None:
    """Keep how long the main page took, of samples for which that was asked."""
    database["samples"].add_column("download_ms", float)  # type: ignore[union-attr]


def create_track_records(database: Database) -> None:
    """Make the table of counters.

    Version 0.1.0 kept implausible samples but not how many were checked. Those of a crawler since it joined
    are taken as half of its checks: it is believed for now, and one more implausible sample tips the balance.
    """
    columns = {"crawler": str, "since_s": float, "checked": int, "implausible": int}
    needed = ("since_s", "checked", "implausible")
    make_table(database, "track_records", columns, key="crawler", needed=needed)
    database.execute(
        "INSERT INTO track_records SELECT name, joined_s, 2 * count(*), count(*) FROM marks "
        "JOIN crawlers ON name = crawler WHERE at_s >= joined_s GROUP BY name"
    )


def append_delegations(database: Database) -> None:
    """Keep delegations in the order in which they come, found by the hash of their bounds.

    Those of more than one address are also in an index by address: they are few beside the single addresses
    of a long list, and every run reads them.
    """
    database.conn.create_function("key_hash", 2, key_hash, deterministic=True)
    text, names = columns_text(("first", "last", *NEEDED)), ", ".join(FIRST_COLUMNS)
    database.execute(f"CREATE TABLE appended (id INTEGER PRIMARY KEY, key_hash INTEGER NOT NULL, {text})")
    database.execute(
        f"INSERT INTO appended (key_hash, {names}) "  # noqa: S608 - our own names
        f"SELECT key_hash(first, last), {names} FROM delegations ORDER BY created_s, first, last"
    )
    database.execute("DROP TABLE delegations")
    database.execute("ALTER TABLE appended RENAME TO delegations")
    database.execute("CREATE INDEX delegations_by_hash ON delegations (key_hash)")
    database.execute("CREATE INDEX wide_delegations ON delegations (first, last DESC) WHERE first <> last")
    create_trigger(database, FIRST_COLUMNS)


def add_origins(database: Database) -> None:
    """Keep what each delegation rests on and which policy made it.

    Of those that are there, the address that they were decided for is known, and that it was probed if there
    is a round trip that took a probe. Only crawlers' own subnets were decided for no address. Which policy
    decided the others was not written down.
    """
    for table in ("delegations", "delegation_history"):
        for name, kind in ORIGIN_COLUMNS.items():
            database.execute(f"ALTER TABLE {table} ADD COLUMN {name} {SQL_TYPES[kind]}")
    for table in ("delegations", "delegation_history"):
        database.execute(
            f"UPDATE {table} SET origin_first = address, origin_last = address, "  # noqa: S608 - our own names
            "measured_s = CASE WHEN rtt_ms IS NOT NULL AND probes > 0 THEN created_s END "
            "WHERE address IS NOT NULL AND (evidence <> 'inherited' OR (rtt_ms IS NOT NULL AND probes > 0))"
        )
        database.execute(f"UPDATE {table} SET policy = '{OWN}' WHERE address IS NULL")  # noqa: S608
    database.execute("DROP TRIGGER delegations_replaced")
    create_trigger(database, (*FIRST_COLUMNS, *ORIGIN_COLUMNS))


def append_results(database: Database) -> None:
    """Keep results in the order in which they come, found by batch and by the hash of their host."""
    columns = "batch, host, address, first, last, crawler, evidence, rtt_ms, probes"
    database.conn.create_function("key_hash", 1, key_hash, deterministic=True)
    database.execute(
        "CREATE TABLE appended (id INTEGER PRIMARY KEY, key_hash INTEGER NOT NULL, batch INTEGER NOT NULL, "
        "host TEXT NOT NULL, address BLOB NOT NULL, first BLOB NOT NULL, last BLOB NOT NULL, "
        "crawler TEXT NOT NULL, evidence TEXT NOT NULL, rtt_ms FLOAT, probes INTEGER NOT NULL)"
    )
    database.execute(
        f"INSERT INTO appended (key_hash, {columns}) "  # noqa: S608 - our own names
        f"SELECT key_hash(host), {columns} FROM results ORDER BY rowid"
    )
    database.execute("DROP TABLE results")
    database.execute("ALTER TABLE appended RENAME TO results")
    database.execute("CREATE INDEX results_by_hash ON results (key_hash, batch)")
    database.execute("CREATE INDEX results_by_batch ON results (batch)")


def add_result_origins(database: Database) -> None:
    """Keep what a result rests on; results that were called probed and are another host's become inherited.

    A site was probed if its crawler has a sample of its address. If not, its subnet's delegation says whose
    sample it was; comes after `add_origins`.
    """
    database.conn.create_function("key_hash", 2, key_hash, deterministic=True)
    for name, kind in (("origin_first", "BLOB"), ("origin_last", "BLOB"), ("measured_s", "FLOAT")):
        database.execute(f"ALTER TABLE results ADD COLUMN {name} {kind}")
    database.execute(
        "UPDATE results SET evidence = 'inherited' WHERE evidence = 'probed' AND probes = 0 AND NOT EXISTS ("
        "SELECT 1 FROM samples WHERE samples.address = results.address AND samples.crawler = results.crawler "
        "AND samples.rtt_ms IS NOT NULL)"
    )
    for table, found in (
        ("delegations", "d.key_hash = key_hash(results.first, results.last) AND "),
        ("delegation_history", ""),
    ):
        database.execute(
            "UPDATE results SET (origin_first, origin_last, measured_s) = "  # noqa: S608 - our own names
            f"(SELECT d.origin_first, d.origin_last, d.measured_s FROM {table} AS d WHERE {found}"
            "d.first = results.first AND d.last = results.last AND d.crawler = results.crawler "
            "AND d.origin_first IS NOT NULL AND d.origin_first <> results.address LIMIT 1) "
            "WHERE origin_first IS NULL AND probes = 0 AND evidence <> 'probed' AND first <> last"
        )


def add_vantages_to_assignments(database: Database) -> None:
    """Let a site have an assignment for each vantage; earlier ones have none."""
    columns = "host, piece, of, address, crawler, reason, backend, expected_ms, pages, filters, assigned_s"
    database.execute(
        "CREATE TABLE seen (host TEXT NOT NULL, vantage TEXT NOT NULL DEFAULT '', piece INTEGER NOT NULL, "
        "of INTEGER NOT NULL, address BLOB NOT NULL, crawler TEXT, reason TEXT NOT NULL, "
        "backend TEXT NOT NULL, expected_ms FLOAT, pages INTEGER, filters TEXT NOT NULL, "
        "assigned_s FLOAT NOT NULL, rule TEXT NOT NULL DEFAULT '', PRIMARY KEY (host, vantage, piece))"
    )
    database.execute(f"INSERT INTO seen ({columns}) SELECT {columns} FROM assignments")  # noqa: S608
    database.execute("DROP TABLE assignments")
    database.execute("ALTER TABLE seen RENAME TO assignments")


def add_vantages_to_recrawls(database: Database) -> None:
    """Let a site have a schedule for each vantage; earlier ones have none."""
    columns = "host, piece, of, interval_s, first_s, submitted_s, started_s, crawled_s, pages, crawls"
    database.execute(
        "CREATE TABLE seen (host TEXT NOT NULL, vantage TEXT NOT NULL DEFAULT '', piece INTEGER NOT NULL, "
        "of INTEGER NOT NULL, interval_s FLOAT, first_s FLOAT NOT NULL, submitted_s FLOAT NOT NULL, "
        "started_s FLOAT, crawled_s FLOAT, pages INTEGER, crawls INTEGER NOT NULL, "
        "PRIMARY KEY (host, vantage, piece))"
    )
    database.execute(f"INSERT INTO seen ({columns}) SELECT {columns} FROM recrawls")  # noqa: S608
    database.execute("DROP TABLE recrawls")
    database.execute("ALTER TABLE seen RENAME TO recrawls")


def add_answer_origins(database: Database) -> None:
    """Note with each answer what was measured, and when."""
    for name, kind in (("origin_first", "BLOB"), ("origin_last", "BLOB"), ("measured_s", "FLOAT")):
        database.execute(f"ALTER TABLE site_answers ADD COLUMN {name} {kind}")


def number_changes(database: Database) -> None:
    """Number assignments by their last change, and keep what crawlers lose."""
    database.execute("ALTER TABLE assignments ADD COLUMN seq INTEGER NOT NULL DEFAULT 0")
    database.execute("UPDATE assignments SET seq = rowid")
    database.execute("CREATE INDEX assignments_by_change ON assignments (seq)")
    database.execute("CREATE INDEX assignments_by_crawler ON assignments (crawler, seq)")
    database.execute("CREATE INDEX assignments_by_address ON assignments (address)")
    database.execute(
        "CREATE TABLE lost_assignments (crawler TEXT NOT NULL, host TEXT NOT NULL, vantage TEXT NOT NULL, "
        "piece INTEGER NOT NULL, of INTEGER NOT NULL, at_s FLOAT NOT NULL, seq INTEGER NOT NULL, "
        "PRIMARY KEY (crawler, host, vantage, piece))"
    )
    database.execute("CREATE INDEX losses_by_change ON lost_assignments (seq)")
    database.execute("CREATE INDEX losses_by_crawler ON lost_assignments (crawler, seq)")
    database.execute("CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL)")
    database.execute("INSERT INTO counters SELECT 'assignments', coalesce(max(seq), 0) FROM assignments")
