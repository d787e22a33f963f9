"""Two coordinators on one PostgreSQL and agents that call out, while network and clocks misbehave.

Theory of operation
-------------------
A `Plan` says how the processes reach each other; the rest is the same for both kinds of network (wires on
loopback, `lossy.py`, and network namespaces, `namespaces.py`). A thread asks both coordinators for owners of
ever new hosts; now and then a batch with a budget is started. Faults come meanwhile. At the end the network
and all clocks are whole again, both coordinators are asked for every host, and the history is read:
`history.py` says what must not be in it.

The harness itself asks over a path without faults: what it hears was acknowledged.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import requests

from ipmicra.edge.store.store import Store
from tests.cli.command_line import invoked
from tests.patience import wait_until
from tests.servers.calling_fleet import DUMP, AgentProcess
from tests.servers.coordinator import RunningCoordinator
from tests.torture.clocks import Clock
from tests.torture.coordinator import Questions, read_replaced, read_store, settle
from tests.torture.history import Fault, History, Sent

NAMES = ("one", "two")
LEASE_S = 3.0
WORDS = ("--policy", "everyone", "--location", "none", "--samples", "1", "--lease-s", str(LEASE_S))
BLOCKS = 8
BATCH_EVERY, BATCH_HOSTS, BATCH_PROBES = 20, 12, 20
"""Faults between two batches, their hosts, and the probes that they may spend: too few for all hosts."""


@dataclass(kw_only=True)
class Plan:
    """How processes reach each other; by the names of coordinators and agents."""

    listen: Mapping[str, str]
    public: Mapping[str, str]
    """URLs at which agents and the other coordinator find each coordinator."""
    direct: Mapping[str, str]
    """URLs at which the harness finds it."""
    store: Mapping[str, str]
    words: Mapping[str, list[str]] = field(default_factory=dict)
    """Further words of coordinators."""
    authority: Path | None = None
    """Certificate of whoever signed theirs, where there is TLS."""
    proxy: Mapping[str, str] = field(default_factory=dict)
    """Through which agents call out."""
    prefix: Mapping[str, list[str]] = field(default_factory=dict)
    clocks: Mapping[str, Clock] = field(default_factory=dict)
    block: Callable[[int], str] = "127.{}".format
    """Returns the first half of the addresses of a block of sites, 1 to 8."""
    port: int = 0
    """Where sites answer."""

    def site(self, number: int) -> str:
        """Return the URL of a site."""
        block, place = 1 + number % BLOCKS, number // BLOCKS
        return f"http://{self.block(block)}.{place // 250}.{place % 250 + 1}:{self.port}/"


@dataclass
class NetworkedFleet:
    """Running processes."""

    plan: Plan
    store: str
    """URL of the store over a path without faults."""
    coordinators: list[RunningCoordinator] = field(default_factory=list)
    agents: dict[str, AgentProcess] = field(default_factory=dict)

    def vantages(self, host: str) -> Sequence[str | None]:
        """The last block is seen from two vantages."""
        return ("left", "right") if f"//{self.plan.block(BLOCKS)}." in host else (None,)

    def supervise(self, history: History) -> None:
        """Start what ended by itself again, as an init system does, and note that it ended."""
        for one in self.coordinators:
            if not one.is_running:
                history.restarts.append(f"{one.home.name}: {one.log()[-1500:]}")
                one.start()
                one.url = self.plan.direct[one.home.name]
        for agent in self.agents.values():
            if not agent.is_running:
                history.restarts.append(f"{agent.name}: {agent.log()[-1500:]}")
                agent.start()

    def are_joined(self) -> bool:
        time.sleep(0.1)
        crawlers = self.coordinators[0].get("/v1/crawlers", all="true").json()["crawlers"]
        states = {one["name"]: one["state"] for one in crawlers}
        return all(states.get(name) == "joined" for name in self.agents)

    def are_batches_done(self) -> bool:
        time.sleep(0.1)
        batches = self.coordinators[0].get("/v1/batches", limit=100).json()["batches"]
        return all(one["state"] == "done" for one in batches)


@contextmanager
def networked_fleet(folder: Path, plan: Plan, store: str, agents: int) -> Iterator[NetworkedFleet]:
    """Start two coordinators and agents; wait until all agents are members of the fleet."""
    fleet = NetworkedFleet(plan, store)
    (folder / "dump.db").write_text(DUMP.replace("127.", plan.block(0)[:-1]))
    with ExitStack() as stack:
        for name in NAMES:
            fleet.coordinators.append(_coordinator(folder, plan, name, fleet.coordinators))
            stack.enter_context(fleet.coordinators[-1])
            fleet.coordinators[-1].url = plan.direct[name]
        for number in range(agents):
            agent = _agent(folder, plan, store, number)
            fleet.agents[agent.name] = agent
            agent.start()
            stack.callback(agent.end)
        wait_until(fleet.are_joined, "all agents to join")
        yield fleet


def _coordinator(
    folder: Path, plan: Plan, name: str, others: Sequence[RunningCoordinator]
) -> RunningCoordinator:
    home = folder / name
    home.mkdir()
    assert invoked("--home", home, "build", folder / "dump.db").exit_code == 0
    (home / "rules.txt").write_text(
        f"prefix={plan.block(BLOCKS)}.0.0/16 -> vantage=left:c0,c1 vantage=right:c1,c2\n"
    )
    if others:
        (home / "operator.token").write_text(others[0].token)
    words = ("--listen", plan.listen[name], "--public-url", plan.public[name], "--name", name)
    words = (*words, *plan.words.get(name, ()))
    clock = plan.clocks[name].environment if name in plan.clocks else {}
    made = RunningCoordinator(home, *WORDS, *words, "--store", plan.store[name], **clock)
    made.prefix, made.authority = plan.prefix.get(name, []), plan.authority
    return made


def _agent(folder: Path, plan: Plan, store: str, number: int) -> AgentProcess:
    name = f"c{number}"
    own = folder / name
    own.mkdir()
    joined = plan.public[NAMES[number % len(NAMES)]]
    token = invoked(
        *("--home", folder / NAMES[0], "token", "add", name, "--role", "join"),
        *("--url", joined, "--store", store, *(("--cert", plan.authority) if plan.authority else ())),
    )
    assert token.exit_code == 0, (token.output, token.exception)
    (own / "join").write_text(token.stdout)
    words = [
        *("--join-file", str(own / "join"), "--address", f"198.51.100.{number + 1}"),
        *("--allow", f"{plan.block(1).partition('.')[0]}.0.0.0/8", "--allow-port", str(plan.port)),
        *("--interval-s", "0", "--target-log", str(own / "targets.jsonl")),
        *(("--proxy", plan.proxy[name]) if name in plan.proxy else ()),
    ]
    clock = plan.clocks[name].environment if name in plan.clocks else {}
    return AgentProcess(name, own, words, environment=clock, prefix=plan.prefix.get(name, []))


def run_faults(
    fleet: NetworkedFleet, rng: Random, faults: int, strike: Callable[[], Fault], relieve: Callable[[], None]
) -> History:
    """Let faults come while hosts are asked for; return what happened."""
    history = History()
    questions = Questions(fleet.coordinators, fleet.plan.site, history, fleet.vantages)
    questions.start()
    for number in range(faults):
        time.sleep(rng.uniform(0.1, 0.9))
        history.faults.append(strike())
        fleet.supervise(history)
        if number % BATCH_EVERY == BATCH_EVERY // 2:
            _start_batch(fleet, rng, number)
    questions.is_over.set()
    relieve()
    for clock in fleet.plan.clocks.values():
        clock.set(0.0)
    questions.join()
    fleet.supervise(history)
    wait_until(fleet.are_joined, "all agents to be back")
    settle(questions, history, rounds=len(NAMES))
    wait_until(fleet.are_batches_done, "all batches to end")
    for one in fleet.coordinators:
        one.stop()
    for name, agent in fleet.agents.items():
        agent.end(signal.SIGTERM)
        history.sent += [Sent(name, one["order"], one["address"]) for one in agent.targets()]
    read_store(fleet.store, history)
    read_replaced(fleet.store, history)
    _dump(fleet)
    return history


def _dump(fleet: NetworkedFleet) -> None:
    """Write down what the store knows of orders, for whoever looks for the reason of a violation."""
    lines: list[object] = []
    with Store.open(fleet.store) as store:
        lines += store.batches.all()
        for table in ("orders", "samples", "delegation_history"):
            lines += store.connection.rows(f"SELECT '{table}', * FROM {table}")
    file = fleet.coordinators[0].home.parent / "store.txt"
    file.write_text("".join(f"{line}\n" for line in lines))


def _start_batch(fleet: NetworkedFleet, rng: Random, number: int) -> None:
    """Start a batch that has fewer probes than it needs; it is retried under the same key, as clients do."""
    hosts = [fleet.plan.site(1_000_000 // BLOCKS + number * BATCH_HOSTS + i) for i in range(BATCH_HOSTS)]
    for _ in range(2):
        one = rng.choice(fleet.coordinators)
        with suppress(requests.RequestException):
            path = f"/v1/batches?probe_budget={BATCH_PROBES}&key=batch-{number}"
            one.ask("POST", path, data="\n".join(hosts).encode(), timeout=5.0)


def describe(history: History) -> str:
    """Return the figures of a campaign in a line."""
    return (
        f"{len(set(history.asked))} sites, {len(history.answers)} answers, {len(history.sent)} probes sent, "
        f"{len(history.measured)} measured, {len(history.spent)} budgets"
    )
