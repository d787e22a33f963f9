"""Two nodes and a coordinator, all real: links are handed over, and the end is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from ipmicra.app.access import TokenWish, add_token
from ipmicra.edge.store.store import Store
from ipmicra.model.token import Role
from tests.loopback_crawl import Crawl, World, crawl_of
from tests.patience import wait_until
from tests.servers.loopback_web import Page
from tests.torture.crawl_history import fetched_again, two_holders
from tests.torture.lossy import LossyNetwork, Passing

pytestmark = pytest.mark.slow
WORLD = World(hosts=8, pages=20)
DEPTH = 8
"""Limit where there are traps."""
IDN = "xn--kse-qla.example"


def stood_in(crawl: Crawl) -> int:
    """Count what nyc fetched of fra's sites."""
    return sum(one.who == "nyc" and crawl.world.owner(one.host) == "fra" for one in crawl.web.visits)


def test_two_nodes_fetch_every_page_once_each_its_own(tmp_path: Path) -> None:
    with crawl_of(WORLD, tmp_path) as crawl:
        for name in ("fra", "nyc"):
            crawl.start(name)
        crawl.wait()
        crawl.check()
        assert len(crawl.web.urls()) == len(set(crawl.web.urls()))
        status = crawl.box.get("/v1/crawls/links").json()
        assert status["state"] == "ended"
        assert status["links"] == {"done": len(crawl.web.urls())}
        assert {one["crawler"]: one["pages"] for one in status["observed"]} == {
            name: len(crawl.web.urls(name)) for name in ("fra", "nyc")
        }
        with Store.open(str(tmp_path / "home" / "state.db")) as store:
            pages = [one.pages or 0 for one in store.recrawls.all()]
        assert sum(pages) == len(crawl.web.urls())
        # A node of a job that is over does not begin anew; one without a job does.
        visits = len(crawl.web.visits)
        crawl.start("fra")
        crawl.wait()
        assert len(crawl.web.visits) == visits


def test_links_wait_for_a_node_that_is_not_started_yet(tmp_path: Path) -> None:
    """No link is lost because its owner is not listening, and the crawl does not end without it."""
    with crawl_of(WORLD, tmp_path) as crawl:
        crawl.start("fra")
        wait_until(lambda: "links wait for nodes of nyc" in crawl.nodes["fra"].text, "links for nyc")

        def fra_is_idle() -> bool:
            nodes = crawl.box.get("/v1/crawls/links").json()["nodes"]
            return bool(nodes) and all(node["is_idle"] for node in nodes)

        wait_until(fra_is_idle, "fra has nothing to do")
        assert crawl.nodes["fra"].process.poll() is None
        crawl.start("nyc")
        crawl.wait()
        crawl.check()


def test_sites_of_a_dead_node_move_and_come_back_with_it(tmp_path: Path) -> None:
    """The delay of a block holds across the hand-over, and unfinished links are known to its new holder."""
    with crawl_of(WORLD, tmp_path, {"DOWNLOAD_DELAY": 0.2}, lease_s=3.0) as crawl:
        for name in ("fra", "nyc"):
            crawl.start(name)
        wait_until(lambda: len(crawl.web.urls("fra")) > 5, "fra has begun")
        crawl.kill("fra")
        wait_until(lambda: stood_in(crawl) > 3, "nyc stands in")
        crawl.start("fra")
        crawl.wait()
        assert set(crawl.web.urls()) == WORLD.reachable(crawl.starts)
        assert [*fetched_again(crawl.history()), *two_holders(crawl.history())] == []
        assert not [v for v in crawl.web.visits if v.who == "fra" and WORLD.owner(v.host) != "fra"]


def test_answer_that_comes_late_extends_no_lease(tmp_path: Path) -> None:
    """The coordinator heard a node for the last time when it sent its message: its sites have moved since."""
    settings = {"DOWNLOAD_DELAY": 0.25, "RETRY_ENABLED": False}
    with (
        LossyNetwork(1) as network,
        crawl_of(replace(WORLD, pages=30), tmp_path, settings, lease_s=2.0) as crawl,
    ):
        wire = network.add("of fra", ("127.0.0.1", urlsplit(crawl.box.url).port or 0))
        crawl.doors["fra"] = wire.url
        for name in ("fra", "nyc"):
            crawl.start(name)
        wait_until(lambda: all(len(crawl.web.urls(name)) > 20 for name in ("fra", "nyc")), "both have begun")
        network.set(wire, back=Passing.HOLD)
        wait_until(lambda: stood_in(crawl) > 3, "nyc stands in")
        network.heal(wire)
        crawl.wait()
        assert set(crawl.web.urls()) == crawl.world.reachable(crawl.starts)
        assert two_holders(crawl.history()) == []


