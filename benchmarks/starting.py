"""What is paid at each start: importing, and the smallest build."""

from __future__ import annotations

import sys
from functools import partial

from benchmarks.bench import Bench
from benchmarks.measure import Times, children_time, run, side_by_side
from benchmarks.results import Row, Target, as_long, seconds_text, timed
from benchmarks.scratch import build_command

IMPORTS = {
    "`import ipmicra`": "import ipmicra",
    "`from ipmicra import Hierarchy`": "from ipmicra import Hierarchy",
    "the command line": "import ipmicra.cli.main",
    "the builder": "import ipmicra.app.build.build",
}
TINY = Target(sense="≤", limit=6.0)


def measure_importing(bench: Bench) -> list[Row]:
    """Time imports in fresh processes, less the start of Python."""
    bench.say("importing")
    codes = {"nothing": "pass", **IMPORTS}
    actions = {name: partial(run, [sys.executable, "-c", code]) for name, code in codes.items()}
    times = side_by_side(actions, bench.sizes.short_rounds, clock=children_time)
    nothing = times.pop("nothing")
    told = [f"processor time beyond `python -c pass`, which takes {seconds_text(nothing.median)}"]
    rows = [
        timed(f"importing {name}", _beyond(one, nothing), "ms", None, told) for name, one in times.items()
    ]
    return [*rows, _tiny_build_row(bench)]


def _beyond(times: Times, base: Times) -> Times:
    """Take away what was there before, round by round."""
    return Times(seconds=tuple(a - b for a, b in zip(times.seconds, base.seconds, strict=True)))


def _tiny_build_row(bench: Bench) -> Row:
    """Build from a dump of a few paragraphs: what the command costs before it does anything."""
    dump, output = bench.scratch.place("tiny.db"), bench.scratch.place("tiny.ipm")
    dump.write_text("".join(f"inetnum: 10.{i}.0.0/16\nnetname: N{i}\n\n" for i in range(200)))
    times = side_by_side(
        {
            "build": partial(run, build_command([dump], output)),
            "numpy": partial(run, [sys.executable, "-c", "import numpy"]),
        },
        bench.sizes.short_rounds,
        clock=children_time,
    )
    figures = [f"{name} {seconds_text(one.median)} of processor time" for name, one in times.items()]
    what = '`ipmicra build` of a tiny dump, × the time of `python -c "import numpy"`'
    return as_long(what, times["build"], times["numpy"], TINY, figures)
