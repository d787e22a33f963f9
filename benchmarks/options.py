"""The command line of `bin/bench`."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.groups import GROUPS, TOPICS, UnknownGroupError, named

_EPILOG = f"""\
groups: {", ".join(GROUPS)}
topics: {", ".join(TOPICS)} (each selects its groups)

Real round trips and dumps are read from the folder named by IPMICRA_DATA; without it some rows are
missing. Results are written after each group: an interrupted run keeps what it has measured.

exit codes: 0 success, 1 a group failed, 2 wrong arguments, 3 --check found something, 130 interrupted
"""


def read_options(words: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line; `groups` lists the groups to measure, in the order of the page."""
    parser = argparse.ArgumentParser(
        prog="bin/bench",
        description="Measure ipmicra beside its peers and update benchmarks/RESULTS.md.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="the same as --only NAME...")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="measure these and keep the other results"
    )
    parser.add_argument("--skip", nargs="+", default=[], metavar="NAME", help="measure all but these")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, two minutes; prints the page and writes nothing"
    )
    parser.add_argument(
        "--check", action="store_true", help="exit with 3 if a target is missed or a figure regressed"
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="measure nothing; render the page from the stored results and print notable changes",
    )
    parser.add_argument("--list", action="store_true", help="list the groups and how long they take")
    default = Path(tempfile.gettempdir()) / "ipmicra-benchmarks"
    parser.add_argument(
        "--scratch", type=Path, default=default, metavar="DIR", help=f"folder for dumps; by default {default}"
    )
    parser.add_argument("--keep", action="store_true", help="also keep the files derived from the dumps")
    options = parser.parse_args(words)
    if options.quick and (options.check or options.page):
        parser.error("--quick writes nothing, and its sizes are too small for targets: no --check, no --page")
    try:
        options.groups = _chosen(options)
    except UnknownGroupError as error:
        parser.error(str(error))
    if not options.groups:
        parser.error("nothing is left to measure")
    return options


def _chosen(options: argparse.Namespace) -> list[str]:
    """Return the groups to measure, in the order of the page."""
    only, skipped = named([*options.names, *options.only]), named(options.skip)
    every = list(GROUPS)
    return [name for name in only or every if name not in skipped]
