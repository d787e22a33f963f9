"""What is paid once or at each start: compiling kernels, loading them, importing."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import Times, children_time, run, side_by_side
from benchmarks.results import Row, seconds_text, timed

IMPORTS = {
    "`import ipmicra`": "import ipmicra",
    "`from ipmicra import Hierarchy`": "from ipmicra import Hierarchy",
    "the command line": "import ipmicra.cli.main",
    "the builder, numba included": "import ipmicra.app.build.build",
}
_CHILD = "benchmarks.child_compile"


def measure_importing(bench: Bench) -> list[Row]:
    """Time imports in fresh processes, less the start of Python."""
    bench.say("importing")
    codes = {"nothing": "pass", **IMPORTS}
    actions = {name: partial(run, [sys.executable, "-c", code]) for name, code in codes.items()}
    times = side_by_side(actions, bench.sizes.short_rounds, clock=children_time)
    nothing = times.pop("nothing")
    note = [f"processor time beyond `python -c pass`, which takes {seconds_text(nothing.median)}"]
    return [
        timed(f"importing {name}", _beyond(one, nothing), "ms", None, note) for name, one in times.items()
    ]


def _beyond(times: Times, base: Times) -> Times:
    """Take away what was there before, round by round."""
    return Times(seconds=tuple(a - b for a, b in zip(times.seconds, base.seconds, strict=True)))


def measure_compiling(bench: Bench) -> list[Row]:
    """Compile all kernels once, into an empty cache; then load them from there."""
    bench.say("compiling kernels; a minute or two")
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        compiled, loaded = (json.loads(run([sys.executable, "-m", _CHILD], environment)) for _ in range(2))
        files = [file for file in Path(cache).rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files)
    return [
        timed(f"{verb} the kernels of {part}", Times(seconds=(seconds[key],)), "s", None, figures)
        for verb, seconds, figures in (
            (
                "compiling",
                compiled,
                [f"processor time, once; cache of {len(files)} files, {size / 1e6:.1f} MB in all"],
            ),
            ("loading", loaded, ["processor time, in each process that needs them"]),
        )
        for part, key in (("`build`", "build_s"), ("`lookup_many`", "lookup_s"))
    ]
