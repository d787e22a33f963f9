"""Kernels that were never compiled on this machine, compiled side by side in processes of their own.

The compiler uses one processor. Processes for groups of kernels, as many at a time as there are processors,
fill the cache that all read.
Run as a module it compiles the groups that it is given: `python -m ipmicra.app.build.compiling hierarchy`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from inspect import getsourcefile
from pathlib import Path
from typing import Any

from ipmicra.app.build.kernels import MESSAGE, warm_up
from ipmicra.parse.dialect import Dialect
from ipmicra.parse.parser import parse_bytes

PARAGRAPHS, STATISTICS, HIERARCHY, AUCTION = "paragraphs", "statistics", "hierarchy", "auction"
LONGEST_FIRST = (PARAGRAPHS, HIERARCHY, STATISTICS, AUCTION)
STOP_S = 5.0
"""How long a process may take to end when it is told to."""


def group_of(dialect: Dialect) -> str:
    """Name the kernels that read a dialect."""
    return STATISTICS if dialect in {Dialect.STATISTICS, Dialect.IANA} else PARAGRAPHS


def compile_missing(groups: Iterable[str], say: Callable[[str], None] = lambda _message: None) -> None:
    """Compile what no earlier run has compiled, if there is more than one group and processor for it.

    What cannot be compiled this way is left to whoever calls a kernel first.
    """
    wanted = set(groups)
    missing = [group for group in LONGEST_FIRST if group in wanted and not is_compiled(group)]
    processors = os.cpu_count() or 1
    if len(missing) < 2 or processors < 2:  # noqa: PLR2004 - nothing to do side by side
        return
    say(MESSAGE)
    children: list[subprocess.Popen[bytes]] = []
    pool = ThreadPoolExecutor(processors)
    try:
        list(pool.map(lambda group: _compiled(group, children), missing))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in children:
            _stop(child)


def _compiled(group: str, children: list[subprocess.Popen[bytes]]) -> None:
    child = subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", "ipmicra.app.build.compiling", group],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    children.append(child)
    child.wait()


def _stop(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(STOP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def is_compiled(group: str) -> bool:
    """Tell whether the cache has a group's last kernel, made after its source."""
    dispatcher = _last_kernel(group)
    function = dispatcher.py_func
    source = Path(getsourcefile(function) or "")
    kept = Path(dispatcher.stats.cache_path).glob(f"{source.stem}.{function.__qualname__}-*.nbi")
    return any(path.stat().st_mtime > source.stat().st_mtime for path in kept)


def _last_kernel(group: str) -> Any:  # noqa: ANN401 - numba is untyped
    """Give the kernel that is compiled last of a group, for it calls the others."""
    if group == PARAGRAPHS:
        from ipmicra.parse.kernels.paragraphs import read_paragraphs as kernel
    elif group == STATISTICS:
        from ipmicra.parse.kernels.statistics import read_statistics as kernel
    elif group == HIERARCHY:
        from ipmicra.hierarchy.kernels.index import index_segments as kernel
    else:
        from ipmicra.assign.balance.kernels.auction import auction as kernel
    return kernel


def compile_group(group: str) -> None:
    """Compile the kernels of a group by using them on next to nothing."""
    if group == PARAGRAPHS:
        parse_bytes(b"inetnum: 192.0.2.0 - 192.0.2.255\n", Dialect.RPSL)
    elif group == STATISTICS:
        parse_bytes(b"arin|US|ipv4|192.0.2.0|256|20200101|assigned\n", Dialect.STATISTICS)
        parse_bytes(b"Prefix,Designation\n192/8,ARIN\n", Dialect.IANA)
    elif group == HIERARCHY:
        warm_up()
    else:
        _auction()


def _auction() -> None:
    import numpy as np

    from ipmicra.assign.balance.auction.assigner import assign_sites
    from ipmicra.assign.balance.demand import Demand

    assign_sites(Demand(cost_ms=np.ones((2, 2)), load=np.ones(2), units=np.ones(2)))


if __name__ == "__main__":
    for word in sys.argv[1:]:
        compile_group(word)
