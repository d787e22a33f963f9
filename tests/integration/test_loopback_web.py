"""The loopback web that crawls are measured on: its pages, and the time that they take."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.loopback.web_pages import CHANGES_EVERY, WebPages
from ipmicra.edge.loopback.web_plan import WebPlan, load_plan
from ipmicra.edge.loopback.web_server import read_hits
from ipmicra.errors import InputError
from tests.loopback_worlds import address_of, small_world
from tests.patience import wait_until

PAGES = {"s0.example": 30, "s1.example": 5}
PLAN = WebPlan(pages=PAGES, wait_ms=30.0, line_bps=4_000_000.0, oddities=True, pages_per_connection=2)


@pytest.fixture(scope="module")
def internet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackInternet]:
    log = tmp_path_factory.mktemp("web") / "hits.csv"
    with LoopbackInternet(replace(small_world(2), web=PLAN), log=log) as running:
        yield running


def connection(internet: LoopbackInternet, crawler: str, number: int = 0) -> http.client.HTTPConnection:
    world = internet.world
    return http.client.HTTPConnection(
        str(world.addresses()[address_of(number)]),
        internet.port,
        timeout=30,
        source_address=(str(world.sources()[crawler]), 0),
    )


def got(
    internet: LoopbackInternet, path: str, crawler: str = "ath", **headers: str
) -> tuple[http.client.HTTPResponse, bytes]:
    one = connection(internet, crawler)
    one.request(
        "GET", path, headers={"Host": "s0.example", **{k.replace("_", "-"): v for k, v in headers.items()}}
    )
    answer = one.getresponse()
    body = answer.read()
    one.close()
    return answer, body


def timed(one: http.client.HTTPConnection, path: str) -> tuple[float, float]:
    """Return the seconds until the status line, and until the last byte."""
    began = time.monotonic()
    one.request("GET", path, headers={"Host": "s0.example"})
    answer = one.getresponse()
    first = time.monotonic() - began
    answer.read()
    return first, time.monotonic() - began


def test_page_takes_two_round_trips_the_wait_and_its_bytes(internet: LoopbackInternet) -> None:
    """Site 0 is 20 ms from ath and 40 ms from nyc; 10 kB at 4 Mb/s take 20 ms. Never sooner, rarely later."""
    for crawler, rtt_s in (("ath", 0.020), ("nyc", 0.040)):
        firsts, ends, seconds = [], [], []
        for _ in range(5):
            one = connection(internet, crawler)
            first, end = timed(one, "/")
            again, _end = timed(one, "/d1/p1.html")
            one.close()
            firsts.append(first)
            ends.append(end)
            seconds.append(again)
        assert min(firsts) >= 2 * rtt_s + 0.030 - 0.001
        assert min(ends) >= 2 * rtt_s + 0.030 + 0.0199 - 0.001
        assert rtt_s + 0.030 - 0.001 <= min(seconds) < min(firsts), "the connection was open already"


def test_server_closes_after_its_number_of_pages(internet: LoopbackInternet) -> None:
    one = connection(internet, "ath")
    for path, closes in (("/", False), ("/d1/p1.html", True)):
        one.request("GET", path, headers={"Host": "s0.example"})
        answer = one.getresponse()
        answer.read()
        assert answer.will_close is closes
    one.close()


def test_all_pages_can_be_reached_from_the_main_page() -> None:
    pages = WebPages(WebPlan(pages=PAGES, seed=3), 80)
    for host, count in PAGES.items():
        seen, front = {0}, [0]
        while front:
            numbers = [pages.number_of(link) for one in front for link in pages.links_of(host, one)]
            front = [one for one in dict.fromkeys(numbers) if one is not None and one not in seen]
            seen |= set(front)
        assert seen == set(range(count))


def test_same_plan_serves_the_same_pages_and_another_seed_others() -> None:
    def bodies(seed: int) -> list[bytes]:
        pages = WebPages(WebPlan(pages=PAGES, seed=seed), 80)
        return [pages.answer("s0.example", pages.path_of(i), {}).body for i in range(30)]

    assert bodies(1) == bodies(1) != bodies(2)
    assert all(len(body) == pytest.approx(10_000, abs=6) for body in bodies(1))


def test_unchanged_page_is_not_sent_again(internet: LoopbackInternet) -> None:
    first, body = got(internet, "/d2/p2.html")
    tag, date = str(first.headers["ETag"]), str(first.headers["Last-Modified"])
    for headers in ({"If_None_Match": tag}, {"If_Modified_Since": date}):
        again, rest = got(internet, "/d2/p2.html", **headers)
        assert (again.status, rest) == (304, b"")
    assert len(body) > 9_000


def test_an_edition_changes_some_pages() -> None:
    pages = WebPages(WebPlan(pages=PAGES), 80)
    before = [dict(pages.answer("s0.example", pages.path_of(i), {}).headers)["ETag"] for i in range(30)]
    pages.version = 1
    after = [dict(pages.answer("s0.example", pages.path_of(i), {}).headers)["ETag"] for i in range(30)]
    changed = [i for i in range(30) if before[i] != after[i]]
    assert changed == [i for i in range(30) if i % CHANGES_EVERY == 1]


def test_robots_sitemap_redirects_and_oddities_answer(internet: LoopbackInternet) -> None:
    assert b"Disallow: /private/" in got(internet, "/robots.txt")[1]
    assert got(internet, "/sitemap.xml")[1].count(b"<loc>") == 30
    assert got(internet, "/hop/2/5")[0].headers["Location"] == "/hop/1/5"
    assert got(internet, "/hop/1/5")[0].headers["Location"] == "/d2/p5.html"
    assert got(internet, "/away/1")[0].headers["Location"] == f"http://s1.example:{internet.port}/"
    assert b"/calendar/8" in got(internet, "/calendar/7")[1]
    assert got(internet, "/picture.png")[0].headers["Content-Type"] == "image/png"
    assert got(internet, "/none.html")[0].status == 404


def test_log_says_who_asked_for_what(internet: LoopbackInternet) -> None:
    assert internet.servers.web is not None
    log = internet.servers._log
    assert log is not None
    offset = log.stat().st_size
    got(internet, "/d1/p4.html", crawler="nyc")
    wait_until(lambda: len(read_hits(log, offset)) == 1, "the page is in the log")
    (hit,) = read_hits(log, offset)
    assert (hit.crawler, hit.host, hit.path, hit.status) == ("nyc", "s0.example", "/d1/p4.html", 200)
    assert hit.ended_s - hit.began_s >= 2 * 0.040 + 0.030 + 0.019
    assert hit.connections == 1


def test_plan_survives_its_file_and_bad_ones_are_refused(tmp_path: Path) -> None:
    assert load_plan(tmp_path) is None
    PLAN.save(tmp_path)
    assert load_plan(tmp_path) == PLAN
    (tmp_path / "web.json").write_text('{"sites": 3}')
    with pytest.raises(InputError, match=r"web\.json"):
        load_plan(tmp_path)
    with pytest.raises(InputError, match="needs hosts"):
        WebPlan(pages={})
