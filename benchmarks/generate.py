"""Generate big dumps for benchmarks: invented, but with the sizes, shares and repetitions of real ones.

    python -m benchmarks.generate ripe /tmp/ripe.gz --objects 1500000 --seed 1

Text is made on one thread and compressed on another, as one gzip stream of zlib's level 6: real dumps are
written by gzip at its usual levels, and how fast a dump can be decompressed depends on that. Measured with
seed 1: ripe 802 bytes a paragraph, 10.2:1; apnic 451, 7.2:1; arin 407, 6.9:1; lacnic 382, 6.2:1; statistics
73 bytes a line, 7.7:1. A gigabyte of ripe or apnic takes some 30 to 40 s of processor time.
"""

from __future__ import annotations

import argparse
import queue
import threading
import zlib
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.dump_rows import Fault, Row
from benchmarks.dump_styles import STYLES, Style
from benchmarks.invented_text import CLOCKS, DAYS, LINES, Holder, Vocabulary
from benchmarks.nested_ranges import IPV4, IPV6, Nest, cut_short, grown, ipv4_pools, joined, pools_of, subnets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["Shares", "Summary", "generate", "subnets"]

BATCH = 20_000
"""Paragraphs that are drawn and written at a time."""
ZLIB_LEVEL = 6
CHANCES = ("foreign", "continued", "own_contact", "own_remark", "geo", "with_organisation")
"""Shares that are drawn for each registration on its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How much of a dump is what; all are shares of the registrations unless they say otherwise."""

    organisations: float = 0.03
    """Of all paragraphs, in the styles that have them."""
    ipv6: float = 0.15
    not_prefix: float = 0.015
    """Of the IPv4 ranges."""
    duplicate: float = 0.002
    overlap: float = 0.002
    reversed: float = 0.001
    host_bits: float = 0.001
    out_of_range: float = 0.0005
    leading_zero: float = 0.0005
    foreign: float = 0.01
    """With letters outside ASCII."""
    continued: float = 0.01
    with_organisation: float = 0.24
    """Of those that are no allocation; an allocation always names one."""
    modified: float = 0.5
    """Changed after the day they were made."""
    own_contact: float = 0.3
    own_remark: float = 0.15
    geo: float = 0.005
    run: float = 20.0
    """Paragraphs of one holder in a row, on average."""


FIRST_SHAPE = 101
"""Seeds from here on also vary what a dump is made of."""


def shares_of(seed: int) -> Shares:
    """Return the usual shares, or for seeds from `FIRST_SHAPE` on others: a third to three times as much."""
    if seed < FIRST_SHAPE:
        return Shares()
    rng, usual = np.random.default_rng(seed), Shares()
    drawn = {
        name: min(0.9, getattr(usual, name) * 3.0 ** rng.uniform(-1, 1))
        for name in ("organisations", "ipv6", "with_organisation", "own_contact", "own_remark", "continued")
    }
    return replace(usual, run=usual.run * 3.0 ** rng.uniform(-1, 1), **drawn)


