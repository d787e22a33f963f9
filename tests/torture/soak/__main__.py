"""Run a fleet for hours and see that it stays as it is: `bin/torture soak`. See `campaign.py`."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from random import Random

from tests.servers.calling_fleet import CallingFleet
from tests.servers.coordinator import RunningCoordinator
from tests.torture.coordinator import read_store, say
from tests.torture.history import History
from tests.torture.soak.campaign import Campaign, SoakConfig
from tests.torture.soak.invariants import violations
from tests.torture.soak.operating import write_edition
from tests.torture.soak.record import Event, Record, read_record
from tests.torture.soak.report import Report, report_of
from tests.torture.soak.sampling import Sampler, bare_route

FULL_MINUTES = 120.0
SAMPLE_S = 15.0
MOST_SHOWN = 50
WORDS = ("--location", "none", "--samples", "1")


def run_soak(folder: Path, seed: int, minutes: float, config: SoakConfig | None = None) -> Report:
    """Run for so long, or until SIGTERM or Ctrl-C; return what was found."""
    config, record = config or SoakConfig(), Record(folder / "history.jsonl")
    record.note("begun", seed=seed, minutes=minutes)
    (folder / "home").mkdir()
    write_edition(folder, 0, config.crawl_hosts)
    with soaked_fleet(folder, config) as fleet, bare_route() as bare:
        campaign = Campaign(fleet, record, Random(seed), config)
        sampler = Sampler(fleet, bare, token=lambda: campaign.operator.token, hosts=campaign.web.hosts[:15])
        with closing(sampler):
            asyncio.run(_timed(campaign, sampler, minutes))
        record.note("over", exit_code=fleet.coordinator.stop())
        for name, agent in fleet.agents.items():
            agent.end(signal.SIGTERM)
            for one in agent.targets():
                record.note("probe", agent=name, order=one["order"], address=one["address"])
    record.close()
    return judge(folder)


async def _timed(campaign: Campaign, sampler: Sampler, minutes: float) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, campaign.is_over.set)
    life_s = 60 * minutes
    await campaign.run(lambda: sampler.sample(campaign.record), min(SAMPLE_S, life_s / 6), life_s)


@contextmanager
def soaked_fleet(folder: Path, config: SoakConfig) -> Iterator[CallingFleet]:
    """Start a coordinator and the real agents."""
    with ExitStack() as stack:
        sites = stack.enter_context(socket.create_server(("0.0.0.0", 0), backlog=2_000))
        coordinator = stack.enter_context(RunningCoordinator(folder / "home", *WORDS))
        fleet = CallingFleet(folder, folder / "home", sites.getsockname()[1], coordinator)
        try:
            for number in range(config.real_agents):
                fleet.add_agent(f"r{number}", number + 1)
            fleet.wait_for(*fleet.agents)
            yield fleet
        finally:
            for agent in fleet.agents.values():
                agent.end()


def judge(folder: Path) -> Report:
    """Check the record that a soak has left."""
    events: list[Event] = list(read_record(folder / "history.jsonl"))
    store = History()
    read_store(folder / "home" / "state.db", store)
    return report_of(events, violations(events, store))


def main() -> int:
    """Run a soak from the command line."""
    parser = argparse.ArgumentParser(prog="bin/torture soak", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=FULL_MINUTES)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--folder", type=Path, help="keep record, store and logs here; must not exist")
    parser.add_argument("--judge", type=Path, metavar="FOLDER", help="check the record of an earlier one")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    chosen = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    replay = f"bin/torture soak --seed {chosen.seed} --minutes {chosen.minutes:g}"
    if chosen.judge is not None:
        report = judge(chosen.judge)
    else:
        say(f"replay with: {replay}", to=sys.stderr)
        folder = chosen.folder or Path(tempfile.mkdtemp(prefix="ipmicra-soak-"))
        folder.mkdir(parents=True, exist_ok=True)
        report = run_soak(folder, chosen.seed, chosen.minutes)
        if chosen.folder is None and report.is_well:
            shutil.rmtree(folder)
        else:
            say(f"record and logs are in {folder}", to=sys.stderr)
    say(json.dumps(report.described(), indent=2) if chosen.json else report.text(MOST_SHOWN))
    if not report.is_well:
        say(f"replay with: {replay}", to=sys.stderr)
    return not report.is_well


if __name__ == "__main__":
    sys.exit(main())
