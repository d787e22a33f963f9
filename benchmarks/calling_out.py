"""Agents that call out: how much longer an order takes than a direct one, and what idle ones cost.

Orders go to 50 agents of each kind in turn, one at a time, all in one process: each agent is real, with the
same service behind it, and probes a port of loopback. Idle agents are bare connections that each hold a poll
at a coordinator in a process of its own, whose memory and processor time are read from the system.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from random import Random

import numpy as np

from benchmarks.bench import Bench
from benchmarks.child_switchboard import board_over, server_of, token_of
from benchmarks.measure import ROOT
from benchmarks.results import Row, Target
from ipmicra.edge.agent.calling import Caller
from ipmicra.edge.agent.identity import AgentIdentity
from ipmicra.edge.agent.link import CoordinatorLink, call_session
from ipmicra.edge.agent.run import AgentSettings, make_parts, make_server
from ipmicra.edge.coordinator.agent_client import (
    AgentAccess,
    AgentClient,
    AgentPort,
    ClientConfig,
    agent_session,
)
from ipmicra.edge.coordinator.switchboard import Switchboard
from ipmicra.edge.pace.limiter import PolitenessConfig
from ipmicra.edge.store.store import Store
from ipmicra.edge.web.server import listening
from ipmicra.wire.messages import ProbeOrder

AGENTS, IDLE = 50, 1_000
TOKEN = "a-token-for-benchmarks-of-agents"
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


def measure_calling_out(bench: Bench) -> list[Row]:
    """Measure orders and idle agents."""
    bench.say(f"orders to {AGENTS} agents of each kind, then {IDLE:,} idle ones")
    return [asyncio.run(_orders(200 if bench.sizes.is_quick else 2_000)), *_idle(bench)]


async def _orders(count: int) -> Row:
    taken: dict[str, list[float]] = {"direct": [], "calling out": []}
    site = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, backlog=1_000)
    async with site:  # takes each connection: beyond its backlog a site that takes none is silent
        port = site.sockets[0].getsockname()[1]
        settings = AgentSettings(
            token=TOKEN,
            allowed=("127.0.0.0/8",),
            ports=(port,),
            politeness=PolitenessConfig(interval_s=0.0),
            stop_s=1.0,
        )
        async with _listening_agents(settings) as direct, _calling_agents(settings) as called:
            for number in range(-AGENTS, count):
                for name, agents in (("direct", direct), ("calling out", called)):
                    order = ProbeOrder(
                        id=f"{name[0]}{number}", address=ip_address("127.0.0.1"), port=port, samples=1
                    )
                    start = time.perf_counter()
                    async for _ in agents[number % AGENTS].ask([order], 10.0):
                        pass
                    if number >= 0:
                        taken[name].append((time.perf_counter() - start) * 1e3)
    (plain, more) = (np.percentile(taken[name], [50, 99]) for name in taken)
    return Row(
        what="order to sample over a long poll, 50 agents: p99 above that of a direct order",
        value=float(more[1] - plain[1]),
        unit="ms",
        target=Target(sense="≤", limit=25.0),
        figures=(
            f"median {more[0]:.1f} ms, p99 {more[1]:.1f} ms",
            f"direct: median {plain[0]:.1f} ms, p99 {plain[1]:.1f} ms",
        ),
    )


@asynccontextmanager
async def _listening_agents(settings: AgentSettings) -> AsyncIterator[list[AgentPort]]:
    servers, tasks, urls = [], [], []
    for _ in range(AGENTS):
        server, made = make_server(settings), listening("127.0.0.1", 0)
        server.config.load()
        urls.append(f"http://127.0.0.1:{made.getsockname()[1]}")
        servers.append(server)
        tasks.append(asyncio.create_task(server.serve(sockets=[made])))
    async with agent_session() as session:
        access = AgentAccess(token=TOKEN)
        yield [AgentClient(url, session, access, ClientConfig()) for url in urls]
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*tasks)


@asynccontextmanager
async def _calling_agents(settings: AgentSettings) -> AsyncIterator[list[AgentPort]]:
    with Store.open("sqlite://") as store:
        membership = board_over(store, AGENTS)
        server, made = server_of(membership), listening("127.0.0.1", 0)
        url = f"http://127.0.0.1:{made.getsockname()[1]}"
        serving = asyncio.create_task(server.serve(sockets=[made]))
        async with AsyncExitStack() as stack:
            tasks = []
            for number in range(AGENTS):
                session = await stack.enter_async_context(call_session())
                identity = AgentIdentity(fleet="0" * 16, url=url, token=token_of(number))
                parts = make_parts(settings)
                link = CoordinatorLink(session, identity)
                tasks.append(asyncio.create_task(Caller(link, parts.service, rng=Random(number)).run()))
            board: Switchboard = membership.switchboard
            yield [board.client(f"c{number}") for number in range(AGENTS)]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        membership.switchboard.close()
        server.should_exit = True
        await serving


def _idle(bench: Bench) -> list[Row]:
    """Hold a poll for each of many agents, and look at what that costs the coordinator."""
    words = [sys.executable, "-m", "benchmarks.child_switchboard", str(IDLE)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            port = int(child.stdout.readline())
            held = [_poll(port, number) for number in range(IDLE)]
            time.sleep(2.0)
            before_s, began_s = _cpu_s(child.pid), time.monotonic()
            time.sleep(10.0 if bench.sizes.is_quick else 60.0)
            share = (_cpu_s(child.pid) - before_s) / (time.monotonic() - began_s)
            memory_mb = int(Path(f"/proc/{child.pid}/statm").read_text().split()[1]) * _PAGE / 1e6
            for one in held:
                one.close()
        finally:
            child.kill()
    return [
        Row(
            what="1,000 idle agents: memory of the coordinator",
            value=memory_mb,
            unit="MB",
            target=Target(sense="<", limit=400.0),
        ),
        Row(
            what="1,000 idle agents: processor time of the coordinator",
            value=share * 100,
            unit="% of one core",
            target=Target(sense="<", limit=5.0),
        ),
    ]


def _poll(port: int, number: int) -> socket.socket:
    body = json.dumps({"version": 1, "boot": "b", "cursor": "", "wait_s": 50}).encode()
    made = socket.create_connection(("127.0.0.1", port))
    made.sendall(
        f"POST /v1/agents/poll HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token_of(number)}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )
    return made


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
