"""`Delegator.connect`: the verbs of a `Delegator`, answered by a running coordinator."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from ipmicra.app.connect.answers import OwnerProblem, decision_of, owner_of
from ipmicra.app.connect.link import CoordinatorLink, LinkConfig
from ipmicra.errors import CoordinatorError, InputError
from ipmicra.model.delegation import Decision
from ipmicra.model.owner import Owner

T = TypeVar("T")
AT_ONCE = 50_000
"""Hosts of a list that are asked for in one request."""


class RemoteDelegator:
    """Asks a coordinator; use as an asynchronous context.

    ```python
    from ipmicra import Delegator


    async def who_owns(host: str, token: str) -> str:
        async with Delegator.connect("https://coordinator.example.org:8460", token) as delegator:
            owner = await delegator.owner(host)
            return owner.crawler
    ```

    Requests that a coordinator cannot answer for now are tried again until a deadline. Calls may run at the
    same time.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        authority: Path | None = None,
        config: LinkConfig | None = None,
    ) -> None:
        """Name the coordinator, a token of it, and whose certificates to trust besides the system's."""
        self.link = CoordinatorLink(url, token, authority, config or LinkConfig())

    async def __aenter__(self) -> Self:
        """Get ready."""
        await self.link.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self.link.__aexit__(kind, error, trace)

    def blocking(self) -> BlockingDelegator:
        """Return the same for programs without an event loop; use as a context."""
        return BlockingDelegator(self)

    async def delegate(self, seed: str) -> Decision:
        """Return the decision for a host, URL or address; `InputError` if it has no address."""
        (decision,) = await self.delegate_many([seed])
        return decision

    async def delegate_many(self, seeds: Iterable[str]) -> list[Decision]:
        """Return the decisions for several seeds, in order."""
        found: list[Decision] = []
        async for one in self._lines("/v1/delegate", list(seeds)):
            if "problem" in one:
                raise _refusal(self.link.url, one["problem"])
            found.append(decision_of(one))
        return found

    async def owner(self, host: str, vantage: str | None = None) -> Owner:
        """Return who owns a host; one that was never seen is delegated and assigned first."""
        parameters = {"host": host, **({"vantage": vantage} if vantage else {})}
        try:
            return owner_of(await self.link.json("GET", "/v1/owner", parameters))
        except CoordinatorError as error:
            if error.kind in {"bad-input", "unresolved"}:
                raise InputError(error.reason) from error
            raise

    async def owners(self, hosts: Iterable[str]) -> AsyncIterator[Owner | OwnerProblem]:
        """Return who owns each host of a list, in order, as answers come."""
        async for one in self._lines("/v1/owners", list(hosts)):
            if "problem" in one:
                problem = one["problem"]
                yield OwnerProblem(host=one["host"], kind=_kind(problem), reason=problem["detail"])
            else:
                yield owner_of(one)

    async def explain(self, host: str) -> dict[str, Any]:
        """Return why a host has its crawler, as `ipmicra explain --json` prints it."""
        return await self.link.json("GET", "/v1/explain", {"host": host})

    async def _lines(self, path: str, texts: Sequence[str]) -> AsyncIterator[dict[str, Any]]:
        """Ask for lists in parts; each text has one line."""
        for start in range(0, len(texts), AT_ONCE):
            part = texts[start : start + AT_ONCE]
            if any(not one.strip() or "\n" in one or "\r" in one for one in part):
                raise InputError("a seed is empty, or has several lines")
            count = 0
            async for one in self.link.lines("POST", path, lines="\n".join(part).encode()):
                count += 1
                yield one
            if count != len(part):
                raise CoordinatorError(self.link.url, f"{count} answers to {len(part)} questions")


def _kind(problem: dict[str, Any]) -> str:
    return str(problem["type"]).rpartition(":")[2]


def _refusal(url: str, problem: dict[str, Any]) -> Exception:
    kind = _kind(problem)
    if kind in {"bad-input", "unresolved"}:
        return InputError(str(problem["detail"]))
    return CoordinatorError(url, f"{problem['detail']} ({problem['next']})", kind, int(problem["status"]))


class BlockingDelegator:
    """The verbs of `RemoteDelegator` as plain calls: an event loop runs in a thread of its own."""

    def __init__(self, remote: RemoteDelegator) -> None:
        """Wrap a client that is not used otherwise."""
        self._remote = remote
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        """Start the loop."""
        self._thread.start()
        self._run(self._remote.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections, and stop the loop."""
        self._run(self._remote.__aexit__(kind, error, trace))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def delegate(self, seed: str) -> Decision:
        """Return the decision for a host, URL or address."""
        return self._run(self._remote.delegate(seed))

    def delegate_many(self, seeds: Iterable[str]) -> list[Decision]:
        """Return the decisions for several seeds, in order."""
        return self._run(self._remote.delegate_many(seeds))

    def owner(self, host: str, vantage: str | None = None) -> Owner:
        """Return who owns a host."""
        return self._run(self._remote.owner(host, vantage))

    def owners(self, hosts: Iterable[str]) -> list[Owner | OwnerProblem]:
        """Return who owns each host of a list, in order."""

        async def all_of_them() -> list[Owner | OwnerProblem]:
            return [one async for one in self._remote.owners(hosts)]

        return self._run(all_of_them())

    def explain(self, host: str) -> dict[str, Any]:
        """Return why a host has its crawler."""
        return self._run(self._remote.explain(host))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
