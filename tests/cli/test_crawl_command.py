"""`ipmicra crawl` end to end: a real Scrapy process and a web on loopback."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from ipmicra.app.home import Home
from ipmicra.model.assignment import Assignment
from ipmicra.model.recrawl import Recrawl
from tests.cli.command_line import ROOT, ran, told
from tests.cli.json_schemas import check_output
from tests.crawl_worlds import QUICK, LoopbackWeb, loopback_web
from tests.loopback_worlds import address_of
from tests.patience import PATIENCE_S, wait_until

DISK_TROUBLES = {
    "a commit fails once": """
def fail(node):
    raise StoreError("pages.open", os.strerror(errno.ENOSPC))

fail_at(3, Outputs, "commit", fail)
""",
    "pages cannot be written": """
def fail(node):
    for one in node._outputs._files.values():
        os.dup2(os.open("/dev/full", os.O_WRONLY), one._file.fileno())
        one.write(bytes(1_000_000))  # more than a buffer holds

fail_at(3, _Node, "_commit", fail)
""",
    "the status cannot be written": """
def fail(status, folder):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "status.json")

fail_at(2, NodeStatus, "write", fail)
""",
}
TROUBLED = """
import errno, os
from ipmicra.app.crawl.run import _Node
from ipmicra.cli.main import run
from ipmicra.edge.crawl_node.outputs import Outputs
from ipmicra.edge.crawl_node.status import NodeStatus
from ipmicra.errors import StoreError

def fail_at(count, where, name, fail):
    done, calls = getattr(where, name), []

    def called(*words):
        calls.append(words)
        if len(calls) == count:
            fail(*words)
        return done(*words)

    setattr(where, name, called)
