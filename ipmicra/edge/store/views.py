"""Keep what crawlers see of hosts whose names they resolve, and the answers for hosts that they see apart.

A view is kept beyond its expiry, until the same crawler is asked again: the addresses are not used any more,
but that all crawlers saw the same, or not, is worth knowing, and `explain` tells it. A site whose views
differ has no subnet that could be delegated for it; so its answer is kept by host, in the form of a
delegation of the one address that its crawler sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.delegations import account_of, account_text, origin_of, origin_row
from ipmicra.edge.store.keys import packed, unpacked, unpacked_all
from ipmicra.edge.store.ports import SiteAnswer
from ipmicra.edge.store.schema import Row, Table
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.name import NameAnswer, NameStatus, View

_AT_ONCE = 500
"""Hosts in one question to SQLite, which takes 999 variables in its oldest form."""
VIEWS = Table(
    "views",
    {"host": str, "crawler": str, "status": str, "addresses": bytes, "asked_s": float, "expires_s": float},
    key=("host", "crawler"),
)
"""`addresses` has 16 bytes each."""
SITE_ANSWERS = Table(
    "site_answers",
    {
        "host": str,
        "address": bytes,
        "crawler": str,
        "evidence": str,
        "rtt_ms": float | None,
        "probes": int,
        "created_s": float,
        "expires_s": float,
        "account": str,
        "origin_first": bytes | None,
        "origin_last": bytes | None,
        "measured_s": float | None,
    },
    key=("host",),
)
_VIEW = VIEWS.shape()
_ANSWER = SITE_ANSWERS.shape()


class ViewTable:
    """Views by host and crawler."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def put_many(self, views: Iterable[View]) -> None:
        """Keep views in place of those before."""
        rows = (
            (
                one.answer.name,
                one.crawler,
                one.answer.status.value,
                b"".join(map(packed, one.answer.addresses)),
                one.asked_s,
                one.answer.expires_s,
            )
            for one in views
        )
        self._connection.execute_many(VIEWS.put, rows)

    def of(self, hosts: Sequence[str]) -> dict[str, dict[str, View]]:
        """Return what crawlers saw of hosts: by host and crawler, however old."""
        found: dict[str, dict[str, View]] = {}
        for start in range(0, len(hosts), _AT_ONCE):
            part = hosts[start : start + _AT_ONCE]
            rest = f"WHERE host IN ({', '.join('?' * len(part))}) ORDER BY host, crawler"
            for view in self._connection.read(_VIEW, _view_of, rest, part):
                found.setdefault(view.answer.name, {})[view.crawler] = view
        return found

    def prune(self, before_s: float) -> int:
        """Drop what was asked for before a time; return how many."""
        return self._connection.execute("DELETE FROM views WHERE asked_s < ?", (before_s,))

    def forget(self, host: str) -> bool:
        """Remove what was seen of a host; return whether there was anything."""
        return self._connection.execute("DELETE FROM views WHERE host = ?", (host,)) > 0


class SiteAnswerTable:
    """Answers for sites that crawlers see apart, by host."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def put_many(self, answers: Iterable[SiteAnswer]) -> None:
        """Keep answers in place of those before."""
        rows = (
            (
                one.host,
                packed(one.delegation.first),
                one.delegation.crawler,
                one.delegation.evidence.value,
                one.delegation.rtt_ms,
                one.delegation.probes,
                one.delegation.created_s,
                one.delegation.expires_s,
                account_text(one.account),
                *origin_row(one.delegation.origin),
            )
            for one in answers
        )
        self._connection.execute_many(SITE_ANSWERS.put, rows)

    def of(self, hosts: Sequence[str]) -> dict[str, SiteAnswer]:
        """Return the answers for hosts, those that exist."""
        found: dict[str, SiteAnswer] = {}
        for start in range(0, len(hosts), _AT_ONCE):
            part = hosts[start : start + _AT_ONCE]
            rest = f"WHERE host IN ({', '.join('?' * len(part))})"
            found.update((one.host, one) for one in self._connection.read(_ANSWER, _answer_of, rest, part))
        return found

    def get(self, host: str) -> SiteAnswer | None:
        """Return the answer for a host."""
        return self._connection.read_one(_ANSWER, _answer_of, "WHERE host = ?", (host,))

    def forget(self, host: str) -> bool:
        """Remove the answer for a host; return whether there was one."""
        return self._connection.execute("DELETE FROM site_answers WHERE host = ?", (host,)) > 0


def _view_of(row: Row) -> View:
    answer = NameAnswer(
        name=row[0], status=NameStatus(row[2]), addresses=unpacked_all(row[3]), expires_s=row[5]
    )
    return View(crawler=row[1], answer=answer, asked_s=row[4])


def _answer_of(row: Row) -> SiteAnswer:
    address = unpacked(row[1])
    delegation = Delegation(
        first=address,
        last=address,
        crawler=row[2],
        evidence=Evidence(row[3]),
        rtt_ms=row[4],
        probes=row[5],
        created_s=row[6],
        expires_s=row[7],
        origin=origin_of(*row[9:12]),
    )
    return SiteAnswer(host=row[0], delegation=delegation, account=account_of(row[8]))
