"""Agents that only call out: joining, orders and results over long polls, through TLS and a proxy."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path

import pytest
import trustme

from ipmicra.edge.agent.identity import read_identity
from ipmicra.edge.agent.link import DismissedError
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Loss, Rung, Sample
from ipmicra.wire.joining import decode_join_token, encode_join_token
from tests.patience import run, until
from tests.servers.switchboard import EAGER, QUICK, Board, calling, coordinating


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "state.db")) as opened:
        yield opened


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0), backlog=500) as made:
        yield made.getsockname()[1]


def probes(port: int, count: int = 5, crawler: str = "fra") -> list[Probe]:
    return [
        Probe(crawler=crawler, address=ip_address(f"127.0.0.{i}"), port=port) for i in range(1, count + 1)
    ]


async def samples_of(board: Board, wanted: list[Probe]) -> list[Sample]:
    async with board.desk() as desk:
        return [sample async for sample in desk.probe(wanted)]


def test_orders_reach_an_agent_that_has_no_open_port(store: Store, tmp_path: Path, port: int) -> None:
    async def scenario() -> None:
        async with coordinating(store) as board, calling(board.invite(), tmp_path, ports=(port,)):
            await until(lambda: board.switchboard.is_present("fra"))
            samples = await samples_of(board, probes(port, 50))
            assert {sample.rung for sample in samples} == {Rung.TCP}
            assert len({sample.address for sample in samples}) == 50
            assert store.samples.count() == 50
            assert store.budget.unanswered("probes") == []
            member = store.crawlers.get("fra")
            assert member is not None
            assert str(member.crawler.address) == "198.51.100.9"

    run(scenario)


def test_identity_is_kept_where_only_its_user_can_read_it(store: Store, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with coordinating(store) as board, calling(board.invite(), tmp_path) as caller:
            await until(lambda: board.switchboard.is_present("fra"))
            assert caller.boot

    run(scenario)
    file = tmp_path / "identity.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    known = read_identity(file)
    assert known is not None
    assert (known.crawler, known.has_joined) == ("fra", True)
    assert known.token not in repr(known)
    data = b"".join(one.read_bytes() for one in tmp_path.iterdir() if one.name.startswith("state.db"))
    assert known.token.encode() not in data
    file.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        read_identity(file)


def test_restart_needs_no_join_token(store: Store, tmp_path: Path, port: int) -> None:
    """The token that the second start is given was used up by the first."""

    async def scenario() -> None:
        async with coordinating(store) as board:
            token = board.invite()
            for _ in range(2):
                async with calling(token, tmp_path, ports=(port,)):
                    await until(lambda: board.switchboard.is_present("fra"))
                    (sample,) = await samples_of(board, probes(port, 1))
                    assert sample.rung is Rung.TCP

    run(scenario)


def test_join_token_of_another_agent_is_used_up(store: Store, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with coordinating(store) as board:
            token = board.invite()
            async with calling(token, tmp_path / "one"):
                with pytest.raises(DismissedError, match="works once"):
                    async with calling(token, tmp_path / "two"):
                        pass

    run(scenario)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda board, text: board.store.tokens.revoke([store_hash(text)], 1.0) and text, "revoked"),
        (lambda _, text: encode_join_token(replace(decode_join_token(text), fleet="0" * 16)), "fleet 0000"),
        (
            lambda _, text: encode_join_token(replace(decode_join_token(text), secret="ipm_j_" + "x" * 43)),
            "did not make",
        ),
    ],
)
def test_revoked_foreign_and_invented_join_tokens_are_refused(
    store: Store, tmp_path: Path, spoil: Callable[[Board, str], str], reason: str
) -> None:
    async def scenario() -> None:
        async with coordinating(store) as board:
            token = spoil(board, board.invite())
            with pytest.raises(DismissedError, match=reason):
                async with calling(token, tmp_path):
                    pass
            assert store.crawlers.get("fra") is None

    run(scenario)


def store_hash(text: str) -> bytes:
    from ipmicra.edge.coordinator.access import hash_of

    return hash_of(decode_join_token(text).secret)


def test_expired_join_token_is_refused(store: Store, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with coordinating(store) as board:
            token = board.invite(valid_hours=0.0)
            with pytest.raises(DismissedError, match="expired"):
                async with calling(token, tmp_path):
                    pass

    run(scenario)


def test_private_address_of_an_agent_is_not_taken_for_its_crawlers(store: Store, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with coordinating(store) as board:
            with pytest.raises(DismissedError, match="--address"):
                async with calling(board.invite(), tmp_path, address=None):
                    pass

    run(scenario)


def test_removed_agent_is_refused_with_a_sentence(store: Store, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with coordinating(store) as board:
            async with calling(board.invite(), tmp_path) as caller:
                await until(lambda: board.switchboard.is_present("fra"))
                board.membership.fleet().remove("fra")
                with pytest.raises(DismissedError, match="fra was removed from the fleet"):
                    await caller.run()
            assert store.agents.get("fra") is None

    run(scenario)


def test_removed_crawler_comes_back_with_a_new_token(store: Store, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with coordinating(store) as board:
            async with calling(board.invite(), tmp_path / "a"):
                await until(lambda: board.switchboard.is_present("fra"))
            board.membership.fleet().remove("fra")
            async with calling(board.invite(), tmp_path / "b"):
                assert board.crawlers()["fra"].state is CrawlerState.JOINED

    run(scenario)


def test_agent_that_dies_with_orders_is_noticed_and_nothing_is_probed_twice(
    store: Store, tmp_path: Path
) -> None:
    """The target never answers, so the orders are under way when the agent's process is gone."""

    async def scenario() -> None:
        with socket.create_server(("0.0.0.0", 0)) as silent:
            port = silent.getsockname()[1]
            async with coordinating(store) as board:
                await _dying(board, port)

    async def _dying(board: Board, port: int) -> None:
        wanted = [replace(one, scheme="http") for one in probes(port, 3)]
        async with calling(board.invite(), tmp_path, ports=(port,)) as caller:
            await until(lambda: board.switchboard.is_present("fra"))
            asking = asyncio.create_task(slow_samples(board, wanted))
            await until(lambda: caller._service.pending == 3)
        samples = await asking
        assert {sample.loss for sample in samples} == {Loss.AGENT}
        assert store.budget.state("probes").spent == 3
        await until(lambda: board.crawlers()["fra"].state is CrawlerState.UNREACHABLE)

    async def slow_samples(board: Board, wanted: list[Probe]) -> list[Sample]:
        async with board.desk(first_rung=Rung.HEAD, timeout_ms=5_000.0) as desk:
            return [sample async for sample in desk.probe(wanted)]

    run(scenario)