"""


def crawled(web: LoopbackWeb, *words: str, seeds: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
    done = ran(*web.words(*seeds), *words)
    assert done.returncode == 0, told(done)
    assert "INFO" not in told(done), "Scrapy does not talk unless it is asked to"
    record = dict(json.loads(done.stdout))
    check_output("crawl", record)
    return record


def urls_in_warcs(folder: Path) -> list[str]:
    """Return the URLs of responses in the WARC files of a folder, in order."""
    found = []
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == "response":
                    found.append(record.rec_headers.get_header("WARC-Target-URI"))
    return found


def test_sites_of_the_seeds_are_fetched_whole_and_once(tmp_path: Path) -> None:
    with loopback_web(tmp_path) as web:
        status = crawled(web)
        counts = Counter(web.pages)
        paths = {path for _, path in counts}
        assert set(counts.values()) == {1}
        assert Counter(host for host, _ in counts) == {"s0.example": 12, "s1.example": 9}
        assert not any(path.startswith("/private/") for path in paths | {hit.path for hit in web.hits})
        assert {hit.crawler for hit in web.hits} == {"ath"}, "it connects from the address that was named"
        assert max(hit.connections for hit in web.hits) <= 16
    assert status["state"] == "finished"
    assert status["pages"] == status["new"] == 21
    assert status["forbidden"] > 0
    assert status["foreign"] > 0
    assert status["duplicates"] > 0
    folder = tmp_path / "home" / "crawl" / "node"
    pages = web.rows("node-0001-pages.csv")
    assert sorted(row["url"] for row in pages if row["status"] == "200") == sorted(
        url for url in urls_in_warcs(folder) if not url.endswith(("robots.txt", "sitemap.xml"))
    )
    links = web.rows("node-0001-links.csv")
    assert {row["target"].split("/")[2].split(":")[0] for row in links if row["foreign"] == "yes"} == {
        "s2.example"
    }
    (row,) = [row for row in web.rows("crawled.csv") if row["host"] == "s0.example"]
    assert row["pages"] == "12"


def test_warc_offset_of_a_page_leads_to_its_record(tmp_path: Path) -> None:
    with loopback_web(tmp_path) as web:
        crawled(web, seeds=(2,))
        for row in web.rows("node-0001-pages.csv"):
            if row["status"] == "200":
                name, _, offset = row["warc"].rpartition(":")
                with (tmp_path / "home" / "crawl" / "node" / name).open("rb") as file:
                    file.seek(int(offset))
                    record = next(iter(ArchiveIterator(file)))
                    assert record.rec_headers.get_header("WARC-Target-URI") == row["url"]
                    assert (
                        f"of {row['url'].split('/')[2].split(':')[0]}".encode()
                        in record.content_stream().read()
                    )


def test_second_crawl_asks_for_changes_only_and_finds_them(tmp_path: Path) -> None:
    with loopback_web(tmp_path) as web:
        assert crawled(web, seeds=(0,))["new"] == 12
        assert web.internet.servers.web is not None
        web.internet.servers.web.pages.version = 1
        web.hits.clear()
        status = crawled(web, seeds=(0,))
        statuses = Counter(hit.status for hit in web.hits if hit.path == "/" or hit.path.startswith("/d"))
    assert statuses == {200: 3, 304: 9}, "pages 1, 6 and 11 have changed"
    assert (status["turn"], status["changed"], status["unchanged"], status["new"]) == (2, 3, 9, 0)
    changed = [row["url"] for row in web.rows("node-0002-pages.csv") if row["change"] == "changed"]
    assert sorted(url.rpartition("/")[2] for url in changed) == ["p1.html", "p11.html", "p6.html"]


def test_limits_end_a_crawl_and_a_higher_one_continues_it(tmp_path: Path) -> None:
    with loopback_web(tmp_path) as web:
        done = ran(*web.words(0), "--max-pages", "5")
        assert done.returncode == 3
        assert "limit" in told(done)
        assert len(web.pages) <= 5
        status = crawled(web, seeds=(0,))
        assert status["state"] == "finished"
        assert max(Counter(web.pages).values()) == 1
        assert len(web.pages) == 12


def test_oddities_of_the_web_do_no_harm(tmp_path: Path) -> None:
    """A trap, a huge page, one that never ends, a picture, and redirects within a site and away from it."""
    with loopback_web(tmp_path, replace(QUICK, oddities=True)) as web:
        status = crawled(
            web, "--max-site-pages", "60", "--max-page-mb", "1", "--timeout", "2", "--depth", "9", seeds=(0,)
        )
        assert {path for _, path in web.pages} >= {f"/d{n % 3}/p{n}.html" for n in range(1, 12)}
        assert {hit.host for hit in web.hits} == {"s0.example"}, "redirects away are not followed"
        assert sum(hit.path.startswith("/calendar/") for hit in web.hits) < 50
        assert any(hit.path == "/hop/1/11" for hit in web.hits)
    assert status["state"] == "finished"
    rows = web.rows("node-0001-pages.csv")
    problems = {row["url"].rpartition("/")[2]: row["problem"] for row in rows if row["problem"]}
    assert problems["picture.png"] == "not wanted"
    assert problems["huge.html"]
    assert problems["drip.html"]
    assert status["bytes"] < 3_000_000


def test_hosts_of_one_address_block_share_the_polite_delay(tmp_path: Path) -> None:
    with loopback_web(tmp_path) as web:
        words = [word for word in web.words(0, 1, 2) if word not in {"--delay", "0", "--per-block", "8"}]
        done = ran(*words, "--delay", "0.4", "--max-pages", "8", "--no-sitemaps")
        assert done.returncode == 3, told(done)
        began = sorted(hit.began_s for hit in web.hits)
    assert len({hit.host for hit in web.hits}) == 3
    gaps = [later - before for before, later in itertools.pairwise(began)]
    # A busy machine takes the time of a request late, so that the gap behind it is shorter.
    assert min(gaps) > 0.2, "robots.txt of one host and pages of another wait for each other"


def test_node_of_a_crawler_leaves_other_sites_alone(tmp_path: Path) -> None:
    table = tmp_path / "assignments.csv"
    table.write_text("host,crawler\ns0.example,ath\ns1.example,nyc\ns2.example,ath\n")
    with loopback_web(tmp_path, replace(QUICK, oddities=True)) as web:
        done = ran(
            *web.words(0, 1, 2), "--crawler", "ath", "--assignments", table, "--timeout", "2", "--depth", "5"
        )
        assert done.returncode == 0, told(done)
        assert {hit.host for hit in web.hits} == {"s0.example", "s2.example"}
    assert json.loads(done.stdout)["foreign"] > 0
    assert {row["foreign"] for row in web.rows("ath-0001-links.csv", "ath")} == {"yes", "no"}


def started(web: LoopbackWeb, *seeds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "ipmicra", *web.words(*seeds)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_at(web: LoopbackWeb, pages: int) -> None:
    """Crawl, and kill the process when so many pages were served."""
    child = started(web, 0, 1)
    wait_until(lambda: len(web.pages) >= pages or child.poll() is not None, "pages arrive")
    child.kill()
    child.communicate()


def test_killed_node_resumes_without_loss_and_without_double_records(tmp_path: Path) -> None:
    plan = replace(QUICK, pages={"s0.example": 150, "s1.example": 100}, wait_ms=10.0)
    with loopback_web(tmp_path, plan) as web:
        for enough in (30, 90, 150):
            kill_at(web, enough)
        status = crawled(web)
        counts = Counter(web.pages)
    assert status["state"] == "finished"
    assert Counter(host for host, _ in counts) == plan.pages
    assert sum(counts.values()) - len(counts) <= 3 * 40, "at most what came since the last commit"
    folder = tmp_path / "home" / "crawl" / "node"
    recorded = Counter(
        url for url in urls_in_warcs(folder) if not url.endswith(("robots.txt", "sitemap.xml"))
    )
    assert len(recorded) == 250
    assert set(recorded.values()) == {1}, "what was not committed was cut"
    rows = Counter(row["url"] for row in web.rows("node-0001-pages.csv") if row["status"] == "200")
    assert rows == recorded
    assert not list(folder.glob("*.open"))
    for path in folder.glob("*.warc.gz"):
        assert gzip.decompress(path.read_bytes())


def test_interrupted_crawl_says_how_to_go_on_and_status_tells(tmp_path: Path) -> None:
    plan = replace(QUICK, pages={"s0.example": 200}, wait_ms=50.0)
    with loopback_web(tmp_path, plan) as web:
        child = started(web, 0)
        wait_until(lambda: len(web.pages) >= 20, "pages arrive")
        os.kill(child.pid, signal.SIGINT)
        _, said = child.communicate(timeout=PATIENCE_S)
        assert child.returncode == 130, said
        assert "the same command resumes" in said
        assert "Traceback" not in said
        done = ran("--home", tmp_path / "home", "crawl", "--status", "--json")
        (status,) = json.loads(done.stdout)
        assert status["state"] == "interrupted"
        assert 0 < status["pages"] < 200
        crawled(web, seeds=(0,))
        assert max(Counter(web.pages).values()) == 1, "what was in flight was finished first"
        assert len(web.pages) == 200


@pytest.mark.slow
@pytest.mark.parametrize("trouble", DISK_TROUBLES)
def test_node_that_cannot_write_ends_with_the_reason_and_the_next_run_goes_on(
    tmp_path: Path, trouble: str
) -> None:
    plan = replace(QUICK, pages={"s0.example": 150}, wait_ms=100.0)
    script = f"{TROUBLED}{DISK_TROUBLES[trouble]}\nrun()"
    with loopback_web(tmp_path, plan) as web:
        words = [sys.executable, "-c", script, *web.words(0)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, timeout=PATIENCE_S, check=False)
        assert (done.returncode, done.stdout) == (1, b""), told(done)
        assert "No space left on device" in told(done)
        assert len(set(web.pages)) < 150, "it stopped at once"
        assert crawled(web, seeds=(0,))["state"] == "finished"
        assert len(set(web.pages)) == 150
    recorded = Counter(urls_in_warcs(tmp_path / "home" / "crawl" / "node"))
    assert sum(not url.endswith(("robots.txt", "sitemap.xml")) for url in recorded) == 150


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("crawl",), "nothing to crawl"),
        (("crawl", "10.0.0.0/8"), "range of addresses"),
        (("crawl", "example.org", "--due"), "--due needs --crawler"),
        (("crawl", "--crawler", "fra"), "no site is assigned to fra"),
        (("crawl", "--status"), "no node has crawled"),
    ],
)
def test_mistakes_are_told_before_the_first_request(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = ran("--home", tmp_path, *words)
    assert done.returncode == 2
    assert said in told(done)


def test_second_process_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    plan = replace(QUICK, pages={"s0.example": 200}, wait_ms=200.0)
    with loopback_web(tmp_path, plan) as web:
        child = started(web, 0)
        try:
            wait_until(lambda: web.pages, "the first one crawls")
            done = ran(*web.words(0))
            assert done.returncode == 2
            assert "another process" in told(done)
        finally:
            child.kill()
            child.communicate()


def assignments_of(web: LoopbackWeb) -> list[Assignment]:
    """Site 0 in two pieces for ath and nyc, site 1 for nyc, site 2 for ath."""

    def one(number: int, crawler: str, piece: int = 1, of: int = 1, *filters: str) -> Assignment:
        return Assignment(
            host=f"s{number}.example",
            address=address_of(number),
            crawler=crawler,
            piece=piece,
            of=of,
            filters=filters,
            reason="nearest",
            backend="balance",
        )

    return [
        one(0, "ath", 1, 2, "/d1/"),
        one(0, "nyc", 2, 2, "/d2/", "-/d1/"),
        one(1, "nyc"),
        one(2, "ath"),
    ]


def submitted_now(one: Assignment) -> Recrawl:
    return Recrawl(host=one.host, piece=one.piece, of=one.of, first_s=time.time(), submitted_s=time.time())


def test_schedule_of_the_store_says_what_to_crawl_and_learns_what_was(tmp_path: Path) -> None:
    """Seeds of loopback sites need a port, so they are named; the filters of pieces hold all the same."""
    home = Home(folder=tmp_path / "home")
    home.folder.mkdir()
    with loopback_web(tmp_path) as web:
        with home.open_store() as store:
            store.assignments.put_many(assignments_of(web))
            store.recrawls.put_many(submitted_now(one) for one in assignments_of(web))
        words = (*web.words(0, 1, 2), "--crawler", "ath", "--due", "--no-warc")
        done = ran(*words)
        assert done.returncode == 0, told(done)
        assert "2 crawls recorded" in told(done)
        assert Counter(host for host, _ in web.pages) == {"s0.example": 5, "s2.example": 5}
        assert {path[:4] for host, path in web.pages if host == "s0.example"} == {"/", "/d1/"}
        with home.open_store() as store:
            found = {(one.host, one.piece): (one.pages, one.crawls) for one in store.recrawls.all()}
        again = ran(*words)
        assert "nothing of ath is due" in told(again)
        assert again.returncode == 0
    assert found["s0.example", 1] == (4, 1), "its main page belongs to the rest"
    assert found["s2.example", 1] == (5, 1)
    assert found["s1.example", 1] == found["s0.example", 2] == (None, 0)
