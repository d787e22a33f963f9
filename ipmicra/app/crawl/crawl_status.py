"""How a crawl is, as a plain dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ipmicra.app.crawl.running_crawl import NodeState, RunningCrawl
from ipmicra.edge.crawls.ledger import LinkState


def describe_crawl(
    crawl: RunningCrawl,
    counts: Mapping[LinkState, int],
    seen: Iterable[tuple[str, int, int, int, float, int, int]],
    now_s: float,
) -> dict[str, Any]:
    """Describe a crawl: links by state, nodes, and what these observed, by crawler."""
    return {
        "crawl": crawl.row.name,
        "run": crawl.row.run,
        "state": crawl.row.state.value,
        "links": {state.name.lower(): number for state, number in counts.items()},
        "nodes": [describe_node(node, now_s) for node in crawl.nodes.values()],
        "absent": crawl.absent,
        "observed": [
            {
                "crawler": crawler,
                "hosts": hosts,
                "pages": pages,
                "bytes": received,
                "mean_first_byte_ms": round(1e3 * waited_s / max(1, pages), 3),
                "refusals": refusals,
                "failures": failures,
            }
            for crawler, hosts, pages, received, waited_s, refusals, failures in seen
        ],
    }


def describe_node(node: NodeState, now_s: float) -> dict[str, Any]:
    """Describe a node that takes part; counts are those since it joined or the coordinator started."""
    return {
        "node": node.row.node,
        "crawler": node.row.crawler,
        "is_idle": node.is_idle,
        "held": node.holding,
        "pages": node.pages,
        "pages_per_s": round(node.pages_per_s(now_s), 1),
        "foreign_links": node.foreign,
        "duplicates_avoided": node.repeated + node.known,
        "silent_s": round(now_s - node.seen_s, 1),
    }
