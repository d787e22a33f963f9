"""The groups of benchmarks, in the order of the page; a group is imported only when it is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module

from benchmarks.bench import Bench
from benchmarks.results import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Description of a group."""

    title: str
    topic: str
    """Name that selects all groups of the topic."""
    measures: str
    """What is measured, in one line."""
    beside: str
    """The peers, or whatever else the figures are compared with."""
    home: str
    """Module and function that measure it."""
    typical_s: float
    """Typical duration at full size on two cores, without generating dumps; stored results are preferred."""
    headline: str = ""
    """Words in the row that represents the group; by default the first row with a target."""

    def measure(self, bench: Bench) -> list[Row]:
        """Measure it."""
        module, _, name = self.home.partition(":")
        action: Callable[[Bench], list[Row]] = getattr(import_module(f"benchmarks.{module}"), name)
        return action(bench)


GROUPS = {
    "reading": About(
        title="Reading dumps",
        topic="hierarchy",
        measures="compressed dumps into columns of registrations",
        beside="zcat, gzip, igzip, a loop of Python, IRRd",
        home="reading:measure_reading",
        typical_s=180,
    ),
    "building": About(
        title="Building, the whole command",
        topic="hierarchy",
        measures="`ipmicra build` from one dump and from five",
        beside="zcat",
        home="building:measure_building",
        typical_s=220,
        headline="5 dumps at once",
    ),
    "memory": About(
        title="Memory of a build",
        topic="hierarchy",
        measures="peak memory of building ten million subnets",
        beside="a limit",
        home="building:measure_memory",
        typical_s=20,
    ),
    "size": About(
        title="Size on disk",
        topic="hierarchy",
        measures="bytes per subnet of the written file",
        beside="a limit",
        home="building:measure_size",
        typical_s=10,
        headline="size on disk, large",
    ),
    "nesting": About(
        title="Nesting",
        topic="hierarchy",
        measures="ten million shuffled ranges into a tree",
        beside="np.argsort",
        home="nesting:measure_nesting",
        typical_s=40,
    ),
    "opening": About(
        title="Opening and first answer",
        topic="lookup",
        measures="opening a file of ten million subnets, first answer, whole command",
        beside="pytricia's pickle",
        home="opening:measure_opening",
        typical_s=30,
    ),
    "many": About(
        title="Looking up many at once",
        topic="lookup",
        measures="arrays of ten million addresses",
        beside="pytricia, np.searchsorted, np.take",
        home="looking_up:measure_many",
        typical_s=60,
    ),
    "scalar": About(
        title="Looking up one by one",
        topic="lookup",
        measures="single addresses given as text",
        beside="pytricia, maxminddb, py-radix",
        home="looking_up:measure_scalar",
        typical_s=100,
    ),
    "grid": About(
        title="Looking up: hit and miss, both families, one and many",
        topic="lookup",
        measures="all kinds of addresses in two hierarchies",
        beside="nothing",
        home="looking_up:measure_grid",
        typical_s=100,
    ),
    "streaming": About(
        title="Looking up a long list by the command",
        topic="lookup",
        measures="a million addresses to CSV, JSON lines and Parquet",
        beside="pyarrow writing the same columns",
        home="streaming:measure_streaming",
        typical_s=80,
    ),
    "parquet": About(
        title="Looking up whole tables of Parquet",
        topic="lookup",
        measures="`ipmicra lookup -o`, 10 and 100 million rows; `assign -o`, 10 million; peak memory",
        beside="reading and writing equal columns",
        home="tables:measure_tables",
        typical_s=900,
    ),
    "spark": About(
        title="Looking up tables of Spark",
        topic="lookup",
        measures="`with_subnets` over Sail, a million to 100 million rows, counted and written",
        beside="an identity `mapInArrow`",
        home="frames:measure_frames",
        typical_s=600,
    ),
    "locate": About(
        title="Locating",
        topic="locate",
        measures="precision, recall and speed on host names; physics on true places",
        beside="the truth, a scan of the gazetteer",
        home="locating:measure_locating",
        typical_s=40,
        headline="`written_last`: precision",
    ),
    "probing": About(
        title="Probing, resolving, keeping samples",
        topic="probe",
        measures="agent, accuracy of round trips, resolver, samples into SQLite",
        beside="a bare asyncio loop, the ideal time",
        home="probing:measure_probing",
        typical_s=100,
    ),
    "keeping": About(
        title="Keeping what a batch writes",
        topic="probe",
        measures="samples, delegations and results into SQLite on disk",
        beside="a limit",
        home="keeping:measure_keeping",
        typical_s=100,
    ),
    "postgres": About(
        title="Keeping rows in PostgreSQL",
        topic="probe",
        measures="samples, results and delegations into PostgreSQL, on a server without fsync",
        beside="a bare `COPY` of the same rows",
        home="postgres:measure_postgres",
        typical_s=120,
    ),
    "several": About(
        title="Several coordinators",
        topic="service",
        measures="processor time of a decision, two coordinators on one PostgreSQL",
        beside="one coordinator",
        home="several:measure_several",
        typical_s=120,
    ),
    "delegation": About(
        title="Delegation",
        topic="delegate",
        measures="share of optimal delegations, probes per site, speed, memory",
        beside="the paper's policy, nearest by place, hash; pytricia",
        home="delegation:measure_delegation",
        typical_s=200,
    ),
    "hosting": About(
        title="Delegation of a million sites with hosting",
        topic="delegate",
        measures="share of optimal delegations, probes per site, memory, speed; a third is hosting",
        beside="probing everyone",
        home="delegation:measure_hosting",
        typical_s=1600,
    ),
    "coordinates": About(
        title="Coordinates of hosts",
        topic="coordinates",
        measures="placing hosts among landmarks",
        beside="scipy.optimize.minimize",
        home="coordinates:measure_coordinates",
        typical_s=15,
        headline="× a loop of `scipy.optimize.minimize`",
    ),
    "overlay": About(
        title="The overlay: joining and owners",
        topic="overlay",
        measures="joins and owners in overlays of a thousand to a million crawlers",
        beside="scipy's cKDTree",
        home="overlay:measure_overlay",
        typical_s=90,
        headline=" 100,000 crawlers, × nearest points",
    ),
    "balance": About(
        title="Fair load: churn and assigning",
        topic="assign",
        measures="goodput under churn, assigning in batches, cost of an assignment",
        beside="site hash, LBI, linear_sum_assignment",
        home="balance:measure_balance",
        typical_s=140,
        headline="goodput of balance beside lbi-split's",
    ),
    "assign-many": About(
        title="Assigning beside millions of hosts",
        topic="assign",
        measures="`ipmicra assign` of a thousand hosts where ten million are assigned; peak memory",
        beside="the same where ten thousand are",
        home="assigned_store:measure_assigned_store",
        typical_s=240,
    ),
    "partition": About(
        title="Partitioning whole lists",
        topic="partition",
        measures="download and exchange time, cuts, moves on a join, speed",
        beside="site hash, pymetis, numpy",
        home="partitioning:measure_partitioning",
        typical_s=80,
    ),
    "node": About(
        title="A node of a distributed crawl",
        topic="crawl",
        measures="pages per second of a Scrapy spider with the add-on, all sites own",
        beside="the same spider without it",
        home="node:measure_node",
        typical_s=120,
        headline="with a file of assignments",
    ),
    "share": About(
        title="What the exchange costs",
        topic="crawl",
        measures="processor time of the exchange, nodes and coordinator, two nodes to eight",
        beside="that of the whole crawl",
        home="exchange_share:measure_share",
        typical_s=120,
        headline="exchange of 2 nodes",
    ),
    "exchange": About(
        title="Exchange of links",
        topic="crawl",
        measures="links per second through the coordinator's mailboxes, on disk",
        beside="a bare executemany of the same batches",
        home="node:measure_exchange",
        typical_s=40,
    ),
    "fleet": About(
        title="Whole crawls",
        topic="crawl",
        measures="pages per second of real crawls on a loopback web; speed-up from one node to eight",
        beside="site hash; the download model",
        home="crawling:measure_crawl",
        typical_s=180,
        headline="balance beside site hash",
    ),
    "service": About(
        title="The coordinator over HTTP",
        topic="service",
        measures="owners of held hosts, one at a time and in lists",
        beside="a bare Starlette route, delegate_many in process",
        home="service:measure_service",
        typical_s=60,
        headline="single owners",
    ),
    "callout": About(
        title="Agents that call out",
        topic="service",
        measures="orders over long polls, and a thousand idle agents",
        beside="direct orders in the same run; limits",
        home="calling_out:measure_calling_out",
        typical_s=90,
    ),
    "frontier": About(
        title="The proxy of URLFrontier",
        topic="service",
        measures="URLs through the proxy, one by one and in batches of 100",
        beside="the same service without it; limits",
        home="frontier:measure_frontier",
        typical_s=90,
    ),
    "importing": About(
        title="Importing",
        topic="start",
        measures="importing the package and its parts, and the smallest build",
        beside="python -c pass, importing numpy",
        home="starting:measure_importing",
        typical_s=12,
        headline="the command line",
    ),
}
TOPICS = tuple(dict.fromkeys(about.topic for about in GROUPS.values()))


class UnknownGroupError(Exception):
    """An unknown group was named; the message suggests a name."""


def named(names: Iterable[str]) -> list[str]:
    """Return the groups with these names, in the order of the page; a topic selects all its groups."""
    wanted = set(names)
    for name in sorted(wanted - GROUPS.keys() - set(TOPICS)):
        close = get_close_matches(name, [*GROUPS, *TOPICS], n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise UnknownGroupError(f"there is no group {name}; {hint}`bin/bench --list` lists them all")
    return [name for name, about in GROUPS.items() if {name, about.topic} & wanted]


def list_text(seconds: Mapping[str, float]) -> str:
    """Return a list of the groups with their last duration, where known."""
    lines = []
    for name, about in GROUPS.items():
        taken = f"{seconds[name]:.0f}" if name in seconds else f"~{about.typical_s:.0f}"
        lines.append(f"{name:<12} {about.topic:<12} {taken:>5} s  {about.measures}; beside {about.beside}")
    total = sum(seconds.get(name, about.typical_s) for name, about in GROUPS.items())
    head = f"{'group':<12} {'topic':<12} {'full':>5}    what"
    end = f"All of it takes some {total / 60:.0f} minutes at full size; ~ where it is not known from a run."
    return "\n".join([head, *lines, end])
