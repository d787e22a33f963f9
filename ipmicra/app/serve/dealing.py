"""Deal out the tree among the coordinators of one database: leases on sectors, renewed by a thread.

Theory of operation
-------------------
Each coordinator has a lease on its own name, by which others see that it lives, and leases on some of the
sectors (`ipmicra.delegate.sectors`). Every `renew_s` it takes a turn:

1. renew what it holds. A lease that is lost was taken by another one, after this process was stopped or cut
   off for longer than `lease_s`;
2. count the coordinators that live: n of them should hold at most 1/n of the sectors each, rounded up;
3. give back what it holds beyond that: in one turn it announces so, in a later one, when nobody waits for a
   decision there any more, it does so. Take sectors that nobody holds;
4. take over the name of a coordinator that is gone, and with it what it left unfinished.

A thread with a connection of its own does this: the event loop may be busy with a long write, and a lease
that is not renewed in time is a lease lost. It hands each new state to the loop as one frozen object.

Clocks and turns decide who may *try* to decide. Who may *write* is decided by the numbers of leases, which
every deciding transaction checks (`Lease`, `LeaseTable.check`). So a coordinator that is stopped, cut off or
slow cannot decide twice, whatever it believes to hold.

The two exclusive leases of commands that decide or assign (`ipmicra delegate` with the same store) are held
by all coordinators together: each of them renews the same lease.
"""

from __future__ import annotations

import math
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field

from ipmicra.delegate.sectors import SECTORS
from ipmicra.edge.log import EventLog
from ipmicra.edge.store.connection import Connection, ConnectionConfig
from ipmicra.edge.store.leases import FREE, Lease, LeaseTable
from ipmicra.edge.store.places import connect
from ipmicra.errors import StoreBusyError, StoreError

events = EventLog("coordinator")
SECTOR_NAMES = [f"sector {number:02}" for number in range(SECTORS)]
COORDINATOR = "coordinator "
"""Begins the name of the lease of each coordinator."""
TOGETHER = "the coordinators (ipmicra serve)"
"""Who holds the leases that keep commands from deciding and assigning."""
EXCLUSIVE = ("delegate", "assign")
"""Names of these leases, as `Home.lock` has them."""


RENEWALS = 5
"""Turns within the time of a lease: a busy machine may miss several of them unharmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DealingConfig:
    """Times of leases."""

    lease_s: float = 10.0
    """How long others wait for a coordinator that says nothing."""
    renew_s: float = 2.0
    """How often leases are renewed; see `RENEWALS`."""
    quick_s: float = 5.0
    """How long a turn tries to reach a server that is away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dealt:
    """Who holds what, as of one turn."""

    ours: Mapping[int, Lease] = field(default_factory=dict)
    """Sectors that are ours."""
    leaving: frozenset[int] = frozenset()
    """Those of them that are about to be given back: nothing new is decided there."""
    others: Mapping[int, str] = field(default_factory=dict)
    """URLs of those who hold the other sectors, as far as they are held."""
    coordinators: Mapping[str, str] = field(default_factory=dict)
    """URLs of those who live, by name; this one included."""
    gone: Mapping[str, Lease] = field(default_factory=dict)
    """Coordinators that are gone and whose name this one took over, with the lease on it."""
    is_evicted: bool = False
    """Whether our own name was taken over: others thought that this process was gone."""


