"""Short texts: seeds and host names, rules, intervals and moments, agents' URLs."""

from __future__ import annotations

from ipaddress import IPv4Address

from ipmicra.app.export.heritrix import queue_of
from ipmicra.assign.rules.rules import Rules, SiteFacts
from ipmicra.edge.files.crawled import read_interval, read_moment
from ipmicra.edge.files.crawlers import read_agent_url, read_labels
from ipmicra.edge.files.seeds import Seed, host_of, parse_seed
from ipmicra.edge.frontier.routes import host_of_netloc, netloc_of, start_of
from ipmicra.errors import InputError
from ipmicra.model.crawler import Crawler
from ipmicra.wire.fields import is_host_name
from tests.fuzz.target import target

FLEET = [
    Crawler(name=name, address=IPv4Address(number), labels={"provider": "cheap"})
    for number, name in enumerate(("fra", "nyc"), 1)
]
FACTS = SiteFacts(
    host="www.shop.example", address=IPv4Address("192.0.2.1"), country="DE", organisation=frozenset({"acme"})
)


@target("seeds", longest=512)
def read_seed(data: bytes) -> None:
    """A host stands for itself, and neither name nor password is kept."""
    text = data.decode("utf-8", "replace")
    seed = parse_seed(text)
    host_of_netloc(netloc_of(text))
    start_of(text)
    if isinstance(seed, Seed):
        assert "@" not in seed.text.partition("://")[2].partition("/")[0]
        assert host_of(seed.host) == seed.host
        assert seed.first is not None or is_host_name(seed.host)
        if seed.first is None:
            assert [*reversed(queue_of(seed.host).removesuffix(",").split(","))] == seed.host.split(".")


@target("rules", InputError, longest=200)
def read_rules(data: bytes) -> None:
    """Rules leave crawlers of the fleet, and the first says the same when it is read from its own text."""
    rules = Rules.read(data.decode("utf-8", "replace"), "rules")
    for rule in rules.rules[:1]:
        assert Rules.read(rule.text, "rules").rules[0].when == rule.when
    for choice in rules.choices(FACTS, FLEET):
        assert set(choice.crawlers) <= {0, 1}
    rules.covering(FACTS, FACTS.address, FACTS.address)


@target("values", InputError, longest=128)
def read_value(data: bytes) -> None:
    """A value of an option is read, or refused."""
    readers = (read_interval, read_moment, read_agent_url, lambda text: read_labels(text.split(";")))
    if data:
        readers[data[0] % len(readers)](data[1:].decode("utf-8", "replace"))
