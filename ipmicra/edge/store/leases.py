"""Grant leases: who may work on something, by number and for a time.

Theory of operation
-------------------
A lease is a row: a name, its holder, a number that grows with each new holder, and when it expires. Whoever
acquires it gets the number, and renews it while it works. A holder that dies, hangs or is cut off lets it
expire; then another one gets it, with the next number.

Time alone protects nothing. A process may be stopped between looking at its clock and writing, so that it
writes long after somebody else took over. Hence each transaction that decides checks the number (`check`):
the row is locked until the transaction ends, so that nobody takes over in between; and if the number is
another one, nothing is written. A lease that expired but that nobody took is still good: only the number
counts. So clocks decide when somebody else may take over, and never who may write.

The time is that of the database's server, or of this machine for a file (`Connection.now_s`): clients whose
clocks differ agree on it.

No lock of a session is involved, so leases work through poolers. They are plain rows, changed in transactions
that do not take the writers' lock: renewing does not wait for a long write of somebody else.

A note can be left with a lease. It is wiped when the lease is released, and stays if its holder was killed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.schema import Row, Table
from ipmicra.errors import LeaseLostError

LEASES = Table(
    "leases",
    {"name": str, "number": int, "holder": str, "since_s": float, "expires_s": float, "note": str},
    key=("name",),
)
_LEASE = LEASES.shape()
_HELD = "WHERE name = ? AND number = ? AND holder = ?"
_GRANT = "UPDATE leases SET number = number + 1, holder = ?, since_s = ?, expires_s = ? WHERE name = ?"
_RENEW = f"UPDATE leases SET expires_s = ? {_HELD}"  # noqa: S608 - our own words
_NOTE = f"UPDATE leases SET note = ? {_HELD}"  # noqa: S608 - our own words
_RELEASE = f"UPDATE leases SET holder = ?, expires_s = 0 {_HELD}"  # noqa: S608 - our own words
_RELEASE_WIPED = _RELEASE.replace("= 0", "= 0, note = ''")
FREE = ""
"""The holder of a lease that was released."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A lease as it was when it was read."""

    name: str
    number: int
    """Grows with each new holder; what its writes are fenced by."""
    holder: str
    since_s: float
    expires_s: float
    """Seconds since 1970, by the clock of the database."""
    is_ours: bool = False
    """Whether this is what `acquire` granted, and not what somebody else holds."""
    note: str = ""
    """What its holder left in it; that of an earlier holder that did not release it, when just acquired."""


