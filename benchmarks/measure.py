"""Time candidates side by side, and measure the memory of a command.

Candidates take turns, A B A B, so that a noisy neighbour disturbs all of them. No round is dropped: the
median counts, and minimum and maximum are reported with it.
"""

from __future__ import annotations

import gc
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""Folder of the project, in which commands are run."""
_LAUNCHER = Path(__file__).with_name("child_peak.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How long something took, round by round."""

    seconds: tuple[float, ...]
    elapsed_s: tuple[float, ...] = ()
    """Wall-clock times, if `seconds` are processor times."""

    @property
    def median(self) -> float:
        """Median, in seconds."""
        return statistics.median(self.seconds)

    @property
    def median_elapsed(self) -> float:
        """Median wall-clock time, in seconds."""
        return statistics.median(self.elapsed_s or self.seconds)

    def scaled(self, factor: float) -> Times:
        """Return the times of more (or less) of the same work, by rule of three."""
        return Times(
            seconds=tuple(one * factor for one in self.seconds),
            elapsed_s=tuple(one * factor for one in self.elapsed_s),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """One beside another."""

    value: float
    """Ratio of the medians."""
    low: float
    """Least ratio of two times of the same round."""
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """What a command took at its highest."""

    seconds: float
    own_bytes: int
    """Largest resident size of one process, as the kernel counted it at the end (ru_maxrss)."""
    high_water_bytes: int
    """Largest VmHWM of one process that was seen while it ran; 0 where there is no /proc."""
    together_bytes: int
    """Largest sum of the resident sizes of the command and all it started; 0 where there is no /proc."""
    processes: int
    """Most processes that were seen at once."""

    @property
    def total_bytes(self) -> int:
        """The greatest of the counts: an undercount of one of them does not help."""
        return max(self.own_bytes, self.high_water_bytes, self.together_bytes)


def children_time() -> float:
    """Return the processor time of all children that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def side_by_side(
    actions: Mapping[str, Callable[[], object]],
    rounds: int,
    *,
    untimed: int = 1,
    clock: Callable[[], float] = time.perf_counter,
    before: Callable[[], object] | None = None,
) -> dict[str, Times]:
    """Let all act in turn, so many rounds; the untimed rounds before fill caches and are not counted.

    `before` makes things ready for each action and is not timed. With a clock of the processor, such as
    `time.process_time` or `children_time`, the times by the clock on the wall are kept as well.
    """
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    elapsed: dict[str, list[float]] = {name: [] for name in actions}
    gc.collect()
    gc.freeze()  # exclude existing objects from the collections below
    try:
        for number in range(-untimed, rounds):
            for name, action in actions.items():
                if before:
                    before()
                gc.collect()
                began, start = time.perf_counter(), clock()
                result = action()
                taken, passed = clock() - start, time.perf_counter() - began
                del result  # free its memory before the next one starts
                if number >= 0:
                    seconds[name].append(taken)
                    elapsed[name].append(passed)
    finally:
        gc.unfreeze()
    keeps = clock is not time.perf_counter
    return {
        name: Times(seconds=tuple(taken), elapsed_s=tuple(elapsed[name]) if keeps else ())
        for name, taken in seconds.items()
    }


def time_ratio(ours: Times, theirs: Times) -> Ratio:
    """Return how many times as long ours takes: 2 if theirs takes half as long."""
    pairs = [a / b for a, b in zip(ours.seconds, theirs.seconds, strict=True)]
    return Ratio(value=ours.median / theirs.median, low=min(pairs), high=max(pairs))


def speed_ratio(ours: Times, theirs: Times) -> Ratio:
    """Return how many times as fast ours is: 2 if theirs takes twice as long."""
    return time_ratio(theirs, ours)


def run(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> str:
    """Run a command in the project's folder and return its output; raise with its message if it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    if done.returncode:
        message = (done.stderr or done.stdout).strip()[-2000:]
        shown = " ".join(str(part) for part in command)
        raise RuntimeError(f"{shown} ended with {done.returncode}: {message}")
    return done.stdout


def run_to_nowhere(command: Sequence[str | Path]) -> None:
    """Run a command with its output discarded, as `> /dev/null` does."""
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def peak_memory(command: Sequence[str | Path]) -> Peak:
    """Run a command and measure its peak memory.

    A small launcher starts it: the kernel counts the parent's size as the new process's own, so the
    gigabytes of a benchmark would be attributed to the command.
    """
    return Peak(**json.loads(run([sys.executable, "-I", "-S", _LAUNCHER, *command])))
