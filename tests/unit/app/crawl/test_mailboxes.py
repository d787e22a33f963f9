"""Mailboxes: who gets which link, what is repeated, what moves, and when a crawl is at its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from ipmicra.app.crawl.mailbox_config import MailboxConfig
from ipmicra.app.crawl.mailboxes import Mailboxes, UnknownSessionError
from ipmicra.edge.crawls.ledger import Ledger, LinkState
from ipmicra.errors import InputError, StoreError
from ipmicra.model.link import Link, Share
from ipmicra.wire.links import CrawlState, DeliveredLink, ExchangeAnswer, ExchangeRequest, JoinRequest

CONFIG = MailboxConfig(lease_s=10.0, most_per_slot=3)


def link(name: str, priority: int = 0) -> Link:
    """`fra1/a` is a page of a host that belongs to crawler fra."""
    host = name.partition("/")[0]
    return Link(url=f"http://{name}", host=host, key=crc32(name.encode()) + 1, priority=priority)


@dataclass
class Office:
    """Mailboxes with a clock, and owners by the names of hosts."""

    path: Path
    now_s: float = 0.0
    sessions: dict[str, str] = field(default_factory=dict)
    received: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.open()

    def open(self) -> None:
        self.ledger = Ledger(self.path)
        self.boxes = Mailboxes(self.ledger, CONFIG, ticks=lambda: self.now_s, clock=lambda: 1e9)

    def restart(self) -> None:
        self.ledger.close()
        self.open()

    def join(self, node: str, run: int | None = None) -> CrawlState:
        crawler = node.partition("-")[0]
        answer = self.boxes.join("c", JoinRequest(node=node, crawler=crawler, run=run))
        self.sessions[node], self.received[node] = answer.session, 0
        return answer.state

    def say(self, node: str, *links: Link, done: tuple[int, ...] = (), **more: Any) -> ExchangeAnswer:
        given = {"room": 100, **more}
        answer = self.boxes.exchange(
            "c",
            ExchangeRequest(
                session=self.sessions[node],
                received=self.received[node],
                links=links,
                done=done,
                **given,
            ),
        )
        self.received[node] = answer.delivery
        for crawl, hosts in self.boxes.questions(500).items():
            self.boxes.routed(crawl, {host: (Share(crawler=host[:3], slot=host[3:]),) for host in hosts})
        return answer

    def get(self, node: str, **more: Any) -> list[DeliveredLink]:
        return list(self.say(node, **more).links)


def urls(links: list[DeliveredLink]) -> list[str]:
    return [one.link.url.removeprefix("http://") for one in links]


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    office = Office(tmp_path / "crawls.db")
    office.join("fra")
    office.join("nyc")
    yield office
    office.ledger.close()


def test_links_go_to_their_owner_once_whoever_finds_them(office: Office) -> None:
    office.say("fra", link("nyc1/a"), link("fra1/a"), link("nyc1/a"))
    assert urls(list(office.say("nyc", link("nyc1/a")).links)) == ["nyc1/a"]
    assert urls(office.get("fra")) == ["fra1/a"]
    assert office.get("nyc") == office.get("fra") == []


def test_important_links_come_first_and_no_slot_fills_the_room(office: Office) -> None:
    names = [link(f"fra1/{n}", priority=n) for n in range(6)]
    office.say("nyc", *names, link("fra2/x"))
    assert sorted(urls(office.get("fra"))) == ["fra1/3", "fra1/4", "fra1/5", "fra2/x"]
    assert office.get("fra") == []


def test_answer_that_was_lost_is_given_again(office: Office) -> None:
    office.say("nyc", link("fra1/a"))
    before = office.received["fra"]
    first = office.get("fra")
    office.received["fra"] = before
    assert [one.number for one in office.get("fra")] == [one.number for one in first]


def test_crawl_ends_when_nothing_is_unfinished_and_all_are_idle(office: Office) -> None:
    office.say("fra", link("fra1/a"))
    (one,) = office.get("fra")
    assert office.say("nyc", is_idle=True).state is CrawlState.RUNNING
    assert office.say("fra", is_idle=True).state is CrawlState.RUNNING
    assert office.say("fra", link("nyc1/b"), done=(one.number,), is_idle=True).state is CrawlState.RUNNING
    (two,) = office.get("nyc", is_idle=True)
    assert office.say("fra", is_idle=True).state is CrawlState.RUNNING
    assert office.say("nyc", done=(two.number,)).state is CrawlState.RUNNING
    assert office.say("nyc", is_idle=True).state is CrawlState.ENDED
    assert office.say("fra").state is CrawlState.ENDED


def test_run_that_ended_is_over_for_its_jobs_and_begins_anew_for_others(office: Office) -> None:
    office.say("fra", is_idle=True)
    assert office.say("nyc", is_idle=True).state is CrawlState.ENDED
    assert office.join("fra", run=1) is CrawlState.ENDED
    assert office.join("fra") is CrawlState.RUNNING
    assert office.join("nyc", run=1) is CrawlState.ENDED


def test_what_a_dead_node_held_goes_to_the_others_after_two_leases(office: Office) -> None:
    office.say("fra", link("fra1/a"), link("fra1/b"))
    held = office.get("fra")
    office.now_s = 19.0
    office.say("nyc")
    assert office.boxes.bury() == []
    office.now_s = 21.0
    assert office.boxes.bury() == ["fra"]
    taken = office.get("nyc")
    assert urls(taken) == urls(held)
    assert all(one.is_moved for one in taken)
    with pytest.raises(UnknownSessionError):
        office.say("fra", done=(held[0].number,))


def test_node_that_returns_gets_its_block_only_when_it_is_released(office: Office) -> None:
    office.say("fra", link("fra1/a"), link("fra1/b"))
    office.now_s = 10.0
    office.say("nyc")
    office.now_s = 21.0
    office.boxes.bury()
    first = office.get("nyc")
    office.join("fra")
    assert office.get("fra") == []
    assert office.say("nyc", done=(first[0].number,)).lost == ("1",)
    assert office.get("fra") == []
    office.say("nyc", released=("1",))
    (back,) = office.get("fra")
    assert (back.number, back.is_moved) == (first[1].number, True)


def test_leaving_hands_over_at_once(office: Office) -> None:
    office.say("fra", link("fra1/a"))
    office.get("fra")
    office.say("fra", is_leaving=True)
    assert urls(office.get("nyc")) == ["fra1/a"]


def test_links_of_a_crawler_that_never_came_wait(office: Office) -> None:
    office.say("fra", link("sin1/a"))
    answer = office.say("fra", is_idle=True)
    assert (answer.absent, office.say("nyc", is_idle=True).state) == (("sin",), CrawlState.RUNNING)
    office.join("sin")
    assert urls(office.get("sin")) == ["sin1/a"]


def test_restart_of_the_coordinator_changes_nothing(office: Office) -> None:
    office.say("fra", link("fra1/a"), link("nyc1/a"))
    held = office.get("fra")
    office.restart()
    assert office.get("fra") == []
    office.say("fra", link("fra1/a"), done=(held[0].number,), is_idle=True)
    (other,) = office.get("nyc")
    office.restart()
    office.say("nyc", done=(other.number,), is_idle=True)
    assert office.say("fra", is_idle=True).state is CrawlState.ENDED


def test_site_that_changes_its_owner_moves_after_its_release(office: Office) -> None:
    office.say("fra", link("fra1/a"), link("fra1/b"))
    held = office.get("fra")
    office.boxes.routed("c", {"fra1": (Share(crawler="nyc", slot="1"),)})
    assert office.get("nyc") == []
    assert office.say("fra", link("fra1/c"), done=(held[0].number,)).lost == ("1",)
    office.say("fra", released=("1",))
    assert sorted(urls(office.get("nyc"))) == ["fra1/b", "fra1/c"]
    assert office.get("fra") == []


def test_site_with_two_vantages_is_delivered_to_both_owners(office: Office) -> None:
    office.boxes.exchange("c", ExchangeRequest(session=office.sessions["fra"], links=(link("two1/a"),)))
    assert office.boxes.questions(500) == {"c": ["two1"]}
    shares = tuple(Share(crawler=name, slot="1", vantage=name) for name in ("fra", "nyc"))
    office.boxes.routed("c", {"two1": shares})
    assert urls(office.get("fra")) == urls(office.get("nyc")) == ["two1/a"]


def test_host_without_an_owner_does_not_keep_the_crawl_open(office: Office) -> None:
    office.boxes.exchange("c", ExchangeRequest(session=office.sessions["fra"], links=(link("bad/a"),)))
    office.boxes.questions(500)
    office.boxes.routed("c", {"bad": "it has no address"})
    office.say("fra", is_idle=True)
    assert office.say("nyc", is_idle=True).state is CrawlState.ENDED


# --- claims


def opened(office: Office) -> DeliveredLink:
    """Give fra the first link of a host, so that the host is open to it."""
    office.say("fra", link("fra1/a"))
    (one,) = office.get("fra")
    return one


def claim(office: Office, name: str, **more: Any) -> ExchangeAnswer:
    return office.say("fra", link(name), claimed=(link(name).key,), **more)


def test_host_is_open_to_the_node_that_has_it_from_the_first_link_on(office: Office) -> None:
    assert opened(office).is_open
    office.say("nyc", link("fra1/b"))
    assert all(one.is_open for one in office.get("fra"))


def test_claimed_link_is_held_until_it_is_reported_by_its_key(office: Office) -> None:
    one = opened(office)
    assert claim(office, "fra1/b", done=(one.number,)).links == ()
    office.say("nyc", link("fra1/b"))
    assert office.get("fra") == []
    crawl = office.boxes.row_of("c")
    assert crawl is not None
    assert office.ledger.counts(crawl.id) == {LinkState.DONE: 1, LinkState.HELD: 1}
    office.say("nyc", is_idle=True)
    assert office.say("fra", is_idle=True).state is CrawlState.RUNNING
    assert office.say("fra", fetched=(link("fra1/b").key,), is_idle=True).state is CrawlState.ENDED


def test_link_that_others_found_first_is_claimed_before_it_is_delivered(office: Office) -> None:
    opened(office)
    office.say("nyc", link("fra1/b"))
    assert claim(office, "fra1/b").links == ()


def test_claims_of_a_dead_node_go_to_the_others(office: Office) -> None:
    opened(office)
    claim(office, "fra1/b")
    office.restart()
    office.now_s = 21.0
    office.say("nyc")
    assert office.boxes.bury() == ["fra"]
    taken = office.get("nyc")
    assert sorted(urls(taken)) == ["fra1/a", "fra1/b"]
    assert not any(one.is_open for one in taken)


def test_host_that_comes_back_is_not_open_again(office: Office) -> None:
    opened(office)
    office.boxes.routed("c", {"fra1": (Share(crawler="nyc", slot="1"),)})
    office.say("fra")
    office.say("fra", released=("1",))
    office.get("nyc")
    office.boxes.routed("c", {"fra1": (Share(crawler="fra", slot="1"),)})
    office.say("nyc")
    office.say("nyc", released=("1",))
    (back,) = office.get("fra")
    assert not back.is_open


def test_link_claimed_by_a_node_that_does_not_hold_its_block_goes_to_whom_it_belongs(office: Office) -> None:
    opened(office)
    office.say("nyc", link("fra1/b"), claimed=(link("fra1/b").key,))
    assert urls(office.get("fra")) == ["fra1/b"]


def test_room_of_a_slot_is_counted_anew_when_an_answer_was_lost(office: Office) -> None:
    """A link that was claimed and delivered at once may be finished by its key alone."""
    one = opened(office)
    received = office.received["fra"]
    names = [f"fra1/{n}" for n in range(2)]
    office.say("nyc", *(link(name) for name in names))
    office.get("fra")
    office.received["fra"] = received
    office.say("fra", done=(one.number,), fetched=tuple(link(name).key for name in names))
    office.say("nyc", *(link(f"fra1/more{n}") for n in range(5)))
    assert len(office.get("fra")) == CONFIG.most_per_slot


def test_site_in_several_vantages_is_open_to_nobody(office: Office) -> None:
    office.boxes.exchange("c", ExchangeRequest(session=office.sessions["fra"], links=(link("two1/a"),)))
    office.boxes.questions(500)
    shares = tuple(Share(crawler=name, slot="1", vantage=name) for name in ("fra", "nyc"))
    office.boxes.routed("c", {"two1": shares})
    assert not any(one.is_open for name in ("fra", "nyc") for one in office.get(name))


# --- nodes that turn hostile


def test_node_cannot_finish_what_others_hold_or_wait_for(office: Office) -> None:
    office.say("fra", link("nyc1/a"), link("nyc1/b"), link("fra1/a"))
    held = office.get("nyc", room=1)
    everything, keys = tuple(range(1, 20)), tuple(link(f"nyc1/{name}").key for name in "ab")
    office.say("fra", done=everything, fetched=keys, room=0)
    assert office.ledger.counts(1)[LinkState.DONE] == 1  # its own, which it was not even given
    rest = office.get("nyc", done=(held[0].number,))
    assert office.ledger.counts(1)[LinkState.DONE] == 2
    assert urls(held) + urls(rest) == ["nyc1/a", "nyc1/b"]


def test_node_that_was_restarted_may_say_what_it_had_finished(office: Office) -> None:
    office.say("fra", link("fra1/a"), link("fra1/b"))
    first, second = office.get("fra")
    office.join("fra")
    office.say("fra", done=(first.number,), room=0)
    assert [one.number for one in office.get("fra")] == [second.number]


def test_node_that_stood_in_for_another_crawler_may_say_so_after_a_restart(office: Office) -> None:
    office.say("fra", link("nyc1/a"))
    office.say("nyc", is_leaving=True)
    (taken,) = office.get("fra")
    office.join("fra")
    office.say("fra", done=(taken.number,), room=0)
    assert office.ledger.counts(1) == {LinkState.DONE: 1}


def test_name_of_another_crawlers_node_cannot_be_taken(office: Office) -> None:
    with pytest.raises(InputError, match="a node of 'nyc' is called 'nyc'"):
        office.boxes.join("c", JoinRequest(node="nyc", crawler="fra"))
    assert office.get("nyc") == []  # its session goes on
    office.say("nyc", is_leaving=True)
    office.boxes.join("c", JoinRequest(node="nyc", crawler="fra"))


def test_nodes_and_crawls_are_limited_in_number(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "crawls.db")
    config = MailboxConfig(most_nodes=2, most_crawls=2)
    boxes = Mailboxes(ledger, config, ticks=lambda: 0.0, clock=lambda: 1e9)
    for node in ("a", "b", "a"):
        boxes.join("c", JoinRequest(node=node, crawler="fra"))
    with pytest.raises(InputError, match="'fra' has 2 nodes in crawl 'c': stop one first"):
        boxes.join("c", JoinRequest(node="d", crawler="fra"))
    boxes.join("c", JoinRequest(node="d", crawler="nyc"))
    boxes.join("c2", JoinRequest(node="a", crawler="fra"))
    with pytest.raises(InputError, match="nodes are in 2 crawls: let one end, or stop its nodes, first"):
        boxes.join("c3", JoinRequest(node="a", crawler="fra"))
    ledger.close()


def test_crawler_that_begins_ever_new_crawls_leaves_room_for_others(tmp_path: Path) -> None:
    now_s = 0.0
    ledger = Ledger(tmp_path / "crawls.db")
    config = MailboxConfig(most_alone=2, most_crawls=3, most_own_names=4, most_names=6)
    boxes = Mailboxes(ledger, config, ticks=lambda: now_s, clock=lambda: 1e9)
    for name in ("e1", "e2"):
        boxes.join(name, JoinRequest(node="n", crawler="evil"))
    with pytest.raises(InputError, match="only nodes of 'evil' are in 2 crawls: let one end"):
        boxes.join("e3", JoinRequest(node="n", crawler="evil"))
    boxes.join("c", JoinRequest(node="fra", crawler="fra"))
    boxes.join("c", JoinRequest(node="n", crawler="evil"))
    now_s = 1_000.0
    boxes.bury()  # a crawl without nodes keeps its name and nothing else
    for name in ("e3", "e4"):
        boxes.join(name, JoinRequest(node="n", crawler="evil"))
    now_s = 2_000.0
    boxes.bury()
    with pytest.raises(InputError, match="names are kept of 4 crawls of 'evil' alone, 5 in all"):
        boxes.join("e5", JoinRequest(node="n", crawler="evil"))
    for name in ("e1", "e4"):
        boxes.join(name, JoinRequest(node="n", crawler="evil"))
    with pytest.raises(InputError, match="only nodes of 'evil' are in 2 crawls"):
        boxes.join("e2", JoinRequest(node="n", crawler="evil"))
    boxes.join("c2", JoinRequest(node="fra", crawler="fra"))
    ledger.close()


@pytest.mark.parametrize(
    ("config", "error"),
    [(MailboxConfig(most_found=2), InputError), (MailboxConfig(least_free_bytes=1 << 62), StoreError)],
)
def test_links_beyond_a_limit_are_refused_and_all_else_is_taken(
    tmp_path: Path, config: MailboxConfig, error: type[Exception]
) -> None:
    ledger = Ledger(tmp_path / "crawls.db")
    boxes = Mailboxes(ledger, config, ticks=lambda: 0.0, clock=lambda: 1e9)
    mine = boxes.join("c", JoinRequest(node="fra", crawler="fra")).session
    other = boxes.join("c", JoinRequest(node="nyc", crawler="nyc")).session
    with pytest.raises(error):
        boxes.exchange("c", ExchangeRequest(session=mine, links=tuple(link(f"fra1/{n}") for n in range(3))))
    assert ledger.counts(1) == {}
    boxes.exchange("c", ExchangeRequest(session=mine, done=(1,), room=5))
    if error is InputError:  # the limit is one crawler's own
        boxes.exchange("c", ExchangeRequest(session=mine, links=(link("fra1/a"), link("fra1/b"))))
        boxes.exchange("c", ExchangeRequest(session=other, links=(link("fra1/c"), link("fra1/d"))))
        assert sum(ledger.counts(1).values()) == 4
    ledger.close()


def test_owners_are_asked_for_in_turns_of_those_who_found_hosts(office: Office) -> None:
    flood = tuple(link(f"fra{n}/a") for n in range(50))
    for node, links in (("fra", flood), ("nyc", (link("nyc1/a"), link("nyc2/a")))):
        office.boxes.exchange("c", ExchangeRequest(session=office.sessions[node], links=links))
    first = office.boxes.questions(4)["c"]
    assert first == ["fra0", "nyc1", "fra1", "nyc2"]
    rest = office.boxes.questions(100)["c"]
    assert sorted(first + rest) == sorted({*(f"fra{n}" for n in range(50)), "nyc1", "nyc2"})
    assert office.boxes.questions(4) == {}
