"""A store with sites of every kind that an export may meet."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

from ipmicra.edge.store.ports import Member, StorePort
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.delegation import Decision, Evidence
from ipmicra.model.site import Site

CRAWLERS = ("ath", "fra", "nyc")
PROXY = "socks5://fra.example.org:1080"


def site(host: str, address: str, scheme: str | None = None, port: int | None = None) -> Site:
    return Site(host, ip_address(address), scheme, port)


def assignment(host: str, address: str, crawler: str | None, **more: object) -> Assignment:
    return Assignment(
        host=host,
        address=ip_address(address),
        crawler=crawler,
        reason=str(more.pop("reason", "nearest")),
        backend="balance",
        **more,  # type: ignore[arg-type]
    )


def decision(host: str, address: str, subnet: str, crawler: str) -> Decision:
    network = ip_network(subnet)
    return Decision(
        host=host,
        address=ip_address(address),
        first=network[0],
        last=network[-1],
        crawler=crawler,
        evidence=Evidence.PROBED,
        rtt_ms=5.0,
        probes=1,
    )


SITES = (
    site("a.example", "192.0.2.1", "https"),
    site("alone.example", "198.51.100.9"),
    site("big.example", "192.0.2.7"),
    site("example.org", "192.0.2.8"),
    site("gone.example", "192.0.2.99"),
    site("many.example", "203.0.113.5"),
    site("nobody.example", "203.0.113.77"),
    site("open.example", "203.0.113.78"),
    site("port.example", "192.0.2.9", "http", 8080),
    site("xn--bcher-kva.example", "203.0.113.6"),
    site("192.0.2.50", "192.0.2.50"),
    site("2001:db8::1", "2001:db8::1"),
    site("six.example", "2001:db8:0:1::1", "https"),
)


def fill(store: StorePort) -> None:
    """Put crawlers, sites, assignments and delegations in."""
    for name in (*CRAWLERS, "old"):
        labels = {"proxy": PROXY} if name == "fra" else {}
        crawler = Crawler(name=name, address=ip_address("192.0.2.200"), labels=labels)
        store.crawlers.put(Member(crawler=crawler))
    store.crawlers.set_state("old", CrawlerState.LEFT, 5.0)
    store.sites.put_many(SITES, 1.0)
    store.assignments.put_many(
        [
            assignment("a.example", "192.0.2.1", "fra"),
            assignment("big.example", "192.0.2.7", "fra", piece=1, of=2, filters=("/news/", "/shop/")),
            assignment("big.example", "192.0.2.7", "ath", piece=2, of=2, filters=("-/news/", "-/shop/")),
            assignment("example.org", "192.0.2.8", "ath"),
            assignment("gone.example", "192.0.2.99", "old"),
            assignment("many.example", "203.0.113.5", "fra", vantage="eu"),
            assignment("many.example", "203.0.113.5", "nyc", vantage="us"),
            assignment("nobody.example", "203.0.113.77", None, reason="rules leave no crawler"),
            assignment("port.example", "192.0.2.9", "fra"),
            assignment("xn--bcher-kva.example", "203.0.113.6", "nyc"),
            assignment("192.0.2.50", "192.0.2.50", "ath"),
            assignment("2001:db8::1", "2001:db8::1", "nyc"),
            assignment("six.example", "2001:db8:0:1::1", "nyc"),
        ]
    )
    batch = store.batches.begin("k", "ipmicra delegate x", 1.0)
    store.results.add_many(
        batch.id,
        [
            decision("a.example", "192.0.2.1", "192.0.2.0/25", "fra"),
            decision("alone.example", "198.51.100.9", "198.51.100.0/22", "nyc"),
        ],
    )
