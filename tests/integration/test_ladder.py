"""The ladder against real servers with every fault of a loopback world."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from itertools import count
from pathlib import Path

import pytest

from ipmicra.edge.coordinator.orders import DeskConfig, OrderDesk
from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.loopback.loopback_world import Fault, load_world
from ipmicra.edge.prober.exchange import Exchange, ProberConfig
from ipmicra.edge.prober.http import HttpVisit, server_share_ms
from ipmicra.edge.prober.ladder import Prober
from ipmicra.edge.prober.sockets import Dialler
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.model.sample import Loss, Rung, Sample
from ipmicra.wire.messages import Answer, ProbeOrder
from tests.loopback_worlds import address_of, probe_of, small_world
from tests.patience import PATIENCE_S, measured_until
from tests.servers.refusing import refusing_port
from tests.servers.talking import talking

FAULTS = dict(enumerate(Fault))
MEASURED = {
    Fault.FLAPS: Rung.HEAD,
    Fault.LOSES: Rung.HEAD,
    Fault.NO_HEAD: Rung.GET,
    Fault.REDIRECTS: Rung.HEAD,
    Fault.SLOW_DECLARED: Rung.HEAD,
}
"""Faults that leave a round trip, and the rung that measures it."""
LOOPBACK = ip_address("127.0.0.1")


@pytest.fixture(scope="module")
def samples() -> dict[Fault, Sample]:
    """One sample of each fault, taken together by one agent; if the machine is busy, with more time."""
    timeouts_ms = (700.0 * 1.5**turn for turn in count())
    return measured_until(lambda: sampled(next(timeouts_ms)), is_undisturbed)[-1]


def sampled(timeout_ms: float) -> dict[Fault, Sample]:
    world = small_world(len(FAULTS), FAULTS, loss=0.2, seed=3)

    async def take() -> list[Sample]:
        config = DeskConfig(first_rung=Rung.HEAD, timeout_ms=timeout_ms, samples=3)
        async with OrderDesk(store, internet.crawlers, internet.access, config) as desk:
            return [s async for s in desk.probe([probe_of(internet, "ath", i) for i in FAULTS])]

    with Store.open("sqlite://") as store, LoopbackInternet(world) as internet:
        store.budget.open("probes", None)
        taken = asyncio.run(take())
        assert store.samples.count() == len(FAULTS)
    found = {world.faults[sample.address]: sample for sample in taken}
    assert all(found[fault].rtt_ms or truth_ms(fault) - 1 <= 1e9 for fault in MEASURED)
    return found


def is_undisturbed(samples: dict[Fault, Sample]) -> bool:
    """Tell whether those who answer were heard, and soon."""
    answering = [samples[fault] for fault in samples if fault is not Fault.SILENT]
    return all(sample.loss is not Loss.TIMEOUT for sample in answering) and all(
        (samples[fault].rtt_ms or 0) < truth_ms(fault) + 60 for fault in MEASURED
    )


def truth_ms(fault: Fault) -> float:
    return 20.0 + 10.0 * list(Fault).index(fault)


@pytest.mark.parametrize(
    ("fault", "loss", "words"),
    [
        (Fault.REFUSES, Loss.UNREACHABLE, "refused"),
        (Fault.SILENT, Loss.TIMEOUT, "no answer in time"),
        (Fault.GARBAGE, Loss.PROTOCOL, "does not speak HTTP"),
        (Fault.HANGS_UP, Loss.RESET, "hung up"),
    ],
)
def test_fault_is_a_loss_with_its_reason(
    samples: dict[Fault, Sample], fault: Fault, loss: Loss, words: str
) -> None:
    sample = samples[fault]
    assert (sample.rtt_ms, sample.loss) == (None, loss)
    assert words in sample.detail


@pytest.mark.parametrize(("fault", "rung"), MEASURED.items())
def test_fault_that_leaves_a_round_trip_is_measured(
    samples: dict[Fault, Sample], fault: Fault, rung: Rung
) -> None:
    sample = samples[fault]
    assert sample.rung is rung
    assert sample.rtt_ms is not None
    assert truth_ms(fault) - 1 <= sample.rtt_ms < truth_ms(fault) + 60


def test_server_that_does_not_tell_its_share_looks_farther_away(samples: dict[Fault, Sample]) -> None:
    rtt_ms = samples[Fault.SLOW].rtt_ms
    assert rtt_ms is not None
    assert rtt_ms >= truth_ms(Fault.SLOW) + 200


def test_redirect_is_an_answer_and_is_not_followed(samples: dict[Fault, Sample]) -> None:
    assert samples[Fault.REDIRECTS].detail == "status 302"


@pytest.mark.parametrize(
    ("head", "share_ms"),
    [
        (b"HTTP/1.1 200 OK\r\nServer-Timing: app;dur=12.5\r\n\r\n", 12.5),
        (b"HTTP/1.1 200 OK\r\nserver-timing: edge; dur=1, origin; dur=80\r\n\r\n", 80.0),
        (b"HTTP/1.1 200 OK\r\nServer-Timing: a;dur=1\r\nServer-Timing: b;dur=3\r\n\r\n", 3.0),
        (b"HTTP/1.1 200 OK\r\nServer-Timing: cache;desc=hit\r\n\r\n", 0.0),
        (b"HTTP/1.1 200 OK\r\nServer-Timing: a;dur=-5\r\n\r\n", 0.0),
        (b"HTTP/1.1 200 OK\r\n\r\n", 0.0),
    ],
)
def test_longest_duration_is_the_server_s_share(head: bytes, share_ms: float) -> None:
    assert server_share_ms(head) == share_ms


def probed(order: ProbeOrder, dialler: Dialler | None = None) -> Answer:
    return asyncio.run(Prober(ProberConfig(), dialler).probe(order))


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_handshake_is_one_round_trip(port: int) -> None:
    answer = probed(ProbeOrder(id="a", address=LOOPBACK, port=port, samples=4))
    assert (answer.rung, answer.loss, len(answer.all_ms)) == (Rung.TCP, None, 4)
    assert answer.timings is not None
    assert answer.timings.tcp_ms == answer.rtt_ms == min(answer.all_ms)


def test_handshake_over_ipv6_is_one_round_trip() -> None:
    try:
        listening = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError as error:
        pytest.skip(f"no IPv6 on this machine: {error}")
    with listening:
        place = listening.getsockname()[1]
        answer = probed(ProbeOrder(id="a", address=ip_address("::1"), port=place))
    assert (answer.rung, answer.loss) == (Rung.TCP, None)


def test_refusal_is_one_round_trip() -> None:
    with refusing_port() as closed:
        answer = probed(ProbeOrder(id="a", address=LOOPBACK, port=closed))
    assert (answer.rung, answer.loss) == (Rung.TCP, None)
    assert len(answer.all_ms) == 3
    assert "refused" in answer.detail


def test_refusal_much_sooner_than_an_echo_is_a_middlebox_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """An echo of 80 ms stands against a refusal of some 0.1 ms."""

    async def echo(*_: object) -> Exchange:
        return Exchange(ms=80.0)

    monkeypatch.setattr("ipmicra.edge.prober.ladder.take_icmp", echo)
    with refusing_port() as closed:
        answer = probed(ProbeOrder(id="a", address=LOOPBACK, port=closed))
    assert (answer.rung, answer.rtt_ms) == (Rung.ICMP, 80.0)
    assert "middlebox" in answer.detail


def test_server_that_accepts_and_never_answers_times_out(port: int) -> None:
    order = ProbeOrder(
        id="a", address=LOOPBACK, port=port, scheme="http", timeout_ms=50, first_rung=Rung.HEAD
    )
    assert probed(order).loss is Loss.TIMEOUT


def visit_to(port: int) -> HttpVisit:
    return HttpVisit(
        dialler=Dialler(),
        config=ProberConfig(),
        address=LOOPBACK,
        port=port,
        host=None,
        is_tls=False,
        method=Rung.HEAD,
    )


def test_server_that_drips_its_headers_holds_a_round_trip_no_longer_than_its_timeout() -> None:
    async def drip(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        with suppress(OSError):
            while not writer.is_closing():
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.01)

    async def run() -> Exchange:
        async with asyncio.timeout(PATIENCE_S), talking(drip) as port:
            visit = visit_to(port)
            try:
                return await visit.take(0.2)
            finally:
                visit.close()

    assert asyncio.run(run()).loss is Loss.TIMEOUT


def test_share_that_a_server_claims_is_not_believed_without_the_time_of_a_handshake() -> None:
    """Where the handshake was sent twice there is nothing to compare with: the claim would leave 0 ms."""

    async def claim(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readline() not in {b"\r\n", b""}:
            pass
        writer.write(b"HTTP/1.1 200 OK\r\nServer-Timing: app;dur=999999\r\n\r\n")
        while await reader.readline() not in {b"\r\n", b""}:
            pass
        writer.write(b"HTTP/1.1 200 OK\r\nServer-Timing: app;dur=999999\r\n\r\n")
        await writer.drain()

    async def run() -> tuple[Exchange, Exchange]:
        async with talking(claim) as port:
            visit = visit_to(port)
            known = await visit.take(PATIENCE_S)
            visit._tcp_ms = None
            unknown = await visit.take(PATIENCE_S)
            visit.close()
            return known, unknown

    known, unknown = asyncio.run(run())
    assert known.timings is not None
    assert known.ms == known.timings.tcp_ms
    assert unknown.timings is not None
    assert unknown.ms == unknown.timings.first_byte_ms


def test_silence_instead_of_tls_times_out(port: int) -> None:
    order = ProbeOrder(
        id="a", address=LOOPBACK, port=port, scheme="https", timeout_ms=50, first_rung=Rung.HEAD
    )
    assert probed(order).loss is Loss.TIMEOUT


async def _answer_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(10)
    writer.write(b"HTTP/1.1 400 no TLS here\r\n\r\n")
    await writer.drain()


def test_server_without_tls_is_a_tls_loss() -> None:
    async def run() -> Answer:
        async with talking(_answer_plainly) as place:
            order = ProbeOrder(id="a", address=LOOPBACK, port=place, scheme="https", first_rung=Rung.HEAD)
            return await Prober().probe(order)

    assert asyncio.run(run()).loss is Loss.TLS


def make_certificate(folder: Path, name: str = "127.0.0.1") -> tuple[Path, Path]:
    """Make a certificate that signs itself."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-nodes", "-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", f"/CN={name}"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    return certificate, key


