"""Kill and stop agents and the coordinator at random while hosts are asked for, then look at what happened.

Theory of operation
-------------------
Real processes on loopback: `ipmicra serve` and agents that call out. A thread asks for owners of ever new
hosts, again and again until each is answered; meanwhile faults are drawn from a seed:

    agent: SIGKILL and start again | SIGSTOP for a while
    coordinator: SIGKILL and start again on the same port | SIGSTOP for a while
    either: its wall clock jumps, by seconds to days, forwards or backwards

At the end everything runs, all hosts are asked for once more, the coordinator is stopped, and the history is
read: what was answered (by the thread), what was sent (agents' logs of targets, written before each probe),
what was paid and measured (the store). `history.py` says what must not be in it. The seed decides which
faults come, in which order and after which pauses; what they hit depends on the machine.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from pathlib import Path
from random import Random
from typing import TextIO

import requests

from ipmicra.edge.store.store import Store
from tests.patience import wait_until
from tests.servers.calling_fleet import CallingFleet, calling_fleet
from tests.servers.coordinator import RunningCoordinator
from tests.torture.clocks import JUMPS_S, Clock, clock_library
from tests.torture.history import History, Sent, violations

FULL = 500
AT_A_TIME = 5
"""Hosts in one question."""
ANSWER_S = 30.0
"""How long an answer is waited for before another coordinator is asked."""
FAULTS = ("kill agent", "stop agent", "kill coordinator", "stop coordinator", "jump")
WEIGHTS = (5, 4, 2, 2, 3)


class Questions(threading.Thread):
    """Asks for owners until it is told to stop."""

    def __init__(
        self,
        coordinators: Sequence[RunningCoordinator],
        site: Callable[[int], str],
        history: History,
        vantages: Callable[[str], Sequence[str | None]] = lambda _host: (None,),
    ) -> None:
        """Ask coordinators in turn for the owners of sites 0, 1, 2 …, from all their vantages."""
        super().__init__(daemon=True)
        self._coordinators, self._site, self._history = coordinators, site, history
        self._vantages = vantages
        self._turn = 0
        self.is_over = threading.Event()

    def run(self) -> None:
        number = 0
        while not self.is_over.is_set():
            hosts = [self._site(number + i) for i in range(AT_A_TIME)]
            wishes = [_wish(host, vantage) for host in hosts for vantage in self._vantages(host)]
            self._history.asked += wishes
            while wishes and not self.is_over.is_set():
                wishes = self.ask(wishes)
            number += AT_A_TIME

    def ask(self, wishes: list[str]) -> list[str]:
        """Ask one coordinator once; return what is still without an answer."""
        self._turn += 1
        coordinator = self._coordinators[self._turn % len(self._coordinators)]
        try:
            response = coordinator.ask(
                "POST",
                "/v1/owners",
                data="\n".join(map(_line_of, wishes)).encode(),
                headers={"Content-Type": "application/x-ndjson"},
                timeout=ANSWER_S,
            )
            found = [_line(line) for line in response.text.splitlines()] if response.ok else []
        except (requests.RequestException, OSError, ValueError):
            found = []
        answered = [(wish, who) for wish, who in zip(wishes, found, strict=False) if who is not None]
        self._history.answers += answered
        done = {wish for wish, _ in answered}
        if not done:
            time.sleep(0.1)
        return [wish for wish in wishes if wish not in done]


def _wish(host: str, vantage: str | None) -> str:
    return host if vantage is None else f"{host} {vantage}"


def _line_of(wish: str) -> str:
    host, _, vantage = wish.partition(" ")
    return json.dumps({"host": host, "vantage": vantage or None})


def _line(line: str) -> str | None:
    found = json.loads(line)
    return found.get("crawler") if "problem" not in found else None


def run_campaign(folder: Path, seed: int, kills: int, agents: int = 3) -> History:
    """Run faults drawn from a seed; return what happened."""
    rng, history = Random(seed), History()
    library, names = clock_library(folder), ("coordinator", *(f"c{number}" for number in range(agents)))
    clocks = {name: Clock(folder / f"clock of {name}", library) for name in names}
    environments = {name: clock.environment for name, clock in clocks.items()}
    words = ("--policy", "everyone")
    with calling_fleet(folder, *words, agents=agents, environments=environments) as fleet:
        _pin_port(fleet)
        questions = Questions([fleet.coordinator], lambda i: fleet.site(1 + i % 8, i), history)
        questions.start()
        for _ in range(kills):
            time.sleep(rng.uniform(0.05, 0.6))
            _fault(fleet, rng, list(clocks.values()))
        for clock in clocks.values():
            clock.set(0.0)
        questions.is_over.set()
        questions.join()
        fleet.wait_for(*fleet.agents)
        settle(questions, history)
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


def _fault(fleet: CallingFleet, rng: Random, clocks: Sequence[Clock]) -> None:
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
    elif fault == "jump":
        rng.choice(clocks).set(rng.choice([0.0, *JUMPS_S]))
    elif fault == "stop coordinator":
        fleet.coordinator.send(signal.SIGSTOP)
        time.sleep(pause_s)
        fleet.coordinator.send(signal.SIGCONT)


def settle(questions: Questions, history: History, rounds: int = 1) -> None:
    """Ask for everything once more, when all is well; more rounds ask others."""
    for _ in range(rounds):
        left = list(dict.fromkeys(history.asked))

        def is_answered() -> bool:
            nonlocal left
            left = questions.ask(left) if left else left
            return not left

        wait_until(is_answered, "all hosts to be answered")


def read_store(where: Path | str, history: History) -> None:
    """Add what a store knows of a campaign."""
    with Store.open(str(where)) as store:
        rows = store.connection.rows
        for order, crawler, address in rows("SELECT id, crawler, address FROM orders"):
            history.paid[order] = (crawler, _text(address))
        measured = rows("SELECT crawler, address FROM samples WHERE rtt_ms IS NOT NULL")
        history.measured += [(crawler, _text(address)) for crawler, address in measured]
        orders: dict[str, int] = dict(rows("SELECT budget, count(*) FROM orders GROUP BY budget"))
        for name, total, spent in rows("SELECT name, total, spent FROM budgets"):
            history.spent[name] = (spent, total, orders.get(name, 0))


def read_replaced(url: str, history: History) -> None:
    """Add the delegations that ended, for a fleet that nobody joins or leaves."""
    with Store.open(url) as store:
        for first, was, reason in store.connection.rows(
            "SELECT first, crawler, reason FROM delegation_history"
        ):
            history.replaced.append(f"{_text(first)} of {was}: {reason}")


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
