"""Late binding: what a free connection takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.assign.balance.binding import Binder, BindingWorld, Lives
from ipmicra.assign.balance.config import BindingConfig
from tests.reference.slow_balance import dying_chance

FIXED_MS, STEP_MS = 180.0, 20_000.0


def binder_of(told: np.ndarray, pages: list[int], last: list[int], **settings: float) -> Binder:
    matter = BindingWorld(
        expected_ms=told,
        site=np.arange(len(pages)),
        pages=np.array(pages),
        last_crawler=np.array(last),
        fixed_ms=FIXED_MS,
        step_ms=STEP_MS,
    )
    return Binder(matter, BindingConfig(**settings))  # type: ignore[arg-type]


def test_the_nearest_piece_is_taken_first() -> None:
    binder = binder_of(np.array([[50.0, 10.0, 30.0]]), [100] * 3, [-1] * 3)
    assert binder.piece_for(0, np.array([0, 1, 2]), 0.0) == 1
    assert binder.piece_for(0, np.array([0, 2]), 0.0) == 2
    assert binder.piece_for(0, np.array([], dtype=np.int64), 0.0) is None


def test_a_piece_stays_where_it_was_unless_another_is_much_nearer() -> None:
    told = np.array([[50.0, 10.0]])
    assert binder_of(told, [100] * 2, [0, -1]).piece_for(0, np.array([0, 1]), 0.0) == 0
    assert binder_of(told, [100] * 2, [0, -1], stay_ms=30.0).piece_for(0, np.array([0, 1]), 0.0) == 1


def test_long_pieces_start_early() -> None:
    told = np.array([[12.0, 10.0]])
    assert binder_of(told, [40_000, 100], [-1, -1]).piece_for(0, np.array([0, 1]), 0.0) == 0


def test_a_crawler_that_will_go_soon_takes_short_pieces_and_a_young_one_long_ones() -> None:
    binder = binder_of(np.full((2, 2), 20.0), [40_000, 100], [-1, -1])
    for _ in range(10):
        binder.joined(0, 0.0)
        binder.left(0, 1000.0)
    binder.joined(0, 0.0)
    binder.joined(1, 950.0)
    both = np.array([0, 1])
    assert binder.piece_for(0, both, 950.0) == 1
    assert binder.piece_for(1, both, 950.0) == 0
    assert binder.crawler_for(0, both, 950.0) == 1
    assert binder.crawler_for(0, np.array([], dtype=np.int64), 950.0) is None


def test_risk_counts_only_after_enough_lives_were_seen() -> None:
    binder = binder_of(np.full((1, 2), 20.0), [40_000, 100], [-1, -1])
    for _ in range(9):
        binder.left(0, 1000.0)
    assert binder.piece_for(0, np.array([0, 1]), 950.0) == 0


@given(
    lives=st.lists(st.floats(1, 2000), min_size=1, max_size=60),
    age=st.floats(0, 2500),
    steps=st.floats(0.1, 2500),
)
def test_lives_tell_the_chance_that_the_slow_twin_counts(
    lives: list[float], age: float, steps: float
) -> None:
    """Up to one step of age, in which lives are counted."""
    known = Lives()
    for life in lives:
        known.end(life)
    width, last = known.width, len(known.counts) - 1
    before, after = (known.counts[min(int(at / width), last)] for at in (age, age + steps))
    told = (after - before) / (len(known) - before + 1)
    near = [
        dying_chance(lives, age + shift, steps + more) for shift in (-width, 0) for more in (-width, 0, width)
    ]
    assert min(near) - 1e-9 <= told <= max(near) + 1e-9


@given(seed=st.integers(0, 10**6))
def test_choice_equals_that_of_a_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pieces = 12
    told, pages = rng.uniform(1, 200, (1, pieces)), rng.integers(1, 60_000, pieces)
    last = rng.integers(-1, 1, pieces)
    binder = binder_of(told, pages.tolist(), last.tolist())
    for life in rng.uniform(500, 1500, 20):
        binder.joined(0, 0.0)
        binder.left(0, float(life))
    binder.joined(0, 0.0)
    config, counts, width = binder.config, binder.lives.counts, binder.lives.width
    costs = []
    for piece in range(pieces):
        steps = (told[0, piece] + FIXED_MS) * pages[piece] / STEP_MS
        before, after = (counts[min(int(at / width), len(counts) - 1)] for at in (700.0, 700.0 + steps))
        chance = (after - before) / (len(binder.lives) - before + 1)
        bonus = config.stay_ms * (last[piece] == 0) + config.long_first * steps
        costs.append(told[0, piece] - bonus + config.risk * chance * steps / 2)
    found = binder.piece_for(0, np.arange(pieces), 700.0)
    assert found is not None
    assert costs[found] == pytest.approx(min(costs), abs=1e-6)
