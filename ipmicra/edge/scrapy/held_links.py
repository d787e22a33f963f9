"""The links that a node holds: delivered to it or claimed by it, and not finished.

A link is finished when no request made for it, the first one or a retry, is queued or in progress any more.
A slot that is to be given up takes its links along, except those in progress; their requests stay in Scrapy's
queue, and are known by a delivery that is no longer held when they leave it.

Links of hosts that are open to the node are claimed: held as soon as they are found, and known by their key
until the coordinator has heard that they are finished. A claimed link that is delivered, too, because another
node had found it as well, stays one link.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from scrapy import Request

from ipmicra.edge.scrapy.requests import SLOT
from ipmicra.partition.exchange.exchange import Fetched
from ipmicra.wire.links import DeliveredLink

NUMBER, DELIVERY = "ipmicra_number", "ipmicra_delivery"
"""Keys of meta: which link a request is for, and by which delivery it came; negative for claimed links."""


@dataclass(slots=True)
class _Held:
    """One link."""

    delivery: int
    key: int
    slot: str
    report: int | Fetched
    """What says that it is finished."""
    requests: int = 1
    """Made for it, and queued or in progress."""
    running: int = 0
    """Of these, in progress."""


class HeldLinks:
    """Links by number, hosts with their slots, and the slots that are to be given up."""

    def __init__(self) -> None:
        """Start empty."""
        self._links: dict[int, _Held] = {}
        self._running: dict[Request, tuple[int | None, str | None]] = {}
        """Number and slot of each request in progress."""
        self._taken: Counter[str | None] = Counter()
        """Requests in progress, by slot."""
        self._slots: dict[str, str] = {}
        self._lost: dict[str, None] = {}
        self._open: set[str] = set()
        self._claims: dict[int, int] = {}
        """Numbers of claimed links by key, until their end has been heard of."""
        self._claimed = 0

    def __len__(self) -> int:
        """Count the links."""
        return len(self._links)

    @property
    def is_busy(self) -> bool:
        """Whether a link is held or any request is in progress."""
        return bool(self._links or self._running)

    @property
    def delivered(self) -> int:
        """Count the links that were delivered."""
        return max(0, len(self._links) - len(self._claims))

    @property
    def claims(self) -> int:
        """Count the claimed links whose end has not been heard of."""
        return len(self._claims)

    def void(self, *, is_same_run: bool) -> None:
        """Let go of everything, for the session is over; what is in progress is reported in the same run."""
        self._keep({number for number, held in self._links.items() if is_same_run and held.running})
        self._slots, self._lost, self._open = {}, {}, set()

    # --- links come and go

    def receive(self, one: DeliveredLink, delivery: int, request: Request) -> None:
        """Hold a link that was delivered, and mark the request that is made for it."""
        self._lost.pop(one.slot, None)
        self.see_host(one)
        self._hold(one.number, _Held(delivery, one.link.key, one.slot, one.number), request)

    def see_host(self, one: DeliveredLink) -> None:
        """Learn from a delivered link which slot its host has, and whether it is open to this node."""
        self._slots[one.link.host] = one.slot
        if one.is_open:
            self._open.add(one.link.host)

    def can_claim(self, host: str) -> bool:
        """Return whether links of a host may be fetched without waiting for their delivery."""
        return host in self._open and self._slots[host] not in self._lost

    def claim(self, host: str, key: int, request: Request) -> None:
        """Hold a link that was found here, and mark its request."""
        self._claimed += 1
        number = -self._claimed
        self._claims[key] = number
        self._hold(number, _Held(number, key, self._slots[host], Fetched(key)), request)

    def has_claimed(self, key: int) -> bool:
        """Return whether a link is claimed, or was and its end has not been heard of."""
        return key in self._claims

    def adopt(self, one: DeliveredLink) -> bool:
        """Note that a claimed link was delivered, too; return whether it is finished already."""
        held = self._links.get(self._claims[one.link.key])
        if held is None:
            return True
        held.report = one.number
        return False

    def heard(self, keys: Iterable[int]) -> None:
        """Note that the coordinator knows of the end of claimed links."""
        for key in keys:
            if self._claims.get(key) not in self._links:
                self._claims.pop(key, None)

    def _hold(self, number: int, held: _Held, request: Request) -> None:
        self._links[number] = held
        request.meta.update({SLOT: held.slot, NUMBER: number, DELIVERY: held.delivery})

    def __contains__(self, number: object) -> bool:
        """Return whether a link is held."""
        return number in self._links

    def retries(self, request: Request, key: int) -> bool:
        """Return whether a request repeats that for a held link, and count it; unmark it if not."""
        number = request.meta.pop(NUMBER, None)
        held = self._links.get(number) if isinstance(number, int) else None
        if held is None or held.key != key:
            return False
        request.meta[NUMBER] = number
        held.requests += 1
        return True

    def start(self, request: Request) -> bool:
        """Note that a request leaves the queue; return whether it may be sent: its link may have moved."""
        number = request.meta.get(NUMBER)
        if number is not None:
            held = self._held(request)
            if held is None:
                return False
            held.running += 1
        slot = request.meta.get(SLOT)
        self._taken[slot] += 1
        self._running[request] = number, slot
        return True

    def taken_of(self, request: Request) -> int:
        """Count the requests in progress that are in the slot of another one."""
        return self._taken.get(request.meta.get(SLOT), 0)

    def finish(self, in_progress: Collection[Request]) -> list[int | Fetched]:
        """Take what is no longer in progress; return what says which links are finished by that."""
        finished: list[int | Fetched] = []
        for request in [one for one in self._running if one not in in_progress]:
            number, slot = self._running.pop(request)
            self._taken[slot] -= 1
            if not self._taken[slot]:
                del self._taken[slot]
            held = self._held(request)
            if number is None or held is None:
                continue
            held.requests -= 1
            held.running -= 1
            if held.requests == 0:
                del self._links[number]
                finished.append(held.report)
                if isinstance(held.report, int):
                    self._claims.pop(held.key, None)
        return finished

    def _held(self, request: Request) -> _Held | None:
        number = request.meta.get(NUMBER)
        held = self._links.get(number) if isinstance(number, int) else None
        return held if held is not None and held.delivery == request.meta.get(DELIVERY) else None

    # --- slots come and go

    def slot_of(self, host: str) -> str | None:
        """Return the slot of a host that is fetched here; None if it is not."""
        slot = self._slots.get(host)
        return None if slot is None or slot in self._lost else slot

    def lose(self, slots: Iterable[str]) -> None:
        """Prepare to give up slots."""
        gone = {slot for slot in slots if slot not in self._lost}
        if gone:
            self._lost |= dict.fromkeys(gone)
            self._open = {host for host in self._open if self._slots[host] not in gone}
            self._keep(
                {number for number, held in self._links.items() if held.slot not in gone or held.running}
            )

    def _keep(self, numbers: Collection[int]) -> None:
        """Drop all other links; claims of finished ones stay, because their end is still to be reported."""
        dropped = {number for number in self._links if number not in numbers}
        self._links = {number: held for number, held in self._links.items() if number not in dropped}
        self._claims = {key: number for key, number in self._claims.items() if number not in dropped}

    def to_release(self) -> tuple[str, ...]:
        """Return the lost slots of which nothing is in progress."""
        if not self._lost:
            return ()
        busy = {held.slot for held in self._links.values()}
        return tuple(slot for slot in self._lost if slot not in busy)

    def release(self, slots: Iterable[str]) -> None:
        """Forget slots that were given up."""
        gone = set(slots)
        if gone:
            self._lost = {slot: None for slot in self._lost if slot not in gone}
            self._slots = {host: slot for host, slot in self._slots.items() if slot not in gone}
