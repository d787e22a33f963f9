"""The session that clients of agents share: it unpacks nothing and remembers nothing."""

from __future__ import annotations

import asyncio
import gzip

from ipmicra.edge.coordinator.agent_client import agent_session

PACKED = gzip.compress(bytes(1 << 20))
ANSWER = (
    b"HTTP/1.1 200 OK\r\nConnection: close\r\nSet-Cookie: a=b\r\nContent-Encoding: gzip\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(PACKED), PACKED)
)


async def asked_twice() -> tuple[list[bytes], list[bytes]]:
    """Return the heads of two requests, and the bodies of the answers."""
    heads: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(ANSWER)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    bodies: list[bytes] = []
    async with server, agent_session() as session:
        for _ in range(2):
            # By name: cookies of a plain address would not be kept in any case.
            async with session.get(f"http://localhost:{port}/health") as answer:
                bodies.append(await answer.read())
    return heads, bodies


def test_cookie_of_an_agent_is_sent_to_nobody_and_its_answer_is_not_unpacked() -> None:
    heads, bodies = asyncio.run(asked_twice())
    assert len(heads) == 2
    assert b"cookie" not in b"".join(heads).lower()
    assert bodies == [PACKED, PACKED]