def test_node_hands_no_more_to_the_downloader_than_starts_before_its_sites_may_move(tmp_path: Path) -> None:
    """Scrapy would take sixteen requests, which start one after the other, a second apart."""
    settings = {"DOWNLOAD_DELAY": 1.0, "RETRY_ENABLED": False}
    with (
        LossyNetwork(1) as network,
        crawl_of(World(hosts=4, pages=10), tmp_path, settings, lease_s=2.0) as crawl,
    ):
        wire = network.add("of fra", ("127.0.0.1", urlsplit(crawl.box.url).port or 0))
        crawl.doors["fra"] = wire.url
        for name in ("fra", "nyc"):
            crawl.start(name)
        wait_until(lambda: len(crawl.web.urls("fra")) > 5, "fra has begun")
        network.set(wire, there=Passing.LOSE, back=Passing.LOSE)
        wait_until(lambda: stood_in(crawl) > 3, "nyc stands in")
        network.heal(wire)
        crawl.wait()
        assert set(crawl.web.urls()) == crawl.world.reachable(crawl.starts)
        assert two_holders(crawl.history()) == []


def test_second_node_of_a_crawler_takes_its_share(tmp_path: Path) -> None:
    with crawl_of(WORLD, tmp_path, {"DOWNLOAD_DELAY": 0.15}) as crawl:
        for name in ("fra", "nyc"):
            crawl.start(name)
        wait_until(lambda: len(crawl.web.urls("fra")) > 5, "fra has begun")
        crawl.start("fra-2", crawler="fra")
        crawl.wait()
        assert set(crawl.web.urls()) == WORLD.reachable(crawl.starts)
        assert len(crawl.web.urls()) == len(set(crawl.web.urls()))
        assert crawl.web.urls("fra-2")
        assert two_holders(crawl.history()) == []


def test_interrupted_crawl_goes_on_where_it_was(tmp_path: Path) -> None:
    """Ctrl-C says goodbye: what a node held goes to the others, or waits for its return."""
    with crawl_of(WORLD, tmp_path, {"DOWNLOAD_DELAY": 0.1}) as crawl:
        crawl.start("fra")
        wait_until(lambda: len(crawl.web.urls("fra")) > 5, "fra has begun")
        crawl.nodes["fra"].process.send_signal(2)
        assert crawl.nodes["fra"].wait() == 0
        assert crawl.box.get("/v1/crawls/links").json()["nodes"] == []
        for name in ("fra", "nyc"):
            crawl.start(name)
        crawl.wait()
        crawl.check()
        assert len(crawl.web.urls()) == len(set(crawl.web.urls()))


def test_awkward_webs_are_crawled_to_the_end(tmp_path: Path) -> None:
    """Redirects round about, a host that vanishes, traps, huge pages, slow drips, retries and odd names."""
    tries: list[str] = []
    visits: list[str] = []

    def web(host: str, path: str) -> Page | None:
        if path == "/robots.txt":
            return Page(text="User-agent: *\nDisallow: /private\n")
        if path == "/" and host == "h0.example":
            names = (
                "/chain",
                "/drip",
                "/private",
                "/again",
                "/loop",
                "/huge",
                "/trap/0",
                "http://h3.example:8080/x",
                "http://h6.example/",
                "http://bücher.example/",
                "http://käse.example/",
            )
            return Page(links=(*names, "http://h2.example/", "mailto:a@b.example", "ftp://h0.example/"))
        if path.startswith("/trap/"):  # a calendar without an end, on hosts of both
            day = int(path.rpartition("/")[2]) + 1
            return Page(links=(f"/trap/{day}", f"http://h{2 * (day % 2)}.example/trap/{day}"))
        if host == "h6.example":  # it answers once, and then no more
            visits.append(path)
            return Page(links=("/lost",)) if len(visits) == 1 else Page(is_gone=True)
        if path == "/huge":
            return Page(text="x" * 300_000)
        if path == "/chain":
            return Page(status=302, location="http://h2.example/chain2")
        if path == "/chain2":
            return Page(status=301, location="http://h4.example/chain3")
        if path == "/loop":
            return Page(status=302, location="http://h2.example/loop2")
        if path == "/loop2":
            return Page(status=302, location="http://h0.example/loop")
        if path == "/again":
            tries.append(path)
            return Page(status=503) if len(tries) < 2 else Page(links=("/after-again",))
        return Page(drip_s=0.005) if path == "/drip" else Page()

    given = {"ROBOTSTXT_OBEY": True, "DEPTH_LIMIT": DEPTH, "DOWNLOAD_MAXSIZE": 100_000}
    with crawl_of(WORLD, tmp_path, given, web=web) as crawl:
        with Store.open(str(tmp_path / "home" / "state.db")) as store:
            (one,) = store.assignments.of("h0.example")
            store.assignments.put_many([replace(one, host=IDN)])
        for name in ("fra", "nyc"):
            crawl.start(name)
        crawl.wait()
        urls = crawl.web.urls()
        found = {url.removeprefix("http://") for url in urls}
        assert {
            "h4.example/chain3",
            "h0.example/drip",
            "h0.example/after-again",
            "h3.example:8080/x",
        } <= found
        assert "h0.example/private" not in found
        assert not [url for url in urls if "cher" in url]  # nobody owns it, and its name does not resolve
        assert f"{IDN}/" in found
        # Asked for again are the page that was refused and the one of the host that is gone, and no others.
        assert {url.partition("//")[2] for url in urls if urls.count(url) > 1} == {
            "h0.example/again",
            "h6.example/lost",
        }
        days = [int(url.rpartition("/")[2]) for url in found if "/trap/" in url]
        assert (max(days), crawl.box.get("/v1/crawls/links").json()["state"]) == (DEPTH - 1, "ended")
        own = {IDN: "fra"}
        hosts = [(visit, visit.host.partition(":")[0]) for visit in crawl.web.visits]
        assert [visit for visit, host in hosts if (own.get(host) or WORLD.owner(host)) != visit.who] == []
        observed = crawl.box.get("/v1/crawls/links").json()["observed"]
        assert sum(one["failures"] for one in observed) >= 1


