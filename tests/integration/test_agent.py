"""A real agent over real sockets."""

from __future__ import annotations

import json
import re
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ipmicra.edge.agent.service import ServiceConfig
from ipmicra.edge.pace.limiter import PolitenessConfig
from ipmicra.wire.limits import LIMITS
from tests.examples import at_most
from tests.laws.test_wire_laws import json_values
from tests.patience import PATIENCE_S
from tests.servers.agent import TOKEN, RunningAgent, order
from tests.servers.agent_process import started_agent


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0), backlog=500) as listening:
        yield listening.getsockname()[1]


@pytest.fixture(scope="module")
def agent(port: int) -> Iterator[RunningAgent]:
    with RunningAgent(allowed=("127.0.0.0/8",), ports=(port, 80, 443)) as running:
        yield running


def test_orders_are_answered_with_samples(agent: RunningAgent, port: int) -> None:
    found = agent.answers(*(order(f"first-{i}", port=port) for i in range(20)))
    assert {one["rung"] for one in found} == {"tcp"}
    assert all(one["rtt_ms"] == min(one["all_ms"]) for one in found)
    assert all(abs(one["taken_s"] - time.time()) < 60 for one in found)


def test_agent_sends_answers_without_waiting_for_acknowledgements() -> None:
    """With Nagle's algorithm on, each exchange takes 40 ms more: its end waits for a delayed ACK."""
    asks = f"GET /health HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
    with RunningAgent() as agent:
        place = ("127.0.0.1", agent.server.bound_port)
        with socket.create_connection(place, timeout=PATIENCE_S) as connected:
            connected.send(asks)
            assert connected.recv(100)
            accepted = [
                connection.transport.get_extra_info("socket")
                for connection in agent.server.server_state.connections
            ]
            assert [one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in accepted] == [1]


def test_order_that_comes_twice_is_probed_once(agent: RunningAgent, port: int) -> None:
    (first,) = agent.answers(order("twice", port=port))
    (second,) = agent.answers(order("twice", port=port))
    assert first == second


def test_repeat_gives_what_is_known_and_probes_nothing(agent: RunningAgent, port: int) -> None:
    (first,) = agent.answers(order("known", port=port))
    known, unknown = agent.answers(order("known", port=port), order("unheard", port=port), only_repeat=True)
    assert known == first
    assert unknown["loss"] == "agent"
    assert "does not know" in unknown["detail"]


def test_same_order_from_two_coordinators_at_once_is_probed_once(agent: RunningAgent) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        slow = order("both", port=silent.getsockname()[1], scheme="http", first_rung="head", timeout_ms=200)
        with RunningAgent(allowed=("127.0.0.0/8",), ports=(slow["port"],)) as other:
            with ThreadPoolExecutor(2) as pool:
                first, second = pool.map(lambda _: other.answers(slow), range(2))
            text = other.get("/metrics").text
    assert first == second
    assert 'ipmicra_agent_answers_total{outcome="timeout"} 1.0' in text


def test_health_says_what_is_spoken(agent: RunningAgent) -> None:
    health = agent.get("/health").json()
    assert (health["state"], health["versions"]) == ("ready", [1])


def test_metrics_count_answers(agent: RunningAgent, port: int) -> None:
    def count() -> float:
        found = re.search(r'answers_total\{outcome="tcp"\} ([0-9.]+)', agent.get("/metrics").text)
        return float(found[1]) if found else 0.0

    before = count()
    agent.answers(order("counted", port=port))
    assert count() == before + 1


def test_unknown_version_is_told_which_are_known(agent: RunningAgent) -> None:
    response = agent.post({"version": 7, "orders": [order()]})
    assert response.status_code == 422
    assert response.json()["versions"] == [1]
    assert "7" in response.json()["error"]