def test_times_of_tcp_tls_and_first_byte_are_told_apart(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1000):
            await asyncio.sleep(0.04)
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async def run() -> Answer:
        async with talking(serve, context) as place:
            order = ProbeOrder(
                id="a", address=LOOPBACK, host="localhost", port=place, scheme="https", first_rung=Rung.HEAD
            )
            return await Prober().probe(order)

    answer = asyncio.run(run())
    assert answer.rung is Rung.HEAD
    timings = answer.timings
    assert timings is not None
    assert timings.first_byte_ms is not None
    assert timings.first_byte_ms >= 40
    assert timings.tls_ms is not None
    assert timings.tcp_ms is not None
    assert 0 < timings.tcp_ms < timings.tls_ms


def test_name_is_resolved_once_and_timed(port: int) -> None:
    asked: list[str] = []

    async def resolve(name: str) -> list[object]:
        asked.append(name)
        return [LOOPBACK, ip_address("192.0.2.1")]

    order = ProbeOrder(id="a", host="a.example", port=port)
    answer = asyncio.run(Prober(resolve=resolve).probe(order))  # type: ignore[arg-type]
    assert asked == ["a.example"]
    assert answer.address == LOOPBACK
    assert answer.timings is not None
    assert answer.timings.dns_ms is not None


