"""`/v1/peers`: what coordinators of the same database ask each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import Response

from ipmicra.app.serve.api.calls import Call, Resource
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.errors import MessageError
from ipmicra.model.token import Role
from ipmicra.wire.peers import PeerWish, decode_wishes, encode_peer_answer


async def decide(call: Call) -> Response:
    """Decide sites; answers leave as they come."""
    try:
        wishes = decode_wishes(await call.body())
    except MessageError as error:
        raise RefusedError("bad-request", str(error)) from error
    return call.stream(_answers(call, wishes))


async def _answers(call: Call, wishes: list[PeerWish]) -> AsyncIterator[bytes]:
    owners = call.coordinator.owners
    tasks = [asyncio.ensure_future(owners.decide_for_peer(wish)) for wish in wishes]
    try:
        for done in asyncio.as_completed(tasks):
            yield encode_peer_answer(await done)
    finally:
        for task in tasks:
            task.cancel()


RESOURCES = (Resource("POST", "/v1/peers/decide", decide, role=Role.PEER),)
