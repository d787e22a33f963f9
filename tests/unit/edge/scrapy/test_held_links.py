"""What a node holds: delivered or claimed, finished once, and let go of with its slot."""

from __future__ import annotations

from scrapy import Request

from ipmicra.edge.scrapy.held_links import HeldLinks
from ipmicra.model.link import Link
from ipmicra.partition.exchange.exchange import Fetched
from ipmicra.wire.links import DeliveredLink

HOST = "a.example"


def delivered(number: int, key: int, *, is_open: bool = True) -> DeliveredLink:
    link = Link(url=f"http://{HOST}/{key}", host=HOST, key=key)
    return DeliveredLink(number=number, link=link, slot="s", is_open=is_open)


def request(key: int) -> Request:
    return Request(f"http://{HOST}/{key}")


def opened() -> HeldLinks:
    """A node that was given link 1 of an open host, and has claimed link 2."""
    held = HeldLinks()
    held.receive(delivered(1, 1), 1, request(1))
    held.claim(HOST, 2, claimed := request(2))
    assert held.start(claimed)
    return held


def test_claimed_link_is_finished_by_its_key() -> None:
    held = opened()
    assert (len(held), held.finish([]), len(held)) == (2, [Fetched(2)], 1)
    assert held.has_claimed(2)  # until the coordinator has heard of it: it may still be under way to us
    held.heard([2])
    assert not held.has_claimed(2)


def test_requests_in_progress_are_counted_by_their_slot() -> None:
    held = opened()
    waiting = request(9)
    waiting.meta["download_slot"] = "s"
    assert held.taken_of(waiting) == 1
    held.claim(HOST, 3, other := request(3))
    held.start(other)
    assert held.taken_of(waiting) == 2
    assert held.taken_of(request(9)) == 0, "it has no slot yet"
    held.finish([other])
    assert held.taken_of(waiting) == 1
    held.finish([])
    assert held.taken_of(waiting) == 0


def test_claimed_link_that_is_delivered_as_well_stays_one_link() -> None:
    held = opened()
    assert not held.adopt(delivered(7, 2))
    assert held.finish([]) == [7]
    assert not held.has_claimed(2)


def test_claimed_link_that_is_delivered_after_its_end_is_finished_at_once() -> None:
    held = opened()
    held.finish([])
    assert held.adopt(delivered(7, 2))


def test_slot_that_is_lost_takes_its_claims_along_except_what_is_in_progress() -> None:
    held = opened()
    held.claim(HOST, 3, waiting := request(3))
    held.lose(["s"])
    assert (held.has_claimed(2), held.has_claimed(3), held.can_claim(HOST)) == (True, False, False)
    assert not held.start(waiting)
    assert held.to_release() == ()
    assert held.finish([]) == [Fetched(2)]
    assert held.to_release() == ("s",)


def test_end_of_a_session_voids_claims_that_are_not_in_progress() -> None:
    held = opened()
    held.claim(HOST, 3, request(3))
    held.void(is_same_run=True)
    assert (held.has_claimed(2), held.has_claimed(3), len(held)) == (True, False, 1)


def test_host_is_claimed_only_where_it_is_open() -> None:
    held = HeldLinks()
    held.receive(delivered(1, 1, is_open=False), 1, request(1))
    assert not held.can_claim(HOST)
    held.see_host(delivered(2, 2))
    assert held.can_claim(HOST)


def test_retry_of_a_claimed_link_is_part_of_it() -> None:
    held = HeldLinks()
    held.receive(delivered(1, 1), 1, request(1))
    first = request(2)
    held.claim(HOST, 2, first)
    assert held.start(first)
    again = first.replace(dont_filter=True)
    assert held.retries(again, 2)
    assert held.finish([]) == []
    assert held.start(again)
    assert held.finish([]) == [Fetched(2)]
