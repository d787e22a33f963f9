"""Nobody but its operator sends a crawl node to addresses that are not public."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import ran, told
from tests.servers.loopback_web import LoopbackWeb, Page, loopback_web
from tests.servers.node_process import NodeProcess
from tests.servers.rebinding_resolver import FIRST, THEN

OWN, TRAP = FIRST, THEN
"""Where the crawl may go, and where it must not."""
SPELLINGS = ("127.0.0.3", "2130706435", "0x7f000003", "0177.0.0.3", "127.3", "127.0.3", "[::ffff:127.0.0.3]")
"""Of the trap's address."""
REBINDING = "rebinding.example"


@dataclass
class Webs:
    """A web that is crawled, and servers that it sends its visitors to."""

    own: LoopbackWeb
    trap: LoopbackWeb
    local: LoopbackWeb
    """At the address of localhost."""
    neighbour: LoopbackWeb
    """At another port of the address that is crawled."""
    more: tuple[str, ...] = ()
    """Further links of the first page."""

    @property
    def seed(self) -> str:
        return f"http://{OWN}:{self.own.port}/"

    @property
    def caught(self) -> dict[str, int]:
        """Connections to where nobody should connect."""
        found = {"trap": self.trap, "localhost": self.local, "neighbour": self.neighbour}
        return {name: web.connections for name, web in found.items() if web.connections}

    def page(self, host: str, path: str) -> Page | None:
        """Return a page that tempts: links in many spellings, a redirect, a sitemap."""
        del host
        trap = self.trap.port
        if path == "/robots.txt":
            return Page(text=f"User-agent: *\nAllow: /\nSitemap: http://{TRAP}:{trap}/sitemap.xml\n")
        if path == "/away":
            return Page(status=301, location=f"http://{TRAP}:{trap}/redirected")
        links = [f"http://{spelling}:{trap}/{at}" for at, spelling in enumerate(SPELLINGS)]
        links += [f"http://localhost:{self.local.port}/", f"http://{OWN}:{self.neighbour.port}/"]
        return Page(links=(*links, "/away", "/last", *self.more)) if path == "/" else Page()


@pytest.fixture
def webs() -> Iterator[Webs]:
    def page(host: str, path: str) -> Page | None:
        return found.page(host, path)

    def bare(_host: str, path: str) -> Page | None:
        return None if path == "/robots.txt" else Page()

    with ExitStack() as stack:
        found = Webs(
            own=stack.enter_context(loopback_web(page, OWN)),
            trap=stack.enter_context(loopback_web(bare, TRAP)),
            local=stack.enter_context(loopback_web(bare)),
            neighbour=stack.enter_context(loopback_web(bare, OWN)),
        )
        yield found


def crawled(webs: Webs, folder: Path, *words: str) -> tuple[dict[str, Any], dict[str, str], str]:
    """Crawl as a person does who types the seed; return status, problems by URL, and what was said."""
    done = ran("--home", folder, "crawl", webs.seed, "--any-host", "--delay", "0", "--json", *words)
    assert done.returncode == 0, told(done)
    with (folder / "crawl" / "node" / "node-0001-pages.csv").open(newline="", encoding="utf-8") as file:
        problems = {row["url"]: row["problem"] for row in csv.DictReader(file)}
    return json.loads(done.stdout), problems, told(done)


