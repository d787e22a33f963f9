"""Attacks on an agent, each named after what it tries; `docs/security.md` lists them."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest
import requests

from ipmicra.edge.address_policy import AddressPolicy
from ipmicra.edge.agent.access import read_token
from ipmicra.edge.agent.run import AgentSettings, make_server
from ipmicra.edge.agent.web import TokenCheck
from ipmicra.edge.prober.exchange import RefusedConnectError
from ipmicra.edge.prober.ladder import Prober
from ipmicra.edge.prober.sockets import Dialler, _check_peer
from ipmicra.errors import InputError
from ipmicra.model.sample import Loss, Rung
from ipmicra.wire.messages import ProbeOrder
from tests.integration.test_ladder import make_certificate
from tests.patience import PATIENCE_S
from tests.servers.agent import TOKEN, RunningAgent, order
from tests.servers.agent_process import started_agent
from tests.servers.talking import talking


@pytest.fixture(scope="module")
def agent() -> Iterator[RunningAgent]:
    """An agent as an operator runs it: nothing but the Internet is allowed."""
    with RunningAgent() as running:
        yield running


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.1.2.3", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "192.0.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255"),
        *("240.0.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "192.88.99.1"),
        *("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "fec0::1"),
        pytest.param("::ffff:127.0.0.1", id="IPv4-mapped loopback"),
        pytest.param("::ffff:169.254.169.254", id="IPv4-mapped metadata"),
        pytest.param("::127.0.0.1", id="IPv4-compatible loopback"),
        pytest.param("64:ff9b::7f00:1", id="NAT64 loopback"),
        pytest.param("64:ff9b:1::a00:1", id="local NAT64 private"),
        pytest.param("2002:7f00:1::", id="6to4 loopback"),
        pytest.param("2001:0:7f00:1::", id="Teredo"),
        pytest.param("100::1", id="discard"),
        pytest.param("5f00::1", id="segment routing"),
    ],
)
def test_ssrf_to_an_address_that_is_not_public_is_refused(agent: RunningAgent, address: str) -> None:
    (answer,) = agent.answers(order(f"x{abs(hash(address))}", address))
    assert answer["loss"] == "refused-order"
    assert "not public" in answer["detail"]


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "193.0.6.139", "2001:4860:4860::8888", "2a00::1"])
def test_public_address_is_not_refused(address: str) -> None:
    assert AddressPolicy().refusal(ip_address(address), 443) is None


@pytest.mark.parametrize("secret", ["127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"])
def test_ssrf_by_a_name_that_resolves_to_a_private_address_is_refused(secret: str) -> None:
    async def resolve(_: str) -> list[object]:
        return [ip_address(secret)]

    with RunningAgent(resolve=resolve) as agent:  # type: ignore[arg-type]
        (answer,) = agent.answers({"id": "a", "host": "innocent.example"})
    assert answer["loss"] == "refused-order"


def test_dns_rebinding_between_check_and_connect_reaches_nothing() -> None:
    """The name changes its address after the first answer; the first one is pinned, and nobody asks again."""
    answers = [[ip_address("8.8.8.8")], [ip_address("127.0.0.1")]]
    asked: list[str] = []

    async def resolve(name: str) -> list[object]:
        asked.append(name)
        return answers[min(len(asked), 2) - 1]  # type: ignore[return-value]

    dialled: list[object] = []

    def translate(address: object) -> object:
        dialled.append(address)
        return None

    dialler = Dialler(permit=AddressPolicy().refusal, translate=translate)  # type: ignore[arg-type]
    prober = Prober(dialler=dialler, resolve=resolve)  # type: ignore[arg-type]
    answer = asyncio.run(prober.probe(ProbeOrder(id="a", host="rebind.example")))
    assert asked == ["rebind.example"]
    assert set(dialled) == {ip_address("8.8.8.8")}
    assert answer.loss is Loss.REFUSED_ORDER


def test_policy_is_asked_again_at_the_moment_of_connecting() -> None:
    """A policy that changes its mind after the order was taken still stops the connection."""
    calls: list[int | None] = []

    def permit(_address: object, port: int | None) -> str | None:
        calls.append(port)
        return None if len(calls) == 1 else "opted out meanwhile"

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        place = listening.getsockname()[1]
        dialler = Dialler(permit=permit)
        order_ = ProbeOrder(id="a", address=ip_address("127.0.0.1"), port=place)
        answer = asyncio.run(Prober(dialler=dialler).probe(order_))
        with pytest.raises(TimeoutError):
            listening.accept()
    assert answer.loss is Loss.REFUSED_ORDER


def test_connection_that_ends_elsewhere_is_dropped() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as made,
        pytest.raises(RefusedConnectError),
    ):
        _check_peer(made.getpeername(), ("127.0.0.2", listening.getsockname()[1]))


def test_redirect_to_the_metadata_service_is_not_followed() -> None:
    """A server answers 1,000 times with a redirect to a canary; the canary sees nobody."""
    visits = 0

    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal visits
        while await reader.read(1000):
            visits += 1
            writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%d/\r\n\r\n" % canary_port)

    async def run() -> tuple[object, object]:
        async with talking(redirect) as place:
            asked = ProbeOrder(
                id="a", address=ip_address("127.0.0.1"), port=place, scheme="http", first_rung=Rung.HEAD
            )
            answer = await Prober().probe(asked)
        return answer.detail, visits

    with socket.create_server(("127.0.0.1", 0)) as canary:
        canary.settimeout(0.1)
        canary_port = canary.getsockname()[1]
        assert asyncio.run(run()) == ("status 302", 3)
        with pytest.raises(TimeoutError):
            canary.accept()


@pytest.mark.parametrize("port", [22, 25, 3306, 6379, 8080])
def test_port_scan_of_other_ports_is_refused(agent: RunningAgent, port: int) -> None:
    (answer,) = agent.answers(order(f"port-{port}", "8.8.8.8", port=port))
    assert answer["loss"] == "refused-order"
    assert f"port {port}" in answer["detail"]


@pytest.mark.parametrize(
    "header",
    [
        *(None, "", "Bearer", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x"),
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}",
    ],
)
@pytest.mark.parametrize("path", ["/probe", "/resolve", "/health", "/metrics", "/nothing"])
def test_stranger_without_the_token_learns_nothing(
    agent: RunningAgent, header: str | None, path: str
) -> None:
    headers = {} if header is None else {"Authorization": header}
    response = requests.request(
        "POST" if path in {"/probe", "/resolve"} else "GET",
        f"{agent.url}{path}",
        headers=headers,
        data=b"{",
        timeout=PATIENCE_S,
    )
    assert response.status_code == 401
    assert response.json()["error"] == "a bearer token is needed"


def test_two_authorization_headers_do_not_confuse_the_gate(agent: RunningAgent) -> None:
    with socket.create_connection(("127.0.0.1", agent.server.bound_port), PATIENCE_S) as line:
        line.sendall(
            b"GET /health HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n"
            b"Authorization: Bearer " + TOKEN.encode() + b"\r\nConnection: close\r\n\r\n"
        )
        assert line.recv(1000).startswith(b"HTTP/1.1 401")


def test_agent_without_token_or_certificate_does_not_start() -> None:
    with pytest.raises(InputError, match="--token-file"):
        make_server(AgentSettings())


@pytest.mark.parametrize("token", ["", "short", "with a space in it somewhere", "schlüssel-mit-umlaut"])
def test_weak_token_is_refused(tmp_path: Path, token: str) -> None:
    path = tmp_path / "token"
    path.write_text(token, encoding="utf-8")
    with pytest.raises(InputError):
        read_token(path)


@pytest.mark.parametrize("content", [b"\xff\xfe" * 20, b"t" * 100_000, b"\0" * 32])
def test_file_that_holds_no_token_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    with pytest.raises(InputError, match="ASCII characters"):
        read_token(path)


def test_token_is_compared_by_digest_and_not_letter_by_letter() -> None:
    check = TokenCheck(TOKEN)
    assert check.admits(f"Bearer {TOKEN}")
    assert not check.admits(f"Bearer {TOKEN}\0")
    assert TOKEN not in repr(vars(check))


def test_huge_request_is_refused_before_it_is_read(agent: RunningAgent) -> None:
    with socket.create_connection(("127.0.0.1", agent.server.bound_port), PATIENCE_S) as line:
        head = f"POST /probe HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n"
        line.sendall(f"{head}Content-Length: 99999999999\r\n\r\n".encode())
        assert line.recv(1000).startswith(b"HTTP/1.1 413")


def test_endless_chunked_request_is_cut_off(agent: RunningAgent) -> None:
    def flood() -> Iterator[bytes]:
        for _ in range(200):
            yield b" " * 65_536

    try:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        status = requests.post(
            f"{agent.url}/probe", data=flood(), headers=headers, timeout=PATIENCE_S
        ).status_code
    except requests.ConnectionError:
        status = 413  # it hung up on us while we were still talking
    assert status == 413
    assert agent.get("/health").status_code == 200


@pytest.mark.parametrize(("size", "expected"), [(15_000, 200), (17_000, 431), (60_000, 431)])
@pytest.mark.parametrize("where", ["one header", "many headers", "path"])
def test_headers_over_16_kilobytes_are_refused_although_they_come_in_one_piece(
    agent: RunningAgent, size: int, expected: int, where: str
) -> None:
    lines = {
        "one header": b"X-Long: %b\r\n" % (b"x" * size),
        "many headers": b"".join(b"X-%03d: %b\r\n" % (i, b"x" * (size // 100 - 9)) for i in range(100)),
        "path": b"",
    }
    query = b"?" + b"x" * size if where == "path" else b""
    request = b"GET /health%b HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %b\r\n%b\r\n"
    with socket.create_connection(("127.0.0.1", agent.server.bound_port), timeout=PATIENCE_S) as made:
        made.sendall(request % (query, TOKEN.encode(), lines[where]))
        assert int(made.recv(65_536).split()[1]) in {expected, 400 if expected == 431 else 200}
    assert agent.get("/health").status_code == 200


def test_header_injection_through_the_host_is_refused(agent: RunningAgent) -> None:
    evil = order("inject", "8.8.8.8", host="a.example\r\nX-Evil: 1")
    assert agent.post({"version": 1, "orders": [evil]}).status_code == 400


def test_mutual_tls_keeps_out_whoever_has_no_certificate(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    mine, mine_key = make_certificate(tmp_path, "coordinator")
    words = ["--tls-cert", str(certificate), "--tls-key", str(key), "--client-ca", str(mine)]
    child, url = started_agent(*words)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with pytest.raises((requests.exceptions.SSLError, requests.ConnectionError)):
        requests.get(f"{url}/health", verify=str(certificate), headers=headers, timeout=PATIENCE_S)
    pair = (str(mine), str(mine_key))
    response = requests.get(
        f"{url}/health", verify=str(certificate), cert=pair, headers=headers, timeout=PATIENCE_S
    )
    child.kill()
    child.communicate(timeout=PATIENCE_S)
    assert response.status_code == 200


def test_holder_who_opted_out_is_left_alone_even_where_the_operator_allows_more(tmp_path: Path) -> None:
    path = tmp_path / "opt-out.txt"
    path.write_text("127.0.0.0/9 # does not want to\n")
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        RunningAgent(allowed=("127.0.0.0/8",), ports=(listening.getsockname()[1],), opt_out=path) as agent,
    ):
        (answer,) = agent.answers(order("a", port=listening.getsockname()[1]))
    assert answer["loss"] == "refused-order"
    assert "does not want" in answer["detail"]


def test_user_agent_says_who_is_asking_and_where_to_complain() -> None:
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))

    async def run() -> None:
        async with talking(serve) as place:
            asked = ProbeOrder(
                id="a", address=ip_address("127.0.0.1"), port=place, scheme="http", first_rung=Rung.HEAD
            )
            await Prober().probe(asked)

    asyncio.run(run())
    assert b"\r\nUser-Agent: ipmicra/" in seen[0]
    assert b"(+https://" in seen[0]
    assert seen[0].startswith(b"HEAD / HTTP/1.1\r\nHost: 127.0.0.1:")


def test_answers_name_no_secrets(agent: RunningAgent) -> None:
    text = json.dumps([agent.get("/health").json(), agent.get("/metrics").text])
    assert TOKEN not in text
