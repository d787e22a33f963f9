"""Links that belong elsewhere: dropped, kept for later, or sent in batches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ipmicra.model.link import Link
from ipmicra.partition.exchange.exchange import (
    Action,
    Crawl,
    Delivered,
    Event,
    ExchangeConfig,
    Failed,
    Found,
    Idle,
    Mode,
    Received,
    Send,
    Tick,
    UrlExchange,
)


def owner(host: str) -> str:
    """Hosts are named after their crawlers: a1.example belongs to a."""
    return host[0]


def link(name: str) -> Link:
    host, _, path = name.partition("/")
    return Link(url=f"http://{host}.example/{path}", host=host)


def found(*names: str) -> Found:
    return Found(links=[link(name) for name in names])


def sent(actions: list[Action]) -> dict[str, list[str]]:
    return {one.receiver: [each.host for each in one.links] for one in actions if isinstance(one, Send)}


def crawled(actions: list[Action]) -> list[str]:
    return [each.host for one in actions if isinstance(one, Crawl) for each in one.links]


def exchange_of(mode: Mode = Mode.EXCHANGE, batch: int = 3) -> UrlExchange:
    return UrlExchange(
        "a", owner, ExchangeConfig(mode=mode, batch_urls=batch, flush_after_s=1, retry_after_s=10)
    )


def test_own_links_are_crawled_at_once_and_once() -> None:
    exchange = exchange_of()
    assert crawled(exchange.handle(found("a1", "a2", "a1"), 0)) == ["a1", "a2"]
    assert crawled(exchange.handle(found("a2"), 0)) == []
    assert exchange.tally.repeated == 2


def test_batch_goes_out_when_it_is_full() -> None:
    exchange = exchange_of()
    assert exchange.handle(found("b1", "b2"), 0) == []
    assert sent(exchange.handle(found("b3", "c1"), 0)) == {"b": ["b1", "b2", "b3"]}


def test_batch_goes_out_when_its_oldest_link_has_waited_long_enough() -> None:
    exchange = exchange_of()
    exchange.handle(found("b1"), 0)
    exchange.handle(found("b2"), 0.9)
    assert exchange.handle(Tick(), 0.9) == []
    assert sent(exchange.handle(Tick(), 1.0)) == {"b": ["b1", "b2"]}


def test_only_one_batch_a_receiver_is_under_way() -> None:
    exchange = exchange_of()
    assert sent(exchange.handle(found("b1", "b2", "b3", "b4", "b5", "b6"), 0)) == {"b": ["b1", "b2", "b3"]}
    assert exchange.handle(Tick(), 5) == []
    assert sent(exchange.handle(Delivered(receiver="b"), 5)) == {"b": ["b4", "b5", "b6"]}
    exchange.handle(Delivered(receiver="b"), 5)
    assert (exchange.tally.sent, exchange.tally.batches, exchange.pending) == (6, 2, 0)


def test_nothing_is_lost_while_a_receiver_is_down() -> None:
    """The batch comes back in front of what was found meanwhile, and goes out after a pause."""
    exchange = exchange_of()
    exchange.handle(found("b1", "b2", "b3"), 0)
    exchange.handle(found("b4"), 1)
    assert exchange.handle(Failed(receiver="b"), 2) == []
    assert exchange.handle(Tick(), 11.9) == []
    assert sent(exchange.handle(Tick(), 12)) == {"b": ["b1", "b2", "b3"]}
    assert sent(exchange.handle(Delivered(receiver="b"), 12)) == {"b": ["b4"]}
    assert repr(exchange) == "<UrlExchange a: exchange, 1 links waiting>"


def test_reports_that_nobody_waits_for_change_nothing() -> None:
    exchange = exchange_of()
    exchange.handle(found("b1"), 0)
    assert exchange.handle(Delivered(receiver="b"), 0) == exchange.handle(Failed(receiver="z"), 0) == []
    assert exchange.pending == 1


def test_received_links_are_crawled_unless_they_were_seen() -> None:
    exchange = exchange_of()
    exchange.handle(found("a1"), 0)
    assert crawled(exchange.handle(Received(links=[link("a1"), link("a2")]), 0)) == ["a2"]


def test_received_link_is_crawled_even_if_the_sender_was_wrong() -> None:
    """After a change of the fleet two crawlers may disagree; sending it on could go round for ever."""
    assert crawled(exchange_of().handle(Received(links=[link("b9")]), 0)) == ["b9"]


def test_firewall_drops_what_belongs_elsewhere() -> None:
    exchange = exchange_of(Mode.DROP)
    assert exchange.handle(found("b1", "b2", "b3", "b4"), 0) == []
    assert (exchange.tally.dropped, exchange.handle(Idle(), 1), exchange.handle(Tick(), 9)) == (4, [], [])


def test_cross_over_crawls_foreign_links_when_own_ones_have_run_out() -> None:
    exchange = exchange_of(Mode.CROSS_OVER)
    assert crawled(exchange.handle(found("b1", "a1", "c1"), 0)) == ["a1"]
    assert crawled(exchange.handle(Idle(), 1)) == ["b1", "c1"]
    assert exchange.handle(Idle(), 2) == []


events = st.one_of(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30)), max_size=6).map(
        lambda names: found(*(f"{owner}{number}" for owner, number in names))
    ),
    st.sampled_from([Tick(), Idle()]),
    st.sampled_from("bc").map(lambda receiver: Delivered(receiver=receiver)),
    st.sampled_from("bc").map(lambda receiver: Failed(receiver=receiver)),
)


@given(st.lists(events, max_size=40))
def test_every_foreign_link_is_delivered_once_or_still_waits(history: list[Event]) -> None:
    exchange = exchange_of()
    delivered: list[str] = []
    under_way: dict[str, list[str]] = {}
    for now, event in enumerate(history):
        if isinstance(event, Delivered):
            delivered += under_way.pop(event.receiver, [])
        if isinstance(event, Failed):
            under_way.pop(event.receiver, None)
        for receiver, hosts in sent(exchange.handle(event, float(now))).items():
            assert receiver not in under_way
            assert len(hosts) <= 3
            under_way[receiver] = hosts
    told = {
        one.host for event in history if isinstance(event, Found) for one in event.links if one.host[0] != "a"
    }
    assert len(delivered) == len(set(delivered)) == exchange.tally.sent
    assert len(delivered) + exchange.pending == len(told)
