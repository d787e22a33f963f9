"""Cut paths between namespaces, several at a time, and jumps of clocks: `faults.py` for a router."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from tests.torture.clocks import JUMPS_S, Clock
from tests.torture.faults import JUMP
from tests.torture.history import Fault
from tests.torture.namespaces import Router

LONGEST_S = 2.0


@dataclass(kw_only=True)
class Cuts:
    """Cuts paths in one direction or in both, each for a while."""

    router: Router
    clocks: Sequence[Clock]
    rng: Random
    pairs: Sequence[tuple[str, str]]
    """Namespaces between which a path may be cut; one that is named twice is drawn twice as often."""
    beyond_s: Callable[[str, str], float]
    """Returns how long a cut of a path lasts now and then: longer than a lease."""
    beyond_share: float = 1 / 10
    """How many of them."""
    log: list[Fault] = field(default_factory=list)
    _under_way: list[tuple[float, int, list[tuple[str, str]]]] = field(default_factory=list)
    """When a cut ends, its place in the log, and what it drops: from whom to whom."""

    def strike(self) -> Fault:
        """Begin a fault, and end those that are due."""
        self.relieve()
        if self.clocks and self.rng.random() < 1 / 6:
            return self._jump()
        one, other = self.rng.choice(self.pairs)
        now_s = time.monotonic()
        until_s = now_s + self._duration_s(one, other)
        dropped = self.rng.choice([[(one, other)], [(other, one)], [(one, other), (other, one)]])
        for source, target in dropped:
            self.router.drop(source, target)
        self._under_way.append((until_s, len(self.log), dropped))
        self.log.append(Fault(f"{one} and {other}", "partition", now_s, until_s))
        return self.log[-1]

    def _duration_s(self, one: str, other: str) -> float:
        if self.rng.random() < self.beyond_share:
            return self.beyond_s(one, other)
        return self.rng.uniform(0.1, LONGEST_S)

    def _jump(self) -> Fault:
        clock, ahead_s = self.rng.choice(self.clocks), self.rng.choice([0.0, *JUMPS_S])
        now_s = time.monotonic()
        clock.set(ahead_s)
        self.log.append(Fault(clock.file.name, f"{JUMP} to {ahead_s:+g} s", now_s, now_s))
        return self.log[-1]

    def relieve(self, *, everything: bool = False) -> None:
        """End cuts that are due, or all of them."""
        now_s = time.monotonic()
        due = [one for one in self._under_way if everything or one[0] <= now_s]
        self._under_way = [one for one in self._under_way if one not in due]
        still = {path for _, _, dropped in self._under_way for path in dropped}
        for source, target in sorted({path for _, _, dropped in due for path in dropped} - still):
            self.router.restore(source, target)
        for _, place, _ in due:
            self.log[place] = replace(self.log[place], ended_s=now_s)
