"""Measure ipmicra beside its peers: `python -m benchmarks --help`."""

from __future__ import annotations

import datetime
import os
import signal
import sys
import traceback
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, replace

from benchmarks.bench import Bench
from benchmarks.compare import changes, misses, remembering
from benchmarks.groups import GROUPS, list_text
from benchmarks.machine import Moment, commit_of, machine_facts
from benchmarks.measure import ROOT
from benchmarks.options import read_options
from benchmarks.report import closing_text, page
from benchmarks.scratch import Scratch
from benchmarks.sizes import FULL, QUICK
from benchmarks.stored import Group, load, save
from ipmicra.edge.hierarchy_file import write_atomically

RESULTS, PAGE = ROOT / "benchmarks" / "results.json", ROOT / "benchmarks" / "RESULTS.md"
FAILED, FOUND, INTERRUPTED = 1, 3, 130
ALL_WELL = "All targets are met, and nothing regressed since the previous run."


def say(message: str) -> None:
    """Print a progress message."""
    print(f"bench: {message}", file=sys.stderr, flush=True)


def measured(name: str, bench: Bench, commit: str, before: Group | None) -> Group:
    """Measure one group and compare it with the previous run; on failure keep the old rows and the reason."""
    about = GROUPS[name]
    load_before, start = os.getloadavg()[0], Moment.now()
    group = Group(
        title=about.title,
        measured=datetime.datetime.now(datetime.UTC).date().isoformat(),
        machine=machine_facts(),
        sizes=asdict(bench.sizes),
        rows=(),
        commit=commit,
        load=load_before,
    )
    try:
        rows = about.measure(bench)
    except Exception as error:  # noqa: BLE001 - an hour of other measurements must not be lost
        traceback.print_exc()
        return replace(before or group, failure=f"{type(error).__name__}: {str(error)[-500:]}")
    end = Moment.now()
    group = replace(
        group,
        rows=tuple(rows),
        seconds=end.elapsed - start.elapsed,
        processor_s=end.own - start.own,
        others_cores=start.others_cores(end),
    )
    return remembering(group, before)


def write(groups: Mapping[str, Group]) -> None:
    """Write both files atomically, in the order of the page."""
    ordered = {name: groups[name] for name in GROUPS if name in groups}
    save(ordered, RESULTS)
    write_atomically(PAGE, [page(ordered).encode()])


def measure_all(options: Namespace, done: dict[str, Group]) -> None:
    """Measure group by group; each result is added to `done` and written at once."""
    sizes = QUICK if options.quick else FULL
    bench = Bench(scratch=Scratch(options.scratch.resolve(), say), sizes=sizes, say=say)
    commit, stored = commit_of(), {} if options.quick else load(RESULTS)
    try:
        for number, name in enumerate(options.groups, 1):
            say(f"{name}, {number} of {len(options.groups)}")
            done[name] = measured(name, bench, commit, stored.get(name))
            say(f"{name}: {took_text(done[name])}")
            if not options.quick:
                write({**stored, **done})
    finally:
        if not options.keep:
            bench.scratch.tidy()


def took_text(group: Group) -> str:
    """Return how long a group took, and how busy other processes were meanwhile."""
    if group.failure or group.seconds is None:
        return f"failed: {group.failure}"
    others = "" if group.others_cores is None else f", others used {group.others_cores:.1f} cores"
    return f"{group.seconds:.0f} s, {group.processor_s or 0:.0f} s of the processor{others}"


def exit_code(options: Namespace, groups: Mapping[str, Group]) -> int:
    """Return the exit code for measured groups."""
    if any(group.failure for group in groups.values()):
        return FAILED
    is_worse = any(change.is_worse for change in changes(groups))
    return FOUND if options.check and (is_worse or misses(groups)) else 0


def print_summary(options: Namespace, done: Mapping[str, Group]) -> None:
    """Print the page of the measured groups, notable changes, and how long each group took."""
    if options.quick or len(options.groups) < len(GROUPS):
        print(page(done))
    if options.quick:
        print("Small sizes: targets are shown but do not apply to them.")
    else:
        print(closing_text(done) or ALL_WELL)
    for name, group in done.items():
        print(f"{name:<12} {took_text(group)}")
    total = sum(group.seconds or 0 for group in done.values())
    print(f"{'all':<12} {total:.0f} s")


def main() -> int:
    """Run `bin/bench`."""
    options = read_options()
    if options.list:
        stored = load(RESULTS)
        print(list_text({name: group.seconds for name, group in stored.items() if group.seconds}))
        return 0
    if options.page:
        stored = load(RESULTS)
        write_atomically(PAGE, [page(stored).encode()])
        chosen = {name: group for name, group in stored.items() if name in options.groups}
        print(closing_text(chosen) or ALL_WELL)
        return exit_code(options, chosen)
    done: dict[str, Group] = {}
    try:
        measure_all(options, done)
    except KeyboardInterrupt:
        left = [name for name in options.groups if name not in done]
        print_summary(options, done)
        say(f"interrupted; continue with: bin/bench {'--quick ' if options.quick else ''}{' '.join(left)}")
        return INTERRUPTED
    print_summary(options, done)
    return exit_code(options, done)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a terminated run keeps what it measured
    sys.exit(main())