def test_page_cannot_send_a_node_to_private_addresses(webs: Webs, tmp_path: Path) -> None:
    """Links in any spelling, a redirect, a sitemap, localhost, another port: refused, named, and finished."""
    status, problems, said = crawled(webs, tmp_path)
    assert webs.caught == {}
    assert {"http://127.0.0.2:" + url.partition("127.0.0.2:")[2] for url in webs.own.urls()} == {
        f"{webs.seed}{path}" for path in ("", "away", "last")
    }
    assert (status["state"], status["queued"]) == ("finished", 0)
    refused = {url: why for url, why in problems.items() if why.startswith("refused")}
    # Spellings of one address are different URLs; beside them the redirect, the sitemap, and two servers.
    assert len(refused) == status["refused"] == len(SPELLINGS) + 4, refused
    assert refused[f"http://{TRAP}:{webs.trap.port}/redirected"]
    assert refused[f"http://{TRAP}:{webs.trap.port}/sitemap.xml"]
    assert "localhost leads to 127.0.0.1 is not public" in refused[f"http://localhost:{webs.local.port}/"]
    assert f"{len(refused)} URLs refused" in said
    assert "--allow PREFIX" in said
    assert status["problems"] == 0


def test_operator_who_allows_a_prefix_gets_all_of_it(webs: Webs, tmp_path: Path) -> None:
    """The servers that are not contacted otherwise do answer."""
    status, problems, _ = crawled(webs, tmp_path, "--allow", "127.0.0.0/8")
    assert status["refused"] == 0
    assert webs.caught.keys() == {"trap", "localhost", "neighbour"}
    assert f"http://{TRAP}:{webs.trap.port}/redirected" in problems


def test_names_and_lists_of_seeds_permit_nothing(webs: Webs, tmp_path: Path) -> None:
    """Whoever owns a name decides where it leads, and lists of seeds may come from elsewhere."""
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(f"http://{TRAP}:{webs.trap.port}/\n")
    done = ran("--home", tmp_path, "crawl", seeds, "--delay", "0", "--json")
    assert done.returncode == 0, told(done)
    assert json.loads(done.stdout)["refused"] == 1
    assert webs.caught == {}


def ran_spider(webs: Webs, folder: Path, seed: str, **settings: Any) -> str:
    """Run a spider with the add-on that owns all hosts here; return its log."""
    hosts = (OWN, TRAP, "localhost", REBINDING)
    assignments = folder / "assignments.csv"
    assignments.write_text("host,crawler\n" + "".join(f"{host},fra\n" for host in hosts))
    given = {"IPMICRA_ASSIGNMENTS": str(assignments), "IPMICRA_CRAWLER": "fra", **settings}
    node = NodeProcess(webs.own, "fra", given, [seed], folder / "node.log", {"http_proxy": ""})
    assert node.wait() == 0, node.text
    return node.text


@pytest.mark.slow
def test_name_whose_second_resolution_is_private_leads_nowhere(webs: Webs, tmp_path: Path) -> None:
    """DNS rebinding: the name was public (here: allowed) when it was first asked for."""
    webs.more = (f"http://{REBINDING}:{webs.trap.port}/secret",)
    seed = f"http://{REBINDING}:{webs.own.port}/"
    resolver = "tests.servers.rebinding_resolver.RebindingResolver"
    log = ran_spider(webs, tmp_path, seed, IPMICRA_ALLOW=[OWN], TWISTED_DNS_RESOLVER=resolver)
    assert webs.own.urls()[0] == seed, log
    assert webs.caught.keys() == {"neighbour"}, "the whole address is allowed"
    assert f"{REBINDING} leads to {TRAP} is not public" in log
    assert "IPMICRA_ALLOW = ['PREFIX'] permits it" in log
    assert "'ipmicra/refused_addresses'" in log
    assert "Retrying" not in log


@pytest.mark.slow
def test_handler_that_resolves_names_itself_is_not_sent_to_private_addresses(
    webs: Webs, tmp_path: Path
) -> None:
    handler = "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler"
    settings = {"DOWNLOAD_HANDLERS": {"http": handler}, "IPMICRA_ALLOW": f"{OWN}/32"}
    log = ran_spider(webs, tmp_path, webs.seed, ROBOTSTXT_OBEY=True, **settings)
    assert f"http://{OWN}:{webs.own.port}/last" in webs.own.urls(), log
    assert webs.caught.keys() == {"neighbour"}
    assert "localhost leads to 127.0.0.1 is not public" in log
