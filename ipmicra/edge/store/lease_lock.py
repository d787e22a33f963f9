"""Lock a store in PostgreSQL for one process at a time, by a lease that its holder renews.

Theory of operation
-------------------
A thread with a connection of its own renews the lease while the lock is held: the process may be busy with a
long write. The store's own connection checks the lease's number in each transaction that writes (`protect`),
so a process that was stopped for longer than the lease, while another one took over, writes nothing.

A holder that was killed leaves its lease behind until it expires. Whoever finds a lease that is held waits
until it expires; if it is renewed meanwhile, its holder is alive, and the store is busy. So a live holder is
noticed after `renew_s`, a dead one costs `lease_s` at most.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from ipmicra.edge.log import EventLog
from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.leases import Lease, LeaseTable
from ipmicra.edge.store.lock import HeldLock, ending_in
from ipmicra.edge.store.places import connect
from ipmicra.edge.store.store import Store
from ipmicra.errors import StoreBusyError, StoreError

events = EventLog("store")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseLockConfig:
    """Times of a lock by lease."""

    lease_s: float = 10.0
    """How long others wait for a holder that says nothing."""
    renew_s: float = 2.0
    """How often the lease is renewed: often enough that a busy machine misses several turns unharmed."""
    look_s: float = 0.2
    """How often somebody who waits looks again."""
    quick_s: float = 5.0
    """How long the renewing connection tries to reach a server that is away before it looks again."""


class LeaseLock(HeldLock):
    """The lock of a store in PostgreSQL."""

    def __init__(self, leases: LeaseTable, lease: Lease) -> None:
        """Hold a lease that was just acquired; its note may tell of an ending."""
        self._leases = leases
        self.lease = lease
        self._unsettled = ending_in(lease.note)

    def note_ending(self, batch: int, at_s: float) -> None:
        """Note, durably, that a batch is about to be ended."""
        self._leases.note(self.lease, json.dumps({"batch": batch, "ended_s": at_s}))

    def protect(self, store: Store) -> None:
        """Let a store write only as long as nobody else holds the lease."""
        own = LeaseTable(store.connection)
        store.connection.guards.append(lambda: own.check(self.lease))

    def release(self, *, is_failed: bool) -> None:
        """Release the lease; what was noted stays if something failed or is unsettled."""
        self._leases.release(self.lease, keeps_note=is_failed or self._unsettled is not None)


@contextmanager
def leased(url: str, purpose: str, words: str, config: LeaseLockConfig | None = None) -> Iterator[LeaseLock]:
    """Hold the lease of a store for a purpose; `StoreBusyError` says who else does, and since when."""
    chosen = config or LeaseLockConfig()
    quick = ConnectionConfig(reconnect_s=chosen.quick_s)
    with Store.open(url, quick, is_copied_into=True) as store:
        lease = _acquired(store, purpose, words, chosen)
        lock = LeaseLock(store.leases, lease)
        stop = threading.Event()
        renewing = threading.Thread(target=_renew, args=(url, lease, chosen, stop), name="lease", daemon=True)
        renewing.start()
        is_failed = True  # a batch that was ended, but whose command failed, is resumed
        try:
            yield lock
            is_failed = False
        finally:
            stop.set()
            renewing.join()
            with suppress(StoreError) if is_failed else nullcontext():  # the first error tells more
                lock.release(is_failed=is_failed)


def _acquired(store: Store, purpose: str, words: str, config: LeaseLockConfig) -> Lease:
    """Acquire the lease, waiting for a holder that does not renew it."""
    me = f"process {os.getpid()} on {socket.gethostname()} ({words[:200]})"
    first: Lease | None = None
    while True:
        lease = store.leases.acquire(purpose, me, config.lease_s)
        if lease.is_ours:
            return lease
        if first is not None and (lease.number, lease.expires_s) != (first.number, first.expires_s):
            since = datetime.fromtimestamp(lease.since_s, UTC)
            raise StoreBusyError(store.connection.path, f"{lease.holder} since {since:%Y-%m-%d %H:%M:%S} UTC")
        first = lease
        time.sleep(config.look_s)


def _renew(url: str, lease: Lease, config: LeaseLockConfig, stop: threading.Event) -> None:
    """Renew a lease until told to stop; a server that is away is tried again."""
    leases: LeaseTable | None = None
    with ExitStack() as stack:
        while not stop.wait(config.renew_s):
            try:
                if leases is None:
                    quick = ConnectionConfig(reconnect_s=config.quick_s)
                    leases = LeaseTable(stack.enter_context(closing(connect(url, quick))))
                is_ours = leases.renew(lease, config.lease_s)
            except StoreError as error:
                events.warning("lease_not_renewed", "a lease was not renewed: {reason}", reason=error.reason)
            else:
                if not is_ours:
                    events.warning(
                        "lease_lost", "another process took over the lease on {name}", name=lease.name
                    )
                    return
