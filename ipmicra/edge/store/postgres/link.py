"""Keep one connection to a server, and make it again when it broke."""

from __future__ import annotations

import time

import psycopg
from psycopg.conninfo import make_conninfo

from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.postgres.place import PostgresPlace
from ipmicra.edge.store.schema import Row
from ipmicra.errors import StoreError

Raw = psycopg.Connection[Row]
PAUSE_S = 0.1
"""How long to wait before the server is tried again; each time twice as long, up to a second."""
_KEPT_ALIVE = {
    "application_name": "ipmicra",
    "client_encoding": "utf8",
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""A server that vanished without a word is noticed within seconds; a URL may say otherwise."""


class Link:
    """A connection that can be made again."""

    def __init__(self, place: PostgresPlace, config: ConnectionConfig) -> None:
        """Connect; a server that is away is an error at once."""
        self._place = place
        self._config = config
        self.raw = self.connect()

    def connect(self) -> Raw:
        """Make a connection; Python begins no transaction behind our back."""
        settings = {"connect_timeout": self._config.connect_s, **_KEPT_ALIVE, **self._place.settings}
        raw: Raw = psycopg.connect(
            make_conninfo("", **settings), autocommit=True, cursor_factory=psycopg.RawCursor
        )
        encoding = raw.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raw.close()
            raise StoreError(self._place.shown, f"its encoding is {encoding}: create the database with UTF8")
        return raw

    def renewed(self) -> Raw:
        """Return the connection; if it broke, a new one, as soon as the server is back."""
        if self.raw.closed:
            self.raw = self.another()
        return self.raw

    def another(self) -> Raw:
        """Make a connection, as soon as the server is back if it is away."""
        until_s, pause_s = time.monotonic() + self._config.reconnect_s, PAUSE_S
        while True:
            try:
                return self.connect()
            except psycopg.OperationalError:
                if time.monotonic() + pause_s > until_s:
                    raise
                time.sleep(pause_s)
                pause_s = min(2 * pause_s, 1.0)
