"""Shell completion: known names, and the crawlers of the store.

The names are repeated here because the layers that define them load numpy, and a key press must not wait for
that. A test compares them with the originals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import typer

from ipmicra.app.home import find_home

POLICIES = ("predict", "paper", "geo", "everyone", "random", "hash")
BACKENDS = ("can", "lbi", "lbi-rtt", "lbi-split", "balance")
METHODS = (
    *("all", "hash", "two-level", "subsite", "consistent", "chord", "country", "city", "isp-city", "random"),
    *("centralised", "metis-geo", "metis-links", "metis-multi", "metis-paper", "rtt-best"),
    *("rtt-balanced", "delegated", "can", "balance"),
)
GRAINS = ("host", "address", "subnet", "aggregate", "as")
PLACES_TO_RESOLVE = ("here", "agents")
LOCATIONS = ("world", "country", "locate", "none")
REGISTRIES = ("afrinic", "apnic", "arin", "lacnic", "ripe", "iana")
HEURISTICS = ("loc", "airport", "city", "institution", "known", "registry", "latency")
SPLITTING_SCHEMES = ("DL", "MPP", "NH", "GH", "MP", "MP_30_NH", "DL_30_NH", "NS")
CHURN_SCHEMES = ("dht", "chord", "nc-can", "lbi", "lbi-rtt", "lbi-split", "balance-neighbours", "balance")
COORDINATE_METHODS = ("gnp", "gnp-height", "gnp-7d", "vivaldi", "ridge", "blend")
POPULATIONS = ("ts", "king")
HALVES = ("holding", "random")
CUTS = ("middle", "median")
HIERARCHIES = ("deep", "flat")
EXPORTS = (
    *("urlfrontier", "stormcrawler", "heritrix", "nutch", "browsertrix", "plain", "csv", "jsonl", "parquet"),
    *("hosts", "seeds", "stormcrawler-seeds", "stormcrawler-settings", "heritrix-map"),
    *("heritrix-seeds", "nutch-hosts", "nutch-domains", "nutch-seeds", "nutch-settings"),
)
RELOCATIONS = ("received", "sent")


def one_of(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that completes to one of the names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def several_of(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that completes the last of several names separated by commas."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        taken = before.split(",")
        return [f"{before}{comma}{name}" for name in names if name.startswith(last) and name not in taken]

    return complete


def crawlers(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete to a crawler of the store that the command line names."""
    home = find_home(ctx.find_root().params.get("home")).using(store=ctx.params.get("store"))
    return [name for name in home.crawler_names() if name.startswith(incomplete)]


def crawlers_or_all(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete to a crawler, or to `all` or `landmarks`."""
    words = [word for word in ("all", "landmarks") if word.startswith(incomplete)]
    return [*words, *crawlers(ctx, incomplete)]
