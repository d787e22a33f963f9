"""The steps of the demonstration: build, invent, start, delegate, place, compare, report.

Theory of operation
-------------------
The demonstration must not know more than a real run. The invented world (sites, crawlers and the true round
trips between them) is written to a folder, from which a subprocess plays it: web servers and agents on
loopback, with the round trips as delays. The delegation sees only what an operator would have: the
hierarchy, a list of seeds, counts of pages, the agents' URLs and a token. The truth comes back in at two
places, both after the last decision: `compare_ways` replays other policies on it, and the report rates
everything by it.

What the order rests on:

- The world is invented inside the hierarchy's own subnets, so the hierarchy comes first.
- Ports and the token are known once the subprocess is ready; crawlers join and seeds are written after
  that.
- Invented names are in no DNS. They are put into the store's cache of names before the batch resolves them,
  and stay valid long enough for the commands that `--keep` suggests.
- `true_rtt_ms` has its columns in the order of the world, the store its sites in an order of its own:
  `_report_data` brings them into the world's order before anything is compared.

`running` is a context because agents and servers must outlive the result: with `--keep` users probe them.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ipmicra.app.assign.assign import AssignRequest, assign_seeds
from ipmicra.app.build.build import BuildReport, build
from ipmicra.app.delegate.batch import Batch, BatchReport
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.fleet.fleet import Fleet
from ipmicra.app.home import Home
from ipmicra.app.locate.sites import LocatedSites
from ipmicra.app.report.columns import Columns
from ipmicra.app.report.data import ReportData, ReportSite
from ipmicra.app.report.loaders.holders import with_hierarchy
from ipmicra.app.report.loaders.store import StoreContents
from ipmicra.app.report.write import write_report
from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.coordinator.orders import DeskConfig
from ipmicra.edge.files.seeds import read_seeds
from ipmicra.edge.files.worlds.load import save_world
from ipmicra.edge.hierarchy_file import Hierarchy, write_atomically
from ipmicra.edge.loopback.internet_process import InternetProcess
from ipmicra.edge.loopback.loopback_world import load_world
from ipmicra.edge.store.ports import StorePort
from ipmicra.edge.store.store import Store
from ipmicra.errors import IpmicraError
from ipmicra.lab.crawls.measured import CrawlPlace, MeasuredCrawl
from ipmicra.lab.demo.compare import DELEGATED, HASHED, PLACED, DemoRow, Ours, Replaying, compare_ways
from ipmicra.lab.demo.config import DemoConfig
from ipmicra.lab.demo.crawl import crawl_ways, plan_web
from ipmicra.lab.demo.dumps import sample_dumps
from ipmicra.lab.demo.invent import DemoWorld, invent_world
from ipmicra.model.address import Address
from ipmicra.model.delegation import Decision
from ipmicra.model.name import NameAnswer, NameStatus
from ipmicra.model.quantities import plural
from ipmicra.model.sample import Rung
from ipmicra.model.site import Site

OnResult = Callable[[Decision], object]
NOTE = (
    "Holders, sites and round trips are invented; the probes were real, on this machine's loopback. "
    "Figures rest on the true round trips of the world, which the delegation did not know."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoFiles:
    """What lies in the folder of the demonstration."""

    folder: Path

    @property
    def home(self) -> Home:
        """The folder as other commands know it."""
        return Home(folder=self.folder)

    @property
    def world(self) -> Path:
        """Crawlers, sites and round trips."""
        return self.folder / "world"

    @property
    def seeds(self) -> Path:
        """The list that is delegated."""
        return self.folder / "seeds.txt"

    @property
    def pages(self) -> Path:
        """Pages of the sites, as a crawl would have counted them."""
        return self.folder / "pages.csv"

    @property
    def token(self) -> Path:
        """The token by which agents recognise the coordinator."""
        return self.folder / "token"

    @property
    def hits(self) -> Path:
        """Pages that the servers have served."""
        return self.folder / "hits.csv"

    @property
    def hosts(self) -> Path:
        """Loopback addresses of the sites, in the form of /etc/hosts: no DNS knows them."""
        return self.folder / "hosts"

    @property
    def crawls(self) -> Path:
        """What the Scrapy processes keep."""
        return self.folder / "crawls"

    @property
    def log(self) -> Path:
        """Error output of the servers and agents."""
        return self.folder / "internet.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoResult:
    """Results of the demonstration."""

    build: BuildReport
    batch: BatchReport
    rows: list[DemoRow]
    results: dict[str, Decision]
    """By host."""
    report: Path
    port: int
    delegated_s: float
    """How long the delegation took."""
    crawls: list[MeasuredCrawl] = field(default_factory=list)
    """What was measured while downloading; empty if nothing was downloaded."""

    def as_record(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {
            "subnets": self.build.subnets,
            "organisations": self.build.organisations,
            "sites": self.batch.sites,
            "probes": self.batch.probes,
            "delegated_s": round(self.delegated_s, 1),
            "policies": [row.as_record() for row in self.rows],
            "crawls": [one.as_record() for one in self.crawls],
            "report": str(self.report),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A demonstration in a folder of its own."""

    files: DemoFiles
    report: Path
    config: DemoConfig
    dumps: Path | None = None
    is_crawled: bool = True
    """Whether the sites are downloaded at the end, which needs Scrapy."""
    say: Callable[[str], None] = lambda _message: None
    on_result: OnResult = lambda _result: None
    """Called with each result as it comes."""

    @contextmanager
    def running(self) -> Iterator[DemoResult]:
        """Take all steps; agents and servers run until the context ends."""
        paths = sample_dumps(self.dumps)
        self.say(f"1. building a hierarchy from {len(paths)} dumps in {paths[0].parent}")
        built = build(paths, self.files.home.hierarchy)
        self.say(f"   {plural(built.subnets, 'subnet')} of {plural(built.organisations, 'organisation')}")
        with Hierarchy.open(self.files.home.hierarchy) as hierarchy:
            played = invent_world(hierarchy, self.config)
            save_world(played.world, self.files.world, played.pages.tolist())
            plan_web(played, self.config).save(self.files.world)
            self.say(
                f"2. starting {len(played.world.crawlers)} agents and "
                f"{len(played.world.sites):,} web servers on loopback"
            )
            with (
                InternetProcess(self.files.world, self.files.log, self.files.hits) as internet,
                Store.open(self.files.home.store) as store,
            ):
                yield self._delegated(built, hierarchy, played, store, internet)

    def _delegated(
        self,
        built: BuildReport,
        hierarchy: Hierarchy,
        played: DemoWorld,
        store: StorePort,
        internet: InternetProcess,
    ) -> DemoResult:
        self._enrol(hierarchy, played, store, internet)
        self.say(f"3. delegating {len(played.world.sites):,} sites by real probes")
        results: dict[str, Decision] = {}

        def take(result: Decision) -> None:
            results[result.host] = result
            self.on_result(result)

        begun_s = time.monotonic()
        batch = Batch(store, hierarchy, self._options(internet), take)
        words = [str(self.files.seeds)]
        done = batch.run(words, read_seeds(words))
        taken_s = time.monotonic() - begun_s
        if not done.is_complete:
            reason = done.stopped or next(iter(done.missing), "")
            raise IpmicraError(f"{done.missing.total()} sites were not delegated: {reason}")
        self.say("4. assigning them within the crawlers' capacity, as `ipmicra assign` does")
        request = AssignRequest(texts=list(read_seeds(words)), pages=self.files.pages)
        placed, _unresolved = assign_seeds(store, request, hierarchy)
        self.say("5. comparing with other ways of assigning the same sites")
        data = self._report_data(hierarchy, played, store)
        ours = Ours(results=results, placed={one.host: one for one in placed.assignments})
        rows = compare_ways(
            data, ours, played.world, Replaying(hierarchy, LocatedSites(hierarchy), self.config)
        )
        self.say("6. writing the report")
        write_report(data, self.report)
        return DemoResult(
            build=built,
            batch=done,
            rows=rows,
            results=results,
            report=self.report,
            port=internet.port,
            delegated_s=taken_s,
            crawls=self._crawled(data, ours, internet.port),
        )

    def _crawled(self, data: ReportData, ours: Ours, port: int) -> list[MeasuredCrawl]:
        """Download the sites as assigned, by nearness alone, and by a hash of their names."""
        if not self.is_crawled:
            return []
        by_hash = Columns(data).hash_crawler
        assert by_hash is not None  # noqa: S101 - a world has its round trips
        hosts = [site.host for site in data.sites]
        ways = {
            PLACED: {host: str(ours.placed[host].crawler) for host in hosts},
            DELEGATED: {host: str(ours.results[host].crawler) for host in hosts},
            HASHED: {host: data.crawlers[i].name for host, i in zip(hosts, by_hash.tolist(), strict=True)},
        }
        pages = round(self.config.crawled_pages_per_site * len(hosts))
        self.say(
            f"7. downloading about {pages:,} pages three times, with {len(data.crawlers)} Scrapy processes: "
            "as assigned, by nearness alone, by site hash"
        )
        place = CrawlPlace(
            world=load_world(self.files.world),
            port=port,
            hits=self.files.hits,
            folder=self.files.crawls,
            connections=self.config.connections,
        )
        return crawl_ways(place, ways)

    def _enrol(
        self, hierarchy: Hierarchy, played: DemoWorld, store: StorePort, internet: InternetProcess
    ) -> None:
        """Let the crawlers join, make the sites' names known, and write the seed list."""
        sites = played.world.sites
        Fleet(store, hierarchy).add_many(
            replace(one, agent_url=internet.urls[one.name]) for one in played.world.crawlers
        )
        store.names.put_many(_answers(sites, time.time() + self.config.names_s))
        seeds = "".join(f"{url_of(site.host, internet.port)}\n" for site in sites)
        write_atomically(self.files.seeds, [seeds.encode()])
        counts = zip(sites, played.pages.tolist(), strict=True)
        lines = ["host,pages\n", *(f"{site.host},{pages}\n" for site, pages in counts)]
        write_atomically(self.files.pages, [line.encode() for line in lines])
        loopback = load_world(self.files.world).addresses()
        names = [f"{loopback[site.address]} {site.host}\n" for site in sites]
        write_atomically(self.files.hosts, [line.encode() for line in names])
        self.files.token.touch(mode=0o600)
        self.files.token.write_text(internet.token + "\n")

    def _options(self, internet: InternetProcess) -> DelegateOptions:
        """Start at HEAD: on loopback the kernel itself completes handshakes, at no distance."""
        return DelegateOptions(
            policy="predict",
            desk=DeskConfig(samples=self.config.samples, first_rung=Rung.HEAD),
            access=AgentAccess(token=internet.token),
        )

    def _report_data(self, hierarchy: Hierarchy, played: DemoWorld, store: StorePort) -> ReportData:
        """Return what the store knows, in the order of the world, with the truth that the world knows."""
        stored, world = StoreContents(store=store).load(), played.world
        sites = {site.host: site for site in stored.sites}
        crawlers = {crawler.name: crawler for crawler in stored.crawlers}
        numbers = {crawler.name: i for i, crawler in enumerate(world.crawlers)}

        def site_of(i: int, host: str) -> ReportSite:
            held = sites[host].crawler
            crawler = None if held is None else numbers[stored.crawlers[held].name]
            return replace(sites[host], crawler=crawler, country=world.countries[i], place=world.places[i])

        data = ReportData(
            crawlers=tuple(crawlers[name] for name in numbers),
            sites=tuple(site_of(i, site.host) for i, site in enumerate(world.sites)),
            title="The demonstration: an invented world on this machine",
            policy=PLACED,
            when=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC",
            command="ipmicra demo",
            true_rtt_ms=world.rtt_ms.astype(float),
            notes=(NOTE,),
        )
        return with_hierarchy(data, hierarchy)


def source_of(files: DemoFiles, crawler: str) -> Address:
    """Return the loopback address from which a crawler is as far from sites as in its world."""
    return load_world(files.world).sources()[crawler]


def url_of(host: str, port: int) -> str:
    """Name a site as a seed does."""
    return f"http://{host}:{port}/"


def _answers(sites: tuple[Site, ...], expires_s: float) -> Iterator[NameAnswer]:
    """Answer for the DNS, which does not know names that are invented."""
    for site in sites:
        yield NameAnswer(
            name=site.host, status=NameStatus.FOUND, addresses=(site.address,), expires_s=expires_s
        )
