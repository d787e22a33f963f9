"""The checks of a fault campaign find what they are for: each is given a history that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.torture.crawl_history import CrawlHistory, Fetched, crawl_violations
from tests.torture.history import Fault, History, Sent, violations


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
        (lambda one: one.replaced.append("192.0.2.0 of fra: moved"), "decided again: 192.0.2.0 of fra"),
        (lambda one: one.restarts.append("fra: Traceback"), "ended by itself: fra"),
    ],
)
def test_each_violation_is_found(spoil: Callable[[History], object], sentence: str) -> None:
    history = sound()
    spoil(history)
    (found,) = violations(history)
    assert sentence in found


# --- crawls


def fetched(at_s: float, node: str, url: str) -> Fetched:
    host = url.split("/")[2]
    return Fetched(at_s, node, url, host, block={"a": 0, "b": 1}[host[0]])


def sound_crawl() -> CrawlHistory:
    return CrawlHistory(
        pages={"http://a.example/", "http://a.example/1", "http://b.example/"},
        owner={"a.example": "fra", "b.example": "nyc"},
        delay_s=0.5,
        settle_s=2.0,
        fetched=[
            fetched(0.0, "fra", "http://a.example/"),
            fetched(20.0, "fra", "http://a.example/1"),
            fetched(21.0, "nyc", "http://a.example/1"),  # while fra is cut off
            fetched(40.0, "nyc", "http://b.example/"),
        ],
        faults=[Fault("of fra", "partition", 20.5, 24.0)],
    )


def test_sound_crawl_has_no_violations() -> None:
    assert crawl_violations(sound_crawl()) == []


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda one: one.pages.add("http://a.example/2"), "http://a.example/2 was never fetched"),
        (lambda one: one.pages.remove("http://b.example/"), "http://b.example/ is no page of this web"),
        (
            lambda one: one.fetched.append(fetched(50.0, "nyc", "http://b.example/")),
            "http://b.example/ was fetched by nyc and again by nyc, without need",
        ),
        (
            lambda one: one.fetched.insert(0, fetched(-9.0, "fra", "http://b.example/")) or one.fetched.pop(),
            "http://b.example/ of nyc was fetched by fra",
        ),
        (
            lambda one: (
                one.pages.add("http://a.example/2")
                or one.fetched.append(fetched(21.4, "fra", "http://a.example/2"))
            ),
            "block 0 was fetched by nyc and fra within 0.400 s",
        ),
        (
            lambda one: (
                one.pages.add("http://b.example/2")
                or one.fetched.append(replace(fetched(40.4, "nyc", "http://b.example/2"), process=1))
            ),
            "block 1 was fetched by nyc and nyc within 0.400 s",
        ),
        (lambda one: setattr(one, "has_stand_ins", False), "http://a.example/1 of fra was fetched by nyc"),
        (lambda one: one.restarts.append("fra: Traceback"), "ended by itself: fra"),
    ],
)
def test_each_violation_of_a_crawl_is_found(spoil: Callable[[CrawlHistory], object], sentence: str) -> None:
    history = sound_crawl()
    spoil(history)
    found = crawl_violations(history)
    assert [one for one in found if sentence in one], found
    assert len(found) == 1
