"""What a user is told when PostgreSQL, or a pooler before it, refuses something."""

from __future__ import annotations

import pytest

psycopg = pytest.importorskip("psycopg")

from ipmicra.edge.store.postgres.advice import advice  # noqa: E402 - needs psycopg


@pytest.mark.parametrize(
    ("kind", "message", "words"),
    [
        (
            "DuplicatePreparedStatement",
            'prepared statement "_pg3_0" already exists',
            "max_prepared_statements",
        ),
        ("InvalidSqlStatementName", 'prepared statement "_pg3_1" does not exist', "max_prepared_statements"),
        (
            "ProtocolViolation",
            "transaction blocks not allowed in statement pooling mode",
            "set pool_mode of pgbouncer to transaction",
        ),
    ],
)
def test_pooler_that_cannot_be_used_is_named(kind: str, message: str, words: str) -> None:
    assert words in advice(getattr(psycopg.errors, kind)(message))
