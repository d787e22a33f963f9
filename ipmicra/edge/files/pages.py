"""Pages of sites: how many there are, and their URLs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ipmicra.assign.balance.pieces import urls_of_sitemap
from ipmicra.edge.files.lines import read_text
from ipmicra.edge.files.seeds import Seed, host_of, parse_seed
from ipmicra.edge.files.tables import read_records


def read_pages(path: Path) -> dict[str, float]:
    """Read page counts, `host,pages`; a number that cannot be read is kept as NaN and estimated."""
    records = read_records(path, ("host",), order=("host", "pages"))
    return {host_of(record["host"]): _count(record.get("pages", "")) for _, record in records}


def _count(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def read_urls(paths: Sequence[Path]) -> Mapping[str, list[str]]:
    """Read lists of URLs and sitemaps; return the URLs of each host."""
    found: dict[str, list[str]] = {}
    for path in paths:
        for url in urls_of_sitemap(read_text(path)):
            seed = parse_seed(url)
            if isinstance(seed, Seed):
                found.setdefault(seed.host, []).append(url)
    return found