class LeaseTable:
    """Leases by name."""

    def __init__(self, connection: Connection, clock: Callable[[], float] | None = None) -> None:
        """Use a connection, and its time unless a clock is given."""
        self._connection = connection
        self.now_s = clock or connection.now_s

    def acquire(self, name: str, holder: str, seconds: float) -> Lease:
        """Return a new lease, or the one that somebody still holds: `is_ours` tells which.

        A holder that asks again has to wait like everybody else: it may be another life of a process whose
        first one still writes.
        """
        with self._connection.transaction(is_exclusive=False):
            now_s = self.now_s()
            is_new = self._connection.execute(
                LEASES.insert_new, (name, 1, holder, now_s, now_s + seconds, "")
            )
            lease = self._locked(name)
            if is_new:
                return replace(lease, is_ours=True)
            if lease.expires_s > now_s and lease.holder != FREE:
                return lease
            self._connection.execute(_GRANT, (holder, now_s, now_s + seconds, name))
            return replace(self._locked(name), is_ours=True)

    def acquire_some(self, names: Sequence[str], most: int, holder: str, seconds: float) -> list[Lease]:
        """Acquire leases of these names that nobody holds, so many at most; those just being taken are left.

        Two that ask at the same time pass by each other's rows instead of waiting for them.
        """
        rest = (
            f"WHERE {_among(names)} AND (holder = ? OR expires_s <= ?) "
            f"ORDER BY name LIMIT ? {self._connection.skipping_lock}"
        )
        with self._connection.transaction(is_exclusive=False):
            now_s = self.now_s()
            # Inserting what is there would wait for whoever is changing it.
            known = {one.name for one in self.all()}
            fresh = [(name, 0, FREE, now_s, 0.0, "") for name in names if name not in known]
            self._connection.execute_many(LEASES.insert_new, fresh)
            free = self._connection.read(_LEASE, _lease_of, rest, (*names, FREE, now_s, most))
            for lease in free:
                self._connection.execute(_GRANT, (holder, now_s, now_s + seconds, lease.name))
            return [
                replace(
                    lease,
                    number=lease.number + 1,
                    holder=holder,
                    since_s=now_s,
                    expires_s=now_s + seconds,
                    is_ours=True,
                )
                for lease in free
            ]

    def renew_many(self, leases: Sequence[Lease], seconds: float) -> list[Lease]:
        """Extend leases from now on; return those that are no longer ours."""
        with self._connection.transaction(is_exclusive=False):
            until_s = self.now_s() + seconds
            held = self._held(leases, self._connection.row_lock)
            names = [one.name for one in leases if _key_of(one) in held]
            if names:
                sql = f"UPDATE leases SET expires_s = ? WHERE {_among(names)}"  # noqa: S608 - our own words
                self._connection.execute(sql, (until_s, *names))
        return [one for one in leases if _key_of(one) not in held]

    def renew(self, lease: Lease, seconds: float) -> bool:
        """Extend a lease from now on; return whether it is still ours."""
        with self._connection.transaction(is_exclusive=False):
            values = (self.now_s() + seconds, lease.name, lease.number, lease.holder)
            return self._connection.execute(_RENEW, values) > 0

    def note(self, lease: Lease, text: str) -> None:
        """Leave a note in a lease; `LeaseLostError` if it is no longer ours."""
        with self._connection.transaction(is_exclusive=False):
            if not self._connection.execute(_NOTE, (text, lease.name, lease.number, lease.holder)):
                raise LeaseLostError(lease.name)

    def release(self, lease: Lease, *, keeps_note: bool = False) -> bool:
        """Release a lease, and wipe its note unless `keeps_note`; return whether it was still ours."""
        sql = _RELEASE if keeps_note else _RELEASE_WIPED
        with self._connection.transaction(is_exclusive=False):
            return self._connection.execute(sql, (FREE, lease.name, lease.number, lease.holder)) > 0

    def check(self, *leases: Lease) -> None:
        """See, inside a transaction, that leases are ours until that ends; `LeaseLostError` if one is not."""
        held = self._held(leases, self._connection.share_lock)
        for one in leases:
            if _key_of(one) not in held:
                raise LeaseLostError(one.name)

    def _held(self, leases: Sequence[Lease], lock: str) -> set[tuple[str, int, str]]:
        """Lock leases, by name: two that do so at once never wait for each other; return who holds them."""
        if not leases:
            return set()
        names = [one.name for one in leases]
        rest = f"WHERE {_among(names)} ORDER BY name {lock}"
        return {_key_of(one) for one in self._connection.read(_LEASE, _lease_of, rest, names)}

    def all(self) -> list[Lease]:
        """Return all leases that were ever granted, by name."""
        return self._connection.read(_LEASE, _lease_of, "ORDER BY name")

    def _locked(self, name: str) -> Lease:
        rest = f"WHERE name = ? {self._connection.row_lock}"
        found = self._connection.read_one(_LEASE, _lease_of, rest, (name,))
        assert found is not None  # noqa: S101 - leases are never deleted
        return found


def _among(names: Sequence[str]) -> str:
    return f"name IN ({', '.join('?' * len(names))})"


def _key_of(lease: Lease) -> tuple[str, int, str]:
    """Return what tells one grant of a lease from the next."""
    return lease.name, lease.number, lease.holder


def _lease_of(row: Row) -> Lease:
    name, number, holder, since_s, expires_s, note = row
    return Lease(name=name, number=number, holder=holder, since_s=since_s, expires_s=expires_s, note=note)