def test_name_that_does_not_resolve_is_a_loss_with_the_reason() -> None:
    async def resolve(name: str) -> list[object]:
        raise InputError("there is no such host name")

    answer = asyncio.run(Prober(resolve=resolve).probe(ProbeOrder(id="a", host="a.example")))  # type: ignore[arg-type]
    assert (answer.address, answer.loss) == (None, Loss.UNREACHABLE)
    assert "no such host name" in answer.detail


def test_world_is_read_from_its_files(tmp_path: Path) -> None:
    (tmp_path / "crawlers.csv").write_text("name,address,country\nath,198.51.99.1,GR\n")
    (tmp_path / "sites.csv").write_text("host,address\ns0.example,203.0.112.1\ns1.example,203.0.112.2\n")
    (tmp_path / "rtt.csv").write_text("crawler,address,rtt_ms\nath,203.0.112.1,12.5\n")
    world = load_world(tmp_path)
    assert world.rtt_ms == {("ath", address_of(0)): 12.5}
    assert [site.host for site in world.sites] == ["s0.example", "s1.example"]
    assert all(place.is_loopback for place in world.addresses().values())
    (tmp_path / "rtt.csv").write_text("crawler,address,rtt_ms\nath,203.0.112.1,far\n")
    with pytest.raises(InputError, match="line 2"):
        load_world(tmp_path)
