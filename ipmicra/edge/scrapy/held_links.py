"""The links that a node holds: delivered to it, and not finished.

A link is finished when no request made for it, the first one or a retry, is queued or in progress any more.
A slot that is to be given up takes its links along, except those in progress; their requests stay in Scrapy's
queue, and are known by a delivery that is no longer held when they leave it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from scrapy import Request

from ipmicra.edge.scrapy.requests import SLOT
from ipmicra.wire.links import DeliveredLink

NUMBER, DELIVERY = "ipmicra_number", "ipmicra_delivery"
"""Keys of meta: which link a request is for, and by which delivery it came."""


@dataclass(slots=True)
class _Held:
    """One link."""

    delivery: int
    key: int
    slot: str
    requests: int = 1
    """Made for it, and queued or in progress."""
    running: int = 0
    """Of these, in progress."""


class HeldLinks:
    """Links by number, hosts with their slots, and the slots that are to be given up."""

    def __init__(self) -> None:
        """Start empty."""
        self._links: dict[int, _Held] = {}
        self._running: dict[Request, int | None] = {}
        self._slots: dict[str, str] = {}
        self._lost: dict[str, None] = {}

    def __len__(self) -> int:
        """Count the links."""
        return len(self._links)

    @property
    def is_busy(self) -> bool:
        """Whether a link is held or any request is in progress."""
        return bool(self._links or self._running)

    def void(self, *, is_same_run: bool) -> None:
        """Let go of everything, for the session is over; what is in progress is reported in the same run."""
        self._links = {number: held for number, held in self._links.items() if is_same_run and held.running}
        self._slots, self._lost = {}, {}

    # --- links come and go

    def receive(self, one: DeliveredLink, delivery: int, request: Request) -> None:
        """Hold a link that was delivered, and mark the request that is made for it."""
        self._lost.pop(one.slot, None)
        self._slots[one.link.host] = one.slot
        self._links[one.number] = _Held(delivery=delivery, key=one.link.key, slot=one.slot)
        request.meta.update({SLOT: one.slot, NUMBER: one.number, DELIVERY: delivery})

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
        self._running[request] = number
        return True

    def finish(self, in_progress: Collection[Request]) -> list[int]:
        """Take what is no longer in progress; return the numbers of links that are finished by that."""
        finished: list[int] = []
        for request in [one for one in self._running if one not in in_progress]:
            number = self._running.pop(request)
            held = self._held(request)
            if number is None or held is None:
                continue
            held.requests -= 1
            held.running -= 1
            if held.requests == 0:
                del self._links[number]
                finished.append(number)
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
            self._links = {
                number: held for number, held in self._links.items() if held.slot not in gone or held.running
            }

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
