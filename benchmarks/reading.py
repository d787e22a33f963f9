"""From a compressed dump to columns of registrations, beside zcat and other readers."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from io import BufferedIOBase
from pathlib import Path

from benchmarks import irrd_peer
from benchmarks.bench import Bench
from benchmarks.measure import Times, run_to_nowhere, side_by_side
from benchmarks.results import Row, Target, against, number_text, seconds_text
from benchmarks.scratch import Dump
from ipmicra.edge.dumps.reading import inspect, read_dump

TARGETS = {
    "ripe": Target(sense="≥", limit=3.5, aim="4.7 ×"),
    "apnic": Target(sense="≥", limit=2.8, aim="3.6 ×"),
}
SHAPES = (101, 102, 103)
"""Seeds of dumps with other shares of remarks, organisations and long values."""
READ_BYTES = 2 << 20


def measure_reading(bench: Bench) -> list[Row]:
    """Read a dump of each style."""
    rows = [row for style, target in TARGETS.items() for row in _of_style(bench, bench.dump(style), target)]
    return [*rows, *(_shape_row(bench, style, seed) for style in TARGETS for seed in SHAPES)]


def _shape_row(bench: Bench, style: str, seed: int) -> Row:
    """Read a smaller dump of another shape, so that no figure depends on one text."""
    dump = bench.scratch.dump(style, bench.sizes.dumps[style] // 4, seed)
    times = side_by_side(
        {"ipmicra": lambda: read_dump(inspect(dump.path)), "zcat": lambda: zcat(dump.path)},
        bench.sizes.rounds,
    )
    figures = [f"{dump.plain_bytes / dump.objects:.0f} bytes per paragraph"]
    what = f"gz → columns ({style}, shape {seed}), × zcat"
    return against(what, times["ipmicra"], times["zcat"], None, figures)


def zcat(*paths: Path) -> None:
    """Decompress as `zcat dump.gz > /dev/null` does, one dump after the other."""
    for path in paths:
        run_to_nowhere([shutil.which("gzcat") or "zcat", path])


def _of_style(bench: Bench, dump: Dump, target: Target) -> list[Row]:
    """Let all readers of one dump take turns."""
    bench.say(f"reading {dump.label}")
    path = dump.path
    actions: dict[str, Callable[[], object]] = {
        "ipmicra": lambda: read_dump(inspect(path)),
        "zcat": lambda: zcat(path),
        "gzip": lambda: _to_end(gzip.GzipFile(path)),
    }
    try:
        igzip_file = import_module("isal.igzip").IGzipFile
        actions["igzip"] = lambda: _to_end(igzip_file(path))
    except ImportError:
        bench.say("isal is not installed: igzip is left out")
    times = side_by_side(actions, bench.sizes.rounds)
    speeds = _speeds(dump, times)
    columns = read_dump(inspect(path))
    what = f"gz → columns ({dump.label}), × zcat"
    note = (
        f"{columns.tally.paragraphs:,} paragraphs, {len(columns.rows4) + len(columns.rows6):,} registrations"
    )
    del columns
    rows = [against(what, times["ipmicra"], times["zcat"], target, [*speeds.values(), note])]
    for name, title in (("igzip", "igzip alone, no parsing"), ("gzip", "Python's gzip alone, no parsing")):
        if name in times:
            alone = against(
                f"{dump.style}: {title}, × zcat", times[name], times["zcat"], None, [speeds[name]]
            )
            rows.append(replace(alone, is_of_peer=True))
        else:
            rows.append(Row(what=f"{dump.style}: {title}, × zcat", missing="isal is not installed"))
    return [*rows, _loop_row(bench, dump, times["zcat"]), _irrd_row(bench, dump, times["zcat"])]


def _to_end(stream: BufferedIOBase) -> None:
    """Read all there is into one buffer, again and again."""
    buffer = bytearray(READ_BYTES)
    with stream:
        while stream.readinto(buffer):
            pass


def _speeds(dump: Dump, times: dict[str, Times]) -> dict[str, str]:
    """Write each reader's time and speed in plain bytes."""
    return {
        name: f"{name} {seconds_text(one.median)}, {number_text(dump.plain_bytes / one.median / 1e6)} MB/s"
        for name, one in times.items()
    }


def _head(dump: Dump, size: int) -> bytes:
    """Return the first part of a dump's text, up to a blank line."""
    with gzip.open(dump.path) as stream:
        text = stream.read(size)
    return text[: text.rfind(b"\n\n") + 2]


def _parse_plainly(text: bytes) -> list[dict[bytes, bytes]]:
    """Split paragraphs and lines in the simplest way."""
    registrations = []
    for paragraph in text.split(b"\n\n"):
        attributes: dict[bytes, bytes] = {}
        for line in paragraph.split(b"\n"):
            key, _, value = line.partition(b":")
            attributes.setdefault(key, value.strip())
        registrations.append(attributes)
    return registrations


def _loop_row(bench: Bench, dump: Dump, zcat_times: Times) -> Row:
    """Time a plain loop over text that is in memory already."""
    text = _head(dump, bench.sizes.loop_bytes)
    times = side_by_side({"loop": lambda: _parse_plainly(text)}, bench.sizes.rounds)["loop"]
    figures = [
        f"{number_text(len(text) / times.median / 1e6)} MB/s",
        f"extrapolated from the first {number_text(len(text) / 1e6)} MB; without decompression",
    ]
    whole = times.scaled(dump.plain_bytes / len(text))
    row = against(f"{dump.style}: plain loop of Python, × zcat", whole, zcat_times, None, figures)
    return replace(row, is_of_peer=True)


def _irrd_row(bench: Bench, dump: Dump, zcat_times: Times) -> Row:
    """Time IRRd's parser over text that is in memory already."""
    what = f"{dump.style}: IRRd's RPSL parser, × zcat"
    text = bench.scratch.made(
        f"head-{dump.style}.txt", lambda path: path.write_bytes(_head(dump, bench.sizes.irrd_bytes))
    )
    try:
        parsed = irrd_peer.parse(bench, text)
    except irrd_peer.NoIrrdError as error:
        return Row(what=what, missing=str(error))
    figures = [
        f"irrd {parsed.version}: {number_text(parsed.size_bytes / parsed.times.median / 1e6)} MB/s",
        f"extrapolated from the first {number_text(parsed.size_bytes / 1e6)} MB; without decompression",
        f"of {parsed.paragraphs:,} paragraphs {parsed.with_errors:,} with errors, {parsed.unknown:,} unknown",
    ]
    whole = parsed.times.scaled(dump.plain_bytes / parsed.size_bytes)
    return replace(against(what, whole, zcat_times, None, figures), is_of_peer=True)
