"""The proxy in front of a small URLFrontier service, over real gRPC on loopback."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import grpc
import grpc.aio
import pytest

from ipmicra.edge.frontier.holding import Holding
from ipmicra.edge.frontier.messages import (
    FAIL,
    OK,
    PUT_DISCOVERED,
    PUT_URLS,
    SERVICE,
    SKIPPED,
    DiscoveredBatch,
    URLInfo,
    URLItem,
)
from ipmicra.edge.frontier.routes import netloc_of
from ipmicra.errors import StoreError
from tests.servers.frontier import FakeAsker, SmallFrontier, discovered, running_proxy, until


def asker_of(**owners: str) -> FakeAsker:
    asker = FakeAsker()
    for name, crawler in owners.items():
        asker.owns(f"{name}.example", crawler)
    return asker


def test_url_goes_to_the_queue_of_its_owner_and_keeps_what_else_it_has(tmp_path: Path) -> None:
    async def scenario() -> None:
        asker = asker_of(a="fra")
        async with (
            SmallFrontier().running() as small,
            running_proxy(small.port, asker, tmp_path / "h") as one,
        ):
            items = [
                discovered("https://A.example:8443/x", "one", depth="3"),
                discovered("http://a.example/"),
            ]
            assert await one.put(*items) == {"one": OK, "http://a.example/": OK}
            assert await one.put(*items) == {"one": OK, "http://a.example/": OK}  # now it is known
            assert small.urls()["http://a.example/"] == {("fra", "192.0.2.0/24")}
            (info, _) = (one for one in small.queues["fra", "192.0.2.0/24"] if one.url.endswith("/x"))
            words = {name: list(values.values) for name, values in info.metadata.items()}
            assert words == {
                "depth": ["3"],
                "ip": ["192.0.2.0/24"],
                "subnet": ["192.0.2.0/24"],
                "crawler": ["fra"],
            }
            assert asker.asked == ["a.example"]

    asyncio.run(scenario())


def test_unknown_host_is_acknowledged_when_it_is_decided_and_holds_up_nobody(tmp_path: Path) -> None:
    async def scenario() -> None:
        asker = asker_of(a="fra")
        async with (
            SmallFrontier().running() as small,
            running_proxy(small.port, asker, tmp_path / "h") as one,
        ):
            waiting = asyncio.create_task(
                one.put(discovered("http://new.example/"), discovered("http://a.example/"))
            )
            await until(lambda: "http://a.example/" in small.urls())
            await until(lambda: len(asker.asked) > 3)  # asked again and again
            assert not waiting.done()
            assert one.holding.count == 1
            asker.owns("new.example", "nyc")
            assert await waiting == {"http://a.example/": OK, "http://new.example/": OK}
            assert small.urls()["http://new.example/"] == {("nyc", "192.0.2.0/24")}
            assert one.holding.count == 0

    asyncio.run(scenario())


def test_held_urls_survive_a_kill_and_are_delivered_without_their_client(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SmallFrontier().running() as small:
            asker = asker_of()
            async with running_proxy(small.port, asker, tmp_path / "h") as one:
                waiting = asyncio.create_task(one.put(discovered("http://new.example/")))
                await until(lambda: len(asker.asked) > 2)
                await one.holding.flush()
                waiting.cancel()
            assert small.queues == {}
            async with running_proxy(small.port, asker_of(new="nyc"), tmp_path / "h") as one:
                await until(lambda: "http://new.example/" in small.urls())
                await until(lambda: one.holding.count == 0)
            async with running_proxy(small.port, asker_of(new="nyc"), tmp_path / "h") as one:
                assert one.holding.count == 0
            assert len(small.queues["nyc", "192.0.2.0/24"]) == 1

    asyncio.run(scenario())


async def held_after_restart(path: Path) -> list[bytes]:
    holding = Holding(path)
    try:
        return [message for _, message in await holding.load()]
    finally:
        await holding.close()


def test_held_url_is_written_although_whoever_waited_for_that_was_stopped(tmp_path: Path) -> None:
    async def scenario() -> None:
        holding, is_free = Holding(tmp_path / "h"), threading.Event()
        holding.hold(b"one")
        busy = holding._run(is_free.wait)
        waiting = asyncio.create_task(holding.flush())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        is_free.set()
        await busy
        await holding.close()
        assert await held_after_restart(tmp_path / "h") == [b"one"]

    asyncio.run(scenario())


def test_held_url_is_written_once_the_disk_has_room_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        holding = Holding(tmp_path / "h")
        message = bytes(100_000)
        holding.hold(message)
        await holding._run(lambda: holding._connection.execute("PRAGMA max_page_count = 4"))
        with pytest.raises(StoreError, match="cannot be written"):
            await holding.flush()
        await holding._run(lambda: holding._connection.execute("PRAGMA max_page_count = 1000"))
        await holding.close()
        assert await held_after_restart(tmp_path / "h") == [message]

    asyncio.run(scenario())


def test_coordinator_that_is_down_stops_only_hosts_that_are_not_known(tmp_path: Path) -> None:
    async def scenario() -> None:
        asker = asker_of(a="fra", b="nyc")
        async with (
            SmallFrontier().running() as small,
            running_proxy(small.port, asker, tmp_path / "h", fresh_s=0.01) as one,
        ):
            await one.put(discovered("http://a.example/1"))
            asker.is_down = True
            await asyncio.sleep(0.02)  # the route is old by now
            assert await one.put(discovered("http://a.example/2")) == {"http://a.example/2": OK}
            waiting = asyncio.create_task(one.put(discovered("http://b.example/")))
            await until(lambda: "b.example" in asker.asked)
            assert not waiting.done()
            asker.is_down = False
            assert await waiting == {"http://b.example/": OK}

    asyncio.run(scenario())


def test_site_with_several_vantages_goes_to_each_and_is_acknowledged_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        asker = FakeAsker()
        asker.owns("many.example", "fra", vantage="eu")
        asker.owns("many.example", "nyc", vantage="us")
        async with (
            SmallFrontier().running() as small,
            running_proxy(small.port, asker, tmp_path / "h") as one,
        ):
            small.fails_once.add("http://many.example/")
            assert await one.put(discovered("http://many.example/", "x")) == {"x": OK}
            both = {("fra", "192.0.2.0/24"), ("nyc", "192.0.2.0/24")}
            assert small.urls()["http://many.example/"] == both
            batch = DiscoveredBatch(ID="b", items=[URLInfo(url="http://many.example/2")])
            assert (await one.put_batch(batch)).statuses == [OK]
            assert small.urls()["http://many.example/2"] == both

    asyncio.run(scenario())


def test_pieces_are_told_apart_by_the_directory(tmp_path: Path) -> None:
    async def scenario() -> None:
        asker = FakeAsker()
        asker.owns("big.example", "fra", filters=("/news/",))
        asker.owns("big.example", "ath", filters=("-/news/",))
        async with (
            SmallFrontier().running() as small,
            running_proxy(small.port, asker, tmp_path / "h") as one,
        ):
            urls = ["http://big.example/news/1", "http://big.example/", "http://big.example/shop/2"]
            for _ in range(2):
                await one.put(*map(discovered, urls))
            found = {url: {queue[0] for queue in queues} for url, queues in small.urls().items()}
            assert found == dict(zip(urls, [{"fra"}, {"ath"}, {"ath"}], strict=True))

    asyncio.run(scenario())


def test_what_nobody_may_fetch_is_skipped(tmp_path: Path) -> None:
    async def scenario() -> None:
        asker = asker_of(a="fra")
        asker.owners["never.example"] = ()
        async with (
            SmallFrontier().running() as small,
            running_proxy(small.port, asker, tmp_path / "h") as one,
        ):
            found = await one.put(discovered("http://never.example/"), discovered("mailto:x", "m"))
            assert found == {"http://never.example/": SKIPPED, "m": SKIPPED}
            urls = ("http://never.example/", "http://a.example/", "no url")
            batch = DiscoveredBatch(ID="b", items=[URLInfo(url=url) for url in urls])
            ack = await one.put_batch(batch)
            assert (ack.ID, list(ack.statuses)) == ("b", [SKIPPED, OK, SKIPPED])
            assert set(small.urls()) == {"http://a.example/"}

    asyncio.run(scenario())


def test_batch_is_acknowledged_as_a_whole_when_its_last_host_is_decided(tmp_path: Path) -> None:
    async def scenario() -> None:
        asker = asker_of(a="fra")
        async with (
            SmallFrontier().running() as small,
            running_proxy(small.port, asker, tmp_path / "h") as one,
        ):
            await one.put(discovered("http://a.example/0"))
            urls = ("http://new.example/1", "http://a.example/1", "http://new.example/2")
            batch = DiscoveredBatch(ID="mine", items=[URLInfo(url=url) for url in urls])
            waiting = asyncio.create_task(one.put_batch(batch))
            await until(lambda: "http://a.example/1" in small.urls())
            assert not waiting.done()
            asker.owns("new.example", "nyc")
            ack = await waiting
            assert (ack.ID, list(ack.statuses)) == ("mine", [OK, OK, OK])
            assert small.urls()["http://new.example/2"] == {("nyc", "192.0.2.0/24")}
            again = await one.put_batch(batch)
            assert (again.ID, list(again.statuses)) == ("mine", [OK, OK, OK])

    asyncio.run(scenario())


def test_more_than_may_be_held_is_to_be_sent_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        asker = asker_of()
        async with (
            SmallFrontier().running() as small,
            running_proxy(small.port, asker, tmp_path / "h", most=2) as one,
        ):
            urls = [f"http://h{i}.example/" for i in range(3)]
            waiting = asyncio.create_task(one.put(*map(discovered, urls)))
            await until(lambda: one.proxy.counts.refused == 1)
            for i in range(2):
                asker.owns(f"h{i}.example", "fra")
            assert sorted((await waiting).values()) == [OK, OK, FAIL]

    asyncio.run(scenario())


def test_fetched_url_returns_to_the_queue_it_came_from(tmp_path: Path) -> None:
    async def scenario() -> None:
        asker = asker_of(a="nyc")  # it has changed hands while it was fetched
        async with (
            SmallFrontier().running() as small,
            running_proxy(small.port, asker, tmp_path / "h") as one,
        ):
            item = URLItem(ID="k")
            item.known.info.url, item.known.info.crawlID = "http://a.example/", "fra"
            item.known.info.key = "192.0.2.1"
            item.known.info.metadata["ip"].values.append("198.51.100.0/24")
            item.known.refetchable_from_date = 7
            assert await one.put(item) == {"k": OK}
            (info,) = small.known
            assert (info.crawlID, info.key) == ("fra", "198.51.100.0/24")

    asyncio.run(scenario())


# --- everything else passes


def test_streams_errors_metadata_and_cancellations_pass(tmp_path: Path) -> None:
    async def scenario() -> None:
        asker = asker_of(a="fra")
        async with (
            SmallFrontier().running() as small,
            running_proxy(small.port, asker, tmp_path / "h") as one,
        ):
            await one.put(*(discovered(f"http://a.example/{i}") for i in range(5)))
            get = one.channel.unary_stream(f"{SERVICE}GetURLs")
            crawl = URLInfo(url="fra").SerializeToString()
            assert len([data async for data in get(crawl)]) == 5
            endless = get(crawl, metadata=(("forever", "yes"),))
            for _ in range(5):
                await endless.read()
            endless.cancel()
            await until(lambda: small.cancelled == 1)
            late = get(crawl, metadata=(("forever", "yes"),), timeout=0.5)
            with pytest.raises(grpc.aio.AioRpcError) as timed_out:
                [data async for data in late]
            assert timed_out.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await one.channel.unary_unary(f"{SERVICE}GetStats")(b"")
            assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert refused.value.details() == "no such queue"
            assert ("hint", "look elsewhere") in tuple(refused.value.trailing_metadata())

    asyncio.run(scenario())


def test_bytes_that_are_no_message_end_their_stream_and_no_other(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with (
            SmallFrontier().running() as small,
            running_proxy(small.port, asker_of(a="fra"), tmp_path / "h") as one,
        ):
            for method in (PUT_URLS, PUT_DISCOVERED):
                call = one.channel.stream_stream(method)()
                await call.write(b"\xff\xff")
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await call.read()
                assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert await one.put(discovered("http://a.example/")) == {"http://a.example/": OK}

    asyncio.run(scenario())


def test_service_without_batches_says_so_through_the_proxy(tmp_path: Path) -> None:
    """Clients ask for batches with an empty one, and do without if they are not implemented."""

    async def scenario() -> None:
        small = SmallFrontier(has_batches=False)
        async with small.running(), running_proxy(small.port, asker_of(), tmp_path / "h") as one:
            call = one.channel.stream_stream(PUT_DISCOVERED)()
            with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await call.write(DiscoveredBatch(ID="probe").SerializeToString())
            # Whether writing or reading meets the end first, the call knows how it ended.
            assert await call.code() is grpc.StatusCode.UNIMPLEMENTED

    asyncio.run(scenario())


def test_service_that_comes_back_gets_what_was_held(tmp_path: Path) -> None:
    async def scenario() -> None:
        asker = asker_of()
        small = SmallFrontier()
        async with small.running():
            port = small.port
        async with running_proxy(port, asker, tmp_path / "h") as one:
            with pytest.raises(grpc.aio.AioRpcError) as gone:
                await one.put(discovered("http://new.example/"))
            assert gone.value.code() is grpc.StatusCode.UNAVAILABLE
            if one.holding.count == 0:
                one.proxy.delivery.hold(discovered("http://new.example/"), lambda _: None, None)
            asker.owns("new.example", "nyc")
            async with small.running(port):
                await until(lambda: "http://new.example/" in small.urls())
                await until(lambda: one.holding.count == 0)

    asyncio.run(scenario())


def test_description_of_messages_is_made_of_the_proto_file(tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "ipmicra" / "edge" / "frontier"
    made = tmp_path / "made.binpb"
    words = ["-m", "grpc_tools.protoc", f"--proto_path={source}", f"--descriptor_set_out={made}"]
    subprocess.run([sys.executable, *words, "urlfrontier.proto"], check=True)
    assert made.read_bytes() == (source / "urlfrontier.binpb").read_bytes()


@pytest.mark.parametrize(
    ("url", "netloc"),
    [("http://a.example/x", "a.example"), ("//a/", "a"), ("http:/a", ""), ("", ""), ("mailto:x", "")],
)
def test_netloc_is_what_stands_between_the_slashes(url: str, netloc: str) -> None:
    assert netloc_of(url) == netloc
