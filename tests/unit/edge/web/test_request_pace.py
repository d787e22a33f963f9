"""How much a token may send, and how many connections it may hold."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.web.bodies import UNKNOWN_BYTES, body_bytes
from ipmicra.edge.web.connection_limits import ConnectionLimiter, ConnectionLimits
from ipmicra.edge.web.request_pace import PaceConfig, RequestPace

PACE = PaceConfig(bytes_per_s=1_000, burst_bytes=3_000, longest_s=2.0)


def test_what_comes_too_early_waits_and_what_would_wait_for_long_is_refused() -> None:
    now_s = 0.0
    pace = RequestPace(PACE, lambda: now_s)
    assert [pace.wait_s("evil", 1_000) for _ in range(6)] == [0.0, 0.0, 0.0, 1.0, 2.0, None]
    assert pace.wait_s("honest", 1_000) == 0.0
    now_s = 10.0
    assert pace.wait_s("evil", 1_000) == 0.0


@given(st.lists(st.tuples(st.floats(0, 2), st.integers(0, 5_000)), max_size=60))
def test_no_more_is_let_in_than_burst_and_rate_allow(sent: list[tuple[float, int]]) -> None:
    now_s = 0.0
    pace = RequestPace(PACE, lambda: now_s)
    let_in: list[tuple[float, float]] = []
    for pause_s, size in sent:
        now_s += pause_s
        wait_s = pace.wait_s("one", size)
        if wait_s is not None:
            let_in.append((now_s + wait_s, min(size, PACE.burst_bytes)))
    for first, (start_s, _) in enumerate(let_in):
        total = 0.0
        for at_s, counted in let_in[first:]:
            total += counted
            assert total <= PACE.burst_bytes * 2 + (at_s - start_s) * PACE.bytes_per_s + 1e-6


def test_body_of_unknown_size_counts_as_large() -> None:
    assert body_bytes({"headers": [(b"content-length", b"12")]}) == 12
    assert body_bytes({"headers": []}) == 0
    assert body_bytes({"headers": [(b"transfer-encoding", b"chunked")]}) == UNKNOWN_BYTES
    assert body_bytes({"headers": [(b"content-length", b"-1")]}) == UNKNOWN_BYTES


class Connection:
    """As much of a connection as the limiter sees."""

    def __init__(self) -> None:
        self.name, self.is_open = "", True
        self.transport = self

    def abort(self) -> None:
        self.is_open = False


def test_token_that_opens_many_connections_closes_its_own_oldest() -> None:
    dropped: list[str] = []
    limiter = ConnectionLimiter(ConnectionLimits(), dropped.append)
    lines: list[Any] = [Connection() for _ in range(5)]
    honest: Any = Connection()
    for one in (honest, *lines):
        limiter.add(one, "127.0.0.1")
    limiter.know(honest, "agent c0", 3)
    for one in (*lines, lines[-1]):
        limiter.know(one, "agent evil", 3)
    assert [one.is_open for one in lines] == [False, False, True, True, True]
    assert honest.is_open
    assert dropped == ["crowded", "crowded"]
    for one in (*lines, honest):
        limiter.remove(one)
    assert (limiter._known, limiter._waiting) == ({}, {})
