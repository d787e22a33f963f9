"""`ipmicra demo`: the whole path on this machine."""

from __future__ import annotations

import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.extras import need_scrapy, need_service
from ipmicra.cli.options import Format, JsonOption
from ipmicra.cli.output import print_object, print_table, progress_bar, say
from ipmicra.errors import InputError

if TYPE_CHECKING:
    from types import FrameType

    from ipmicra.lab.crawls.measured import MeasuredCrawl, ModelledCrawl
    from ipmicra.lab.demo.run import Demo, DemoFiles, DemoResult

COLUMNS = ("policy", "optimal", "probes/site", "mean RTT", "busiest", "pages/h", "vs hash")
"""Short, so that the table fits a terminal of 80 columns."""

WORLD = (
    "The world: crawlers in cities of six continents, sites where the holders of the sample dumps have their",
    "seats, a tenth of them elsewhere. It is wide on purpose: most sites are far from most crawlers, as for",
    "a fleet that serves the whole Web. In a fleet of one city nearness would be worth nothing.",
)

CRAWL_COLUMNS = (
    *("policy", "pages/s", "model", "differs", "mean RTT", "vs hash", "foreign links", "twice", "forbidden"),
)
CRAWL_LEGEND = (
    "pages/s, mean RTT: measured; model: by the download equation with the round trips, page size, line rate",
    "and wait of the same web. foreign links: found, and left to their owners; twice: pages that were served",
    "more than once; forbidden: requests against robots.txt.",
)
BUSY = 0.8
"""Share of the processors from which on a crawl is limited by them."""

LEGEND = (
    "optimal: sites with their nearest crawler; busiest: pages of the busiest crawler, the mean is 1;",
    "pages/h: of the whole list, until its last crawler is done, by the report's cost model.",
    "The first two rows come from the probes of this run; the others are replayed on the true round trips.",
)

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
    bool, typer.Option("--crawl/--no-crawl", help="Download pages at the end, with Scrapy.")
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
    crawl: CrawlOption = True,
    output_format: DemoFormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show everything on this machine, from dumps to a crawl.

    Starts real agents and web servers on loopback addresses, with the round trips of a synthetic world
    between them, delegates the sites by real probes and assigns them within the crawlers' capacity. Then
    Scrapy processes download a few pages of each site: as assigned, by nearness alone, by a hash of names.
    Everything printed is computed or measured in this run.
    """
    need_service()
    if crawl:
        need_scrapy()
    from ipmicra.lab.demo.config import DemoConfig
    from ipmicra.lab.demo.run import Demo, DemoFiles

    print_format = output_format or (Format.JSON if as_json else Format.TABLE)
    if not output.absolute().parent.is_dir():
        raise InputError(f"there is no folder {output.absolute().parent} for the report")
    named = folder or _home_of(context)
    if keep and named is None:
        named = Path(tempfile.mkdtemp(prefix="ipmicra-demo-"))  # kept, so that it can be looked at afterwards
    with _folder(named) as place, _progress(sites) as progress, _stopped_by_sigterm():
        the_demo = Demo(
            files=DemoFiles(folder=place),
            report=output.absolute(),
            config=DemoConfig(crawlers=crawlers, sites=sites),
            dumps=dumps,
            is_crawled=crawl,
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
            f"{one.optimal:.1%}",
            f"{one.probes_per_site:.2f}",
            f"{one.mean_rtt_ms:.0f} ms",
            f"{one.busiest:.1f} x",
            f"{one.pages_per_hour_to_the_end:,.0f}",
            f"{one.against_hash:.2f} x",
        )
        for one in outcome.rows
    ]
    title = (
        f"{outcome.batch.sites:,} sites delegated in {outcome.delegated_s:.1f} s "
        f"with {outcome.batch.probes:,} probes"
    )
    print_table(title, COLUMNS, rows)
    for line in LEGEND:
        say(line)
    if outcome.crawls:
        _print_crawls(outcome)
    for line in WORLD:
        say(line)
    for line in winners(outcome):
        say(line)


def _print_crawls(outcome: DemoResult) -> None:
    from ipmicra.lab.crawls.measured import MeasuredCrawl

    done = [one for one in outcome.crawls if isinstance(one, MeasuredCrawl)]
    base = done[-1].pages_per_s
    rows = [_crawl_cells(one, base) for one in outcome.crawls]
    pages = max(one.pages for one in done)
    print_table(f"{pages:,} pages downloaded by Scrapy processes, 5 connections each", CRAWL_COLUMNS, rows)
    for line in CRAWL_LEGEND:
        say(line)
    busiest = max(one.processor for one in done)
    if busiest > BUSY:
        say(f"The processors were {busiest:.0%} busy: they limit the crawl, and hide what round trips cost.")


def _crawl_cells(one: MeasuredCrawl | ModelledCrawl, base: float) -> tuple[str, ...]:
    from ipmicra.lab.crawls.measured import ModelledCrawl

    model = f"{one.model_pages_per_s:.1f}"
    if isinstance(one, ModelledCrawl):
        return (one.policy, "not run", model, *[""] * 6)
    return (
        one.policy,
        f"{one.pages_per_s:.1f}",
        model,
        f"{one.difference:+.0%}",
        f"{one.mean_rtt_ms:.0f} ms",
        f"{one.pages_per_s / base:.2f} x",
        f"{one.foreign_links:,}",
        str(one.duplicates),
        str(one.robots_violations),
    )


def winners(outcome: DemoResult) -> list[str]:
    """Say where the hash beats nearness: by the model for the whole list, and in the crawl."""
    from ipmicra.lab.crawls.measured import MeasuredCrawl

    lines = [
        f"Site hash wins against `{row.policy}` by the model, {row.against_hash:.2f} x: "
        f"the busiest crawler has {row.busiest:.1f} x the mean."
        for row in outcome.rows
        if row.against_hash < 1 and row.policy in {"predict", "predict + fair load"}
    ]
    done = [one for one in outcome.crawls if isinstance(one, MeasuredCrawl)]
    lines += [
        f"Site hash wins against `{one.policy}` in the crawl, {one.pages_per_s / done[-1].pages_per_s:.2f} x."
        for one in done
        if one.pages_per_s < done[-1].pages_per_s
    ]
    return lines


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
    from ipmicra.lab.demo.run import url_of

    result = max(outcome.results.values(), key=lambda one: one.probes)
    own = [*_program(), "--home", str(files.folder)]
    token = ["--token-file", str(files.token), "--first-rung", "head"]
    words = [
        [*own, "explain", result.host],
        [*own, "lookup", str(result.address)],
        [*own, "probe", url_of(result.host, outcome.port), "--from", "all", *token],
        [*own, "crawler", "list"],
        [*own, "delegate", str(files.seeds), "--policy", "paper", *token],
        [*own, "assign", str(files.seeds), "--pages", str(files.pages)],
        [*own, "crawler", "measure", "--port", str(outcome.port), *token],
        [*own, "probe", url_of(result.host, outcome.port), "--from", "landmarks", *token],
        [*own, "assign", str(files.seeds), "--pages", str(files.pages), "--backend", "can"],
        [*own, "evaluate", str(files.world)],
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
        signal.raise_signal(signal.SIGINT)  # an event loop that runs knows how to end on it

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
