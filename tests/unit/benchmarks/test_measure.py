"""Taking times in turns, and watching memory."""

from __future__ import annotations

import sys
from itertools import count

import pytest

from benchmarks.measure import Times, children_time, peak_memory, run, side_by_side, speed_ratio


def test_candidates_take_turns_and_the_untimed_round_is_not_counted() -> None:
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


def test_the_time_of_children_counts_when_they_have_ended() -> None:
    code = "import time\nwhile time.process_time() < 0.3: pass"
    before = children_time()
    run([sys.executable, "-c", code])
    assert children_time() - before >= 0.25


def test_ratio_is_that_of_the_medians_with_the_spread_of_the_rounds() -> None:
    ratio = speed_ratio(Times(seconds=(1.0, 2.0, 4.0)), Times(seconds=(4.0, 4.0, 20.0)))
    assert (ratio.value, ratio.low, ratio.high) == (2.0, 2.0, 5.0)


def test_a_failing_command_raises_with_its_message() -> None:
    with pytest.raises(RuntimeError, match="ended with 3: no luck"):
        run([sys.executable, "-c", "import sys; print('no luck', file=sys.stderr); sys.exit(3)"])


def test_peak_memory_counts_what_was_given_back_since() -> None:
    code = "import time; block = bytearray(80_000_000); time.sleep(0.2); del block; time.sleep(0.1)"
    peak = peak_memory([sys.executable, "-c", code])
    assert 80_000_000 < peak.total_bytes < 200_000_000
