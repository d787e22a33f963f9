"""Shared by all groups: sizes, scratch folder, and hierarchies that several of them use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.ranges_dump import write_ranges
from benchmarks.scratch import Dump, Scratch, build_hierarchy
from benchmarks.sizes import Sizes

SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One run of the benchmarks."""

    scratch: Scratch
    sizes: Sizes
    say: Callable[[str], None]

    def dump(self, style: str) -> Dump:
        """Return the dump of a style, for reading and building."""
        return self.scratch.dump(style, self.sizes.dumps[style], SEED)

    def hierarchy(self, style: str) -> Path:
        """Return the hierarchy of one dump."""
        dump = self.dump(style)
        return self.scratch.made(f"{dump.path.stem}.ipm", lambda path: build_hierarchy([dump.path], path))

    def large_dumps(self) -> list[Dump]:
        """Return the dumps of ten million subnets; seeds differ from those of the other dumps."""
        return [
            self.scratch.dump(style, objects, SEED + 1 + number)
            for number, (style, objects) in enumerate(self.sizes.large.items())
        ]

    def large_place(self) -> str:
        """Name the hierarchy of ten million subnets."""
        return f"large-{self.sizes.large_subnets}.ipm"

    def large_hierarchy(self) -> Path:
        """Return the hierarchy of ten million subnets."""
        dumps = self.large_dumps()
        return self.scratch.made(
            self.large_place(), lambda path: build_hierarchy([dump.path for dump in dumps], path)
        )

    def shared_hierarchy(self) -> Path:
        """Return the hierarchy for comparisons with peers: ranges and hardly any text."""
        count4, count6 = self.sizes.subnets4, self.sizes.subnets6
        name = f"ranges-{count4}-{count6}"
        text = self.scratch.made(f"{name}.db", lambda path: write_ranges(path, count4, count6, SEED))
        return self.scratch.made(f"{name}.ipm", lambda path: build_hierarchy([text], path))
