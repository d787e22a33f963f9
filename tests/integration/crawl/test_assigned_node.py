"""A spider with the add-on and a file of assignments: it fetches its own sites and nothing else."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from ipmicra.scrapy import Addon
from tests.servers.loopback_web import LoopbackWeb, Page, loopback_web
from tests.servers.node_process import NodeProcess

OWNERS = {
    "a1.example": ("fra", "192.0.2.1", "192.0.2.0/25"),
    "a2.example": ("fra", "192.0.2.2", "192.0.2.0/25"),
    "b1.example": ("nyc", "198.51.100.1", "198.51.100.0/24"),
    "xn--bcher-kva.example": ("fra", "203.0.113.9", "203.0.113.0/24"),
}
HOSTS = list(OWNERS)


def write_assignments(folder: Path, rows: Iterable[tuple[str, ...]] | None = None) -> Path:
    path = folder / "assignments.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["host", "crawler", "address", "subnet", "filters", "vantage"])
        writer.writerows(
            rows or ((host, crawler, address, subnet) for host, (crawler, address, subnet) in OWNERS.items())
        )
    return path


def linked(host: str, path: str) -> Page | None:
    """Every host has five pages; page 1 leads to all hosts, to one that nobody owns, and round about."""
    if path == "/robots.txt":
        return Page(text="User-agent: *\nDisallow: /secret\n")
    if path == "/":
        return Page(links=(*tuple(f"/{n}" for n in range(1, 5)), "/secret"))
    if path == "/1":
        everywhere = tuple(f"http://{each}/" for each in [*HOSTS, "unknown.example", "a1.example:8080"])
        return Page(links=(*everywhere, "/to-foreign", "/to-own"))
    if path == "/to-foreign":
        return Page(status=302, location="http://b1.example/4")
    if path == "/to-own":
        return Page(status=301, location="http://a2.example/3")
    return Page() if path in {"/2", "/3", "/4", "/secret"} else None


def run(
    web: LoopbackWeb, folder: Path, starts: Iterable[str] = ("http://a1.example/",), **settings: Any
) -> NodeProcess:
    given = {"IPMICRA_ASSIGNMENTS": str(folder / "assignments.csv"), "IPMICRA_CRAWLER": "fra", **settings}
    node = NodeProcess(web, "fra", given, list(starts), folder / "node.log")
    node.wait()
    return node


def test_own_sites_are_fetched_once_and_no_foreign_host_is_contacted(tmp_path: Path) -> None:
    """Start URLs, links, redirects and robots.txt all keep to own sites, whatever their port or spelling."""
    write_assignments(tmp_path)
    starts = ["http://a1.example/", "http://b1.example/", "http://bücher.example/"]
    with loopback_web(linked) as web:
        node = run(web, tmp_path, starts, ROBOTSTXT_OBEY=True)
    own = {"a1.example", "a2.example", "xn--bcher-kva.example"}
    assert web.hosts("fra") == own | {"a1.example:8080"}, node.text
    found = [url for url in web.urls() if not url.endswith("/")]  # Scrapy does not count start URLs as seen
    assert len(found) == len(set(found))
    pages = {
        f"http://{host}/{page}" for host in own for page in ("", "1", "2", "3", "4", "to-foreign", "to-own")
    }
    assert pages <= set(web.urls())
    assert not [url for url in web.urls() if "secret" in url]
    assert "'ipmicra/foreign'" in node.text
    assert "links belong to other crawlers and were dropped" in node.text


def test_hosts_that_nobody_owns_are_written_down(tmp_path: Path) -> None:
    write_assignments(tmp_path)
    with loopback_web(linked) as web:
        run(web, tmp_path, IPMICRA_UNKNOWN_HOSTS=str(tmp_path / "unknown.txt"))
    assert (tmp_path / "unknown.txt").read_text() == "unknown.example\n"


def test_cross_over_fetches_foreign_links_after_own_ones(tmp_path: Path) -> None:
    write_assignments(tmp_path)
    with loopback_web(linked) as web:
        run(web, tmp_path, IPMICRA_MODE="cross-over")
    is_foreign = [url.startswith("http://b1.example") for url in web.urls()]
    assert 0 < sum(is_foreign) < len(is_foreign)
    first = is_foreign.index(True)
    own_pages = {url for url, foreign in zip(web.urls(), is_foreign, strict=True) if not foreign}
    assert set(web.urls()[:first]) >= {url for url in own_pages if url.startswith("http://a1.example/")}
    assert len(web.urls()) - 1 <= len(set(web.urls()))  # Scrapy does not count start URLs as seen


def test_polite_delay_holds_for_all_hosts_of_a_block(tmp_path: Path) -> None:
    write_assignments(tmp_path)
    starts = ["http://a1.example/2", "http://a2.example/2", "http://a1.example/3", "http://a2.example/3"]
    with loopback_web(linked) as web:
        run(web, tmp_path, starts, DOWNLOAD_DELAY=0.4, DOWNLOAD_DELAY_JITTER=0.0)
    times = [visit.at_s for visit in web.visits]
    assert len(times) == 4
    # A busy machine may bring a request late, and the next one then comes sooner after it.
    assert min(after - before for before, after in itertools.pairwise(times)) > 0.2
    assert times[-1] - times[0] > 1.0


def test_pieces_of_a_site_are_fetched_by_their_owners(tmp_path: Path) -> None:
    write_assignments(
        tmp_path,
        [
            ("a1.example", "fra", "192.0.2.1", "192.0.2.0/24", '["/news/"]', ""),
            ("a1.example", "nyc", "192.0.2.1", "192.0.2.0/24", '["-/news/"]', ""),
        ],
    )
    starts = ["http://a1.example/news/1", "http://a1.example/sport/1", "http://a1.example/"]
    with loopback_web(lambda _host, _path: Page()) as web:
        run(web, tmp_path, starts)
    assert set(web.urls()) == {
        "http://a1.example/news/1",
        "http://a1.example/",
    }  # every piece has the main page


def test_site_with_two_vantages_is_fetched_by_both_owners(tmp_path: Path) -> None:
    rows = [("a1.example", crawler, "192.0.2.1", "", "", crawler) for crawler in ("fra", "nyc")]
    write_assignments(tmp_path, rows)
    with loopback_web(lambda _host, _path: Page()) as web:
        for crawler in ("fra", "nyc"):
            run(web, tmp_path, IPMICRA_CRAWLER=crawler, USER_AGENT=crawler)
    assert [visit.who for visit in web.visits] == ["fra", "nyc"]


WRONG = [
    ({"IPMICRA_CRAWLER": "frra"}, "'frra' owns nothing in .*: did you mean fra[?]"),
    ({"IPMICRA_CRAWLER": "london"}, "'london' owns nothing in .*: there are fra, nyc"),
    ({"IPMICRA_CRAWLER": ""}, "IPMICRA_CRAWLER is not set"),
    ({"IPMICRA_CRAWLER": "a b"}, "'a b' is no name"),
    ({"IPMICRA_ASSIGNMENTS": "/no/such/file"}, "/no/such/file"),
    ({"IPMICRA_ASSIGNMENTS": ""}, "neither of IPMICRA_COORDINATOR and IPMICRA_ASSIGNMENTS are set"),
    ({"IPMICRA_MODE": "exchange"}, "'exchange' is not possible with a file of assignments"),
    ({"IPMICRA_CRAWLERS": "fra"}, "no setting is called IPMICRA_CRAWLERS"),
]


@pytest.mark.parametrize(("settings", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_wrong_setting_is_named_in_one_sentence(
    tmp_path: Path, settings: dict[str, str], sentence: str
) -> None:
    given = {"IPMICRA_ASSIGNMENTS": str(write_assignments(tmp_path)), "IPMICRA_CRAWLER": "fra"} | settings
    crawler = get_crawler(settings_dict=given)
    with pytest.raises(SystemExit, match=sentence):
        Addon(crawler).update_settings(Settings(given))


def test_wrong_setting_ends_a_node_before_the_first_request(tmp_path: Path) -> None:
    write_assignments(tmp_path)
    with loopback_web(linked) as web:
        node = run(web, tmp_path, IPMICRA_CRAWLER="frra")
    assert (node.process.returncode, web.visits) == (1, [])
    last = [line for line in node.text.splitlines() if line][-1]
    assert re.fullmatch("ipmicra: IPMICRA_CRAWLER = 'frra' owns nothing in .*: did you mean fra[?]", last)
    assert "Traceback" not in node.text
