"""Say what went wrong in PostgreSQL, and what to do about it."""

from __future__ import annotations

import psycopg

_GONE = "start it or wait until it is back, and run the same command again; nothing that was kept is lost"
_POOLER = (
    "a pooler stands before the server and mixes prepared statements up: use pgbouncer 1.21 or newer with "
    "max_prepared_statements above 0, or its pool_mode session"
)
_POOLING = {"statement pooling mode": "set pool_mode of pgbouncer to transaction, or to session"}
"""Words of poolers, whose codes are those of broken connections."""
_BY_CODE = {
    "08": f"the server went away: {_GONE}",
    "25006": "the database takes no writes: use the primary server, not a standby",
    "25P03": "this process was stopped during a write, which was undone: run the same command again",
    "26000": _POOLER,
    "28": "the server refuses the user: check the user's name, and PGPASSWORD or ~/.pgpass",
    "3D000": "there is no such database: create it with `createdb`",
    "40": "another process changed the same rows: run the same command again",
    "42P05": _POOLER,
    "42501": "the user lacks a right: let it own the database, or GRANT CREATE ON SCHEMA public",
    "53100": "make room and run the same command again; nothing that was kept is lost",
    "53300": "the server has no connection left: raise max_connections, or use a pooler",
    "55P03": "another process writes to it; try again when that is done",
    "57P": f"the server went away: {_GONE}",
    "58030": "the server cannot reach its disk; nothing that was kept is lost",
}
"""By the beginning of the SQLSTATE code (PostgreSQL 18, appendix A); the longest one counts."""
_BY_WORD = {
    "password": _BY_CODE["28"],
    "no pg_hba.conf entry": "the server refuses this machine or user: see its pg_hba.conf",
    "could not translate host name": "there is no such host: check the URL of the store",
    "invalid": "check the URL of the store",
    "too many clients": _BY_CODE["53300"],
    "starting up": f"the server is not ready: {_GONE}",
    "does not exist": _BY_CODE["3D000"],
    "No space left": _BY_CODE["53100"],
}
"""Refused connections have no code, only words."""


def advice(error: psycopg.Error) -> str:
    """Return the first line of an error, followed by what to do, where the user can do something."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    for word, text in _POOLING.items():
        if word in lines[0]:
            return f"{lines[0]}: {text}"
    code = error.sqlstate or ""
    starts = [start for start in _BY_CODE if code.startswith(start)]
    if starts:
        return f"{lines[0]}: {_BY_CODE[max(starts, key=len)]}"
    if code or not isinstance(error, psycopg.OperationalError):
        return lines[0]
    found = (text for word, text in _BY_WORD.items() if word in str(error))
    return f"{lines[0]}: {next(found, _BY_CODE['08'])}"
