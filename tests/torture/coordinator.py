"""Kill and stop agents and the coordinator at random while hosts are asked for, then look at what happened.

Theory of operation
-------------------
Real processes on loopback: `ipmicra serve` and agents that call out. A thread asks for owners of ever new
hosts, again and again until each is answered; meanwhile faults are drawn from a seed:

    agent: SIGKILL and start again | SIGSTOP for a while
    coordinator: SIGKILL and start again on the same port | SIGSTOP for a while

At the end everything runs, all hosts are asked for once more, the coordinator is stopped, and the history is
read: what was answered (by the thread), what was sent (agents' logs of targets, written before each probe),
what was paid and measured (the store). `history.py` says what must not be in it. The seed decides which
faults come, in which order and after which pauses; what they hit depends on the machine.
"""

from __future__ import annotations

import argparse
import json
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from contextlib import closing
from ipaddress import ip_address
from pathlib import Path
from random import Random
from typing import TextIO

import requests

from tests.patience import wait_until
from tests.servers.calling_fleet import CallingFleet, calling_fleet
from tests.torture.history import History, Sent, violations

FULL = 500
AT_A_TIME = 5
"""Hosts in one question."""
FAULTS = ("kill agent", "stop agent", "kill coordinator", "stop coordinator")
WEIGHTS = (5, 4, 2, 2)


class Questions(threading.Thread):
    """Asks for owners until it is told to stop."""

    def __init__(self, fleet: CallingFleet, history: History) -> None:
        super().__init__(daemon=True)
        self._fleet, self._history = fleet, history
        self.is_over = threading.Event()

    def run(self) -> None:
        number = 0
        while not self.is_over.is_set():
            hosts = [self._fleet.site(1 + (number + i) % 8, number + i) for i in range(AT_A_TIME)]
            self._history.asked += hosts
            while hosts and not self.is_over.is_set():
                hosts = self.ask(hosts)
            number += AT_A_TIME

    def ask(self, hosts: list[str]) -> list[str]:
        """Ask once; return the hosts that are still without an answer."""
        try:
            response = self._fleet.coordinator.ask("POST", "/v1/owners", data="\n".join(hosts).encode())
            found = [_line(line) for line in response.text.splitlines()] if response.ok else []
        except (requests.RequestException, OSError, ValueError):
            found = []
        answered = [(host, who) for host, who in zip(hosts, found, strict=False) if who is not None]
        self._history.answers += answered
        done = {host for host, _ in answered}
        if not done:
            time.sleep(0.1)
        return [host for host in hosts if host not in done]


def _line(line: str) -> str | None:
    found = json.loads(line)
    return found.get("crawler") if "problem" not in found else None


def run_campaign(folder: Path, seed: int, kills: int, agents: int = 3) -> History:
    """Run faults drawn from a seed; return what happened."""
    rng, history = Random(seed), History()
    with calling_fleet(folder, "--policy", "everyone", agents=agents) as fleet:
        _pin_port(fleet)
        questions = Questions(fleet, history)
        questions.start()
        for _ in range(kills):
            time.sleep(rng.uniform(0.05, 0.6))
            _fault(fleet, rng)
        questions.is_over.set()
        questions.join()
        _settle(fleet, questions, history)
        fleet.coordinator.stop()
        for name, agent in fleet.agents.items():
            agent.end(signal.SIGTERM)
            history.sent += [Sent(name, one["order"], one["address"]) for one in agent.targets()]
    read_store(folder / "home" / "state.db", history)
    return history


def _pin_port(fleet: CallingFleet) -> None:
    """Let the coordinator come back where agents look for it."""
    fleet.coordinator.kill()
    port = fleet.coordinator.url.rpartition(":")[2]
    fleet.coordinator._words = (*fleet.coordinator._words, "--listen", f"127.0.0.1:{port}")
    fleet.coordinator.start()


def _fault(fleet: CallingFleet, rng: Random) -> None:
    fault = rng.choices(FAULTS, WEIGHTS)[0]
    agent = fleet.agents[rng.choice(sorted(fleet.agents))]
    pause_s = rng.uniform(0.05, 1.0)
    if fault == "kill agent":
        agent.end()
        time.sleep(pause_s / 4)
        agent.start()
    elif fault == "stop agent" and agent.is_running:
        agent.send(signal.SIGSTOP)
        time.sleep(pause_s)
        agent.send(signal.SIGCONT)
    elif fault == "kill coordinator":
        fleet.coordinator.kill()
        fleet.coordinator.start()
    elif fault == "stop coordinator":
        fleet.coordinator.send(signal.SIGSTOP)
        time.sleep(pause_s)
        fleet.coordinator.send(signal.SIGCONT)


def _settle(fleet: CallingFleet, questions: Questions, history: History) -> None:
    """Ask for everything once more, when all is well."""
    fleet.wait_for(*fleet.agents)
    left = list(dict.fromkeys(history.asked))

    def is_answered() -> bool:
        nonlocal left
        left = questions.ask(left) if left else left
        return not left

    wait_until(is_answered, "all hosts to be answered")


def read_store(path: Path, history: History) -> None:
    with closing(sqlite3.connect(path)) as store:
        for order, crawler, address in store.execute("SELECT id, crawler, address FROM orders"):
            history.paid[order] = (crawler, _text(address))
        rows = store.execute("SELECT crawler, address FROM samples WHERE rtt_ms IS NOT NULL")
        history.measured += [(crawler, _text(address)) for crawler, address in rows]
        orders = dict(store.execute("SELECT budget, count(*) FROM orders GROUP BY budget"))
        for name, total, spent in store.execute("SELECT name, total, spent FROM budgets"):
            history.spent[name] = (spent, total, orders.get(name, 0))


def _text(packed: bytes) -> str:
    address = ip_address(packed)
    return str(getattr(address, "ipv4_mapped", None) or address)


def say(text: str, to: TextIO | None = None) -> None:
    out = to or sys.stdout
    out.write(f"{text}\n")
    out.flush()


def main() -> int:
    """Run a campaign from the command line."""
    parser = argparse.ArgumentParser(prog="bin/torture coordinator", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=FULL)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--agents", type=int, default=3)
    chosen = parser.parse_args()
    replay = f"bin/torture coordinator --seed {chosen.seed} --kills {chosen.kills} --agents {chosen.agents}"
    say(f"replay with: {replay}")
    with tempfile.TemporaryDirectory(prefix="ipmicra-torture-") as folder:
        history = run_campaign(Path(folder), chosen.seed, chosen.kills, chosen.agents)
    found = violations(history)
    say(
        f"{chosen.kills} faults, {len(set(history.asked))} hosts, {len(history.answers)} answers, "
        f"{len(history.sent)} probes sent, {len(history.measured)} measured, {len(found)} violations"
    )
    for one in found[:50]:
        say(one)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
