"""Name a database of PostgreSQL, and never show its password."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from ipmicra.errors import InputError


@dataclass(frozen=True, slots=True)
class PostgresPlace:
    """Where a database is; its text form has no password."""

    shown: str
    settings: dict[str, Any]

    @classmethod
    def of(cls, url: str) -> PostgresPlace:
        """Read a URL as libpq does; what it leaves out comes from the environment (PGPASSWORD, …)."""
        try:
            settings = dict(conninfo_to_dict(url))
        except psycopg.Error:
            # libpq quotes parts of what it cannot read, and those may be the password
            raise InputError(
                "the URL of the store cannot be read: use postgresql://USER@HOST:PORT/DATABASE, with special "
                "characters percent-encoded"
            ) from None
        user, host, port = (settings.get(name) for name in ("user", "host", "port"))
        where = f"{f'{user}@' if user else ''}{host or ''}{f':{port}' if port else ''}"
        return cls(f"postgresql://{where}/{settings.get('dbname') or ''}", settings)

    def without_password(self, message: str) -> str:
        """Return a message in which the password does not occur."""
        password = self.settings.get("password")
        return message.replace(password, "…") if password else message

    def __repr__(self) -> str:
        """Show the place without its password."""
        return f"<PostgresPlace {self.shown}>"