@dataclass(slots=True, kw_only=True)
class Summary:
    """What was written."""

    objects: int = 0
    bytes_plain: int = 0
    bytes_gz: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    """How many paragraphs are of a kind; one may be of several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Who appears in a dump."""

    holders: list[Holder]
    organisations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All registrations of a dump as columns, in the order of the dump."""

    nest: Nest
    family: NDArray[np.int8]
    last: NDArray[np.uint64]
    faults: NDArray[np.int8]
    """Members of `Fault`."""
    kinds: dict[str, NDArray[np.bool_]]

    def __len__(self) -> int:
        """Count the registrations."""
        return len(self.nest)

    def ordered(self, rows: NDArray[np.int64]) -> Plan:
        """Return some of the registrations in another order."""
        return Plan(
            nest=self.nest.taken(rows),
            family=self.family[rows],
            last=self.last[rows],
            faults=self.faults[rows],
            kinds={name: column[rows] for name, column in self.kinds.items()},
        )


def plan_ranges(rng: np.random.Generator, style: Style, count: int, shares: Shares) -> Plan:
    """Draw the ranges of both families; some twice, some moved by half their size onto a neighbour."""
    twice, moved, six = (
        max(1, round(count * share)) for share in (shares.duplicate, shares.overlap, shares.ipv6)
    )
    wanted = count - six - twice - moved
    four = grown(rng, ipv4_pools(rng, style.octets, wanted), wanted, IPV4)
    last, is_cut = cut_short(rng, four, shares.not_prefix)
    again = rng.integers(0, wanted, twice)
    onto = moved_by_half(four.taken(rng.choice(np.flatnonzero(four.is_leaf & (four.bits > 1)), moved)))
    pool6 = (np.uint64(style.pool6) << np.uint64(52)) + (np.arange(256, dtype=np.uint64) << np.uint64(44))
    narrow = grown(rng, pools_of(pool6[: 1 + six // 500], 44), six, IPV6)
    part = np.repeat(np.arange(4), [wanted, twice, moved, six])
    return Plan(
        nest=joined([four, four.taken(again), onto, narrow]),
        family=np.where(part == 3, 6, 4).astype(np.int8),
        last=np.concatenate([last, last[again], onto.last, narrow.last]),
        faults=np.zeros(count, np.int8),
        kinds={
            "duplicate": part == 1,
            "overlap": part == 2,
            "inet6num": part == 3,
            "not_prefix": np.concatenate([is_cut, is_cut[again], np.zeros(moved + six, np.bool_)]),
        },
    )


def moved_by_half(nest: Nest) -> Nest:
    """Move ranges so that each overlaps the place it had by half."""
    half = np.uint64(1) << (nest.bits.astype(np.uint64) - np.uint64(1))
    return Nest(first=nest.first + half, bits=nest.bits, owner=nest.owner, is_leaf=nest.is_leaf)


def in_runs(rng: np.random.Generator, owner: NDArray[np.int32], run: float) -> NDArray[np.int64]:
    """Order rows so that short runs of one owner follow each other, the runs at random."""
    by_owner = np.lexsort((rng.random(len(owner)), owner))
    starts = rng.random(len(owner)) < 1 / run
    return by_owner[np.argsort(rng.random(len(owner))[np.cumsum(starts) - 1], kind="stable")]


def draw_faults(rng: np.random.Generator, style: Style, plan: Plan, shares: Shares) -> NDArray[np.int8]:
    """Draw what is wrong with the texts of ranges, as far as the style and the range can have it."""
    faults = np.zeros(len(plan), np.int8)
    has_short_octet = (plan.nest.first & np.uint64(255)) < 100
    for fault in sorted(style.faults | style.faults6):
        can4 = (plan.family == 4) & (fault in style.faults)
        can6 = (plan.family == 6) & (fault in style.faults6)
        can = (can4 | can6) & (faults == Fault.NONE) & (has_short_octet | (fault != Fault.LEADING_ZERO))
        wanted = round(len(plan) * float(getattr(shares, fault.name.lower())))
        faults[rng.permutation(np.flatnonzero(can))[:wanted]] = fault
    return faults


def rank_of(plan: Plan) -> NDArray[np.int64]:
    """Tell from its size what a range is: a registry's block, an allocation, a part of one, an assignment."""
    limits = np.where((plan.family == 4)[:, None], [20, 13, 8], [39, 31, 15])
    return np.asarray((plan.nest.bits[:, None] <= limits).sum(axis=1))


def draw_rows(
    rng: np.random.Generator, plan: Plan, cast: Cast, shares: Shares
) -> tuple[Iterator[Row], Counter[str]]:
    """Draw all that a batch of registrations says besides its ranges; also count what was drawn."""
    count, rank = len(plan), rank_of(plan)
    chance = {name: rng.random(count) < getattr(shares, name) for name in CHANCES}
    named = chance["with_organisation"] | (rank < 2)
    owner = plan.nest.owner.astype(np.int64) % len(cast.holders)
    organisation = (owner * 5 + rng.integers(0, 4, count)) % max(1, cast.organisations)
    created = (owner * 37 + rng.geometric(0.02, count)) % (DAYS - 1500)
    later = rng.integers(0, 1500, count) * (rng.random(count) < shares.modified)
    columns = (
        plan.family, plan.nest.first, plan.last, plan.nest.bits, rank, plan.faults,
        np.array([cast.holders[i] for i in owner.tolist()], object),
        np.where(named, organisation, -1), rng.integers(0, 10**6, count), rng.integers(0, LINES, count),
        np.minimum(4, rng.geometric(0.55, count)), created, created + later, rng.integers(0, CLOCKS, count),
        chance["foreign"], chance["continued"], chance["own_contact"], chance["own_remark"],
        np.where(chance["geo"], rng.integers(1, 4, count), 0),
    )  # fmt: skip
    drawn = {**plan.kinds, **{name: chance[name] for name in ("foreign", "continued", "geo")}}
    drawn |= {"with_organisation": named, "inetnum": plan.family == 4}
    drawn |= {fault.name.lower(): plan.faults == fault for fault in Fault if fault}
    counts = Counter({name: int(column.sum()) for name, column in drawn.items()})
    return map(Row._make, zip(*(column.tolist() for column in columns), strict=True)), counts