def test_coordinator_that_restarts_gets_the_answers_and_probes_nothing_again(
    store: Store, tmp_path: Path, port: int
) -> None:
    """Orders are handed over, the coordinator dies, the agent finishes; the next one asks again."""
    log = tmp_path / "targets.jsonl"

    async def scenario() -> None:
        made = socket.create_server(("127.0.0.1", 0))
        place = made.getsockname()
        async with coordinating(store, made=made) as board:
            agent = calling(board.invite(), tmp_path, ports=(port,), target_log=log)
            caller = await agent.__aenter__()
            await until(lambda: board.switchboard.is_present("fra"))
            desk = board.desk()
            async with desk:
                asking = asyncio.create_task(collect(desk.probe(probes(port, 20))))
                await until(lambda: log.is_file() and log.read_text().count("\n") == 20)
                asking.cancel()  # as if it had been killed: nothing of what comes now is seen
                await asyncio.gather(asking, return_exceptions=True)
        left = len(store.budget.unanswered("probes"))
        assert left > 0
        again = socket.create_server(place, reuse_port=False)
        async with coordinating(store, made=again) as board, board.desk() as desk:
            samples = await collect(desk.recover())
            assert len(samples) == left
            assert {sample.rung for sample in samples} == {Rung.TCP}
        assert caller.boot
        await agent.__aexit__(None, None, None)

    async def collect(some: AsyncIterator[Sample]) -> list[Sample]:
        return [sample async for sample in some]

    run(scenario)
    orders = [json.loads(line)["order"] for line in log.read_text().splitlines()]
    assert len(orders) == len(set(orders)) == 20


# --- TLS


def certificate(authority: trustme.CA, folder: Path, name: str = "server") -> tuple[Path, Path]:
    issued = authority.issue_cert("127.0.0.1", "localhost")
    chain, key = folder / f"{name}.pem", folder / f"{name}.key"
    issued.cert_chain_pems[0].write_to_path(chain)
    issued.private_key_pem.write_to_path(key)
    return chain, key


def test_certificate_is_renewed_under_the_pinned_authority(store: Store, tmp_path: Path, port: int) -> None:
    authority = trustme.CA()
    shown = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(shown)

    async def scenario() -> None:
        place, token = ("127.0.0.1", 0), ""
        for name in ("first", "second"):
            pair = certificate(authority, tmp_path, name)
            made = socket.create_server(place)
            place = made.getsockname()
            async with coordinating(store, made=made, certificate=pair, authority=shown) as board:
                token = token or board.invite()
                async with calling(token, tmp_path, ports=(port,)):
                    await until(partial(board.switchboard.is_present, "fra"))
                    (sample,) = await samples_of(board, probes(port, 1))
                    assert sample.rung is Rung.TCP

    run(scenario)


