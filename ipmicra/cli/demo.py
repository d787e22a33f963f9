"""`ipmicra demo`: the whole path on this machine."""

from __future__ import annotations

import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.extras import missing_for_crawls, need_scrapy
from ipmicra.cli.options import Format, JsonOption
from ipmicra.cli.output import print_object, print_table, progress_bar, say
from ipmicra.errors import InputError
from ipmicra.model.quantities import percent, plural

if TYPE_CHECKING:
    from types import FrameType

    from ipmicra.lab.crawls.measured import MeasuredCrawl
    from ipmicra.lab.demo.run import Demo, DemoFiles, DemoResult

COLUMNS = (
    *(
        "policy",
        "optimal",
        "probes\nper site",
        "mean RTT,\nms",
        "busiest,\n× mean",
        "pages/h",
        "pages/h,\n× hash",
    ),
)
"""Short, so that the table fits a terminal of 80 columns."""

WORLD = (
    "The world: crawlers in cities of six continents, sites where the holders of the sample dumps have their "
    "seats, a tenth of them elsewhere. It is wide on purpose: most sites are far from most crawlers, as for "
    "a fleet that serves the whole Web. In a fleet of one city nearness would be worth nothing."
)
LEGEND = (
    "predict: the nearest crawler, by few probes (`ipmicra delegate`); + fair load: the nearest one that has "
    "room (`ipmicra assign`). Both come from the probes of this run, the other rows from the true round "
    "trips. optimal: sites with their nearest crawler; busiest: pages of the busiest crawler; pages/h: of "
    "the whole list, until its last crawler is done, by the report's cost model."
)
CRAWL_COLUMNS = (
    *("policy", "pages/s", "pages/s,\n× hash", "mean RTT,\nms", "model,\npages/s", "differs"),
    *("foreign\nlinks", "twice", "forbidden"),
)
CRAWL_LEGEND = (
    "pages/s, mean RTT: measured; model: by the download equation with the round trips, page size, line rate "
    "and wait of the same web. foreign links: found, and left to their owners; twice: pages that were served "
    "more than once; forbidden: requests against robots.txt."
)
WHEN_A_HASH_WINS = (
    "A hash wins where nearness alone gives some crawlers far more than they can do: the list is finished "
    "only when the busiest crawler is. It also wins where every crawler is about as far from every site."
)
BUSY = 0.8
"""Share of the processors from which on a crawl is limited by them."""

OURS, HASHED = ("predict + fair load", "predict"), "site hash"

DumpsOption = Annotated[
    Path | None,
    typer.Option(
        "--dumps",
        metavar="DIR",
        exists=True,
        file_okay=False,
        help="Folder of dumps; default: the samples.",
    ),
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--home", metavar="DIR", help="New folder for all files; default: a temporary one."),
]
KeepOption = Annotated[
    bool, typer.Option("--keep", help="Keep agents and servers running until Ctrl-C, to try commands.")
]
CrawlOption = Annotated[
    bool | None,
    typer.Option("--crawl/--no-crawl", help="Download pages at the end; default: if Scrapy is installed."),
]
DemoFormatOption = Annotated[
    Format | None, typer.Option("--format", "-f", help="Output format; default: tables.")
]
OutputOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Report to write.")]


