"""The contract of every store; SQLite keeps it on disk and in memory."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.assign.coordinate.space import Space
from ipmicra.assign.overlay.overlay import Overlay
from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.edge.store.ports import (
    AgentRecord,
    BudgetState,
    Member,
    OrderRecord,
    SiteAnswer,
    StateChange,
    StorePort,
)
from ipmicra.errors import InputError
from ipmicra.model.address import Address
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Capacity, Crawler, CrawlerState
from ipmicra.model.delegation import Delegation, Evidence, Origin
from ipmicra.model.location import Location
from ipmicra.model.name import NameAnswer, NameStatus, View
from ipmicra.model.recrawl import Recrawl
from ipmicra.model.sample import Loss, Rung, Sample, SideRung, Timings
from ipmicra.model.site import Site
from ipmicra.model.token import Role, TokenRecord
from tests.contracts.stores import QUICK, open_store
from tests.examples import at_most

A, B = IPv4Address("192.0.2.1"), IPv6Address("2001:db8::1")


def crawler(name: str = "ath", **more: object) -> Crawler:
    return Crawler(name=name, address=A, joined_s=1.0, changed_s=1.0, **more)  # type: ignore[arg-type]


def order(number: int) -> OrderRecord:
    return OrderRecord(id=f"o{number}", crawler="ath", address=A)


def test_word_is_kept_under_its_key(store: StorePort) -> None:
    assert store.meta.get("edition") is None
    store.meta.set("edition", "one")
    store.meta.set("edition", "two")
    assert store.meta.get("edition") == "two"


def test_crawler_comes_back_as_it_was(store: StorePort) -> None:
    place = Location(latitude=37.9, longitude=23.7, radius_km=10.0, city="Αθήνα", country="GR")
    full = crawler(
        agent_url="https://a.example:8443",
        location=place,
        labels={"region": "south", "provider": "x"},
        capacity=Capacity(bandwidth_mbps=1000.0, memory_gb=8.0, max_pieces=5, connections=20),
    )
    member = Member(crawler=full, first=IPv4Address("192.0.2.0"), last=IPv4Address("192.0.2.255"))
    store.crawlers.put(member)
    store.crawlers.put(Member(crawler=crawler("bare")))
    assert store.crawlers.get("ath") == member
    assert store.crawlers.get("bare") == Member(crawler=crawler("bare"))
    assert store.crawlers.get("nobody") is None


def test_crawlers_are_listed_by_name_and_chosen_by_state(store: StorePort) -> None:
    for name in ("nyc", "ath", "fra"):
        store.crawlers.put(Member(crawler=crawler(name)))
    store.crawlers.set_state("fra", CrawlerState.LEFT, 5.0)
    assert [member.crawler.name for member in store.crawlers.all()] == ["ath", "fra", "nyc"]
    joined = store.crawlers.all([CrawlerState.JOINED])
    assert [member.crawler.name for member in joined] == ["ath", "nyc"]


def test_history_has_each_change_of_state_once(store: StorePort) -> None:
    store.crawlers.put(Member(crawler=crawler()))
    assert store.crawlers.set_state("ath", CrawlerState.UNREACHABLE, 5.0)
    assert not store.crawlers.set_state("ath", CrawlerState.UNREACHABLE, 6.0)
    assert not store.crawlers.set_state("nobody", CrawlerState.LEFT, 6.0)
    known = store.crawlers.get("ath")
    assert known is not None
    assert (known.crawler.state, known.crawler.changed_s) == (CrawlerState.UNREACHABLE, 5.0)
    assert store.crawlers.history("ath") == [
        StateChange(state=CrawlerState.JOINED, at_s=1.0),
        StateChange(state=CrawlerState.UNREACHABLE, at_s=5.0),
    ]


def test_site_keeps_the_address_it_was_given_first(store: StorePort) -> None:
    site = Site(host="a.example", address=A, scheme="https", port=8443)
    store.sites.put_many([site], 1.0)
    store.sites.put_many([Site(host="a.example", address=B)], 2.0)
    assert store.sites.get("a.example") == site
    assert store.sites.forget("a.example")
    assert not store.sites.forget("a.example")
    store.sites.put_many([Site(host="a.example", address=B)], 3.0)
    assert store.sites.get("a.example") == Site(host="a.example", address=B)


def test_sites_that_share_an_address_are_found_together(store: StorePort) -> None:
    sites = [Site(host=f"{i}.example", address=(A, B)[i % 2]) for i in range(5)]
    store.sites.put_many(sites, 1.0)
    assert store.sites.all() == sites
    assert store.sites.at(B) == [sites[1], sites[3]]
    assert store.sites.at(ip_address("192.0.2.9")) == []


floats = st.floats(min_value=0.001, max_value=1e5)
samples = st.builds(
    Sample,
    crawler=st.sampled_from(["ath", "nyc"]),
    address=st.sampled_from([A, B]),
    rtt_ms=st.none() | floats,
    loss=st.none() | st.sampled_from(Loss),
    rung=st.none() | st.sampled_from(Rung),
    all_ms=st.lists(floats, max_size=12).map(tuple),
    timings=st.none() | st.builds(Timings, tcp_ms=floats, tls_ms=st.none() | floats),
    detail=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9),
    taken_s=floats,
)


@pytest.mark.parametrize("name", QUICK)
@at_most(30)
@given(batches=st.lists(st.lists(samples, max_size=8), max_size=4))
def test_every_sample_comes_back_in_its_order(
    name: str, request: pytest.FixtureRequest, batches: list[list[Sample]]
) -> None:
    with closing(open_store(name, Path(), request)) as store:
        for batch in batches:
            store.samples.add_many(batch)
        given_all = [sample for batch in batches for sample in batch]
        assert store.samples.count() == len(given_all)
        for address in (A, B):
            mine = [sample for sample in given_all if sample.address == address]
            assert store.samples.of(address) == mine
            assert store.samples.of(address, "ath", 5.0) == [
                one for one in mine if one.crawler == "ath" and one.taken_s >= 5.0
            ]
            for crawler in ("ath", "nyc"):
                theirs = [one for one in mine if one.crawler == crawler]
                said = [one for one in theirs if one.loss is not Loss.AGENT]
                assert store.samples.latest(address).get(crawler) == next(reversed(said or theirs[:1]), None)


def test_nul_in_what_a_server_said_is_kept_as_its_picture(store: StorePort) -> None:
    store.samples.add_many([Sample(crawler="ath", address=A, rtt_ms=None, detail="a\0b")])
    assert [one.detail for one in store.samples.of(A)] == ["a␀b"]


def test_answer_of_the_dns_holds_until_it_expires(store: StorePort) -> None:
    found = NameAnswer(name="a.example", status=NameStatus.FOUND, addresses=(A, B), expires_s=10.0)
    missing = NameAnswer(name="b.example", status=NameStatus.NXDOMAIN, expires_s=20.0)
    store.names.put_many([found, missing])
    asked = ["a.example", "b.example", "c.example"]
    assert store.names.get_many(asked, 9.0) == {"a.example": found, "b.example": missing}
    assert store.names.get_many(asked, 10.0) == {"b.example": missing}
    assert store.names.prune(10.0) == 1
    assert store.names.get_many(asked, 0.0) == {"b.example": missing}


def test_views_are_kept_by_crawler_until_the_next_and_beyond_their_expiry(store: StorePort) -> None:
    def view(crawler: str, status: NameStatus, *addresses: Address, asked_s: float = 1.0) -> View:
        answer = NameAnswer(name="a.example", status=status, addresses=addresses, expires_s=2.0)
        return View(crawler=crawler, answer=answer, asked_s=asked_s)

    before = view("fra", NameStatus.FOUND, A)
    ours, theirs = view("fra", NameStatus.FOUND, B, A, asked_s=3.0), view("tok", NameStatus.NXDOMAIN)
    store.views.put_many([before, theirs])
    store.views.put_many([ours])
    hosts = [*(f"{i}.example" for i in range(1500)), "a.example"]
    assert store.views.of(hosts) == {"a.example": {"fra": ours, "tok": theirs}}
    assert store.views.prune(3.0) == 1
    assert store.views.of(hosts) == {"a.example": {"fra": ours}}
    assert store.views.forget("a.example")
    assert not store.views.forget("a.example")
    assert store.views.of(["a.example"]) == {}


def test_answer_for_a_site_is_kept_by_its_host(store: StorePort) -> None:
    delegation = Delegation(
        first=A,
        last=A,
        crawler="fra",
        evidence=Evidence.PROBED,
        rtt_ms=3.5,
        probes=2,
        created_s=1.0,
        expires_s=9.0,
    )
    account = (
        Considered(crawler="fra", verdict=Verdict.CHOSEN, reason="nearest", rtt_ms=3.5),
        Considered(crawler="tok", verdict=Verdict.ASKED, reason="sees 192.0.2.9", loss=Loss.TIMEOUT),
    )
    answer = SiteAnswer(host="a.example", delegation=delegation, account=account)
    store.site_answers.put_many([answer])
    assert store.site_answers.get("a.example") == answer
    moved = replace(delegation, first=B, last=B, rtt_ms=None, origin=Origin(A, A, 3.0))
    newer = replace(answer, delegation=moved, account=())
    store.site_answers.put_many([newer])
    assert store.site_answers.get("a.example") == newer
    assert store.site_answers.get("b.example") is None
    assert store.site_answers.of([*(f"{i}.example" for i in range(1500)), "a.example"]) == {
        "a.example": newer
    }
    assert store.site_answers.forget("a.example")
    assert not store.site_answers.forget("a.example")


def test_site_moves_to_another_address_only_when_told_to(store: StorePort) -> None:
    store.sites.put_many([Site("a.example", A)], 1.0)
    store.sites.put_many([Site("a.example", B)], 2.0)
    assert store.sites.get("a.example") == Site("a.example", A)
    store.sites.move_many([Site("a.example", B), Site("b.example", A)], 3.0)
    assert store.sites.get("a.example") == Site("a.example", B)
    assert store.sites.get("b.example") == Site("b.example", A)


def test_more_names_than_sqlite_takes_variables_are_found(store: StorePort) -> None:
    names = [f"{i}.example" for i in range(2500)]
    store.names.put_many(
        NameAnswer(name=name, status=NameStatus.FOUND, addresses=(A,), expires_s=9.0) for name in names
    )
    assert sorted(store.names.get_many(names, 1.0)) == sorted(names)


def test_budget_grants_no_more_than_is_left(store: StorePort) -> None:
    assert store.budget.open("b", 3) == BudgetState(total=3, spent=0)
    assert store.budget.reserve("b", [order(1), order(2)], 1.0) == 2
    assert store.budget.reserve("b", [order(3), order(4)], 1.0) == 1
    assert store.budget.reserve("b", [order(5)], 1.0) == 0
    assert store.budget.state("b") == BudgetState(total=3, spent=3)
    assert [one.id for one in store.budget.unanswered("b")] == ["o1", "o2", "o3"]


def test_answered_order_stays_spent_and_is_no_longer_missing(store: StorePort) -> None:
    store.budget.open("b", 3)
    store.budget.reserve("b", [order(1), order(2)], 1.0)
    store.budget.answer(["o1"], 2.0)
    assert store.budget.unanswered("b") == [OrderRecord(id="o2", crawler="ath", address=A, reserved_s=1.0)]
    assert store.budget.state("b").spent == 2


def test_released_order_gives_its_probe_back_once(store: StorePort) -> None:
    store.budget.open("b", 2)
    store.budget.reserve("b", [order(1), order(2)], 1.0)
    store.budget.answer(["o2"], 2.0)
    assert store.budget.release("b", ["o1", "o1", "o2", "o9"]) == 1
    assert store.budget.state("b") == BudgetState(total=2, spent=1)


def test_budget_taken_up_again_remembers_what_was_spent(store: StorePort) -> None:
    store.budget.open("b", 2)
    store.budget.reserve("b", [order(1), order(2)], 1.0)
    assert store.budget.open("b", 3) == BudgetState(total=3, spent=2)
    assert store.budget.open("b", 1) == BudgetState(total=1, spent=2)
    assert store.budget.reserve("b", [order(7)], 1.0) == 0
    assert store.budget.open("b", None) == BudgetState(total=None, spent=2)
    assert store.budget.reserve("b", [order(7)], 1.0) == 1


def test_budgets_do_not_mix(store: StorePort) -> None:
    store.budget.open("a", 1)
    store.budget.open("b", 1)
    store.budget.reserve("a", [order(1)], 1.0)
    assert store.budget.release("b", ["o1"]) == 0
    assert store.budget.state("a") == BudgetState(total=1, spent=1)
    assert store.budget.state("b") == BudgetState(total=1, spent=0)
    with pytest.raises(InputError):
        store.budget.state("c")
    with pytest.raises(InputError):
        store.budget.open("c", -1)


def test_failed_transaction_leaves_nothing(store: StorePort) -> None:
    store.budget.open("b", 5)
    with suppress(RuntimeError), store.transaction():
        store.meta.set("key", "word")
        store.budget.reserve("b", [order(1)], 1.0)
        raise RuntimeError
    assert store.meta.get("key") is None
    assert store.budget.state("b").spent == 0


def assignment(host: str, piece: int = 1, of: int = 1, who: str | None = "ath") -> Assignment:
    return Assignment(
        host=host,
        piece=piece,
        of=of,
        address=A,
        crawler=who,
        reason="nearest",
        backend="balance",
        expected_ms=1.5,
        pages=None,
        filters=("/a/", "-/b/"),
        assigned_s=2.0,
    )


def test_assignments_come_back_by_host_and_piece(store: StorePort) -> None:
    kept = [assignment("b.org"), assignment("a.org", 2, 2, None), assignment("a.org", 1, 2)]
    store.assignments.put_many(kept)
    assert store.assignments.all() == [kept[2], kept[1], kept[0]]
    assert store.assignments.of("a.org") == [kept[2], kept[1]]
    assert store.assignments.of("c.org") == []


def test_new_assignments_of_a_host_replace_all_its_old_ones(store: StorePort) -> None:
    store.assignments.put_many([assignment("a.org", 1, 2), assignment("a.org", 2, 2), assignment("b.org")])
    store.assignments.put_many([assignment("a.org", who="ber")])
    assert store.assignments.all() == [assignment("a.org", who="ber"), assignment("b.org")]


def seen(store: StorePort, crawler: str | None, since: int = 0) -> list[tuple[str, str | None, bool]]:
    """What changed: host, crawler, and whether it has the host now."""
    changes = store.assignments.changes(since, 100, crawler)
    assert [one.seq for one in changes] == sorted({one.seq for one in changes})
    return [(one.host, one.crawler, one.assignment is not None) for one in changes]


def test_crawler_sees_what_it_gained_and_lost_since_a_number(store: StorePort) -> None:
    table = store.assignments
    table.put_many([assignment("a.org"), assignment("b.org")])
    first = table.last_change()
    assert seen(store, "ath") == [("a.org", "ath", True), ("b.org", "ath", True)]
    table.put_many([assignment("a.org", who="ber"), assignment("c.org")])
    assert seen(store, "ath", first) == [("c.org", "ath", True), ("a.org", "ath", False)]
    assert seen(store, "ber") == [("a.org", "ber", True)]
    table.put_many([assignment("a.org")])  # and back again
    assert seen(store, "ber") == [("a.org", "ber", False)]
    assert ("a.org", "ath", True) in seen(store, "ath")
    assert ("a.org", "ath", False) not in seen(store, "ath")
    table.forget(["b.org"])
    assert seen(store, "ath", first)[-1] == ("b.org", "ath", False)
    assert seen(store, None, table.last_change()) == []


def test_assignment_that_stays_as_it_is_is_no_change(store: StorePort) -> None:
    store.assignments.put_many([assignment("a.org")])
    before = store.assignments.last_change()
    store.assignments.put_many([replace(assignment("a.org"), assigned_s=99.0)])
    assert store.assignments.last_change() == before
    assert store.assignments.of("a.org")[0].assigned_s == 99.0


def test_assignments_are_found_by_many_hosts_by_address_and_in_pages(store: StorePort) -> None:
    names = [f"h{i:03}.org" for i in range(600)]
    store.assignments.put_many([assignment(name) for name in names[:-1]])
    assert list(store.assignments.of_many(names)) == names[:-1]
    at = store.assignments.at(assignment("a.org").address, 3)
    assert [one.host for one in at] == [names[-2], names[-3], names[-4]]
    paged: list[str] = []
    while part := store.assignments.after(paged[-1] if paged else "", 250):
        paged += [one.host for one in part]
    assert paged == names[:-1]


def test_sites_are_found_by_many_hosts_and_in_the_order_of_names(store: StorePort) -> None:
    names = [f"h{i:03}.org" for i in range(600)]
    store.sites.put_many([Site(name, A) for name in reversed(names)], 1.0)
    assert sorted(store.sites.of_many([*names, "other.org"])) == names
    assert [one.host for one in store.sites.after("h597.org", 10)] == ["h598.org", "h599.org"]
    assert [one.host for one in store.sites.after("", 2)] == names[:2]


def test_schedules_come_back_and_new_ones_of_a_host_replace_all_its_old_ones(store: StorePort) -> None:
    two = [Recrawl(host="b.org", piece=piece, of=2, first_s=1.0, submitted_s=2.0) for piece in (1, 2)]
    full = Recrawl(
        host="a.org",
        interval_s=60.0,
        first_s=1.0,
        submitted_s=2.0,
        started_s=3.0,
        crawled_s=4.0,
        pages=5,
        crawls=6,
    )
    store.recrawls.put_many([two[1], full, two[0]])
    assert store.recrawls.all() == [full, *two]
    assert store.recrawls.of("b.org") == two
    whole = Recrawl(host="b.org", first_s=1.0, submitted_s=9.0)
    store.recrawls.put_many([whole])
    assert store.recrawls.all() == [full, whole]


def test_saved_state_is_given_back_until_it_is_replaced_or_forgotten(store: StorePort) -> None:
    assert store.states.get("overlay") is None
    store.states.put("overlay", b"\x00one", 1.0)
    store.states.put("overlay", b"\xfftwo", 2.0)
    assert store.states.get("overlay") == b"\xfftwo"
    assert store.states.forget("overlay")
    assert not store.states.forget("overlay")
    assert store.states.get("overlay") is None


def test_overlay_comes_back_from_the_store_as_it_was(store: StorePort) -> None:
    space = Space(low=np.zeros(2), high=np.ones(2))
    overlay = Overlay(space)
    points = np.random.default_rng(3).random((20, 2))
    overlay.join_many(points)
    store.states.put("overlay", overlay.to_bytes(), 1.0)
    saved = store.states.get("overlay")
    assert saved is not None
    sites = np.random.default_rng(4).random((200, 2))
    assert Overlay.from_bytes(saved).owners(sites).tolist() == overlay.owners(sites).tolist()


# --- tokens and agents


def token(name: str = "alice", number: int = 1, **more: object) -> TokenRecord:
    values = {"role": Role.OPERATOR, "hash": bytes([number]) * 32, "created_s": float(number), **more}
    return TokenRecord(name=name, **values)  # type: ignore[arg-type]


def test_tokens_come_back_oldest_first_and_are_found_by_hash(store: StorePort) -> None:
    full = token("fra", 2, role=Role.JOIN, expires_s=9.0, last_used_s=8.0, crawler="fra")
    store.tokens.add(full)
    store.tokens.add(token())
    assert store.tokens.all() == [token(), full]
    assert store.tokens.find(full.hash) == full
    assert store.tokens.find(b"other") is None


def test_token_is_revoked_once_and_used_often(store: StorePort) -> None:
    store.tokens.add(token())
    before = store.tokens.mark()
    assert store.tokens.revoke([token().hash, b"other"], 5.0) == 1
    assert store.tokens.revoke([token().hash], 6.0) == 0
    store.tokens.use_many([(token().hash, 7.0), (token().hash, 8.0)])
    assert store.tokens.all() == [token(revoked_s=5.0, last_used_s=8.0)]
    assert store.tokens.mark() != before


def test_mark_of_tokens_changes_with_each_new_one(store: StorePort) -> None:
    marks = [store.tokens.mark()]
    for number in (1, 2, 3):
        store.tokens.add(token(number=number))
        marks.append(store.tokens.mark())
    assert len(set(marks)) == 4


def test_crawler_has_one_agent_that_calls_out(store: StorePort) -> None:
    first = AgentRecord(crawler="fra", id="a", joined_s=1.0, seen_s=1.0, software="0.2")
    store.agents.put(first)
    store.agents.put(replace(first, id="b"))
    store.agents.saw_many([("fra", 5.0), ("nobody", 6.0)])
    assert store.agents.get("fra") == replace(first, id="b", seen_s=5.0)
    assert store.agents.all() == [replace(first, id="b", seen_s=5.0)]
    assert store.agents.forget("fra")
    assert not store.agents.forget("fra")
    assert store.agents.get("fra") is None


def test_what_downloads_showed_is_kept_apart_from_probes(store: StorePort) -> None:
    probed = Sample(crawler="ath", address=A, rtt_ms=9.0, rung=Rung.TCP, all_ms=(9.0,), taken_s=1.0)
    seen = replace(probed, rtt_ms=20.0, rung=SideRung.CRAWL, all_ms=(20.0,), detail="7 pages")
    store.samples.add_many([probed, seen])
    store.samples.add_many([replace(seen, crawler="nyc")])
    assert store.samples.of(A) == store.samples.newest(9) == store.samples.in_range((A, A), 9) == [probed]
    assert store.samples.latest(A) == {"ath": probed}
    assert store.samples.after(0, 9)[1] == [probed]
    assert [one.crawler for one in store.samples.crawled(A)] == ["ath", "nyc"]
    assert store.samples.crawled(A, 1) == [replace(seen, crawler="nyc")]
    assert store.samples.crawled(A)[0] == seen
    assert store.samples.forget((A, A)) == 3
