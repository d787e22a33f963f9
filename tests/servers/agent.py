"""A real agent in a thread, and what is needed to talk to it."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import AsyncExitStack
from typing import Any, Self

import requests

from ipmicra.edge.agent.run import AgentSettings, make_server
from ipmicra.edge.dns.bulk import NamesOnDemand
from ipmicra.edge.dns.client import DnsConfig
from ipmicra.edge.pace.limiter import PolitenessConfig
from ipmicra.edge.prober.ladder import Resolve
from tests.patience import PATIENCE_S, wait_until

TOKEN = "a-token-for-tests-only"


class RunningAgent:
    """An agent on a free port of loopback."""

    def __init__(
        self, resolve: Resolve | None = None, dns_place: tuple[str, int] | None = None, **settings: Any
    ) -> None:
        """Resolve names for coordinators through the DNS server at a place, if there is one."""
        chosen = {"token": TOKEN, "politeness": PolitenessConfig(interval_s=0.0), "stop_s": 1.0, **settings}
        self.settings = AgentSettings(**chosen)
        self._sockets, names = AsyncExitStack(), None
        if dns_place is not None:
            names = NamesOnDemand(DnsConfig(servers=(dns_place,), first_timeout_s=0.2), self._sockets)
        self.server = make_server(self.settings, resolve, names=names)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    async def _serve(self) -> None:
        async with self._sockets:
            await self.server.serve()
        await asyncio.sleep(0.05)  # connections that are being closed get their last turn

    @property
    def url(self) -> str:
        scheme = "https" if self.settings.certificate else "http"
        return f"{scheme}://127.0.0.1:{self.server.bound_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        wait_until(lambda: self.server.started or not self._thread.is_alive(), "the agent")
        assert self.server.started
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._thread.join(PATIENCE_S)

    def stop(self) -> None:
        """What SIGTERM does."""
        self.server.service.stop()
        self.server.should_exit = True

    def get(self, path: str, **more: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {TOKEN}", **more.pop("headers", {})}
        return requests.get(f"{self.url}{path}", headers=headers, timeout=PATIENCE_S, **more)

    def post(self, body: object, path: str = "/probe", **more: Any) -> requests.Response:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", **more.pop("headers", {})}
        return requests.post(f"{self.url}{path}", data=data, headers=headers, timeout=PATIENCE_S, **more)

    def answers(self, *orders: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
        """Order probes and give the answers in the order of the orders; the end must be there."""
        response = self.post({"version": 1, "orders": orders, **more})
        assert response.status_code == 200, response.text
        lines = [json.loads(line) for line in response.text.splitlines()]
        assert lines[-1] == {"version": 1, "kind": "end", "count": len(orders)}
        found = {line["order"]: line for line in lines[:-1]}
        return [found[order["id"]] for order in orders]


def order(name: str = "a", address: str | None = "127.0.0.1", **more: Any) -> dict[str, Any]:
    return {"id": name, "address": address, **more}