def demo(
    context: typer.Context,
    dumps: DumpsOption = None,
    crawlers: Annotated[int, typer.Option(min=2, max=12, help="Number of agents to start.")] = 12,
    sites: Annotated[int, typer.Option(min=10, max=2000, help="Number of web servers to start.")] = 300,
    keep: KeepOption = False,
    folder: FolderOption = None,
    output: OutputOption = Path("demo.html"),
    crawl: CrawlOption = None,
    output_format: DemoFormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show everything on this machine, from dumps to a crawl.

    Starts real agents and web servers on loopback addresses, with the round trips of a synthetic world
    between them, delegates the sites by real probes and assigns them within the crawlers' capacity. Then
    Scrapy processes download a few pages of each site: as assigned, by nearness alone, by a hash of names.
    Everything printed is computed or measured in this run.
    """
    if crawl:
        need_scrapy()
    missing = missing_for_crawls()
    if crawl is None and missing:
        say(f"pages will not be downloaded: {missing}")
    from ipmicra.lab.demo.config import DemoConfig
    from ipmicra.lab.demo.run import Demo, DemoFiles

    print_format = output_format or (Format.JSON if as_json else Format.TABLE)
    if not output.absolute().parent.is_dir():
        raise InputError(f"there is no folder {output.absolute().parent} for the report")
    named = folder or _home_of(context)
    if keep and named is None:
        named = Path(tempfile.mkdtemp(prefix="ipmicra-demo-"))  # kept, so that it can be looked at afterwards
    if print_format is Format.TABLE:
        say(WORLD)
    with _folder(named) as place, _progress(sites) as progress, _stopped_by_sigterm():
        the_demo = Demo(
            files=DemoFiles(folder=place),
            report=output.absolute(),
            config=DemoConfig(crawlers=crawlers, sites=sites),
            dumps=dumps,
            is_crawled=crawl is not False and missing is None,
            say=say,
            on_result=lambda result: progress(result.probes),
        )
        _run(the_demo, print_format, keep=keep, stays=named is not None)


def _run(the_demo: Demo, print_format: Format, *, keep: bool, stays: bool) -> None:
    with the_demo.running() as outcome:
        if print_format is Format.TABLE:
            _print_table(outcome)
        else:
            print_object(outcome.as_record(), print_format)
        # With --keep the command waits for Ctrl-C; the result must not wait in a pipe's buffer.
        sys.stdout.flush()
        say(f"report: {outcome.report}")
        if keep:
            _wait(the_demo.files, outcome)
        else:
            again = shlex.join([*_program(), "demo", "--keep"])
            say(f"try next: `{again}` keeps it running, and prints commands to try")
    if stays:
        say(f"all files: {the_demo.files.folder}")


def _print_table(outcome: DemoResult) -> None:
    rows = [
        (
            one.policy,
            percent(one.optimal),
            f"{one.probes_per_site:.2f}",
            f"{one.mean_rtt_ms:.0f}",
            f"{one.busiest:.1f}",
            f"{one.pages_per_hour_to_the_end:,.0f}",
            f"{one.against_hash:.2f}",
        )
        for one in outcome.rows
    ]
    sites, probes = plural(outcome.batch.sites, "site"), plural(outcome.batch.probes, "probe")
    print_table(f"{sites} delegated in {outcome.delegated_s:.1f} s with {probes}", COLUMNS, rows)
    say(LEGEND)
    if outcome.crawls:
        typer.echo()
        _print_crawls(outcome.crawls)
    for line in verdict(outcome):
        say(line)


def _print_crawls(crawls: Sequence[MeasuredCrawl]) -> None:
    base = crawls[-1].pages_per_s
    rows = [
        (
            one.policy,
            f"{one.pages_per_s:.1f}",
            f"{one.pages_per_s / base:.2f}",
            f"{one.mean_rtt_ms:.0f}",
            f"{one.model_pages_per_s:.1f}",
            percent(one.difference, 0, is_signed=True),
            one.foreign_links,
            one.duplicates,
            one.robots_violations,
        )
        for one in crawls
    ]
    pages = max(one.pages for one in crawls)
    print_table(f"{pages:,} pages downloaded by Scrapy processes, 5 connections each", CRAWL_COLUMNS, rows)
    say(CRAWL_LEGEND)
    busiest = max(one.processor for one in crawls)
    if busiest > BUSY:
        say(
            f"The processors were {percent(busiest, 0)} busy: they limit the crawl, "
            "and hide what round trips cost."
        )


def verdict(outcome: DemoResult) -> list[str]:
    """Say in words what nearness and balance gave, and when a hash wins."""
    (hashed,) = [row for row in outcome.rows if row.policy == HASHED]
    fetched = {one.policy: one.pages_per_s / outcome.crawls[-1].pages_per_s for one in outcome.crawls}
    lines = []
    for row in outcome.rows:
        if row.policy not in OURS:
            continue
        times = fetched.get(row.policy, row.against_hash)
        how = "in pages really fetched" if row.policy in fetched else "by the model"
        winner = (
            f"`{row.policy}` beats the site hash" if times >= 1 else f"The site hash beats `{row.policy}`"
        )
        lines.append(
            f"{winner}, {times:.2f} × {how}: round trips of {row.mean_rtt_ms:.0f} ms instead of "
            f"{hashed.mean_rtt_ms:.0f} ms, {row.busiest:.1f} × the mean on the busiest crawler."
        )
    return [*lines, WHEN_A_HASH_WINS]


def _wait(files: DemoFiles, outcome: DemoResult) -> None:
    """Print commands to try, and wait for Ctrl-C."""
    for line in commands(files, outcome):
        say(f"  {line}")
    say("Running until Ctrl-C.")
    try:
        signal.pause()
    except KeyboardInterrupt:
        say("stopping")


def commands(files: DemoFiles, outcome: DemoResult) -> list[str]:
    """Write commands that work while the demonstration runs."""
    from ipmicra.lab.demo.run import source_of, url_of

    result = max(outcome.results.values(), key=lambda one: one.probes)
    page, bound = url_of(result.host, outcome.port), str(source_of(files, result.crawler))
    own = [*_program(), "--home", str(files.folder)]
    token = ["--token-file", str(files.token), "--first-rung", "head"]
    words = [
        [*own, "explain", result.host],
        [*own, "lookup", str(result.address)],
        [*own, "probe", page, "--from", "all", *token],
        [*own, "crawler", "list"],
        [*own, "delegate", str(files.seeds), "--policy", "paper", *token],
        [*own, "assign", str(files.seeds), "--pages", str(files.pages)],
        [*own, "crawler", "measure", "--port", str(outcome.port), *token],
        [*own, "probe", page, "--from", "landmarks", *token],
        [*own, "assign", str(files.seeds), "--pages", str(files.pages), "--backend", "can"],
        [*own, "evaluate", str(files.world)],
        [*own, "crawl", page, "--hosts", str(files.hosts), "--bind", bound, "--delay", "0"],
        [*own, "report", "-o", str(files.folder / "report.html")],
    ]
    return [shlex.join(one) for one in words]


def _program() -> list[str]:
    """Return the words that start ipmicra here: in a checkout it is not on the path."""
    beside = Path(sys.executable).with_name("ipmicra")
    if shutil.which("ipmicra"):
        return ["ipmicra"]
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "ipmicra"]


def _home_of(context: typer.Context) -> Path | None:
    """Return the home that the command line names; that of the environment is not for demonstrations."""
    above = context.parent
    source = above.get_parameter_source("home") if above else None
    if above is None or source is None or source.name != "COMMANDLINE":
        return None
    return Path(above.params["home"])


@contextmanager
def _folder(named: Path | None) -> Iterator[Path]:
    """Provide the folder that was named, which must be new, or one that is removed at the end."""
    if named is None:
        with tempfile.TemporaryDirectory(prefix="ipmicra-demo-") as folder:
            yield Path(folder)
        return
    if named.exists() and (not named.is_dir() or any(named.iterdir())):
        raise InputError(f"{named} exists already: name a new or empty folder for the demonstration")
    named.mkdir(parents=True, exist_ok=True)
    yield named.absolute()


@contextmanager
def _progress(sites: int) -> Iterator[Callable[[int], None]]:
    """Provide the call that counts a site and its probes on a bar, which disappears with the last one."""
    with ExitStack() as stack:
        show = stack.enter_context(progress_bar())
        done = probes = 0

        def progress(spent: int) -> None:
            nonlocal done, probes
            done, probes = done + 1, probes + spent
            show(f"   {probes:,} probes, {probes / done:.2f} per site", done, sites)
            if done == sites:
                stack.close()  # the messages that follow must not be drawn over

        yield progress


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """Let SIGTERM clean up as Ctrl-C does."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background of a script
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)  # an event loop that runs knows how to end on it

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