def test_coordinator_with_another_key_than_pinned_gets_no_secret(store: Store, tmp_path: Path) -> None:
    honest, foreign = trustme.CA(), trustme.CA()
    shown, other = tmp_path / "ca.pem", tmp_path / "other.pem"
    honest.cert_pem.write_to_path(shown)
    foreign.cert_pem.write_to_path(other)

    async def scenario() -> None:
        pair = certificate(foreign, tmp_path)
        async with coordinating(store, certificate=pair, authority=other) as board:
            board.certificate = shown
            with pytest.raises(InputError, match="another key"):
                async with calling(board.invite(), tmp_path):
                    pass

    run(scenario)
    assert store.crawlers.get("fra") is None


def test_stolen_certificate_without_its_key_proves_nothing(store: Store, tmp_path: Path) -> None:
    """Somebody in between shows the pinned certificate, and holds another key."""
    honest, foreign = trustme.CA(), trustme.CA()
    shown = tmp_path / "ca.pem"
    honest.cert_pem.write_to_path(shown)

    async def scenario() -> None:
        async with coordinating(store, certificate=certificate(foreign, tmp_path), authority=shown) as board:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(3.0), calling(board.invite(), tmp_path):
                    pass

    run(scenario)
    assert store.crawlers.get("fra") is None


# --- a proxy


@asynccontextmanager
async def proxying() -> AsyncIterator[tuple[str, list[str]]]:
    """Run a plain proxy that knows CONNECT and nothing else; yield its URL and what was asked of it."""
    seen: list[str] = []
    pipes: set[asyncio.Task[None]] = set()

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        seen.append(head.splitlines()[0])
        host, _, number = head.split()[1].rpartition(":")
        there, back = await asyncio.open_connection(host, int(number))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        pipes.update(asyncio.create_task(one) for one in (pipe(reader, back), pipe(there, writer)))

    server = await asyncio.start_server(visit, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen
    finally:
        server.close()
        for task in pipes:
            task.cancel()
        await asyncio.gather(*pipes, return_exceptions=True)


def test_agent_calls_through_a_plain_proxy(store: Store, tmp_path: Path, port: int) -> None:
    authority = trustme.CA()
    shown = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(shown)

    async def scenario() -> None:
        pair = certificate(authority, tmp_path)
        async with (
            proxying() as (proxy, seen),
            coordinating(store, certificate=pair, authority=shown) as board,
            calling(board.invite(), tmp_path, ports=(port,), proxy=proxy),
        ):
            await until(lambda: board.switchboard.is_present("fra"))
            samples = await samples_of(board, probes(port, 3))
            assert {sample.rung for sample in samples} == {Rung.TCP}
            assert seen
            assert all(line.startswith("CONNECT 127.0.0.1:") for line in seen)

    run(scenario)


def test_names_are_resolved_or_refused_over_the_poll(store: Store, tmp_path: Path) -> None:
    from ipmicra.edge.coordinator.agent_client import UnableError

    async def scenario() -> None:
        async with coordinating(store) as board, calling(board.invite(), tmp_path):
            await until(lambda: board.switchboard.is_present("fra"))
            with pytest.raises(UnableError, match="turned that off"):
                async for _ in board.switchboard.client("fra").resolve(["a.example"], 1_000.0, 5.0):
                    pass

    run(scenario)


def test_two_processes_with_one_identity_do_not_share_orders(store: Store, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with coordinating(store, config=QUICK) as board:
            token = board.invite()
            async with calling(token, tmp_path, config=EAGER) as first:
                await until(lambda: board.switchboard.is_present("fra"))
                async with calling(token, tmp_path, config=EAGER):
                    with pytest.raises(DismissedError, match="superseded"):
                        await first.run()

    run(scenario)


def test_agent_that_joined_by_the_url_of_a_load_balancer_calls_the_coordinators_themselves(
    store: Store, tmp_path: Path, port: int
) -> None:
    """The coordinator hears it twice and refuses the first caller; it stays, also when nobody is named."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        own = made.getsockname()[1]

        async def scenario() -> None:
            async with (
                coordinating(store, made=made, url=f"http://localhost:{own}") as board,
                calling(board.invite(), tmp_path, ports=(port,)),
            ):
                await until(lambda: board.switchboard.is_present("fra"))
                for named in ((f"http://127.0.0.1:{own}",), (), (f"http://127.0.0.1:{own}",)):
                    board.named = named
                    board.switchboard.tell()
                    await asyncio.sleep(1.0)
                    samples = await samples_of(board, probes(port, 5))
                    assert [one.loss for one in samples] == [None] * 5

        run(scenario)
