"""Calls of the compiled module with arguments that are not as they should be.

Calls are recorded while small pieces of work run. An input chooses one, one value in it, and what becomes of
that: an array of another size, type or content, another number, something else. Arrays lie between bytes that
nobody may write to. Only our own code calls these functions; their checks stand between a mistake of ours and
memory that is not theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.auction.assigner import assign_sites
from ipmicra.assign.balance.demand import Demand
from ipmicra.assign.coordinate.space import Space
from ipmicra.assign.overlay.zones import Zones
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.replay.replay import Replay
from ipmicra.errors import IpmicraError
from ipmicra.lab.worlds.hosting import HostingPlan, invent_hosting
from ipmicra.native import kernels
from tests.fuzz.target import target
from tests.fuzz.targets.hierarchies import ADDRESSES, TEXT, rendered
from tests.reference.fast_building import built
from tests.torture.bindings import Call, methods, recording

GUARD = 64
"""Bytes before and behind each array."""
UNTOUCHED = 0xA5
TYPES = tuple(np.dtype(name) for name in ("u1", "i1", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?"))
NUMBERS = (0, 1, -1, 2, 3, 7, 33, 64, 1000, 1 << 31, -(1 << 63), 1 << 62, 1 << 64)
FLOATS = (0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e300, 1e-300)
OTHERS: tuple[Any, ...] = (None, b"", "", (), [], 0, 0.5, b"10.0.0.1\n", np.zeros((2, 2)), object())
ENDLESS = {("auction", 5), ("auction", 6)}
"""Steps and bids of an auction: it ends after as many bids as it is told."""


def _overlay() -> None:
    zones, points = (
        Zones(Space(low=np.zeros(2), high=np.ones(2))),
        np.array([[0.2, 0.7], [0.9, 0.1], [0.5, 0.5]]),
    )
    for point in points:
        zone = zones.holding(point)
        zones.split(zone, *zones.loop_cut(zone))
    starts = zones.holding_many(points)
    zones.neighbours(int(starts[0]), is_torus=True)
    zones.hops(starts, points[::-1].copy(), is_torus=True)
    kernels.route(zones.tree, int(starts[0]), points[1], True, np.zeros(8, np.int32))
    kernels.next_axis(zones.tree, int(starts[0]))
    crawlers = np.array([0, 1, 2])
    kernels.join_many(zones.tree, points, np.zeros(3, np.int32), crawlers, 0, crawlers)


def _assign() -> None:
    assign_sites(Demand(cost_ms=np.arange(12.0).reshape(4, 3), load=np.ones(4), units=np.ones(3)))
    graph = (np.arange(0, 13, 3), np.arange(12) % 4, np.ones(12))
    kernels.move_once(
        graph,
        graph,
        np.ones(2),
        2.0,
        np.arange(4) % 2,
        np.full(2, 2.0),
        np.full(2, 3.0),
        np.ones(4),
        np.full(2, 9.0),
    )


def _bind() -> None:
    pieces, numbers, crawlers = np.ones(3), np.arange(3), np.ones(2)
    binding = (crawlers, numbers, np.ones(6), numbers, numbers, pieces, pieces, numbers, np.ones(5))
    kernels.best_piece(0, numbers, 1.0, *binding)
    kernels.best_crawler(0, numbers, 1.0, *binding)


def _texts() -> None:
    text, rows = np.frombuffer(b"10.0.0.1::1\0\0\0\0\0", np.uint8), np.arange(2, dtype=np.uint32)
    kernels.read_fixed(text, 8, 0, np.zeros(4, np.uint64))
    kernels.read_strings(text, np.array([0, 8, 11]), 0, np.zeros(4, np.uint64))
    kernels.hash_bytes(text)
    edges, room = np.zeros(3, np.int32), np.zeros(256, np.uint8)
    kernels.write_labels(np.arange(2, dtype=np.uint32), np.arange(4, dtype=np.uint64), rows, 0, edges, room)
    kernels.write_names(np.frombuffer(b"\0\3abc\2de", np.uint8), rows, 0, edges, room)


def _predict() -> None:
    plan = HostingPlan(crawlers=3, sites=6, subnets=3, countries=2, cities_per_country=1)
    world, tree = invent_hosting(plan, np.random.default_rng(1))
    Replay(world, DelegationMachine(tree, Predict())).run(range(len(world.sites)))


def recorded() -> list[Call]:
    """Record some calls of every function that can be had cheaply."""
    with recording() as calls:
        hierarchy = built(TEXT + b"\ninetnum: 10.0.0.0 - 10.0.255.255\nnetname: AGAIN\n")
        hierarchy.lookup_many(ADDRESSES)
        hierarchy.lookup_many(["10.0.0.1", "2001:db8::1"])
        rendered(hierarchy)
        _overlay()
        _assign()
        _bind()
        _texts()
        _predict()
    return [call for call in calls + methods() if call[2]]


CALLS = recorded()


class Change:
    """Rebuilds what a call is given, with one value changed."""

    def __init__(self, at: int, how: bytes) -> None:
        """Change the value of a number, from 0; -1 changes none."""
        self.at, self.how = at, how
        self.seen = 0
        self.rooms: list[NDArray[np.uint8]] = []

    def of(self, given: Any) -> Any:
        """Return a copy of a value, or of the values in it."""
        if isinstance(given, tuple):
            return tuple(self.of(one) for one in given)
        if is_dataclass(given) and not isinstance(given, type):
            return type(given)(**{one.name: self.of(getattr(given, one.name)) for one in fields(given)})
        is_changed = self.seen == self.at
        self.seen += 1
        if isinstance(given, np.ndarray):
            return self._array(given, self._byte(0) if is_changed else 0)
        if not is_changed:
            return given
        if isinstance(given, bool) or not isinstance(given, int | float) or self._byte(0) % 4 == 3:
            return OTHERS[self._byte(1) % len(OTHERS)]
        among = FLOATS if isinstance(given, float) else NUMBERS
        return among[self._byte(1) % len(among)]

    def _byte(self, at: int) -> int:
        return self.how[at] if at < len(self.how) else 0

    def _array(self, given: NDArray[Any], what: int) -> Any:
        room = np.full(given.nbytes + 2 * GUARD, UNTOUCHED, np.uint8)
        inside = room[GUARD : GUARD + given.nbytes]
        self.rooms.append(room)
        own = inside.view(given.dtype).reshape(given.shape)
        own[...] = given
        ways: tuple[Callable[[], Any], ...] = (
            lambda: own,
            lambda: self._filled(own, inside),
            lambda: own[: self._byte(1) % (len(own) + 1)],
            lambda: np.resize(own, self._byte(1)),
            lambda: own.astype(TYPES[self._byte(1) % len(TYPES)]),
            lambda: own.reshape(-1)[::2],
            lambda: memoryview(cast("Any", own)).toreadonly(),
            lambda: OTHERS[self._byte(1) % len(OTHERS)],
        )
        return ways[what % len(ways)]()

    def _filled(self, own: NDArray[Any], inside: NDArray[np.uint8]) -> NDArray[Any]:
        content = self.how[1:]
        if content and len(inside):
            inside[:] = np.resize(np.frombuffer(content, np.uint8), len(inside))
        return own


def count_values(call: Call) -> int:
    """Count the values that can be changed in a call."""
    change = Change(-1, b"")
    change.of(call[2])
    return change.seen


SIZES = [count_values(call) for call in CALLS]


@target(
    "bindings",
    IpmicraError,
    AttributeError,
    TypeError,
    ValueError,
    OverflowError,
    MemoryError,
    BufferError,
    longest=48,
)
def call_wrongly(data: bytes) -> None:
    """A call that makes no sense is refused; whatever happens, nothing beside the arrays is written."""
    chosen, at = (data[:2] + b"\0\0")[:2]
    chosen %= len(CALLS)
    name, function, given = CALLS[chosen]
    change = Change(at % SIZES[chosen], data[2:])
    if (name, change.at) in ENDLESS:
        return
    changed = change.of(given)
    try:
        with np.errstate(all="ignore"):
            function(*changed)
    finally:
        for room in change.rooms:
            assert (room[:GUARD] == UNTOUCHED).all(), name
            assert (room[-GUARD:] == UNTOUCHED).all(), name
