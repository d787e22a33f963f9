"""Import, then open a table and ask it for one address; print how long the second part took, as JSON.

Run by `benchmarks.opening` in a fresh Python; arguments are ipmicra or pytricia, a file and an address.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from importlib import import_module
from pathlib import Path


def ask_ipmicra(path: Path, address: str) -> tuple[float, float]:
    """Return the seconds to the row, and to the subnet in words."""
    hierarchy_type = import_module("ipmicra").Hierarchy
    start = time.perf_counter()
    hierarchy = hierarchy_type.open(path)
    hierarchy.row_of(address)
    row_s = time.perf_counter() - start
    hierarchy.lookup(address)
    return row_s, time.perf_counter() - start


def ask_pytricia(path: Path, address: str) -> tuple[float, float]:
    """Return the seconds to the answer, twice."""
    import_module("pytricia")
    start = time.perf_counter()
    with path.open("rb") as file:
        pickle.load(file).get(address)
    row_s = time.perf_counter() - start
    return row_s, row_s


if __name__ == "__main__":
    ask = {"ipmicra": ask_ipmicra, "pytricia": ask_pytricia}[sys.argv[1]]
    seconds = ask(Path(sys.argv[2]), sys.argv[3])
    print(json.dumps(dict(zip(("row_s", "all_s"), seconds, strict=True))))
