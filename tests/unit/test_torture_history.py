"""The checks of a fault campaign find what they are for: each is given a history that breaks it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.torture.history import History, Sent, violations


def sound() -> History:
    return History(
        asked=["a.example", "b.example"],
        answers=[("a.example", "fra"), ("b.example", "nyc"), ("a.example", "fra")],
        sent=[Sent("fra", "o1", "192.0.2.1"), Sent("nyc", "o2", "192.0.2.1")],
        paid={
            "o1": ("fra", "192.0.2.1"),
            "o2": ("nyc", "192.0.2.1"),
            "o3": ("nyc", "192.0.2.9"),  # paid, and lost with its agent
        },
        measured=[("fra", "192.0.2.1"), ("nyc", "192.0.2.1")],
        spent={"batch 1": (3, 10, 3)},
    )


def test_sound_history_has_no_violations() -> None:
    assert violations(sound()) == []


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda one: one.asked.append("c.example"), "c.example has no answer"),
        (lambda one: one.answers.append(("a.example", "nyc")), "a.example was given to fra, nyc"),
        (lambda one: one.sent.append(Sent("fra", "o1", "192.0.2.1")), "order o1 was sent 2 times"),
        (lambda one: one.measured.append(("fra", "192.0.2.1")), "fra measured 192.0.2.1 2 times"),
        (lambda one: one.sent.append(Sent("fra", "o9", "192.0.2.1")), "o9 of fra was sent and never paid"),
        (lambda one: one.sent.append(Sent("fra", "o3", "192.0.2.9")), "was for ('nyc', '192.0.2.9')"),
        (lambda one: one.spent.update({"batch 1": (2, 10, 3)}), "says 2 and paid for 3 orders"),
        (lambda one: one.spent.update({"batch 1": (3, 2, 3)}), "spent 3 of 2"),
    ],
)
def test_each_violation_is_found(spoil: Callable[[History], object], sentence: str) -> None:
    history = sound()
    spoil(history)
    (found,) = violations(history)
    assert sentence in found
