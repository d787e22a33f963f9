"""The whole of `ipmicra build`, as a command: speed, memory, and the size of what it writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import peak_memory, run, side_by_side
from benchmarks.reading import zcat
from benchmarks.results import Row, Target, against, number_text, seconds_text
from benchmarks.scratch import Dump, build_command
from ipmicra import Hierarchy

SPEED = {
    ("ripe",): Target(sense="≥", limit=2.0, aim="3 ×"),
    ("apnic",): Target(sense="≥", limit=1.6, aim="3 ×"),
}
SEVERAL = Target(sense="≥", limit=1.8, aim="3 ×")
MEMORY = Target(sense="<", limit=2.5, aim="1.5 GB")
SIZE = Target(sense="≤", limit=64)


def measure_building(bench: Bench) -> list[Row]:
    """Build from one dump, and from five at once."""
    choices = (("ripe",), ("apnic",), tuple(bench.sizes.dumps))
    return [_speed_row(bench, [bench.dump(style) for style in styles]) for styles in choices]


def _speed_row(bench: Bench, dumps: Sequence[Dump]) -> Row:
    """Let the command and zcat take turns; the command pays for the start of Python each time."""
    output = bench.scratch.place("built.ipm")
    paths = [dump.path for dump in dumps]
    plain = sum(dump.plain_bytes for dump in dumps)
    objects = sum(dump.objects for dump in dumps)
    label = dumps[0].label
    if len(dumps) > 1:
        label = f"{len(dumps)} dumps at once: {plain / 1e9:.2f} GB plain, {objects:,} objects"
    target = SPEED.get(tuple(dump.style for dump in dumps), SEVERAL)
    bench.say(f"building from {label}")
    times = side_by_side(
        {
            "ipmicra build": lambda: run(build_command(paths, output)),
            "zcat": lambda: zcat(*paths),
        },
        bench.sizes.command_rounds,
        untimed=0 if bench.sizes.is_quick else 1,
    )
    figures = [
        f"{name} {seconds_text(one.median)}, {number_text(plain / one.median / 1e6)} MB/s"
        for name, one in times.items()
    ]
    figures.append(f"{output.stat().st_size / 1e6:,.1f} MB written")
    return against(
        f"`ipmicra build` ({label}), × zcat", times["ipmicra build"], times["zcat"], target, figures
    )


def measure_memory(bench: Bench) -> list[Row]:
    """Measure peak memory while building ten million subnets."""
    dumps = bench.large_dumps()
    bench.say("watching the memory of a large build")
    output = bench.scratch.place(bench.large_place())
    peak = peak_memory(build_command([dump.path for dump in dumps], output))
    count = subnets_in(output)
    wanted = bench.sizes.large_subnets
    figures = [
        f"ru_maxrss {peak.own_bytes / 1e9:.2f} GB",
        f"VmHWM {peak.high_water_bytes / 1e9:.2f} GB",
        f"all {peak.processes} processes together {peak.together_bytes / 1e9:.2f} GB",
        f"{seconds_text(peak.seconds)} for {sum(dump.plain_bytes for dump in dumps) / 1e9:.2f} GB plain",
        f"{peak.total_bytes / count:,.0f} bytes a subnet",
    ]
    what = f"peak memory of `ipmicra build`, {count:,} subnets from {len(dumps)} dumps"
    if count < wanted:
        return [
            Row(
                what=what,
                target=MEMORY,
                unit="GB",
                missing=f"only {count:,} subnets where {wanted:,} were wanted",
            )
        ]
    value = peak.total_bytes / 1e9
    row = Row(what=what, value=value, unit="GB", target=MEMORY, figures=tuple(figures))
    return [replace(row, key="peak memory of `ipmicra build`")]


def measure_size(bench: Bench) -> list[Row]:
    """Measure the size of the files."""
    files = {style: bench.hierarchy(style) for style in ("ripe", "apnic")}
    return [_size_row(name, path) for name, path in [*files.items(), ("large", bench.large_hierarchy())]]


def _size_row(name: str, path: Path) -> Row:
    size, count = path.stat().st_size, subnets_in(path)
    return Row(
        what=f"size on disk, {name}, {count:,} subnets",
        value=size / count,
        unit="bytes a subnet",
        target=SIZE,
        figures=(f"{size / 1e6:,.1f} MB",),
        key=f"size on disk, {name}",
        is_exact=True,
    )


def subnets_in(path: Path) -> int:
    """Return the number of registered subnets."""
    with Hierarchy.open(path) as hierarchy:
        return int(hierarchy.meta["subnets"])
