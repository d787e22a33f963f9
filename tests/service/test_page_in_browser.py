"""The coordinator's page in a real browser, with real agents behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from ipmicra.edge.scrapy.courier import Address, Line
from ipmicra.edge.store.store import Store
from ipmicra.model.link import Link
from ipmicra.model.location import Location
from ipmicra.wire.links import ExchangeRequest, JoinRequest
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser, running_browser
from tests.delegating_worlds import enrol, seeds_of
from tests.patience import wait_until
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.service.conftest import SITES, coordinator_of, prepared

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)

PLACES = ((37.98, 23.73, "Athens"), (40.71, -74.0, "New York"), (1.35, 103.8, "Singapore"))
ROWS = "[...document.querySelectorAll('#table-fleet tbody tr')]"
WIDER = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def coordinator(
    tmp_path_factory: pytest.TempPathFactory, internet: InternetProcess
) -> Iterator[RunningCoordinator]:
    home = prepared(tmp_path_factory.mktemp("home"), internet)
    fleet = [
        replace(one, location=Location(latitude=north, longitude=east, radius_km=20, city=city))
        for one, (north, east, city) in zip(internet.fleet(), PLACES, strict=True)
    ]
    with Store.open(str(home / "state.db")) as store:
        enrol(store, fleet)
    with coordinator_of(home, internet, "--policy", "everyone") as running:
        running.owners(seeds_of(SITES // 2, internet.port))
        crawl_by(running, "c0", "c1")
        yield running


def crawl_by(running: RunningCoordinator, *crawlers: str) -> None:
    """Let a node of each crawler join a crawl, and say that it found links of its own and of others."""
    line = Line(Address(url=running.url, crawl="news", token=running.token))
    hosts = [urlsplit(seed).hostname or "" for seed in seeds_of(SITES // 2, 80)]
    for name in crawlers:
        session = line.join(JoinRequest(node=f"{name}-node", crawler=name)).session
        links = tuple(Link(url=f"http://{host}/", host=host, key=n + 1) for n, host in enumerate(hosts))
        for _ in range(2):  # at first nobody knows whose they are
            said = ExchangeRequest(session=session, links=links, fetched=(1,), holding=37, repeated=1_200)
            line.exchange(said)
    line.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, coordinator: RunningCoordinator) -> Iterator[Browser]:
    with running_browser(tmp_path_factory.mktemp("profile")) as running:
        running.ask("url", url=f"{coordinator.url}/")
        running.type("input[name=token]", coordinator.token)
        running.click("form button")
        wait_until(lambda: running.run("return document.getElementById('fleet') !== null"), "signed in")
        yield running


def test_overview_opens_without_complaint_and_asks_nobody_else(
    browser: Browser, coordinator: RunningCoordinator
) -> None:
    browser.complaints()
    browser.visit(f"{coordinator.url}/")
    assert browser.complaints() == []
    asked = browser.run("return performance.getEntriesByType('resource').map(one => one.name)")
    assert asked
    assert all(one.startswith(f"{coordinator.url}/") for one in asked)
    assert browser.run("return document.cookie") == ""
    assert browser.run("return document.querySelectorAll('#plot-map .crawler path').length") == len(PLACES)


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [1400, 800, 380])
@pytest.mark.parametrize("path", ["/", "/browse", "/browse?registry=ripe", "/site?q=203.0.112.1"])
def test_nothing_sticks_out_of_the_window(
    browser: Browser, coordinator: RunningCoordinator, path: str, width: int, is_dark: bool
) -> None:
    browser.visit(f"{coordinator.url}{path}", width=width, is_dark=is_dark)
    assert browser.run(WIDER) == 0
    ground = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(15, 20, 26)" if is_dark else "rgb(245, 246, 248)")


def test_overview_shows_the_nodes_of_crawls(browser: Browser, coordinator: RunningCoordinator) -> None:
    browser.visit(f"{coordinator.url}/")
    found = browser.run(
        "return [...document.querySelectorAll('#table-crawls tbody tr')].map("
        "row => [...row.children].map(cell => cell.textContent.trim()))"
    )
    names = [f"{one}-node in news" for one in ("c0", "c1")]
    assert [row[:4] for row in found] == [[name, "fetches", "37", "2"] for name in names]
    assert all(int(row[6].replace(",", "")) >= 1_200 for row in found)
    assert "2 nodes" in browser.run("return document.getElementById('crawls').textContent")


def test_changes_appear_by_themselves(
    browser: Browser, coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    """New owners show in the table of crawlers, whose order and choice stay as they were."""
    browser.visit(f"{coordinator.url}/")
    browser.click("#table-fleet th:nth-child(1) button")
    browser.click("#table-fleet th:nth-child(1) button")
    sites = f"return {ROWS}.map(row => Number(row.cells[5].textContent))"
    names = (
        "return [...document.querySelectorAll('#table-fleet tbody tr')].map(row => row.cells[0].textContent)"
    )
    before = browser.run(names)
    assert before == sorted(before, reverse=True)
    assert sum(browser.run(sites)) < SITES
    coordinator.owners(seeds_of(SITES, internet.port))
    wait_until(lambda: sum(browser.run(sites)) == SITES, "the new owners are shown")
    assert browser.run(names) == before
    assert not browser.run("return document.body.classList.contains('offline')")


def test_legend_shows_one_crawler_alone_and_the_link_keeps_it(
    browser: Browser, coordinator: RunningCoordinator
) -> None:
    browser.visit(f"{coordinator.url}/")
    browser.click('.legend [data-c="1"]')
    assert browser.run("return location.hash") == "#crawler=c1"
    shown = f"return {ROWS}.filter(row => row.offsetParent).length"
    assert browser.run(shown) == 1
    browser.visit(f"{coordinator.url}/browse")
    browser.visit(f"{coordinator.url}/#crawler=c1")
    wait_until(lambda: browser.run(shown) == 1, "the choice is back")


def test_search_field_leads_to_the_explanation(
    browser: Browser, coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    host = re.sub(r"^\w+://|[:/]\d*.*$", "", seeds_of(1, internet.port)[0])
    browser.visit(f"{coordinator.url}/")
    browser.type("input[name=q]", host)
    browser.click(".search button")
    wait_until(lambda: browser.run("return location.pathname") == "/site", "the explanation")
    assert f"{host} belongs to" in browser.run("return document.querySelector('main').innerText")


def test_script_that_somebody_puts_in_does_not_run(browser: Browser, coordinator: RunningCoordinator) -> None:
    browser.visit(f"{coordinator.url}/browse")
    browser.complaints()
    browser.run(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 1';"
        "document.body.append(s);"
    )
    assert browser.run("return window.hacked ?? null") is None
    assert any("Content Security Policy" in message for message in browser.complaints())
