"""The library and the command line as clients of a running coordinator."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ipmicra import Delegator
from ipmicra.app.connect.answers import OwnerProblem
from ipmicra.app.connect.client import RemoteDelegator
from ipmicra.app.connect.link import LinkConfig
from ipmicra.errors import CoordinatorError, InputError
from ipmicra.model.owner import Owner
from tests.cli.command_line import ran
from tests.delegating_worlds import nearest_of, seeds_of, site_address
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.servers.refusing import refusing_port
from tests.service.conftest import CRAWLERS, SITES


def connected(coordinator: RunningCoordinator) -> RemoteDelegator:
    return Delegator.connect(coordinator.url, coordinator.token)


def said(done: subprocess.CompletedProcess[bytes]) -> Any:
    """What a command printed, which must have gone well."""
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_library_asks_a_coordinator_with_the_verbs_of_a_delegator(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    seeds = seeds_of(8, internet.port)

    async def ask() -> None:
        async with connected(coordinator) as delegator:
            first = await delegator.delegate(seeds[0])
            assert (first.crawler, first.address) == (nearest_of(0, CRAWLERS), site_address(0))
            many = await delegator.delegate_many(seeds)
            assert [one.crawler for one in many] == [nearest_of(i, CRAWLERS) for i in range(8)]
            owner = await delegator.owner(seeds[1])
            assert owner.crawler == nearest_of(1, CRAWLERS)
            answers = [one async for one in delegator.owners([*seeds, "no host!"])]
            assert all(isinstance(one, Owner) for one in answers[:-1])
            assert isinstance(answers[-1], OwnerProblem)
            assert answers[-1].kind == "bad-input"
            assert (await delegator.explain(seeds[0]))["crawler"] == first.crawler
            with pytest.raises(InputError, match="no host!"):
                await delegator.delegate("no host!")

    asyncio.run(ask())
    with connected(coordinator).blocking() as plain:
        assert plain.owner(seeds[2]).crawler == nearest_of(2, CRAWLERS)
        assert plain.delegate(seeds[2]).crawler == nearest_of(2, CRAWLERS)
        assert len(plain.owners(seeds)) == 8
        assert len(plain.delegate_many(seeds)) == 8
        assert plain.explain(seeds[2])["host"] == str(site_address(2))


def test_client_says_what_is_wrong_with_its_token_and_with_a_coordinator_that_is_not_there(
    coordinator: RunningCoordinator,
) -> None:
    with (
        Delegator.connect(coordinator.url, "ipm_c_nobody").blocking() as stranger,
        pytest.raises(CoordinatorError, match="token") as refused,
    ):
        stranger.owner("example.org")
    assert (refused.value.status, refused.value.kind) == (401, "unauthenticated")
    with refusing_port() as port:
        lonely = RemoteDelegator(f"http://127.0.0.1:{port}", config=LinkConfig(deadline_s=0.5))
        with lonely.blocking() as plain, pytest.raises(CoordinatorError, match=str(port)):
            plain.owner("example.org")
    with pytest.raises(InputError, match="no coordinator"):
        Delegator.connect("ftp://x")


def test_commands_of_a_home_that_a_coordinator_holds_ask_it(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    home, seeds = coordinator.home, seeds_of(SITES, internet.port)
    rows = said(ran("--home", home, "delegate", *seeds, "--json"))
    assert {row["host"]: row["crawler"] for row in rows} == {
        str(site_address(i)): nearest_of(i, CRAWLERS) for i in range(SITES)
    }
    explained = said(ran("--home", home, "explain", seeds[0], "--json"))
    assert explained["crawler"] == nearest_of(0, CRAWLERS)
    lines = ran("--home", home, "explain", seeds[0]).stdout.decode()
    assert nearest_of(0, CRAWLERS) in lines
    assigned = said(ran("--home", home, "assign", *seeds[:4], "--json"))
    assert [row["host"] for row in assigned] == [str(site_address(i)) for i in range(4)]
    assert coordinator.owner(seeds[0])["source"] == "assignment"
    gone = said(ran("--home", home, "forget", str(site_address(0)), "--json"))
    assert {"delegation", "assignment"} <= {row["kind"] for row in gone}
    assert [row["name"] for row in said(ran("--home", home, "crawler", "list", "--json"))] == [
        f"c{i}" for i in range(CRAWLERS)
    ]
    assert said(ran("--home", home, "crawler", "drain", "c2", "--json"))[0]["state"] == "draining"
    added = said(ran("--home", home, "crawler", "add", "new", "203.0.113.200", "--json"))
    assert added["name"] == "new"
    assert said(ran("--home", home, "crawler", "remove", "new", "--json"))[0]["state"] == "left"


def test_commands_refuse_options_that_are_the_coordinators_own(
    coordinator: RunningCoordinator, internet: InternetProcess, tmp_path: Path
) -> None:
    seed = seeds_of(1, internet.port)[0]
    done = ran("--home", coordinator.home, "delegate", seed, "--policy", "hash")
    assert done.returncode == 2
    assert b"--policy" in done.stderr
    assert b"holds this home" in done.stderr
    other = ran("--coordinator", coordinator.url, "build", "x")
    assert other.returncode == 2
    assert b"files of this machine" in other.stderr


def test_commands_ask_a_coordinator_that_is_named(
    coordinator: RunningCoordinator, internet: InternetProcess, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text(coordinator.token)
    remote = ("--home", tmp_path / "none", "--coordinator", coordinator.url, "--coordinator-token", token)
    found = said(ran(*remote, "lookup", "203.0.112.1", "--json"))
    assert found[0]["lineage"][-1]["netname"] == "N0"
    located = said(ran(*remote, "locate", "203.0.112.1", "--offline", "--json"))
    assert located[0]["target"] == "203.0.112.1"
    budgeted = ran(*remote, "delegate", *seeds_of(6, internet.port), "--probe-budget", "3", "--json")
    assert len(said(budgeted)) == 6
    assert b"it runs in the coordinator" in budgeted.stderr


def test_file_of_a_coordinator_that_was_killed_misleads_nobody(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    coordinator.kill()
    assert (coordinator.home / "coordinator.json").exists()
    done = ran("--home", coordinator.home, "crawler", "list", "--json")
    assert len(said(done)) == CRAWLERS
