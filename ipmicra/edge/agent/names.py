"""Resolve names for a coordinator: few at a time, at a pace of the agent's own, and only to public addresses.

How it works
------------
A content network gives other addresses in other places, so only an agent knows what its crawler would see. It
asks the resolver of its machine, or the one that its operator named, for the addresses of host names and for
nothing else, and only in a request that the gate let in: it is no resolver that anybody could use.

Three limits hold whatever a coordinator asks for. A name takes a turn (the generic cell rate algorithm:
`per_second` in the long run, `burst` after a pause), then one of `concurrency` slots, and all names of a
request end with its time: those that did not get so far are answered as `busy` or `timeout`. Requests that
would leave more than `max_pending` names waiting are refused as a whole.

An address that the agent may not probe is not told, either: a token must not make the agent a window into its
operator's network. At most `max_addresses` are told, the lowest, so that agents who see the same large pool
name the same part of it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from ipmicra.edge.agent.service import finished
from ipmicra.edge.dns.bulk import Asking
from ipmicra.errors import InputError
from ipmicra.model.address import Address
from ipmicra.model.name import NameAnswer, NameStatus
from ipmicra.wire.limits import LIMITS, WireLimits
from ipmicra.wire.names import NamesRequest, ResolvedName


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesConfig:
    """How many names an agent resolves."""

    per_second: float = 100.0
    """Names per second in the long run: a fifth of what a resolver serves to one client; 0 for none."""
    burst: int = 1_000
    """Names that may come at once after a pause: two full requests."""
    concurrency: int = 100
    """Names in progress at a time."""
    max_pending: int = 5_000
    """Names in progress or waiting; beyond that requests are refused."""


class NameService:
    """Resolves names of requests."""

    def __init__(
        self,
        client: Asking,
        permit: Callable[[Address], str | None],
        config: NamesConfig | None = None,
        *,
        limits: WireLimits = LIMITS,
        watch: Callable[[NameStatus], None] = lambda _: None,
    ) -> None:
        """Ask through a client; `permit` gives the reason why an address may not be probed, None for none."""
        self._client, self._permit = client, permit
        self._config = config or NamesConfig()
        self._limits, self._watch = limits, watch
        self._slots = asyncio.Semaphore(self._config.concurrency)
        self._due_s = 0.0
        """When the next name would be due if they came evenly."""
        self.pending = 0
        """Names in progress or waiting."""

    def has_room(self, count: int) -> bool:
        """Return whether so many more names can be accepted."""
        return self.pending + count <= self._config.max_pending

    async def answers(self, request: NamesRequest) -> AsyncIterator[list[ResolvedName]]:
        """Yield what became of each name as it is known, in groups; a client that leaves ends all of it."""
        until_s = time.monotonic() + request.timeout_ms / 1e3
        self.pending += len(request.names)
        tasks = [asyncio.create_task(self._resolve(name, until_s)) for name in request.names]
        try:
            async for done in finished(tasks):
                yield done
        finally:
            self.pending -= len(tasks)
            for task in tasks:
                task.cancel()

    async def _resolve(self, name: str, until_s: float) -> ResolvedName:
        wait_s = self._reserve(until_s)
        if wait_s is None:
            resolved = ResolvedName(name=name, status=NameStatus.BUSY)
        else:
            resolved = await self._ask(name, wait_s, until_s)
        self._watch(resolved.status)
        return resolved

    def _reserve(self, until_s: float) -> float | None:
        """Reserve a turn; return the seconds until then, or None (and no turn) if that is too late."""
        now_s, step_s = time.monotonic(), 1.0 / self._config.per_second
        due_s = max(self._due_s, now_s)
        wait_s = max(0.0, due_s - (self._config.burst - 1) * step_s - now_s)
        if now_s + wait_s >= until_s:
            return None
        self._due_s = due_s + step_s
        return wait_s

    async def _ask(self, name: str, wait_s: float, until_s: float) -> ResolvedName:
        try:
            async with asyncio.timeout(until_s - time.monotonic()):
                await asyncio.sleep(wait_s)
                async with self._slots:
                    answer = await self._client.ask(name)
        except TimeoutError:
            return ResolvedName(name=name, status=NameStatus.TIMEOUT)
        except (InputError, OSError):  # the system names no server, or has no sockets left
            return ResolvedName(name=name, status=NameStatus.SERVFAIL)
        return self._told(name, answer)

    def _told(self, name: str, answer: NameAnswer) -> ResolvedName:
        """Leave out what may not be probed, and what is too much."""
        ttl_s = min(max(answer.expires_s - time.time(), 0.0), self._limits.max_ttl_s)
        allowed = [address for address in answer.addresses if self._permit(address) is None]
        if answer.addresses and not allowed:
            return ResolvedName(name=name, status=NameStatus.FORBIDDEN, ttl_s=ttl_s)
        kept = tuple(allowed[: self._limits.max_addresses])
        return ResolvedName(name=name, status=answer.status, addresses=kept, ttl_s=ttl_s)
