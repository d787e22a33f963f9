"""Clients that hold an agent's connections open without asking for anything, over real sockets."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipmicra.edge.web.connection_limits import ConnectionLimits, client_of
from tests.integration.test_ladder import make_certificate
from tests.servers.agent import TOKEN, RunningAgent

ENOUGH_S = 30.0
"""Far beyond every limit that is tested: whoever waits so long was not hung up on."""
ASKS = f"GET /health HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()


def quick(**limits: float) -> ConnectionLimits:
    """Limits of a fraction of a second."""
    chosen = {"handshake_s": 0.4, "head_s": 0.4, "body_s": 0.4, "keep_alive_s": 0.4, **limits}
    return ConnectionLimits(**chosen)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def agent() -> Iterator[RunningAgent]:
    with RunningAgent(limits=quick()) as running:
        yield running


@contextlib.contextmanager
def connected(agent: RunningAgent) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", agent.server.bound_port), timeout=ENOUGH_S) as made:
        yield made


def status(made: socket.socket) -> bytes:
    """Ask for the agent's health; give the status line of the whole answer."""
    made.send(ASKS)
    answer = b""
    while not answer.endswith(b"}"):
        piece = made.recv(65_536)
        assert piece, "hung up"
        answer += piece
    return answer.split(b"\r\n")[0]


def is_hung_up(made: socket.socket) -> bool:
    """Read until the other side is gone; a wait that takes too long is an error."""
    with contextlib.suppress(ConnectionResetError):
        while made.recv(65_536):
            pass
    return True


def dribbled(made: socket.socket, data: bytes, pause_s: float) -> bool:
    """Send byte after byte until the other side hangs up; False if all of it was taken."""
    made.settimeout(pause_s)
    for number in range(len(data)):
        try:
            made.send(data[number : number + 1])
            if not made.recv(65_536):
                return True
        except TimeoutError:
            continue
        except (ConnectionResetError, BrokenPipeError):
            return True
    return False


def test_connection_that_says_nothing_is_closed(agent: RunningAgent) -> None:
    with connected(agent) as made:
        assert is_hung_up(made)


def test_headers_that_dribble_in_are_cut_off(agent: RunningAgent) -> None:
    with connected(agent) as made:
        assert dribbled(made, b"GET /health HTTP/1.1\r\nHost: a\r\nX-Long: " + b"x" * 500, 0.05)


def test_second_request_that_dribbles_in_is_cut_off(agent: RunningAgent) -> None:
    with connected(agent) as made:
        assert b"200" in status(made)
        assert dribbled(made, ASKS[:-4] + b"\r\nX-Long: " + b"x" * 500, 0.05)


def test_connection_that_asked_in_time_is_kept_for_the_next_request() -> None:
    with RunningAgent(limits=quick(keep_alive_s=600)) as agent, connected(agent) as made:
        assert b"200" in status(made)
        time.sleep(0.6)  # longer than a first request may take
        assert b"200" in status(made)


def test_body_that_dribbles_in_is_cut_off(agent: RunningAgent) -> None:
    head = ASKS.replace(b"GET /health", b"POST /probe")[:-2] + b"Content-Length: 400\r\n\r\n"
    with connected(agent) as made:
        made.send(head)
        made.settimeout(0.05)
        answer = b""
        for _ in range(400):
            with contextlib.suppress(TimeoutError):
                made.send(b"x")
                answer = made.recv(65_536)
                break
        assert b"408" in answer.split(b"\r\n")[0]


def test_unauthenticated_client_is_disconnected_after_the_refusal(agent: RunningAgent) -> None:
    head = b"POST /probe HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
    with connected(agent) as made:
        made.send(head)
        answer = made.recv(65_536)
        assert b"401" in answer.split(b"\r\n")[0]
        assert is_hung_up(made)


def test_slow_tls_handshake_is_cut_off(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    with RunningAgent(limits=quick(), certificate=certificate, key=key) as agent, connected(agent) as made:
        assert is_hung_up(made)


def test_many_silent_connections_keep_no_coordinator_out() -> None:
    limits = ConnectionLimits(head_s=600, unauthenticated=8, unauthenticated_per_client=8, connections=12)
    with RunningAgent(limits=limits) as agent, contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(connected(agent)) for _ in range(30)]
        assert agent.get("/health").status_code == 200
        for made in crowd[:22]:
            assert is_hung_up(made)
        assert b"200" in status(crowd[-1])
        dropped = agent.get("/metrics").text
    assert 'ipmicra_agent_dropped_connections_total{reason="crowded"}' in dropped


def test_authenticated_connection_makes_no_room_for_others() -> None:
    limits = ConnectionLimits(head_s=600, keep_alive_s=600, unauthenticated=4, unauthenticated_per_client=4)
    with RunningAgent(limits=limits) as agent, contextlib.ExitStack() as stack:
        known = stack.enter_context(connected(agent))
        assert b"200" in status(known)
        crowd = [stack.enter_context(connected(agent)) for _ in range(12)]
        assert is_hung_up(crowd[0])
        assert b"200" in status(known)


@pytest.mark.parametrize(
    ("peer", "client"),
    [
        (("192.0.2.7", 5), "192.0.2.7"),
        (("::ffff:192.0.2.7", 5), "192.0.2.7"),
        (("2001:db8:1:2:3:4:5:6", 5), "2001:db8:1:2::"),
        (("fe80::1%eth0", 5), "fe80::"),
        (("a-socket", 0), "a-socket"),
        (None, ""),
    ],
)
def test_one_client_is_an_address_or_a_network_of_ipv6(peer: tuple[str, int] | None, client: str) -> None:
    assert client_of(peer) == client
