"""Measure ipmicra beside its peers.

python -m benchmarks [NAME...] [--quick] [--only NAME...] [--scratch DIR] [--keep]
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.balance import measure_balance
from benchmarks.bench import Bench
from benchmarks.building import measure_building, measure_memory, measure_size
from benchmarks.coordinates import measure_coordinates
from benchmarks.delegation import measure_delegation
from benchmarks.keeping import measure_keeping
from benchmarks.locating import measure_locating
from benchmarks.looking_up import measure_grid, measure_many, measure_scalar
from benchmarks.machine import machine_facts
from benchmarks.measure import ROOT
from benchmarks.nesting import measure_nesting
from benchmarks.opening import measure_opening
from benchmarks.overlay import measure_overlay
from benchmarks.partitioning import measure_partitioning
from benchmarks.probing import measure_probing
from benchmarks.reading import measure_reading
from benchmarks.report import Group, load, page, save
from benchmarks.results import Row
from benchmarks.scratch import Scratch
from benchmarks.sizes import FULL, QUICK
from benchmarks.starting import measure_compiling, measure_importing

RESULTS, PAGE = ROOT / "benchmarks" / "results.json", ROOT / "benchmarks" / "RESULTS.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Something that can be measured by itself."""

    title: str
    measure: Callable[[Bench], list[Row]]
    is_long: bool = False
    """Takes long whatever the sizes; a quick run leaves it out unless it is named."""


MEASUREMENTS = {
    "reading": Measurement(title="Reading dumps", measure=measure_reading),
    "building": Measurement(title="Building, the whole command", measure=measure_building),
    "memory": Measurement(title="Memory of a build", measure=measure_memory),
    "size": Measurement(title="Size on disk", measure=measure_size),
    "opening": Measurement(title="Opening and first answer", measure=measure_opening),
    "many": Measurement(title="Looking up many at once", measure=measure_many),
    "scalar": Measurement(title="Looking up one by one", measure=measure_scalar),
    "grid": Measurement(title="Looking up: hit and miss, both families, one and many", measure=measure_grid),
    "nesting": Measurement(title="Nesting", measure=measure_nesting),
    "locate": Measurement(title="Locating", measure=measure_locating),
    "probing": Measurement(title="Probing, resolving, keeping samples", measure=measure_probing),
    "delegation": Measurement(title="Delegation", measure=measure_delegation),
    "coordinates": Measurement(title="Coordinates of hosts", measure=measure_coordinates),
    "overlay": Measurement(title="The overlay: joining and owners", measure=measure_overlay),
    "partition": Measurement(title="Partitioning whole lists", measure=measure_partitioning),
    "balance": Measurement(title="Fair load: churn and assigning", measure=measure_balance),
    "keeping": Measurement(title="Keeping what a batch writes", measure=measure_keeping),
    "importing": Measurement(title="Importing", measure=measure_importing),
    "compiling": Measurement(title="Compiling kernels", measure=measure_compiling, is_long=True),
}


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bin/bench", description="Measure ipmicra beside its peers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the same as --only NAME...")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, a minute; prints the page and writes nothing"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        choices=list(MEASUREMENTS),
        help=f"measure these again and keep the other results: {', '.join(MEASUREMENTS)}",
    )
    default = Path(tempfile.gettempdir()) / "ipmicra-benchmarks"
    parser.add_argument(
        "--scratch", type=Path, default=default, metavar="DIR", help=f"where dumps are kept; else {default}"
    )
    parser.add_argument("--keep", action="store_true", help="keep what is made of the dumps as well")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in MEASUREMENTS]
    if unknown:
        parser.error(f"there is no measurement {', '.join(unknown)}; there are {', '.join(MEASUREMENTS)}")
    options.only = [*options.names, *(options.only or [])]
    return options


def say(message: str) -> None:
    """Tell what is going on."""
    print(f"bench: {message}", file=sys.stderr, flush=True)


def measured(name: str, bench: Bench, day: str) -> Group:
    """Measure one thing; what fails is a row that says so."""
    chosen = MEASUREMENTS[name]
    start = time.perf_counter()
    try:
        rows = chosen.measure(bench)
    except Exception as error:  # noqa: BLE001 - an hour of other measurements must not be lost
        traceback.print_exc()
        rows = [Row(what=f"`{name}`", missing=f"it failed: {type(error).__name__}: {str(error)[-500:]}")]
    say(f"{name}: {time.perf_counter() - start:.0f} s")
    return Group(
        title=chosen.title, measured=day, machine=machine_facts(), sizes=asdict(bench.sizes), rows=tuple(rows)
    )


def chosen_names(options: argparse.Namespace) -> list[str]:
    """Give what is to be measured, in the order of the page."""
    if options.only:
        return [name for name in MEASUREMENTS if name in options.only]
    return [name for name in MEASUREMENTS if not (options.quick and MEASUREMENTS[name].is_long)]


def main() -> int:
    """Measure; results are written after each measurement, so that an interrupted run loses only the last."""
    options = arguments()
    bench = Bench(
        scratch=Scratch(options.scratch.resolve(), say), sizes=QUICK if options.quick else FULL, say=say
    )
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    stored = {} if options.quick else load(RESULTS)
    done: dict[str, Group] = {}
    try:
        for name in chosen_names(options):
            done[name] = measured(name, bench, day)
            every = {**stored, **done}
            every = {name: every[name] for name in MEASUREMENTS if name in every}
            if not options.quick:
                save(every, RESULTS, PAGE)
    finally:
        if not options.keep:
            bench.scratch.tidy()
    if options.quick or options.only:
        print(page(done))
    if options.quick:
        print("Small sizes: targets are shown, but are not meant for them.")
    return int(any(row.missing.startswith("it failed") for group in done.values() for row in group.rows))


if __name__ == "__main__":
    sys.exit(main())
