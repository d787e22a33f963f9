"""The tools of the network campaign do what they say: wires that misbehave, clocks that jump."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S, wait_until
from tests.torture.clocks import Clock, clock_library
from tests.torture.lossy import LossyNetwork, Passing, Wire, request_size

REQUEST = b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"


class Echo:
    """Sends back what it hears, and remembers it."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = self._listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while data := connection.recv(1 << 16):
                    self.heard.append(data)
                    connection.sendall(data)
            except OSError:
                return

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def echo() -> Iterator[Echo]:
    made = Echo()
    yield made
    made.close()


@pytest.fixture
def network() -> Iterator[LossyNetwork]:
    with LossyNetwork(1) as made:
        yield made


def connected(wire: Wire) -> socket.socket:
    return socket.create_connection(("127.0.0.1", wire.port), PATIENCE_S)


def hears(connection: socket.socket, wait_s: float) -> bytes | None:
    """Return what comes, nothing at the end of it, None if nothing comes in time."""
    connection.settimeout(wait_s)
    try:
        return connection.recv(1 << 16)
    except TimeoutError:
        return None
    except ConnectionError:
        return b""


def test_wire_passes_everything_on_while_it_is_whole(network: LossyNetwork, echo: Echo) -> None:
    with connected(network.add("a", echo.place)) as one:
        one.sendall(REQUEST)
        assert hears(one, PATIENCE_S) == REQUEST


def test_what_is_held_arrives_later_and_what_is_lost_never(network: LossyNetwork, echo: Echo) -> None:
    wire = network.add("a", echo.place)
    with connected(wire) as one:
        one.sendall(b"1")
        assert hears(one, PATIENCE_S) == b"1"
        network.set(wire, there=Passing.HOLD)
        one.sendall(b"2")
        assert hears(one, 0.1) is None
        network.heal(wire)
        assert hears(one, PATIENCE_S) == b"2"
        network.set(wire, back=Passing.LOSE)
        one.sendall(b"3")
        wait_until(lambda: echo.heard[-1] == b"3", "requests to arrive")
        assert hears(one, 0.1) is None
        network.heal(wire)
        assert hears(one, PATIENCE_S) == b""  # reset: TCP loses nothing in between


def test_cut_ends_connections_and_a_cut_in_a_message_passes_half(network: LossyNetwork, echo: Echo) -> None:
    wire = network.add("a", echo.place)
    with connected(wire) as one:
        one.sendall(b"1")
        assert hears(one, PATIENCE_S) == b"1"
        network.cut(wire)
        assert hears(one, PATIENCE_S) == b""
    network.set(wire, cuts_next=True)
    with connected(wire) as one:
        one.sendall(b"12345678")
        wait_until(lambda: echo.heard[-1] == b"1234", "half of a message")


def test_replayed_request_arrives_a_second_time(network: LossyNetwork, echo: Echo) -> None:
    wire = network.add("a", echo.place)
    with connected(wire) as one:
        one.sendall(REQUEST)
        assert hears(one, PATIENCE_S) == REQUEST
        assert network.replay(wire)
        wait_until(lambda: echo.heard == [REQUEST, REQUEST], "it arrives twice")
        assert hears(one, 0.05) is None


@pytest.mark.parametrize("size", [None, 0, 3, 50])
def test_length_of_a_request_is_read_from_its_headers(size: int | None) -> None:
    head = b"POST / HTTP/1.1\r\n" + (b"" if size is None else b"content-length: %d\r\n" % size) + b"\r\n"
    assert request_size(head + b"x" * 99) == len(head) + (size or 0)
    assert request_size(head[:-1]) is None


LOOK = """
import sys, time
for line in sys.stdin:
    print(time.time(), time.monotonic(), flush=True)
"""


def test_wall_clock_jumps_and_the_monotonic_one_does_not(tmp_path: Path) -> None:
    clock = Clock(tmp_path / "clock", clock_library(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-c", LOOK],
        env={**os.environ, **clock.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for ahead_s in (0.0, 86_400.5, -3_600.25):
            clock.set(ahead_s)
            process.stdin.write("\n")
            process.stdin.flush()
            wall_s, tick_s = map(float, process.stdout.readline().split())
            assert wall_s - time.time() == pytest.approx(ahead_s, abs=PATIENCE_S)
            assert tick_s == pytest.approx(time.monotonic(), abs=PATIENCE_S)
        process.stdin.close()
    assert process.returncode == 0
