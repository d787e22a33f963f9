"""Agents that call out, as far as the coordinator can tell: they poll, answer orders and measure nothing."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import aiohttp

from ipmicra.app.access import TokenWish, add_token
from ipmicra.app.home import Home
from ipmicra.edge.coordinator.access import hash_of, make_token
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss, Rung
from ipmicra.model.token import Role
from ipmicra.wire.joining import JoinRequest, decode_join_token, encode_join
from ipmicra.wire.messages import Answer, ProbeOrder, ProbeRequest
from ipmicra.wire.polling import PollRequest, Results, decode_polled, encode_poll, encode_results

Note = Callable[..., None]
PAUSE_S = 0.5
LONGEST_S = 120.0


def invite(home: Home, name: str) -> str:
    """Make a join token as `ipmicra token add NAME --role join` does."""
    with home.open_store() as store:
        return add_token(store, TokenWish(name=name, role=Role.JOIN))


def round_trip_ms(agent: str, address: Address) -> float:
    """Return how far an address is from an agent: the same for all addresses of a /24."""
    text = f"{agent} {str(address).rpartition('.')[0]}"
    return 0.2 + hashlib.blake2b(text.encode(), digest_size=1).digest()[0] / 100


@dataclass
class StubAgent:
    """Joins, then polls until it is killed or leaves."""

    name: str
    address: Address
    url: str
    http: aiohttp.ClientSession
    note: Note
    trip: Callable[[str, Address], float] = round_trip_ms
    """Returns the round trip to an address in milliseconds, by the agent's name."""
    key: str = ""
    is_heard: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the coordinator has answered."""
    _task: asyncio.Task[None] | None = None
    _known: dict[str, Answer] = field(default_factory=dict)
    """Answers of this process, to be repeated."""

    async def join(self, invitation: str) -> None:
        """Become a member with a key of its own; the key of before no longer works."""
        token = decode_join_token(invitation)
        key = make_token(Role.AGENT)
        request = JoinRequest(fleet=token.fleet, key_hash=hash_of(key), software="stub", address=self.address)
        await self._post("join", encode_join(request), token.secret)
        self.key = key

    def start(self) -> None:
        """Start a process that remembers nothing of the one before."""
        self._known = {}
        self._task = asyncio.create_task(self._run())

    @property
    def is_running(self) -> bool:
        return self._task is not None

    async def kill(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def leave(self) -> None:
        """Stop, and let the crawler leave the fleet."""
        await self.kill()
        await self._post("leave", b"", self.key)

    async def _post(self, path: str, body: bytes, token: str) -> bytes:
        headers = {"Authorization": f"Bearer {token}"}
        async with self.http.post(f"{self.url}/v1/agents/{path}", data=body, headers=headers) as response:
            found = await response.read()
            if response.status != 200:
                raise OSError(f"{path}: {response.status} {found[:200]!r}")
            return found

    async def _run(self) -> None:
        poll = PollRequest(boot=secrets.token_hex(8), software="stub", wait_s=0.0)
        while True:
            try:
                answer = decode_polled(await self._post("poll", encode_poll(poll), self.key))
                poll = replace(poll, cursor=answer.cursor, wait_s=50.0)
                self.is_heard.set()
                for work in answer.works:
                    if isinstance(work.request, ProbeRequest):
                        await self._work(poll.boot, work.request)
            except (aiohttp.ClientError, OSError) as error:
                self.note("trouble", who=self.name, error=str(error)[:200])
                await asyncio.sleep(PAUSE_S)

    async def _work(self, boot: str, request: ProbeRequest) -> None:
        answers = tuple(self._answered(order, only_repeat=request.only_repeat) for order in request.orders)
        # No round trip is believed that is longer than the whole exchange.
        await asyncio.sleep(0.005 + max(one.rtt_ms or 0.0 for one in answers) / 1e3)
        body = encode_results(Results(boot=boot, answers=answers))
        while True:
            with suppress(aiohttp.ClientError):
                await self._post("results", body, self.key)
                break
            await asyncio.sleep(PAUSE_S)
        for one in answers:
            if one.rtt_ms is not None:
                self.note("handed", agent=self.name, order=one.order)

    def _answered(self, order: ProbeOrder, *, only_repeat: bool) -> Answer:
        """Carry an order out once."""
        if order.id in self._known:
            return self._known[order.id]
        if only_repeat or order.address is None:
            return Answer(order=order.id, address=order.address, loss=Loss.AGENT, taken_s=time.time())
        self.note("probe", agent=self.name, order=order.id, address=str(order.address))
        rtt_ms = self.trip(self.name, order.address)
        answer = Answer(
            order=order.id,
            address=order.address,
            rtt_ms=rtt_ms,
            rung=Rung.TCP,
            all_ms=(rtt_ms,),
            taken_s=time.time(),
        )
        self._known[order.id] = answer
        if len(self._known) > 10_000:
            self._known.pop(next(iter(self._known)))
        return answer
