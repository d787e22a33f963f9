"""A coordinator and agents that call out, in processes of their own, started as an operator does."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trustme

from tests.cli.command_line import ROOT, invoked
from tests.patience import PATIENCE_S, wait_until
from tests.servers.coordinator import RunningCoordinator

DUMP = "".join(
    f"inetnum: 127.{block}.0.0 - 127.{block}.255.255\nnetname: LOOP-{block}\norg: ORG-L{block}-RIPE\n"
    f"country: DE\nsource: RIPE\n\norganisation: ORG-L{block}-RIPE\norg-name: Loop {block}\nsource: RIPE\n\n"
    for block in range(1, 9)
)
"""Sites stand on loopback itself, where any process reaches them."""


@dataclass
class AgentProcess:
    """`ipmicra agent` with an identity of its own."""

    name: str
    folder: Path
    words: list[str]
    process: subprocess.Popen[bytes] | None = None
    environment: dict[str, str] = field(default_factory=dict)
    """Further variables."""
    prefix: list[str] = field(default_factory=list)
    """What starts the command, if not the system does."""

    def start(self) -> None:
        own = [sys.executable, "-m", "ipmicra", "--home", str(self.folder), "agent", *self.words]
        command = [*self.prefix, *own]
        kept = {name: value for name, value in os.environ.items() if name != "IPMICRA_AGENT_TOKEN"}
        environment = {**kept, **self.environment}
        with (self.folder / "agent.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGKILL) -> int:
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.send(number)
            self.send(signal.SIGCONT)
        return self.process.wait(PATIENCE_S)

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def log(self) -> str:
        return (self.folder / "agent.log").read_text()

    def targets(self) -> list[dict[str, Any]]:
        """What it says that it probed, oldest first."""
        file = self.folder / "targets.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []


@dataclass
class CallingFleet:
    """Processes of one home; `port` is where sites answer."""

    folder: Path
    home: Path
    port: int
    coordinator: RunningCoordinator
    agents: dict[str, AgentProcess] = field(default_factory=dict)
    environments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Further variables of agents, by name."""

    def cli(self, *words: str | Path) -> str:
        """Run a command of the same home; return what it prints."""
        done = invoked("--home", self.home, *words)
        assert done.exit_code == 0, (words, done.output, done.exception)
        return done.stdout

    def add_agent(self, name: str, number: int, *words: str) -> AgentProcess:
        """Let an agent join; its crawler gets an address of its own."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "join").write_text(self.cli("token", "add", name, "--role", "join"))
        agent = AgentProcess(
            name,
            folder,
            [
                *("--join-file", str(folder / "join"), "--address", f"198.51.100.{number}"),
                *("--allow", "127.0.0.0/8", "--allow-port", str(self.port), "--interval-s", "0"),
                *("--target-log", str(folder / "targets.jsonl"), *words),
            ],
        )
        agent.environment |= self.environments.get(name, {})
        self.agents[name] = agent
        agent.start()
        return agent

    def crawlers(self) -> dict[str, dict[str, Any]]:
        found = self.coordinator.get("/v1/crawlers", all="true").json()["crawlers"]
        return {one["name"]: one for one in found}

    def wait_for(self, *names: str, state: str = "joined") -> None:
        """Wait until crawlers are in a state."""

        def is_so() -> bool:
            for agent in self.agents.values():
                assert agent.is_running or state != "joined" or agent.name not in names, agent.log()
            mine = [self.agents[name] for name in names if name in self.agents]
            if state == "joined" and not all("calls http" in agent.log() for agent in mine):
                return False
            crawlers = self.crawlers()
            return all(crawlers.get(name, {}).get("state") == state for name in names)

        wait_until(is_so, f"{names} to be {state}")

    def site(self, block: int, number: int) -> str:
        return f"http://127.{block}.{number // 250}.{number % 250 + 1}:{self.port}/"


def certified(authority: Path) -> list[str]:
    """Write the certificate of an authority and one that it signed; return the words that serve with it."""
    signer = trustme.CA()
    signer.cert_pem.write_to_path(authority)
    issued = signer.issue_cert("127.0.0.1")
    chain, key = authority.with_name("server.pem"), authority.with_name("server.key")
    issued.cert_chain_pems[0].write_to_path(chain)
    issued.private_key_pem.write_to_path(key)
    return ["--tls-cert", str(chain), "--tls-key", str(key)]


@contextmanager
def calling_fleet(
    folder: Path,
    *words: str,
    agents: int = 2,
    is_secure: bool = False,
    environments: Mapping[str, Mapping[str, str]] | None = None,
) -> Iterator[CallingFleet]:
    """Start a coordinator, with TLS if it is to be secure, and let agents join.

    `environments` has further variables of `coordinator` and of agents.
    """
    more = environments or {}
    home = folder / "home"
    home.mkdir()
    authority = folder / "ca.pem" if is_secure else None
    if authority is not None:
        words = (*words, *certified(authority))
    (folder / "dump.db").write_text(DUMP)
    assert invoked("--home", home, "build", folder / "dump.db").exit_code == 0
    with (
        socket.create_server(("0.0.0.0", 0), backlog=2_000) as sites,
        RunningCoordinator(
            home, "--location", "none", "--samples", "1", *words, **more.get("coordinator", {})
        ) as coordinator,
    ):
        coordinator.authority = authority
        fleet = CallingFleet(folder, home, sites.getsockname()[1], coordinator, environments=more)
        try:
            for number in range(agents):
                fleet.add_agent(f"c{number}", number + 1)
            fleet.wait_for(*fleet.agents)
            yield fleet
        finally:
            for agent in fleet.agents.values():
                agent.end()
