"""Run every kernel on a handful of bytes and print the processor time it took, as JSON.

Run by `benchmarks.starting` in a fresh Python, with a cache of its own.
"""

from __future__ import annotations

import json
import time

import numpy as np

from ipmicra.app.build.kernels import warm_up
from ipmicra.hierarchy.assemble import assemble
from ipmicra.hierarchy.encode import encode
from ipmicra.hierarchy.hierarchy import Hierarchy
from ipmicra.hierarchy.many import WORTH_COMPILING
from ipmicra.model.registry import Registry
from ipmicra.parse.dialect import Dialect
from ipmicra.parse.parser import parse_bytes


def small_hierarchy() -> Hierarchy:
    """Build a hierarchy of one subnet in memory."""
    columns = parse_bytes(b"inetnum: 192.0.2.0/24\n", Dialect.RPSL, Registry.RIPE)
    return Hierarchy(b"".join(encode(assemble(columns).sections, {}).pieces()))


def main() -> None:
    """Time the kernels of a build, then those of a look-up."""
    start = time.process_time()
    warm_up()
    build_s = time.process_time() - start
    hierarchy = small_hierarchy()
    start = time.process_time()
    hierarchy.lookup_many(np.zeros(WORTH_COMPILING, np.uint32))
    hierarchy.lookup_many(np.ones((WORTH_COMPILING, 2), np.uint64))
    print(json.dumps({"build_s": build_s, "lookup_s": time.process_time() - start}))


if __name__ == "__main__":
    main()