WRONG = [
    ({"IPMICRA_CRAWLER": "frra"}, "no crawler is called 'frra': there are fra, nyc"),
    ({"IPMICRA_COORDINATOR": "http://127.0.0.1:9"}, "no coordinator answers at http://127.0.0.1:9"),
    ({"IPMICRA_COORDINATOR": "127.0.0.1:9"}, "'127.0.0.1:9' is no URL"),
    ({"IPMICRA_TOKEN_FILE": "/dev/null"}, "refuses the token"),
    ({"IPMICRA_MODE": "drop"}, "IPMICRA_MODE = 'drop' is not possible with a coordinator"),
    ({"IPMICRA_TOKEN": "ipm_secret"}, "IPMICRA_TOKEN must not be a setting"),
    ({"IPMICRA_CRAWL": "a b"}, "'a b' is no name"),
]


def test_wrong_settings_are_named_before_the_first_request(tmp_path: Path) -> None:
    from scrapy.settings import Settings
    from scrapy.utils.test import get_crawler

    from ipmicra.scrapy import Addon
    from tests.servers.spider import LinkSpider

    with crawl_of(WORLD, tmp_path) as crawl:
        right = {"IPMICRA_COORDINATOR": crawl.box.url, "IPMICRA_CRAWLER": "fra"} | crawl.settings
        for wrong, sentence in WRONG:
            with pytest.raises(SystemExit, match=sentence) as refusal:
                Addon(get_crawler(LinkSpider)).update_settings(Settings(right | wrong))
            assert "ipm_secret" not in str(refusal.value)
        assert crawl.web.visits == []
        answer = requests.post(
            f"{crawl.box.url}/v1/crawls/links/join",
            json={"version": 99, "node": "a", "crawler": "fra"},
            headers={"Authorization": f"Bearer {crawl.box.token}"},
            timeout=10,
        )
        assert answer.status_code == 400
        assert "version 99" not in answer.text or "not known here" in answer.text


def test_site_that_gets_another_owner_moves_in_a_running_crawl(tmp_path: Path) -> None:
    """Its old owner stops, its new one waits for one delay and fetches what is left."""
    with crawl_of(WORLD, tmp_path, {"DOWNLOAD_DELAY": 0.3}) as crawl:
        for name in ("fra", "nyc"):
            crawl.start(name)
        moving = {name for name in WORLD.names if WORLD.block(name) == 0}

        def visits(who: str) -> list[float]:
            return [v.at_s for v in crawl.web.visits if v.host in moving and v.who == who]

        wait_until(lambda: len(visits("fra")) > 3, "fra has begun")
        with Store.open(str(tmp_path / "home" / "state.db")) as store:
            held = [one for name in moving for one in store.assignments.of(name)]
            store.assignments.put_many(replace(one, crawler="nyc", assigned_s=2.0) for one in held)
        wait_until(lambda: len(visits("nyc")) > 3, "nyc fetches it")
        crawl.wait()
        assert set(crawl.web.urls()) == WORLD.reachable(crawl.starts)
        assert len(crawl.web.urls()) == len(set(crawl.web.urls()))
        assert max(visits("fra")) < min(visits("nyc"))
        assert two_holders(crawl.history()) == []


def test_token_of_one_crawler_does_not_join_for_another(tmp_path: Path) -> None:
    with crawl_of(WORLD, tmp_path) as crawl:
        with Store.open(str(tmp_path / "home" / "state.db")) as store:
            wish = TokenWish(name="fra-nodes", role=Role.CRAWLER, valid_hours=1.0, crawler="fra")
            token = add_token(store, wish)

        def join(crawler: str) -> int:
            message = {"version": 1, "node": "a", "crawler": crawler}
            return crawl.box.ask("POST", "/v1/crawls/links/join", json=message, token=token).status_code

        wait_until(lambda: join("fra") == 200, "the token works")
        assert join("nyc") == 403
