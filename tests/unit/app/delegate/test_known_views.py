"""What of earlier views and answers holds, and who must be asked again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address

import pytest

from ipmicra.app.delegate.known_views import KnownViews
from ipmicra.edge.store.ports import SiteAnswer
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.name import NameAnswer, NameStatus, View
from ipmicra.model.site import Site

A, B = ip_address("193.0.0.1"), ip_address("193.9.0.1")
FRA, TOK = (Crawler(name=name, address=A, joined_s=1.0) for name in ("fra", "tok"))
NOW_S, LIFE_S = 1000.0, 500.0


@pytest.fixture
def known() -> Iterator[KnownViews]:
    with Store.open("sqlite://") as store:
        yield KnownViews(
            store=store,
            usable=[FRA, TOK],
            present={"fra", "tok", "silent"},
            now_s=NOW_S,
            batch_s=NOW_S - 10,
            lifetime_s=LIFE_S,
        )


def see(known: KnownViews, crawler: str, *addresses: object, asked_s: float, expires_s: float = 0.0) -> None:
    status = NameStatus.FOUND if addresses else NameStatus.NXDOMAIN
    answer = NameAnswer(name="a", status=status, addresses=addresses, expires_s=expires_s)  # type: ignore[arg-type]
    known.store.views.put_many([View(crawler=crawler, answer=answer, asked_s=asked_s)])


def asked(known: KnownViews) -> list[str]:
    return [name for name, hosts in known.views(["a"])[1].items() if hosts == ["a"]]


def test_view_holds_until_it_expires_and_everybody_else_is_asked(known: KnownViews) -> None:
    assert asked(known) == ["fra", "tok"]
    see(known, "fra", A, asked_s=900.0, expires_s=NOW_S + 1)
    see(known, "tok", B, asked_s=900.0, expires_s=NOW_S)
    assert asked(known) == ["tok"]


def test_view_of_this_batch_holds_whatever_its_time_to_live(known: KnownViews) -> None:
    see(known, "fra", A, asked_s=NOW_S - 5, expires_s=NOW_S - 4)
    see(known, "tok", asked_s=NOW_S - 5, expires_s=NOW_S - 4)
    assert asked(known) == []
    assert asked(replace(known, batch_s=NOW_S)) == ["fra", "tok"]


@pytest.mark.parametrize("status", [NameStatus.TIMEOUT, NameStatus.SERVFAIL, NameStatus.BUSY])
def test_failure_is_asked_again_even_in_the_same_batch(known: KnownViews, status: NameStatus) -> None:
    answer = NameAnswer(name="a", status=status, expires_s=NOW_S + 99)
    known.store.views.put_many([View(crawler="fra", answer=answer, asked_s=NOW_S)])
    assert "fra" in asked(known)


def test_host_that_all_saw_alike_is_not_asked_for_as_long_as_delegations_live(known: KnownViews) -> None:
    for crawler in ("fra", "tok"):
        see(known, crawler, A, asked_s=NOW_S - LIFE_S + 1)
    assert asked(known) == ["fra", "tok"], "it is not pinned"
    known.store.sites.put_many([Site("a", A)], 1.0)
    assert asked(known) == []
    assert asked(replace(known, now_s=NOW_S + 2)) == ["fra", "tok"]
    assert asked(replace(known, is_again=True)) == ["fra", "tok"]
    newcomer = replace(FRA, name="nyc")
    assert asked(replace(known, usable=[FRA, TOK, newcomer])) == ["fra", "tok", "nyc"]
    known.store.sites.move_many([Site("a", B)], 2.0)
    assert asked(known) == ["fra", "tok"], "it is pinned to what nobody sees"


def test_answer_holds_until_its_end_or_a_change_of_the_fleet(known: KnownViews) -> None:
    delegation = Delegation(
        first=A,
        last=A,
        crawler="fra",
        evidence=Evidence.PROBED,
        rtt_ms=3.0,
        probes=2,
        created_s=900.0,
        expires_s=NOW_S + 1,
    )
    answer = SiteAnswer(host="a", delegation=delegation)
    known.store.site_answers.put_many([answer])
    assert known.answer("a") == answer
    assert known.answer("b") is None
    assert replace(known, now_s=NOW_S + 1).answer("a") is None
    assert replace(known, is_again=True).answer("a") is None
    assert replace(known, present={"tok"}).answer("a") is None
    assert replace(known, usable=[FRA, replace(TOK, joined_s=901.0)]).answer("a") is None
    silent = replace(answer, delegation=replace(delegation, crawler="silent"))
    known.store.site_answers.put_many([silent])
    assert known.answer("a") == silent, "one that does not answer for now keeps what it has"
