"""Delegation as a library: one site at a time, or many at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.delegate.session import Session
from ipmicra.app.home import Home, home_at
from ipmicra.edge.agent.access import read_token
from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.files.seeds import UnresolvedSeed
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import InputError, IpmicraError
from ipmicra.model.delegation import Decision
from ipmicra.model.site import Site

if TYPE_CHECKING:
    from ipmicra.app.connect.client import RemoteDelegator


class Delegator:
    """Delegates sites with the fleet of a store.

    ```python
    from ipmicra import Delegator

    async with Delegator.open() as delegator:
        decision = await delegator.delegate("example.org")
        decision.crawler, decision.evidence, decision.probes
    ```

    Calls may run at the same time: sites of one subnet are probed for once. The machine inside, which
    decides and does no I/O, is `ipmicra.delegate.machine.DelegationMachine`.
    """

    def __init__(
        self,
        store: StorePort,
        hierarchy: Hierarchy,
        options: DelegateOptions,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Use a store and a hierarchy, both closed at the end."""
        self._store, self._hierarchy = store, hierarchy
        self._waiting: dict[str, list[asyncio.Future[Decision]]] = {}
        self._session = Session(
            store,
            hierarchy,
            options,
            self._decided,
            self._gave_up,
            clock=clock,
            key=f"library: {options.setting}",
        )
        self._watch: asyncio.Task[None] | None = None
        self._held = ExitStack()

    @classmethod
    def open(
        cls,
        home: Home | Path | str | None = None,
        *,
        options: DelegateOptions | None = None,
        store: str | None = None,
        hierarchy: Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """Open the hierarchy and the store of a home folder; use the result as `async with`.

        `clock` returns seconds since 1970; another one than the computer's serves simulations.

        Without options the agents' token is that of the environment, as on the command line
        (`IPMICRA_AGENT_TOKEN`); with options it is theirs (`AgentAccess`).
        """
        place = home_at(home).using(store=store, hierarchy=hierarchy)
        if options is None:
            options = DelegateOptions(access=AgentAccess(token=read_token(None)))
        options = replace(options, rules=options.rules or place.load_rules_if_any())
        with ExitStack() as stack:
            opened = stack.enter_context(place.open_hierarchy())
            lock = stack.enter_context(place.lock("delegate", "a Delegator in Python"))
            store_held = stack.enter_context(place.open_store())
            lock.protect(store_held)
            made = cls(store_held, opened, options, clock)
            made._held = stack.pop_all()
        return made

    @staticmethod
    def connect(url: str, token: str | None = None, *, authority: Path | None = None) -> RemoteDelegator:
        """Ask a running coordinator instead: the same verbs, and those of owners; use as `async with`.

        `authority` is the certificate to trust, of its CA or its own; by default those of the system.
        """
        from ipmicra.app.connect.client import RemoteDelegator

        return RemoteDelegator(url, token, authority=authority)

    async def __aenter__(self) -> Self:
        """Get ready."""
        try:
            await self._session.__aenter__()
        except BaseException:
            self._close()
            raise
        self._watch = asyncio.create_task(self._watch_over())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is left and close everything."""
        try:
            if self._watch is not None:
                self._watch.cancel()
            await self._session.__aexit__(kind, error, trace)
            if error is None:
                self._store.batches.end(self._session.batch.id, self._session.clock())
        finally:
            self._close()

    def _close(self) -> None:
        self._store.close()
        self._hierarchy.close()
        self._held.close()

    async def delegate(self, seed: str) -> Decision:
        """Return the decision for a host, URL or address; `InputError` if it has no address."""
        (decision,) = await self.delegate_many([seed])
        return decision

    async def delegate_many(self, seeds: Iterable[str]) -> list[Decision]:
        """Return the decisions for several seeds, in order."""
        waiting: list[asyncio.Future[Decision]] = []
        async for part in self._session.parts(seeds):
            for found in part:
                if isinstance(found, UnresolvedSeed):
                    raise InputError(f"{found.text}: {found.reason}")
                future = asyncio.get_running_loop().create_future()
                self._waiting.setdefault(found.host, []).append(future)
                waiting.append(future)
                await self._arrive(found)
        self._session.driver.flush()
        return list(await asyncio.gather(*waiting))

    async def _arrive(self, site: Site) -> None:
        session = self._session
        for one in [site] if session.scattered is None else session.scattered.take([site]):
            if session.grafter is not None:
                await session.grafter.graft(one.address)
            session.driver.arrive(one)

    async def _watch_over(self) -> None:
        """Hand an error to everybody who waits."""
        try:
            await self._session.until(lambda: False)
        except Exception as error:  # noqa: BLE001 - the waiting callers get it
            for future in [one for futures in self._waiting.values() for one in futures]:
                if not future.done():
                    future.set_exception(error)

    def _decided(self, decision: Decision) -> None:
        for future in self._waiting.pop(decision.host, ()):
            if not future.done():
                future.set_result(decision)

    def _gave_up(self, site: Site, reason: str) -> None:
        for future in self._waiting.pop(site.host, ()):
            if not future.done():
                future.set_exception(IpmicraError(f"{site.host}: {reason}"))
