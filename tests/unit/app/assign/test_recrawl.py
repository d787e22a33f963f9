"""Crawling again by the store: words of crawlers, and what is due from call to call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

from ipmicra.app.assign.assign import AssignRequest, assign_seeds
from ipmicra.app.assign.backends import AssignReport
from ipmicra.app.assign.recrawl import Turn, note_crawled
from ipmicra.app.describe.assignment import describe_turn
from ipmicra.edge.store.ports import Member
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.recrawl import Crawled, Recrawl
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site

HOUR = 3600.0


@pytest.fixture
def store(memory_store: Store) -> Store:
    for number, name in enumerate(("ath", "ber")):
        memory_store.crawlers.put(
            Member(crawler=Crawler(name=name, address=ip_address(f"192.0.2.{number + 1}")))
        )
    for number in range(1, 7):
        address = ip_address(f"198.51.100.{number}")
        memory_store.sites.put_many([Site(f"s{number}.example", address)], 1.0)
        memory_store.samples.add_many(
            [
                Sample(crawler="ath", address=address, rtt_ms=float(number)),
                Sample(crawler="ber", address=address, rtt_ms=7.0 - number),
            ]
        )
    return memory_store


def assigned(store: Store, hosts: Sequence[int], now_s: float, **more: object) -> AssignReport:
    request = AssignRequest(texts=[f"s{number}.example" for number in hosts], **more)  # type: ignore[arg-type]
    return assign_seeds(store, request, clock=lambda: now_s)[0]


def steps(report: AssignReport) -> dict[str, str | None]:
    return {
        one.host: turn.step.value if turn.step else None
        for one, turn in zip(report.assignments, report.turns, strict=True)
    }


def test_the_first_call_submits_and_the_second_leaves_all_alone(store: Store) -> None:
    first = assigned(store, [1, 2], 0.0, every_s=HOUR)
    assert steps(first) == {"s1.example": "submit", "s2.example": "submit"}
    kept = store.recrawls.all()
    again = assigned(store, [1, 2, 3], 10.0)
    assert steps(again) == {"s1.example": None, "s2.example": None, "s3.example": "submit"}
    assert store.recrawls.all()[:2] == kept
    assert [one.interval_s for one in store.recrawls.all()] == [HOUR, HOUR, None]


def test_what_is_due_is_found_without_naming_it(store: Store) -> None:
    assigned(store, [1, 2, 3], 0.0, every_s=HOUR)
    assigned(store, [4], 0.0)
    note_crawled(store, [Crawled(host="s1.example", pages=9, crawled_s=60.0)])
    note_crawled(store, [Crawled(host="s2.example", started_s=60.0)])
    assert assigned(store, [], HOUR - 1, is_due_only=True).assignments == []
    due = assigned(store, [], HOUR, is_due_only=True)
    assert steps(due) == {"s1.example": "submit", "s2.example": "wait", "s3.example": "cancel and submit"}
    assert steps(assigned(store, [], HOUR + 1, is_due_only=True)) == {"s2.example": "wait"}
    note_crawled(store, [Crawled(host="s2.example", pages=1, crawled_s=HOUR + 2)])
    assert steps(assigned(store, [], HOUR + 3, is_due_only=True)) == {"s2.example": "submit"}
    assert assigned(store, [], HOUR + 4, is_due_only=True).assignments == []


def test_pages_of_the_last_crawl_are_the_load_of_the_next_call(store: Store) -> None:
    assigned(store, [1, 2], 0.0, every_s=HOUR)
    note_crawled(store, [Crawled(host="s1.example", pages=321, crawled_s=60.0)])
    report = assigned(store, [1, 2], 70.0)
    assert [one.pages for one in report.assignments] == [321, None]
    assert describe_turn(report.turns[0]) == {
        "step": None,
        "state": "idle",
        "crawls": 1,
        "crawled": "1970-01-01T00:01:00+00:00",
        "every_s": HOUR,
        "due": "1970-01-01T01:00:00+00:00",
    }


def test_the_heir_of_a_crawler_that_went_starts_again_on_what_was_not_done(store: Store) -> None:
    first = assigned(store, range(1, 7), 0.0, every_s=HOUR)
    own = [one.host for one in first.assignments if one.crawler == "ath"]
    note_crawled(store, [Crawled(host=own[0], pages=1, crawled_s=5.0)])
    store.crawlers.set_state("ath", CrawlerState.LEFT, 6.0)
    report = assigned(store, [], 7.0, is_due_only=True)
    assert steps(report) == dict.fromkeys(own[1:], "submit")
    assert {one.crawler for one in report.assignments} == {"ber"}
    assert assigned(store, [], 8.0, is_due_only=True).assignments == []


def test_a_dry_run_leaves_the_schedule_alone(store: Store) -> None:
    assert steps(assigned(store, [1], 0.0, every_s=HOUR, is_kept=False)) == {"s1.example": "submit"}
    assert store.recrawls.all() == []


def test_how_late_new_pages_are_seen_is_told(store: Store) -> None:
    assigned(store, [1], 0.0, every_s=4 * HOUR)
    note_crawled(store, [Crawled(host="s1.example", pages=1, started_s=10.0, crawled_s=10.0 + HOUR)])
    report = assigned(store, [1], 2 * HOUR)
    assert report.findings[-1] == "a new page is seen after 2.2 to 3.2 h (mean of 1 timed downloads)"


def test_words_that_cannot_be_true_are_refused_one_by_one(store: Store) -> None:
    pieces = [Recrawl(host="big.example", piece=one, of=2, first_s=0.0, submitted_s=0.0) for one in (1, 2)]
    store.recrawls.put_many(pieces)
    words = [
        Crawled(host="a.example"),
        Crawled(host="b.example", crawled_s=1.0),
        Crawled(host="c.example", crawled_s=1.0, started_s=2.0, pages=1),
        Crawled(host="d.example", crawled_s=1.0, pages=1, interval_s=0.0),
        Crawled(host="big.example", crawled_s=1.0, pages=1),
        Crawled(host="big.example", piece=3, crawled_s=1.0, pages=1),
        Crawled(host="big.example", piece=2, crawled_s=1.0, pages=1),
    ]
    changed, refused = note_crawled(store, words)
    assert [(one.host, one.piece, one.pages) for one in changed] == [("big.example", 2, 1)]
    assert [one.split(": ", 1)[0] for one in refused] == [word.host for word in words[:-1]]
    assert "2 pieces: say which" in refused[4]
    assert store.recrawls.of("big.example")[0] == pieces[0]


def test_a_site_stays_in_its_pieces_without_its_urls(store: Store, tmp_path: Path) -> None:
    urls = tmp_path / "urls.txt"
    urls.write_text("\n".join(f"https://s1.example/{name}/{i}" for name in "ab" for i in range(1500)))
    first = assigned(store, [1, 2], 0.0, urls=(urls,), pieces=2, every_s=HOUR)
    assert [one.piece for one in first.assignments] == [1, 2, 1]
    note_crawled(store, [Crawled(host="s1.example", piece=2, pages=5, crawled_s=9.0)])
    again = assigned(store, [1, 2], 10.0)
    assert [replace(one, pages=0) for one in again.assignments] == [
        replace(one, pages=0, reason=other.reason)
        for one, other in zip(first.assignments, again.assignments, strict=True)
    ]
    assert [one.pages for one in again.assignments] == [1500, 5, None]
    assert [turn.recrawl.crawls if turn.recrawl else 0 for turn in again.turns] == [0, 1, 0]


def test_a_turn_without_a_schedule_and_one_beyond_all_dates_can_be_told() -> None:
    assert describe_turn(Turn(step=None, recrawl=None))["due"] is None
    far = Recrawl(host="a.example", first_s=0.0, submitted_s=0.0, crawled_s=1e18)
    assert describe_turn(Turn(step=None, recrawl=far))["crawled"] is None
