"""Taking times in turns, and watching memory."""

from __future__ import annotations

import sys
import time
from itertools import count

import pytest

from benchmarks.measure import Times, children_time, peak_memory, run, side_by_side, speed_ratio, time_ratio


def test_contestants_take_turns_and_the_untimed_round_is_not_counted() -> None:
    called: list[str] = []
    ticks = count()
    times = side_by_side(
        {"a": lambda: called.append("a"), "b": lambda: called.append("b")},
        rounds=2,
        untimed=1,
        clock=lambda: float(next(ticks)),
    )
    assert called == ["a", "b"] * 3
    assert {name: one.seconds for name, one in times.items()} == {"a": (1.0, 1.0), "b": (1.0, 1.0)}


def test_things_are_made_ready_before_each_turn_and_that_is_not_timed() -> None:
    ticks = count()
    times = side_by_side(
        {"a": lambda: None}, rounds=2, clock=lambda: float(next(ticks)), before=lambda: next(ticks)
    )
    assert times["a"].seconds == (1.0, 1.0)
    assert next(ticks) == 9


def test_waiting_is_no_time_of_the_processor_but_is_told_beside_it() -> None:
    times = side_by_side({"nap": lambda: time.sleep(0.1)}, rounds=1, untimed=0, clock=time.process_time)[
        "nap"
    ]
    assert times.median < 0.1 <= times.median_elapsed


def test_the_time_of_children_counts_when_they_have_ended() -> None:
    code = "import time\nwhile time.process_time() < 0.3: pass"
    before = children_time()
    run([sys.executable, "-c", code])
    assert children_time() - before >= 0.25


def test_a_result_is_gone_before_the_next_contestant_starts() -> None:
    alive: list[int] = []

    class Heavy:
        def __init__(self) -> None:
            alive.append(1)

        def __del__(self) -> None:
            alive.pop()

    seen: list[int] = []
    side_by_side({"a": Heavy, "b": lambda: seen.append(len(alive))}, rounds=2, untimed=0)
    assert seen == [0, 0]


def test_ratio_is_that_of_the_medians_with_the_spread_of_the_rounds() -> None:
    ratio = speed_ratio(Times(seconds=(1.0, 2.0, 4.0)), Times(seconds=(4.0, 4.0, 20.0)))
    assert (ratio.value, ratio.low, ratio.high) == (2.0, 2.0, 5.0)


def test_a_ratio_of_times_is_a_ratio_of_speeds_the_other_way_round() -> None:
    one, other = Times(seconds=(1.0, 2.0)), Times(seconds=(4.0, 4.0))
    assert time_ratio(other, one) == speed_ratio(one, other)


def test_rounds_without_a_counterpart_are_refused() -> None:
    with pytest.raises(ValueError, match="argument"):
        speed_ratio(Times(seconds=(1.0, 1.0)), Times(seconds=(1.0,)))


def test_times_are_scaled_by_rule_of_three() -> None:
    assert Times(seconds=(1.0, 3.0)).scaled(10).seconds == (10.0, 30.0)


def test_a_failing_command_is_told_with_its_complaint() -> None:
    with pytest.raises(RuntimeError, match="ended with 3: no luck"):
        run([sys.executable, "-c", "import sys; print('no luck', file=sys.stderr); sys.exit(3)"])


def test_peak_memory_counts_what_was_given_back_since() -> None:
    code = "import time; block = bytearray(80_000_000); time.sleep(0.2); del block; time.sleep(0.1)"
    peak = peak_memory([sys.executable, "-c", code])
    assert 80_000_000 < peak.total_bytes < 200_000_000


def test_the_memory_of_whoever_measures_is_not_counted() -> None:
    own = b"x" * 150_000_000
    peak = peak_memory([sys.executable, "-c", "pass"])
    assert peak.total_bytes < 100_000_000 < len(own)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_children_of_a_command_are_counted_together() -> None:
    child = "block = b'x' * 40_000_000; print('there', flush=True); input()"
    code = f"""
import subprocess, sys, time
pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
children = [subprocess.Popen([sys.executable, "-c", {child!r}], **pipes) for _ in range(2)]
for child in children:
    child.stdout.readline()
time.sleep(1)  # some fifty looks
for child in children:
    child.communicate(b"go")
"""
    peak = peak_memory([sys.executable, "-c", code])
    assert peak.processes == 3
    assert peak.together_bytes > 80_000_000 > peak.own_bytes
