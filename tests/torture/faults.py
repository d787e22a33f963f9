"""Faults of networks and clocks, drawn from a seed: several at a time, each for a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.torture.clocks import JUMPS_S, Clock
from tests.torture.history import Fault
from tests.torture.lossy import LossyNetwork, Passing, Wire

LASTING: Mapping[str, Mapping[str, object]] = {
    "delay": {"delay_s": 0.3},
    "stall": {"there": Passing.HOLD, "back": Passing.HOLD},
    "partition": {"there": Passing.LOSE, "back": Passing.LOSE},
    "lose requests": {"there": Passing.LOSE},
    "lose answers": {"back": Passing.LOSE},
    "hold answers": {"back": Passing.HOLD},
    "refuse": {"is_refusing": True},
}
AT_ONCE = ("cut", "cut mid-message", "half-close", "replay")
JUMP = "jump"


@dataclass
class Faults:
    """Strikes wires and clocks, and ends what has lasted long enough."""

    network: LossyNetwork
    clocks: Sequence[Clock]
    rng: Random
    longest_s: float = 2.0
    beyond_s: Mapping[str, float] = field(default_factory=dict)
    """Now and then a fault lasts so long, by the beginning of the wire's name: longer than a lease."""
    beyond_share: float = 1 / 6
    """How many of those that last."""
    log: list[Fault] = field(default_factory=list)
    _under_way: dict[str, tuple[float, int]] = field(default_factory=dict)
    """By wire: when its fault ends, and its place in the log."""

    def strike(self) -> Fault:
        """Begin a fault, and end those that are due."""
        self.relieve()
        if self.clocks and self.rng.random() < 1 / 6:
            return self._jump()
        free = [wire for name, wire in sorted(self.network.wires.items()) if name not in self._under_way]
        wire = self.rng.choice(free or sorted(self.network.wires.values(), key=lambda one: one.name))
        lasting = LASTING if free else ()  # one that lasts is not replaced by another
        kind = self.rng.choice([*lasting, *AT_ONCE] if wire.is_http else [*lasting, *AT_ONCE[:-1]])
        lasts_s = self._duration_s(wire) if kind in LASTING else 0.0
        self._begin(wire, kind)
        now_s = time.monotonic()
        fault = Fault(wire.name, kind, now_s, now_s + lasts_s)
        self.log.append(fault)
        if lasts_s:
            self._under_way[wire.name] = (fault.ended_s, len(self.log) - 1)
        return fault

    def _duration_s(self, wire: Wire) -> float:
        beyond_s = next((s for start, s in self.beyond_s.items() if wire.name.startswith(start)), 0.0)
        if beyond_s and self.rng.random() < self.beyond_share:
            return self.rng.uniform(0.8, 1.2) * beyond_s
        return self.rng.uniform(0.1, self.longest_s)

    def _begin(self, wire: Wire, kind: str) -> None:
        network = self.network
        acts: dict[str, Callable[[Wire], object]] = {
            "cut": network.cut,
            "cut mid-message": lambda one: network.set(one, cuts_next=True),
            "half-close": network.half_close,
            "replay": network.replay,
        }
        if kind in acts:
            acts[kind](wire)
        else:
            network.set(wire, **LASTING[kind])

    def _jump(self) -> Fault:
        clock = self.rng.choice(self.clocks)
        ahead_s = self.rng.choice([0.0, *JUMPS_S])
        fault = Fault(clock.file.name, f"{JUMP} to {ahead_s:+g} s", time.monotonic(), time.monotonic())
        clock.set(ahead_s)
        self.log.append(fault)
        return fault

    def relieve(self, *, everything: bool = False) -> None:
        """End faults that are due, or all of them."""
        now_s = time.monotonic()
        for name, (until_s, at) in list(self._under_way.items()):
            if everything or until_s <= now_s:
                self.network.heal(self.network.wires[name])
                del self._under_way[name]
                begun = self.log[at]
                self.log[at] = Fault(begun.where, begun.kind, begun.began_s, now_s)
        if everything:
            for wire in self.network.wires.values():
                self.network.heal(wire)
