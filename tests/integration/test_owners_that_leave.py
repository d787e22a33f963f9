"""Owners that leave while somebody asks for their sites."""

from __future__ import annotations

import asyncio
import json
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.home import Home
from ipmicra.app.serve.coordinator import Coordinator
from ipmicra.app.serve.rendered import Asked
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Decision
from ipmicra.model.site import Site
from tests.delegating_worlds import enrol, hierarchy_of, site_address

FLEET = [Crawler(name=f"c{i}", address=ip_address(f"198.51.99.{i + 1}")) for i in range(8)]
HOST = str(site_address(0))


async def answers_while_owners_leave(folder: Path, leaving: int) -> list[dict[str, Any]]:
    """Ask twice; as many owners of the site leave between decision and answer."""
    hierarchy_of(folder, 2)
    home = Home(folder=folder)
    with home.open_store() as store:
        enrol(store, FLEET)
    left: list[str] = []
    async with Coordinator(home, DelegateOptions(policy="hash", location="none")) as coordinator:
        deciding = coordinator.deciding
        ask = deciding.ask

        async def ask_and_leave(site: Site, batch: int | None = None) -> Decision:
            decision = await ask(site, batch)
            if len(left) < leaving:
                (owner,) = (one.crawler for one in deciding.store.assignments.of(site.host))
                await coordinator.remove_crawler(str(owner))
                left.append(str(owner))
            return decision

        deciding.ask = ask_and_leave  # type: ignore[method-assign, assignment]
        answers = [json.loads(await coordinator.owners.owner(Asked(HOST))) for _ in range(2)]
    assert left == list(dict.fromkeys(left))
    assert len(left) == leaving
    assert not {one["crawler"] for one in answers} & set(left)
    return answers


def test_owner_that_left_before_anybody_heard_of_it_is_followed_by_one_that_stays(tmp_path: Path) -> None:
    for leaving in (1, 3):
        folder = tmp_path / str(leaving)
        folder.mkdir()
        first, again = asyncio.run(answers_while_owners_leave(folder, leaving))
        assert first == again
        assert first["source"] == "assignment"
