"""Parse the paragraphs of a plain text with IRRd and print how long that took, as JSON.

Run by `benchmarks.irrd_peer` in an environment that has IRRd and nothing of ipmicra.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from importlib.metadata import version
from pathlib import Path


def parse_all(paragraphs: list[str]) -> dict[str, int]:
    """Parse every paragraph; count those that IRRd objects to or does not know."""
    parse = import_module("irrd.rpsl.rpsl_objects").rpsl_object_from_text
    unknown_class = import_module("irrd.rpsl.parser").UnknownRPSLObjectClassException
    counts = {"paragraphs": len(paragraphs), "with_errors": 0, "unknown": 0}
    for paragraph in paragraphs:
        try:
            parsed = parse(paragraph, strict_validation=False)
        except unknown_class:
            counts["unknown"] += 1
            continue
        counts["with_errors"] += bool(parsed.messages.errors())
    return counts


def main(path: Path, rounds: int) -> None:
    """Time some rounds over the same paragraphs."""
    data = path.read_bytes()
    paragraphs = [part + "\n" for part in data.decode("latin-1").split("\n\n") if part.strip()]
    seconds = []
    counts = parse_all(paragraphs[:100])
    for _ in range(rounds):
        start = time.perf_counter()
        counts = parse_all(paragraphs)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "version": version("irrd"), "size_bytes": len(data), **counts}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
