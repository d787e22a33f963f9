"""Read which store a URL names: a file of SQLite's, or a database of PostgreSQL's.

`sqlite:///a.db` is ./a.db, `sqlite:////a.db` is /a.db, `sqlite://` is a store in memory, and a text without a
scheme is a path. `postgresql://USER@HOST/DATABASE` is whatever libpq makes of it. A password in it is never
shown: `shown` is what messages and logs have.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from ipmicra.edge.store.connection import Connection, ConnectionConfig
from ipmicra.errors import InputError, MissingExtraError, StoreError

_SCHEMES = ("postgresql://", "postgres://")
_NAMES = "sqlite:///FILE (relative), sqlite:////FILE (absolute) or postgresql://USER@HOST/DATABASE"


def is_postgres(url: str) -> bool:
    """Return whether a store is in PostgreSQL."""
    return url.startswith(_SCHEMES)


def path_of(url: str) -> str:
    """Return the file that a store's URL names; `InputError` if it names none."""
    if "://" not in url:
        return url
    parts = urlsplit(url)
    if parts.scheme != "sqlite" or parts.netloc:
        raise InputError(f"{parts.scheme}://… is no store: use {_NAMES}")
    return unquote(parts.path[1:]) or ":memory:"


def shown(url: str) -> str:
    """Return a store's URL as messages may have it: without a password."""
    if is_postgres(url):
        _need_psycopg()
        from ipmicra.edge.store.postgres.place import PostgresPlace

        return PostgresPlace.of(url).shown
    return path_of(url)


def connect(url: str, config: ConnectionConfig) -> Connection:
    """Connect to a store as it is; a file is made if it is missing."""
    if is_postgres(url):
        _need_psycopg()
        from ipmicra.edge.store.postgres.connection import PostgresConnection
        from ipmicra.edge.store.postgres.place import PostgresPlace

        return PostgresConnection(PostgresPlace.of(url), config)
    from ipmicra.edge.store.sqlite import SqliteConnection

    path = path_of(url)
    make_folder(path)
    return SqliteConnection(path, config)


def _need_psycopg() -> None:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:  # also where there is psycopg but no libpq
        raise MissingExtraError("a store in PostgreSQL", "psycopg") from error


def is_there(url: str) -> bool:
    """Return whether a store exists; opening one would create it."""
    if not is_postgres(url):
        return Path(path_of(url)).is_file()
    connection = connect(url, ConnectionConfig())
    try:
        return connection.has_table("migrations")
    finally:
        connection.close()


def make_folder(path: str) -> None:
    """Create the folder of a store's file."""
    if path != ":memory:":
        Path(path).parent.mkdir(parents=True, exist_ok=True)


def exact_path(url: str) -> Path:
    """Return the file of a store that must be a file and exist."""
    path = Path(path_of(url))
    if not path.is_file():
        raise StoreError(str(path), "there is no such store")
    return path
