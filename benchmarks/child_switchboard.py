"""A coordinator with nothing but agents that call out: `python -m benchmarks.child_switchboard COUNT`.

Prints its port once it listens. The tokens of its agents are those of `token_of`.
"""

from __future__ import annotations

import asyncio
import sys
from ipaddress import ip_address

from starlette.applications import Starlette

from ipmicra.app.fleet.fleet import Fleet
from ipmicra.app.serve.api.agents import agent_routes
from ipmicra.app.serve.membership import AgentDesk, Membership
from ipmicra.edge.coordinator.access import Access, hash_of
from ipmicra.edge.coordinator.switchboard import Switchboard
from ipmicra.edge.store.ports import AgentRecord, Member
from ipmicra.edge.store.store import Store
from ipmicra.edge.web.connection_limits import ConnectionLimiter, ConnectionLimits
from ipmicra.edge.web.server import LimitedServer, ServerSettings, listening, uvicorn_config
from ipmicra.model.crawler import Crawler
from ipmicra.model.token import Role, TokenRecord

LIMITS = ConnectionLimits(connections=3_000, unauthenticated=2_000, unauthenticated_per_client=2_000)


def token_of(number: int) -> str:
    """Return the token of an agent."""
    return f"ipm_a_{number:043d}"


def board_over(store: Store, count: int) -> Membership:
    """Make a membership of so many agents."""
    with store.transaction():
        for number in range(count):
            token = TokenRecord(
                name=f"c{number}",
                role=Role.AGENT,
                hash=hash_of(token_of(number)),
                created_s=0.0,
                crawler=f"c{number}",
            )
            store.tokens.add(token)
            crawler = Crawler(name=f"c{number}", address=ip_address(f"198.18.{number // 250}.{number % 250}"))
            store.crawlers.put(Member(crawler=crawler))
            agent = AgentRecord(
                crawler=f"c{number}", id=f"{number:032x}", joined_s=0.0, seen_s=0.0, software=""
            )
            store.agents.put(agent)
    return Membership(store, Access(store), Switchboard(), lambda: Fleet(store))


def server_of(membership: Membership) -> LimitedServer:
    """Make the server of a membership."""
    app = Starlette(routes=agent_routes(AgentDesk(membership=membership)))
    config = uvicorn_config(app, ServerSettings(limits=LIMITS, stop_s=1.0))
    config.load()
    return LimitedServer(config, ConnectionLimiter(LIMITS))


def main() -> None:
    """Serve until killed."""
    with Store.open("sqlite://") as store:
        asyncio.run(_serve(store, int(sys.argv[1])))


async def _serve(store: Store, count: int) -> None:
    membership = board_over(store, count)
    server, watch = server_of(membership), asyncio.create_task(membership.watch())
    made = listening("127.0.0.1", 0)
    print(made.getsockname()[1], flush=True)
    await server.serve(sockets=[made])
    watch.cancel()


if __name__ == "__main__":
    main()
