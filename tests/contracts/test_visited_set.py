"""What both kinds of visited set promise."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.partition.exchange.visited import BloomVisited, Fingerprints, VisitedSet

KINDS: list[Callable[[], VisitedSet]] = [Fingerprints, lambda: BloomVisited(10_000, 1e-9)]


@pytest.fixture(params=KINDS, ids=["fingerprints", "bloom"])
def make(request: pytest.FixtureRequest) -> Callable[[], VisitedSet]:
    chosen: Callable[[], VisitedSet] = request.param
    return chosen


def test_first_time_is_new_and_second_is_not(make: Callable[[], VisitedSet]) -> None:
    visited = make()
    assert "http://a.example/" not in visited
    assert visited.add("http://a.example/")
    assert not visited.add("http://a.example/")
    assert "http://a.example/" in visited
    assert len(visited) == 1


@given(urls=st.lists(st.text(max_size=12), max_size=60))
@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_it_agrees_with_a_plain_set(kind: int, urls: list[str]) -> None:
    visited, plain = KINDS[kind](), set[str]()
    for url in urls:
        assert visited.add(url) == (url not in plain)
        plain.add(url)
    assert len(visited) == len(plain)


@given(keys=st.lists(st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-3, 3), max_size=60))
@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_keys_agree_with_a_plain_set(kind: int, keys: list[int]) -> None:
    visited, plain = KINDS[kind](), set[int]()
    for key in [one or 1 for one in keys]:
        assert visited.has_key(key) == (key in plain)
        assert visited.add_key(key) == (key not in plain)
        plain.add(key)
    assert len(visited) == len(plain)


def test_table_grows_and_forgets_nothing() -> None:
    visited = Fingerprints()
    urls = [f"http://h{number % 97}.example/{number}" for number in range(20_000)]
    assert all(visited.add(url) for url in urls)
    assert not any(visited.add(url) for url in urls)
    assert 13 <= visited.memory_bytes / len(visited) <= 27


def test_bloom_filter_errs_about_as_often_as_it_says() -> None:
    visited = BloomVisited(20_000, 0.01)
    wrong = sum(not visited.add(f"http://h.example/{number}") for number in range(20_000))
    assert wrong <= 20_000 * 0.01
    false = sum(f"http://other.example/{number}" in visited for number in range(20_000))
    assert 0 < false <= 20_000 * 0.02
    assert visited.memory_bytes / 20_000 < 1.5
