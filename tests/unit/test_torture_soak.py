"""The checks of `bin/torture soak` find what they are for: each is given a record that breaks it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.torture.history import History
from tests.torture.soak.flatness import LEAST, level_of
from tests.torture.soak.invariants import (
    changed_owner,
    fetched_again,
    lost_lines,
    lost_pages,
    measured_again,
    old_tokens,
    shared_slots,
    violations,
)
from tests.torture.soak.record import Event, Record, read_record
from tests.torture.soak.report import report_of


def at(t: float, kind: str, **fields: Any) -> Event:
    return {"t": t, "kind": kind, **fields}


def answer(t: float, who: str, began: float | None = None) -> Event:
    return at(t, "answer", host="a", who=who, began=t if began is None else began)


# --- owners


def test_site_keeps_its_owner() -> None:
    assert changed_owner([answer(1, "x"), answer(2, "x"), at(3, "leaves", name="y"), answer(4, "x")]) == []


def test_another_owner_is_found_unless_the_first_has_left() -> None:
    (found,) = changed_owner([answer(1, "x"), answer(3, "y")])
    assert "a was x's at 1 s and y's at 3 s" in found
    assert changed_owner([answer(1, "x"), at(2, "leaves", name="x"), answer(3, "y")]) == []
    assert len(list(changed_owner([answer(1, "x"), answer(3, "y"), at(4, "leaves", name="x")]))) == 1


def test_owner_that_returns_is_found() -> None:
    events = [answer(1, "x"), at(2, "leaves", name="x"), answer(3, "y"), answer(4, "x")]
    assert len(list(changed_owner(events))) == 1


def test_questions_that_overlap_may_be_heard_in_either_order() -> None:
    left = at(2, "leaves", name="x")
    assert changed_owner([left, answer(3, "y", 2.5), answer(4, "x", 1)]) == []
    assert len(list(changed_owner([left, answer(3, "y", 2.5), answer(4, "x", 3.5)]))) == 1


def test_site_without_an_answer_is_found_unless_it_was_forgotten() -> None:
    asked = [at(1, "asked", host="a"), at(1, "asked", host="b"), at(2, "forgotten", hosts=["b"])]
    assert violations(asked, History()) == ["a has no answer"]


# --- probes


def probe(order: str, agent: str = "x") -> list[Event]:
    return [
        at(1, "probe", agent=agent, order=order, address="127.1.0.1"),
        at(2, "handed", agent=agent, order=order),
    ]


def test_finished_probe_that_is_repeated_is_found() -> None:
    assert measured_again([*probe("1"), *probe("2", "y")]) == []
    assert measured_again([*probe("1"), *probe("2")]) == ["x measured 127.1.0.1 2 times"]


def test_probe_whose_result_was_lost_may_be_repeated() -> None:
    assert measured_again([probe("1")[0], *probe("2")]) == []


def test_result_that_is_handed_in_twice_is_one() -> None:
    assert measured_again([*probe("1"), *probe("1")[1:]]) == []


def test_probe_that_was_carried_out_twice_or_unpaid_is_found() -> None:
    store = History(paid={"1": ("x", "127.1.0.1")})
    assert violations(probe("1"), store) == []
    assert any("sent 2 times" in one for one in violations([*probe("1"), *probe("1")], store))
    assert any("never paid for" in one for one in violations(probe("2"), store))


def test_budget_that_was_exceeded_is_found() -> None:
    assert violations([], History(spent={"b": (3, 2, 3)})) == ["budget b spent 3 of 2"]


# --- crawls


def fetched(t: float, session: str, url: str = "u", slot: str = "s", run: int = 1) -> Event:
    return at(t, "fetched", run=run, session=session, slot=slot, url=url)


def test_page_that_nobody_fetched_is_found() -> None:
    events = [fetched(1, "a", "u"), fetched(2, "a", "v"), at(3, "run_ended", run=1, pages=2)]
    assert lost_pages(events) == []
    assert lost_pages([events[0], events[2]]) == ["run 1 ended with 1 of 2 pages missing or unknown"]
    assert lost_pages([*events[:2], fetched(2, "a", "w"), events[2]])


def test_page_that_was_acknowledged_and_fetched_again_is_found() -> None:
    finished = at(2, "finished", run=1, session="a", url="u")
    assert fetched_again([fetched(1, "a"), fetched(1.5, "b"), finished]) == []
    assert fetched_again([fetched(1, "a"), finished, fetched(3, "a", run=2)]) == []
    assert len(list(fetched_again([fetched(1, "a"), finished, fetched(3, "b")]))) == 1


@pytest.mark.parametrize(
    "between",
    [
        at(2, "released", run=1, session="a", slot="s"),
        at(2, "node", node="n", session="a", state="killed"),
        at(5, "node", node="n", session="a", state="refused", since=2),
    ],
)
def test_block_has_another_node_after_the_first_gave_it_up(between: Event) -> None:
    events = sorted([fetched(1, "a"), between, fetched(3, "b")], key=lambda one: one["t"])
    assert shared_slots(events) == []
    assert len(list(shared_slots([one for one in events if one is not between]))) == 1


def test_node_that_goes_on_with_a_block_it_gave_up_is_found() -> None:
    released = at(2, "released", run=1, session="a", slot="s")
    assert len(list(shared_slots([fetched(1, "a"), released, fetched(3, "b"), fetched(4, "a")]))) == 1
    assert shared_slots([fetched(1, "a"), released, fetched(3, "a"), fetched(4, "a")]) == []


def test_node_that_ended_before_another_began_shares_nothing() -> None:
    events = [fetched(1, "a", slot="s"), fetched(2, "b", slot="t"), fetched(3, "b", run=2)]
    assert shared_slots(events) == []


# --- operation


def test_old_token_that_works_and_damaged_lines_of_a_log_are_found() -> None:
    token = at(1, "token", name="t", what="accepted although revoked")
    assert old_tokens([at(1, "token", name="t", what="refused")]) == []
    assert len(list(old_tokens([token]))) == 1
    assert lost_lines([at(1, "log", lines=9, damaged=0)]) == []
    assert len(list(lost_lines([at(1, "log", lines=9, damaged=1)]))) == 1


# --- flatness


def noisy(rise: float, count: int = 400, step_at: float | None = None) -> tuple[list[float], list[float]]:
    """Return times over two hours, and values around 100 that rise by so much after the warm-up."""
    rng = Random(3)
    times_s = [7200 * i / count for i in range(count)]
    values = []
    for t in times_s:
        share = max(0.0, (t / 7200 - 0.25) / 0.75)
        share = share if step_at is None else float(share > step_at)
        spike = 80.0 if rng.random() < 0.1 else 0.0
        values.append(100 + 100 * rise * share + rng.gauss(0, 3) + spike)
    return times_s, values


def test_noise_with_spikes_is_flat_and_a_leak_is_not() -> None:
    assert level_of("memory", *noisy(0.0), 0.05).is_flat
    assert not level_of("memory", *noisy(0.08), 0.05).is_flat
    assert level_of("memory", *noisy(-0.3), 0.05).is_flat


def test_late_step_is_not_flat() -> None:
    assert not level_of("memory", *noisy(0.1, step_at=0.8), 0.05).is_flat


def test_growth_during_the_warm_up_does_not_count() -> None:
    times_s, values = noisy(0.0)
    grown = [value - max(0.0, 60 - t / 30) for t, value in zip(times_s, values, strict=True)]
    assert level_of("memory", times_s, grown, 0.05).is_flat


def test_few_points_are_not_judged() -> None:
    level = level_of("memory", *noisy(0.5, count=LEAST), 0.05)
    assert not level.is_judged
    assert level.is_flat
    assert level_of("memory", [], [], 0.05).points == 0


# --- record


def test_record_is_read_back_without_a_line_that_was_cut_off(tmp_path: Path) -> None:
    record = Record(tmp_path / "r.jsonl")
    record.note("asked", host="a")
    record.close()
    with (tmp_path / "r.jsonl").open("a") as file:
        file.write('{"t": 1, "ki')
    (one,) = read_record(tmp_path / "r.jsonl")
    assert (one["kind"], one["host"]) == ("asked", "a")


def test_report_of_a_leak_says_so() -> None:
    times_s, values = noisy(0.2)
    names = ("files", "threads", "owner_ratio", "exchange_ratio", "owner_ms", "exchange_ms", "bare_ms")
    rest = dict.fromkeys((*names, "cpu_s", "store_mb", "crawls_mb"), 1.0)
    events = [at(t, "sample", rss_mb=value, **rest) for t, value in zip(times_s, values, strict=True)]
    report = report_of(events, [])
    assert not report.is_well
    assert "NOT FLAT" in report.text(10)
    assert report.described()["is_well"] is False