def texts(style: Style, objects: int, seed: int, shares: Shares, summary: Summary) -> Iterator[bytes]:
    """Write the dump piece by piece and keep the summary up to date."""
    rng = np.random.default_rng(seed)
    words = Vocabulary(rng, style.countries)
    organisations = round(objects * shares.organisations) if style.organisation else 0
    plan = plan_ranges(rng, style, objects - organisations, shares)
    plan.faults[:] = draw_faults(rng, style, plan, shares)
    plan = plan.ordered(in_runs(rng, plan.nest.owner, shares.run))
    cast = Cast(holders=words.holders(max(3, min(20_000, objects // 100))), organisations=organisations)
    yield heading(style, plan)
    for start in range(0, len(plan), BATCH):
        batch = plan.ordered(np.arange(start, min(start + BATCH, len(plan))))
        rows, counts = draw_rows(rng, batch, cast, shares)
        summary.kinds.update(counts)
        yield "".join([f"{style.registration(row, words)}\n" for row in rows]).encode(style.encoding)
    yield from organisation_texts(style, cast, words)
    summary.kinds["organisation"] = organisations
    summary.objects = len(plan) + organisations
    for kind in style.lacks:
        del summary.kinds[kind]


def organisation_texts(style: Style, cast: Cast, words: Vocabulary) -> Iterator[bytes]:
    """Write the organisations, if the style has any."""
    if not style.organisation:
        return
    for start in range(0, cast.organisations, BATCH):
        numbers = range(start, min(start + BATCH, cast.organisations))
        holders = [cast.holders[number % len(cast.holders)] for number in numbers]
        pairs = zip(numbers, holders, strict=True)
        yield "".join([f"{style.organisation(*pair, words)}\n" for pair in pairs]).encode(style.encoding)


def heading(style: Style, plan: Plan) -> bytes:
    """Write the first lines of a dump."""
    if style is not STYLES["statistics"]:
        return b"#\n# An invented dump for benchmarks\n#\n\n"
    six = int((plan.family == 6).sum())
    lines = [
        f"2|ripencc|1|{len(plan)}|20010101|20260101|+0000",
        f"ripencc|*|ipv4|*|{len(plan) - six}|summary",
        f"ripencc|*|ipv6|*|{six}|summary",
    ]
    return "\n".join([*lines, ""]).encode()


def compress_all(chunks: queue.Queue[bytes | None], out_path: Path) -> None:
    """Compress chunks into one gzip stream until None comes; zlib leaves the time stamp 0."""
    packer = zlib.compressobj(ZLIB_LEVEL, zlib.DEFLATED, 31)
    with out_path.open("wb") as out:
        while (chunk := chunks.get()) is not None:
            out.write(packer.compress(chunk))
        out.write(packer.flush())


def generate(style: str, out_path: Path, objects: int, seed: int) -> Summary:
    """Write a dump with a number of paragraphs (lines, in statistics) and return its summary."""
    summary = Summary()
    chunks: queue.Queue[bytes | None] = queue.Queue(maxsize=4)
    packer = threading.Thread(target=compress_all, args=(chunks, out_path))
    packer.start()
    try:
        for chunk in texts(STYLES[style], objects, seed, shares_of(seed), summary):
            summary.bytes_plain += len(chunk)
            chunks.put(chunk)
    finally:
        chunks.put(None)
        packer.join()
    summary.bytes_gz = out_path.stat().st_size
    return summary


def main() -> None:
    """Generate a dump and print what is in it."""
    parser = argparse.ArgumentParser(description="Generate a big invented dump.")
    parser.add_argument("style", choices=sorted(STYLES))
    parser.add_argument("out", type=Path)
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    summary = generate(options.style, options.out, options.objects, options.seed)
    print(f"objects {summary.objects}, bytes {summary.bytes_plain}, compressed {summary.bytes_gz}")
    ratio = summary.bytes_plain / summary.bytes_gz
    print(f"{summary.bytes_plain / summary.objects:.0f} bytes a paragraph, {ratio:.1f}:1")
    for kind, count in sorted(summary.kinds.items()):
        print(f"{kind:>18} {count:>9} {count / summary.objects:8.3%}")


if __name__ == "__main__":
    main()