@pytest.mark.parametrize("path", ["/", "/probe", "/docs", "/openapi.json"])
def test_there_is_nothing_else(agent: RunningAgent, path: str) -> None:
    assert agent.get(path).status_code == (405 if path == "/probe" else 404)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(body=st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_body_is_answered_with_a_reason_and_the_agent_lives(agent: RunningAgent, body: bytes) -> None:
    response = agent.post(body)
    assert response.status_code in {400, 422}
    assert response.json()["error"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    name=st.sampled_from(["id", "address", "host", "scheme", "port", "samples", "timeout_ms", "first_rung"]),
    value=json_values,
)
def test_any_value_in_an_order_is_answered(agent: RunningAgent, name: str, value: object) -> None:
    body = {"version": 1, "orders": [{**order(address="192.0.2.1"), name: value}]}
    response = agent.post(json.dumps(body).encode())
    assert response.status_code in {200, 400}
    if response.status_code == 200:
        assert json.loads(response.text.splitlines()[0])["loss"] is not None


@given(data=st.binary(max_size=300))
@at_most(20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_bytes_that_are_no_http_do_not_hurt(agent: RunningAgent, data: bytes) -> None:
    with socket.create_connection(("127.0.0.1", agent.server.bound_port), PATIENCE_S) as line:
        line.sendall(data)
    assert agent.get("/health").status_code == 200


def test_bursts_are_allowed_and_then_one_a_second(port: int) -> None:
    politeness = PolitenessConfig(interval_s=0.4, burst=3)
    with RunningAgent(allowed=("127.0.0.0/8",), ports=(port,), politeness=politeness) as polite:
        patient = [order(f"o{i}", f"127.0.0.{i + 1}", port=port) for i in range(5)]
        start = time.perf_counter()
        *found, hurried, elsewhere = polite.answers(
            *patient,
            order("late", port=port, wait_ms=0),
            order("far", "127.9.0.1", port=port, wait_ms=0),
        )
        elapsed = time.perf_counter() - start
    assert [one["loss"] for one in found] == [None] * 5
    assert elapsed >= 0.8
    assert hurried["loss"] == "rate-limited"
    assert elsewhere["loss"] is None


def test_more_orders_than_can_wait_are_turned_away(port: int) -> None:
    with RunningAgent(allowed=("127.0.0.0/8",), ports=(port,), service=ServiceConfig(max_pending=2)) as small:
        response = small.post({"version": 1, "orders": [order(f"o{i}", port=port) for i in range(3)]})
    assert response.status_code == 503
    assert "pending" in response.json()["error"]


def test_largest_request_is_taken_and_a_larger_one_is_not(agent: RunningAgent, port: int) -> None:
    body = json.dumps({"version": 1, "orders": [order(f"largest-{port}", port=port)]}).encode()
    full = body + b" " * (LIMITS.max_request_bytes - len(body))
    assert agent.post(full).status_code == 200
    assert agent.post(full + b" ").status_code == 413


def test_stop_lets_what_is_under_way_finish() -> None:
    """SIGTERM comes while an order waits for a silent server; its answer still arrives whole."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = silent.getsockname()[1]
        child, url = started_agent("--allow", "127.0.0.0/8", "--allow-port", str(place))
        slow = order("slow", port=place, scheme="http", first_rung="head", timeout_ms=300)
        response = requests.post(
            f"{url}/probe",
            json={"version": 1, "orders": [slow]},
            headers={"Authorization": f"Bearer {TOKEN}"},
            stream=True,
            timeout=PATIENCE_S,
        )
        visitor, _ = silent.accept()
        child.send_signal(signal.SIGTERM)
        lines = [json.loads(line) for line in response.iter_lines()]
        visitor.close()
        assert child.wait(PATIENCE_S) in {0, -signal.SIGTERM}
    if child.stderr is not None:
        assert "Traceback" not in child.stderr.read()
        child.stderr.close()
    assert [line["kind"] for line in lines] == ["answer", "end"]
    assert lines[0]["loss"] == "timeout"
