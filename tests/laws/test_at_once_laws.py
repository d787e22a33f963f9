"""Laws of policies that ask nobody: many sites at a time get what they get one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.delegate.batch import Batch
from ipmicra.app.delegate.options import DelegateOptions, DrivingConfig
from ipmicra.app.describe.delegation import describe_decision
from ipmicra.delegate.actions import Action, AnsweredMany
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.events import CrawlerJoined, CrawlerLeft, SiteArrived
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.baselines import Hash, Random
from ipmicra.delegate.ports import Policy
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.store import Store
from ipmicra.model.delegation import Decision
from ipmicra.model.foreign_text import csv_line
from ipmicra.model.site import Site
from tests.delegating_worlds import enrol, hierarchy_of
from tests.examples import at_most
from tests.fakes.fleet import crawler
from tests.fakes.subnet_tree import flat_tree

MAKERS: dict[str, Callable[[], Policy]] = {
    "hash": Hash,
    "random": lambda: Random(np.random.default_rng(7)),
}
NAMES = [f"h{i}.example" for i in range(4)]
policies = pytest.mark.parametrize("policy", MAKERS)
addresses = st.one_of(
    st.integers(0, 9).map(lambda i: IPv4Address("203.0.112.1") + i),
    st.integers(0, 3).map(lambda i: IPv6Address("2001:db8::1") + i),
)
sites = st.builds(
    lambda address, name: Site(name or str(address), address), addresses, st.sampled_from(["", *NAMES])
)
moves = st.lists(
    st.one_of(
        st.tuples(st.just("sites"), st.lists(sites, max_size=12)),
        st.tuples(st.just("join"), st.sampled_from("abc")),
        st.tuples(st.just("leave"), st.sampled_from("abc")),
        st.tuples(st.just("forget"), st.just("")),
    ),
    max_size=12,
)
texts = st.lists(
    st.one_of(
        addresses.map(str),
        st.sampled_from(NAMES),
        st.integers(0, 9).map(lambda i: f"https://203.0.112.{i}:8443/x"),
        st.integers(0, 3).map(lambda i: f"[2001:db8::{i}]:443"),
        st.sampled_from(
            ["", "256.1.1.1", "01.2.3.4", "10.0.0.0/8", "not a host", " 203.0.112.1 ", "::ffff:203.0.112.2"]
        ),
    ),
    max_size=30,
)


def unfolded(actions: list[Action]) -> Iterator[Action]:
    for action in actions:
        yield from action.one_by_one() if isinstance(action, AnsweredMany) else (action,)


@policies
@given(moves)
def test_machine_decides_many_sites_as_one_after_the_other(policy: str, steps: list[tuple[str, Any]]) -> None:
    """Whoever holds their addresses, whoever comes and goes, whatever expired or is renewed in between."""
    config = replace(DelegatorConfig(), lifetime_s=5.0)
    many, single = (DelegationMachine(flat_tree(3), MAKERS[policy](), config) for _ in range(2))
    assert many.at_once is not None
    assert single.at_once is not None
    for now_s, (what, value) in enumerate(steps):
        if what == "sites":
            found = list(unfolded(many.at_once.arrived_many(value, now_s)))
            assert found == [action for one in value for action in single.handle(SiteArrived(one, now_s))]
        elif what == "forget":
            many.at_once.forget()
            single.at_once.forget()
        else:
            made = CrawlerJoined(crawler(value), now_s) if what == "join" else CrawlerLeft(value, now_s)
            assert many.handle(made) == single.handle(made)
    assert many.roster.load == single.roster.load


@pytest.fixture(scope="module")
def hierarchy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hierarchy_of(tmp_path_factory.mktemp("laws"), 4)


def delegated(hierarchy: Path, policy: str, runs: list[list[str]], at_a_time: int) -> list[Any]:
    """Delegate lists, so many sites at a time; return what is printed, reported and stored."""
    found: list[Any] = []

    def print_row(one: Decision) -> None:
        found.append(csv_line(describe_decision(one).values()))

    driving = DrivingConfig(flush_rows=2 * at_a_time)
    with (
        pytest.MonkeyPatch.context() as patch,
        Store.open("sqlite://") as store,
        Hierarchy.open(hierarchy) as tree,
    ):
        patch.setattr("ipmicra.app.delegate.batch.CHUNK", at_a_time)
        patch.setattr("ipmicra.app.delegate.batch.FEW", 5)
        enrol(store, [crawler("a"), crawler("b")])
        store.sites.put_many(
            [Site(name, IPv4Address("203.0.112.1") + i // 2) for i, name in enumerate(NAMES)], 1.0
        )
        for i, seeds in enumerate(runs):
            report = Batch(store, tree, DelegateOptions(policy=policy, driving=driving), print_row).run(
                [str(i)], seeds
            )
            found.append((report.sites, report.doubles, report.missing, report.examples, report.stopped))
            enrol(store, [crawler("c")])
            store.connection.execute("UPDATE crawlers SET state = 'left' WHERE name = 'a'")
        found += [list(store.results.all(i + 1)) for i in range(len(runs))]
        found += [
            (replace(one.delegation, created_s=0.0, expires_s=0.0), one.address, one.location, one.account)
            for brief in store.delegations.all()
            if (one := store.delegations.get(brief.delegation.first, brief.delegation.last))
        ]
        sql = "SELECT first, crawler, account, reason FROM delegation_history ORDER BY first, id"
        found.append(list(store.connection.rows(sql)))
    return found


@policies
@given(st.lists(texts, min_size=1, max_size=2), st.sampled_from([3, 500]))
@at_most(25)
def test_list_gives_the_same_rows_and_the_same_store_however_many_are_decided_at_a_time(
    hierarchy: Path, policy: str, runs: list[list[str]], at_a_time: int
) -> None:
    """The second list finds addresses that are held, some by a crawler that left."""
    assert delegated(hierarchy, policy, runs, at_a_time) == delegated(hierarchy, policy, runs, 1)
