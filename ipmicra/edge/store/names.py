"""Cache answers of the DNS until they expire."""

from __future__ import annotations

from collections.abc import Iterable

from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.keys import packed, unpacked_all
from ipmicra.edge.store.schema import Index, Row, Table
from ipmicra.model.name import NameAnswer, NameStatus

_AT_ONCE = 500
"""Names in one question to SQLite, which takes 999 variables in its oldest form."""
NAMES = Table(
    "names",
    {"name": str, "status": str, "addresses": bytes, "expires_s": float},
    key=("name",),
    indexes=(Index(columns=("expires_s",)),),
)
"""`addresses` has 16 bytes each, in the order of preference."""
_NAME = NAMES.shape()


class NameTable:
    """Answers of the DNS, by name."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def get_many(self, names: Iterable[str], now_s: float) -> dict[str, NameAnswer]:
        """Return the answers that still hold."""
        wanted = list(names)
        found: dict[str, NameAnswer] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            rest = f"WHERE expires_s > ? AND name IN ({', '.join('?' * len(part))})"
            answers = self._connection.read(_NAME, _answer_of, rest, [now_s, *part])
            found.update((answer.name, answer) for answer in answers)
        return found

    def put_many(self, answers: Iterable[NameAnswer]) -> None:
        """Keep answers in place of those before."""
        rows = (
            (answer.name, answer.status.value, b"".join(map(packed, answer.addresses)), answer.expires_s)
            for answer in answers
        )
        self._connection.execute_many(NAMES.put, rows)

    def forget(self, name: str) -> bool:
        """Remove the answer for a name; return whether there was one."""
        return self._connection.execute("DELETE FROM names WHERE name = ?", (name,)) > 0

    def prune(self, now_s: float) -> int:
        """Drop what has expired; return how many."""
        return self._connection.execute("DELETE FROM names WHERE expires_s <= ?", (now_s,))


def _answer_of(row: Row) -> NameAnswer:
    return NameAnswer(
        name=row[0], status=NameStatus(row[1]), addresses=unpacked_all(row[2]), expires_s=row[3]
    )