class Dealing:
    """Keeps the leases of one coordinator, in a thread of its own."""

    def __init__(self, store_url: str, name: str, url: str, config: DealingConfig | None = None) -> None:
        """Take nothing yet."""
        self.name, self.config = name, config or DealingConfig()
        self._store_url = store_url
        self._holder = f"{url} {uuid.uuid4().hex[:12]}"
        """The URL tells others whom to ask; the rest tells this life of a process from its last one."""
        self._own: Lease | None = None
        self._sectors: dict[int, Lease] = {}
        self._leaving: frozenset[int] = frozenset()
        self._together: dict[str, Lease] = {}
        self._gone: dict[str, Lease] = {}
        self.notes: list[str] = []
        """What commands left in the leases that coordinators hold together."""
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    # --- the thread

    def start(
        self, on_turn: Callable[[Dealt], object], is_idle: Callable[[int], bool] = lambda _sector: True
    ) -> Dealt:
        """Take a first turn at once, then one after the other until `stop`; return the first one's outcome.

        `on_turn` receives each later outcome, in the thread; `is_idle` says whether nobody waits in a sector.
        """
        first = self._first_turn()
        self._thread = threading.Thread(
            target=self._run, args=(on_turn, is_idle), name="dealing", daemon=True
        )
        self._thread.start()
        return first

    def _first_turn(self) -> Dealt:
        """Take a turn; wait for a lease of our name that an earlier life of this coordinator left behind."""
        until_s = time.monotonic() + 1.5 * self.config.lease_s
        while True:
            try:
                with closing(self._connection()) as connection:
                    return self._turn(LeaseTable(connection), lambda _sector: True)
            except StoreBusyError:
                if time.monotonic() > until_s:
                    raise
            time.sleep(self.config.renew_s / 4)

    def stop(self) -> None:
        """Release everything."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        try:
            with closing(self._connection()) as connection:
                leases = LeaseTable(connection)
                for one in (*self._sectors.values(), *self._gone.values()):
                    leases.release(one)
                if self._own is not None:
                    leases.release(self._own)
                if not self._living(leases):
                    for one in self._together.values():
                        leases.release(one)
        except StoreError as error:
            events.warning("leases_kept", "leases run out by themselves: {reason}", reason=error.reason)

    def settled(self, name: str) -> None:
        """Note that what a coordinator left behind is dealt with."""
        with self._lock:
            lease = self._gone.pop(name, None)
        if lease is not None:
            with closing(self._connection()) as connection:
                LeaseTable(connection).release(lease)

    def _connection(self) -> Connection:
        return connect(self._store_url, ConnectionConfig(reconnect_s=self.config.quick_s))

    def _run(self, on_turn: Callable[[Dealt], object], is_idle: Callable[[int], bool]) -> None:
        leases: LeaseTable | None = None
        connection = None
        while not self._stopping.wait(self.config.renew_s):
            try:
                if leases is None:
                    connection = self._connection()
                    leases = LeaseTable(connection)
                on_turn(self._turn(leases, is_idle))
            except StoreError as error:
                events.warning("leases_not_renewed", "leases wait: {reason}", reason=error.reason)
        if connection is not None:
            connection.close()

    # --- a turn

    def _turn(self, leases: LeaseTable, is_idle: Callable[[int], bool]) -> Dealt:
        with self._lock:
            is_evicted = self._renew(leases)
            living = self._living(leases)
            self._give_and_take(leases, math.ceil(SECTORS / max(1, len(living))), is_idle)
            self._take_over(leases)
            held = {one.name: one for one in leases.all()}
            others = {
                number: _url_of(held[name])
                for number, name in enumerate(SECTOR_NAMES)
                if number not in self._sectors and name in held and held[name].holder != FREE
            }
            return Dealt(
                ours=dict(self._sectors),
                leaving=self._leaving,
                others=others,
                coordinators=living,
                gone=dict(self._gone),
                is_evicted=is_evicted,
            )

    def _give_and_take(self, leases: LeaseTable, fair: int, is_idle: Callable[[int], bool]) -> None:
        """Release what was announced and is idle, announce what is too much, take what is free."""
        for sector in self._leaving & self._sectors.keys():
            if is_idle(sector):
                leases.release(self._sectors.pop(sector))
        self._leaving = frozenset(sorted(self._sectors)[fair:])
        wanted = fair - len(self._sectors)
        if wanted > 0:
            for lease in leases.acquire_some(SECTOR_NAMES, wanted, self._holder, self.config.lease_s):
                self._sectors[SECTOR_NAMES.index(lease.name)] = lease

    def _renew(self, leases: LeaseTable) -> bool:
        """Renew everything; return whether our own name was lost meanwhile."""
        own = [] if self._own is None else [self._own]
        held = [*own, *self._sectors.values(), *self._together.values(), *self._gone.values()]
        lost = {one.name for one in leases.renew_many(held, self.config.lease_s)}
        self._sectors = {key: one for key, one in self._sectors.items() if one.name not in lost}
        self._together = {key: one for key, one in self._together.items() if one.name not in lost}
        self._gone = {key: one for key, one in self._gone.items() if one.name not in lost}
        is_evicted = self._own is not None and self._own.name in lost
        if is_evicted:
            events.warning("evicted", "others took over: this process was stopped or cut off for too long")
        if self._own is None or is_evicted:
            self._take_name(leases)
        for name in EXCLUSIVE:
            if name not in self._together:
                self._together[name] = self._joint(leases, name)
        return is_evicted

    def _take_name(self, leases: LeaseTable) -> None:
        lease = leases.acquire(COORDINATOR + self.name, self._holder, self.config.lease_s)
        if not lease.is_ours:
            raise StoreBusyError(
                f"the coordinator {self.name}",
                f"{_url_of(lease)} (choose another --name if that is another one)",
            )
        self._own = lease

    def _joint(self, leases: LeaseTable, name: str) -> Lease:
        """Hold a lease together with the other coordinators; `StoreBusyError` if a command has it."""
        lease = leases.acquire(name, TOGETHER, self.config.lease_s)
        if lease.holder != TOGETHER:
            raise StoreBusyError("the store", lease.holder)
        if lease.is_ours and lease.note:
            self.notes.append(lease.note)
        return lease

    def _living(self, leases: LeaseTable) -> dict[str, str]:
        """Return the URLs of coordinators that live; names that one of them took over do not count."""
        now_s = leases.now_s()
        names: dict[str, str] = {}
        for one in leases.all():
            if one.name.startswith(COORDINATOR) and one.holder != FREE and one.expires_s > now_s:
                name = one.name.removeprefix(COORDINATOR)
                if name not in self._gone:
                    names.setdefault(one.holder, name)
        return {name: holder.partition(" ")[0] for holder, name in names.items()}

    def _take_over(self, leases: LeaseTable) -> None:
        """Take over the names of coordinators that are gone without having said so."""
        now_s = leases.now_s()
        for one in leases.all():
            is_gone = one.name.startswith(COORDINATOR) and one.holder != FREE and one.expires_s <= now_s
            if not is_gone or one.name.removeprefix(COORDINATOR) in self._gone:
                continue
            taken = leases.acquire(one.name, self._holder, self.config.lease_s)
            if taken.is_ours:
                name = one.name.removeprefix(COORDINATOR)
                self._gone[name] = taken
                events.warning("coordinator_gone", "{name} is gone: its work is taken over", name=name)


def _url_of(lease: Lease) -> str:
    return lease.holder.partition(" ")[0]
