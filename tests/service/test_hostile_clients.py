"""Clients that are slow, silent, cut off, too large or make no sense, over real sockets; and who may what."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
import requests

from tests.cli.command_line import ran
from tests.delegating_worlds import seeds_of
from tests.patience import PATIENCE_S, wait_until
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.service.conftest import coordinator_of, prepared

OPERATOR_ONLY = (
    ("POST", "/v1/batches"),
    ("POST", "/v1/crawlers"),
    ("DELETE", "/v1/crawlers/c0"),
    ("POST", "/v1/crawlers/c0/drain"),
    ("POST", "/v1/assign"),
    ("POST", "/v1/forget"),
    ("POST", "/v1/batches/1/cancel"),
)


@pytest.fixture(scope="module")
def coordinator(
    tmp_path_factory: pytest.TempPathFactory, internet: InternetProcess
) -> Iterator[RunningCoordinator]:
    folder = prepared(tmp_path_factory.mktemp("hostile"), internet)
    with coordinator_of(folder, internet, "--policy", "hash") as running:
        yield running


def connected(coordinator: RunningCoordinator) -> socket.socket:
    parts = urlsplit(coordinator.url)
    return socket.create_connection((str(parts.hostname), parts.port or 0), timeout=PATIENCE_S)


def answered(made: socket.socket) -> bytes:
    """All that comes until the other side hangs up."""
    found = b""
    while piece := made.recv(65_536):
        found += piece
    return found


def head(coordinator: RunningCoordinator, path: str, *lines: str, method: str = "POST") -> bytes:
    fixed = (f"{method} {path} HTTP/1.1", "Host: a", f"Authorization: Bearer {coordinator.token}")
    return ("\r\n".join([*fixed, *lines]) + "\r\n\r\n").encode()


@pytest.fixture(scope="module", autouse=True)
def never_ending(coordinator: RunningCoordinator) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two requests whose bodies never come; all other tests run while the coordinator waits for them."""
    announced = head(coordinator, "/v1/owners", "Content-Length: 100", "Connection: close")
    with connected(coordinator) as silent, connected(coordinator) as half:
        silent.sendall(announced)
        half.sendall(announced + b"a.org\n")
        half.shutdown(socket.SHUT_WR)
        yield silent, half


def test_half_closed_question_is_no_trouble(coordinator: RunningCoordinator) -> None:
    with connected(coordinator) as made:
        made.sendall(head(coordinator, "/v1/owner?host=203.0.112.2", method="GET"))
        made.shutdown(socket.SHUT_WR)
        made.recv(1)
    assert coordinator.get("/v1/health").status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        (b"x" * 5_000, 400, "bad-request"),
        (b"\xff\xfe", 400, "bad-request"),
        (b"\n\n  \n", 400, "bad-request"),
        (b"a.org\n" * 200_001, 413, "too-large"),
    ],
    ids=["long", "no text", "empty", "too many"],
)
def test_list_that_cannot_be_used_is_refused_with_a_reason(
    coordinator: RunningCoordinator, body: bytes, status: int, kind: str
) -> None:
    response = coordinator.ask("POST", "/v1/owners", data=body)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["type"] == f"urn:ipmicra:problem:{kind}"
    assert response.json()["next"]


def test_body_that_is_announced_as_too_large_is_not_read(coordinator: RunningCoordinator) -> None:
    with connected(coordinator) as made:
        made.sendall(head(coordinator, "/v1/owners", "Content-Length: 99999999999", "Connection: close"))
        assert b" 413 " in answered(made)


@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 200]
)
def test_bytes_that_are_no_request_end_their_connection_and_nothing_else(
    coordinator: RunningCoordinator, sent: bytes
) -> None:
    with connected(coordinator) as made:
        made.sendall(sent)
        made.shutdown(socket.SHUT_WR)
        assert b" 200 " not in answered(made)
    assert coordinator.get("/v1/health").status_code == 200


def test_headers_beyond_the_limit_are_refused(coordinator: RunningCoordinator) -> None:
    response = coordinator.ask("GET", "/v1/health", headers={"X-Long": "x" * 20_000})
    assert (response.status_code, response.json()["status"]) == (431, 431)


def test_token_has_few_streams_at_a_time(coordinator: RunningCoordinator) -> None:
    waiting = [connected(coordinator) for _ in range(8)]
    try:
        for one in waiting:
            one.sendall(head(coordinator, "/v1/owners", "Content-Length: 10"))
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda _: coordinator.get("/v1/export").status_code, range(4)))
        assert 429 in found
        assert coordinator.owner("203.0.112.3")["host"] == "203.0.112.3"  # single questions are no streams
    finally:
        for one in waiting:
            one.close()


def test_without_a_token_there_is_only_health(coordinator: RunningCoordinator) -> None:
    for path in ("/v1/health", "/v1/ready", "/v1/openapi.json"):
        assert requests.get(f"{coordinator.url}{path}", timeout=PATIENCE_S).status_code == 200
    for path in ("/v1/owner?host=203.0.112.1", "/v1/crawlers", "/v1/export", "/v1/batches"):
        response = requests.get(f"{coordinator.url}{path}", timeout=PATIENCE_S)
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == "Bearer"
        bad = coordinator.ask("GET", path, token="ipm_o_" + "x" * 43)
        assert bad.status_code == 401


def test_crawler_may_ask_and_change_nothing(coordinator: RunningCoordinator) -> None:
    made = ran("--home", coordinator.home, "token", "add", "frontier", "--role", "crawler")
    token = made.stdout.decode().strip()
    coordinator.owner("203.0.112.1")
    # A token that another process made works within `AccessConfig.eager_s`, and not before.
    wait_until(
        lambda: coordinator.ask("GET", "/v1/crawlers", token=token).status_code == 200, "the new token"
    )
    for path in ("/v1/owner?host=203.0.112.1", "/v1/crawlers", "/v1/export", "/v1/assignments"):
        assert coordinator.ask("GET", path, token=token).status_code == 200
    for method, path in OPERATOR_ONLY:
        response = coordinator.ask(method, path, token=token, json={})
        assert (response.status_code, response.json()["status"]) == (403, 403), path
    assert ran("--home", coordinator.home, "token", "revoke", "frontier").returncode == 0

    def status() -> int:
        return coordinator.ask("GET", "/v1/owner?host=203.0.112.1", token=token).status_code

    wait_until(lambda: status() == 401, "the end of the token")


def test_no_token_is_ever_logged(coordinator: RunningCoordinator, internet: InternetProcess) -> None:
    coordinator.ask("GET", "/v1/owner", params={"host": seeds_of(1, internet.port)[0]})
    coordinator.ask("GET", "/v1/nothing")
    log = coordinator.log()
    assert coordinator.token not in log
    assert internet.ready["token"] not in log
    assert all(json.loads(line)["event"] for line in log.splitlines())


@pytest.mark.slow
def test_body_that_never_comes_is_refused_in_time(
    coordinator: RunningCoordinator, never_ending: tuple[socket.socket, socket.socket]
) -> None:
    assert coordinator.owner("203.0.112.1")["host"] == "203.0.112.1"  # nobody else waits for them
    silent, half = never_ending
    assert b" 408 " in answered(silent)
    assert b" 200 " not in answered(half)
