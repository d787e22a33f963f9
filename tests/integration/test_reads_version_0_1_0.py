"""What version 0.1.0 wrote is read by the code of now: a hierarchy, a store, and messages of agents."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from enum import IntEnum, StrEnum
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ipmicra import Coordinates, Hierarchy, Overlay
from ipmicra.assign.overlay.kept import KeptOverlay
from ipmicra.edge.store.ports import OrderRecord
from ipmicra.edge.store.store import Store
from ipmicra.model.delegation import Decision, Evidence
from ipmicra.wire.limits import VERSIONS
from ipmicra.wire.messages import decode_error, decode_line, decode_request

DATA = Path(__file__).resolve().parents[1] / "data" / "0.1.0"
LATER_S = 4_000_000_000.0
"""A moment after everything in the files."""
DECODERS: dict[str, Callable[[bytes], object]] = {
    "request": decode_request,
    "line": decode_line,
    "error": decode_error,
    "health": json.loads,
}
CLOSE = 1e-3
"""Estimates are fitted anew from what was saved, and processors round in their own ways."""


# --- the files, and what 0.1.0 read out of them


@cache
def expected() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))
    return content


@pytest.fixture
def hierarchy(tmp_path: Path) -> Iterator[Hierarchy]:
    with Hierarchy.open(shutil.copy(DATA / "hierarchy.ipm", tmp_path)) as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(shutil.copy(DATA / "state.db", tmp_path))) as opened:
        yield opened


def messages() -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / "messages.jsonl").read_text(encoding="utf-8").splitlines()]


# --- everything as plain JSON


def plain(value: object) -> Any:
    """Return a value as JSON has it: enumerations and addresses as text, records as objects."""
    if isinstance(value, IntEnum):
        return value.name
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, IPv4Address | IPv6Address):
        return str(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def known_then(found: Any, then: Any) -> Any:
    """Leave out fields of records that 0.1.0 did not have; rows and their order are left as they are."""
    if isinstance(found, dict) and isinstance(then, dict):
        return {key: known_then(one, then[key]) for key, one in found.items() if key in then}
    if isinstance(found, list) and isinstance(then, list) and len(found) == len(then):
        return [known_then(one, other) for one, other in zip(found, then, strict=True)]
    return found


def same(value: object, then: Any) -> bool:
    """Tell whether a value says what 0.1.0 said; the difference is shown by the assertion."""
    found = known_then(plain(value), then)
    assert found == then
    return True


# --- the hierarchy


def test_a_hierarchy_of_0_1_0_is_whole(hierarchy: Hierarchy) -> None:
    then = expected()["hierarchy"]
    hierarchy.verify()
    assert len(hierarchy) == then["subnets"]
    assert len(hierarchy.organisations) == then["organisations"]


def test_a_hierarchy_of_0_1_0_keeps_its_edition(hierarchy: Hierarchy) -> None:
    then = expected()["hierarchy"]
    assert hierarchy.content_hash == then["content_hash"]
    assert hierarchy.edition.label == then["label"]
    assert same(hierarchy.edition, then["edition"])
    assert same(hierarchy.meta, then["meta"])


def test_lineages_of_a_hierarchy_of_0_1_0_are_the_same(hierarchy: Hierarchy) -> None:
    for address, then in expected()["hierarchy"]["lineages"].items():
        lineage = hierarchy.lineage(address)
        assert [subnet.label for subnet in lineage] == then["labels"]
        assert [one.organisation.label if one.organisation else None for one in lineage] == then["holders"]
        assert same(hierarchy.lookup(address), then["subnet"])
        assert same(hierarchy.registered_range(lineage[-1].row), then["registered_range"])


def test_many_addresses_at_once_are_found_in_a_hierarchy_of_0_1_0(hierarchy: Hierarchy) -> None:
    lineages = expected()["hierarchy"]["lineages"]
    rows = hierarchy.lookup_many(list(lineages)).tolist()
    assert rows == [then["subnet"]["row"] for then in lineages.values()]


def test_organisations_of_a_hierarchy_of_0_1_0_are_found(hierarchy: Hierarchy) -> None:
    for query, then in expected()["hierarchy"]["searches"].items():
        found = hierarchy.search(query)
        assert same(found, then["organisations"])
        assert [plain(hierarchy.subnets_of(one)) for one in found] == then["subnets"]


# --- the store


def test_a_store_of_0_1_0_keeps_its_crawlers_and_what_became_of_them(store: Store) -> None:
    then = expected()["store"]
    assert same(store.crawlers.all(), then["crawlers"])
    assert same(
        {name: store.crawlers.history(name) for name in then["crawler_history"]}, then["crawler_history"]
    )


def test_a_store_of_0_1_0_keeps_its_sites(store: Store) -> None:
    then = expected()["store"]["sites"]
    assert same(store.sites.all(), then)
    for one in then:
        assert same(store.sites.get(one["host"]), one)
        assert one["host"] in {site.host for site in store.sites.at(ip_address(one["address"]))}


def test_a_store_of_0_1_0_keeps_its_samples_and_losses(store: Store) -> None:
    then = expected()["store"]["samples"]
    assert store.samples.count() == len(then)
    assert same(store.samples.newest(len(then) + 1), then)


def test_samples_of_0_1_0_are_found_by_address(store: Store) -> None:
    samples = expected()["store"]["samples"]
    for address in sorted({one["address"] for one in samples}):
        then = [one for one in samples if one["address"] == address]
        assert same(store.samples.of(ip_address(address)), then)
        assert same(store.samples.latest(ip_address(address)), {one["crawler"]: one for one in then})


def test_a_store_of_0_1_0_keeps_its_answers_of_the_dns(store: Store) -> None:
    then = expected()["store"]["names"]
    assert same(store.names.get_many(then, 0.0), then)
    assert store.names.get_many(then, LATER_S) == {}


def test_a_store_of_0_1_0_keeps_its_delegations(store: Store) -> None:
    then = expected()["store"]
    assert store.delegations.count() == len(then["delegations"])
    assert list(store.delegations.probes()) == then["probes_of_delegations"]
    assert same(list(store.delegations.all()), then["delegations"])


def test_delegations_of_0_1_0_keep_their_accounts_and_their_history(store: Store) -> None:
    for one in expected()["store"]["accounts"]:
        bounds = ip_address(one["first"]), ip_address(one["last"])
        assert same(store.delegations.get(*bounds), one["record"])
        assert same(store.delegations.history(*bounds), one["history"])


def test_a_store_of_0_1_0_keeps_its_batches_and_results(store: Store) -> None:
    then = expected()["store"]
    assert same(store.batches.all(), then["batches"])
    for batch, results in then["results"].items():
        assert store.results.count(int(batch)) == len(results)
        assert same([as_then(one) for one in store.results.all(int(batch))], results)
    latest = {host: as_then(store.results.latest(host)) for host in then["latest"]}
    assert same(latest, then["latest"])


def as_then(one: Decision | None) -> Decision | None:
    """Return a result as 0.1.0 called it: probed, although the sample was another site's of its subnet."""
    if one is None or one.inherited_from is None or one.rtt_ms is None:
        return one
    return replace(one, evidence=Evidence.PROBED)


def test_results_of_0_1_0_that_another_site_was_probed_for_are_inherited_from_it(store: Store) -> None:
    then = [one for results in expected()["store"]["results"].values() for one in results]
    called_probed = {one["host"] for one in then if one["evidence"] == "probed" and not one["probes"]}
    inherited = [
        one
        for batch in expected()["store"]["results"]
        for one in store.results.all(int(batch))
        if one.evidence is Evidence.INHERITED and one.host in called_probed
    ]
    assert inherited
    for one in inherited:
        assert one.inherited_from is not None
        assert one.inherited_from.first == one.inherited_from.last != one.address
        by = [sample.crawler for sample in store.samples.of(one.inherited_from.first)]
        assert one.crawler in by
        assert one.crawler not in [sample.crawler for sample in store.samples.of(one.address)]


def test_an_unfinished_batch_of_0_1_0_is_gone_on_with(store: Store) -> None:
    (open_one,) = (one for one in expected()["store"]["batches"] if one["ended_s"] is None)
    assert store.batches.begin(open_one["key"], "the same command", LATER_S).id == open_one["id"]
    store.batches.end(open_one["id"], LATER_S)
    assert store.batches.begin(open_one["key"], "the same command", LATER_S).id > open_one["id"]


def test_a_store_of_0_1_0_keeps_its_budgets_and_orders(store: Store) -> None:
    for name, then in expected()["store"]["budgets"].items():
        assert same(store.budget.state(name), then["state"])
        assert same(store.budget.unanswered(name), then["unanswered"])
        assert same(store.budget.answered(name), then["answered"])


def test_a_budget_of_0_1_0_is_not_spent_twice(store: Store) -> None:
    name, then = next(
        (name, one["state"])
        for name, one in expected()["store"]["budgets"].items()
        if one["state"]["total"] is not None
    )
    left = then["total"] - then["spent"]
    orders = [OrderRecord(id=f"new-{i}", crawler="ath", address=None) for i in range(left + 5)]
    assert store.budget.open(name, then["total"]).spent == then["spent"]
    assert store.budget.reserve(name, orders, LATER_S) == left


def test_a_store_of_0_1_0_keeps_its_marks_and_grafts(store: Store) -> None:
    then = expected()["store"]
    assert same(store.track_records.rejected(), then["marks"])
    assert same(store.grafts.all(), then["grafts"])


def test_a_store_of_0_1_0_keeps_its_assignments_piece_by_piece(store: Store) -> None:
    then = expected()["store"]["assignments"]
    assert same(store.assignments.all(), then)
    for host in {one["host"] for one in then}:
        assert same(store.assignments.of(host), [one for one in then if one["host"] == host])


def test_a_store_of_0_1_0_keeps_its_schedules(store: Store) -> None:
    then = expected()["store"]["recrawls"]
    assert same(store.recrawls.all(), then)
    for host in {one["host"] for one in then}:
        assert same(store.recrawls.of(host), [one for one in then if one["host"] == host])


def test_a_store_of_0_1_0_keeps_its_words(store: Store) -> None:
    for key, then in expected()["store"]["meta"].items():
        assert store.meta.get(key) == then


def test_a_store_of_0_1_0_is_of_the_edition_of_its_hierarchy(store: Store, hierarchy: Hierarchy) -> None:
    """Else all its delegations would be carried over as if the hierarchy had changed."""
    assert store.meta.get("edition of delegations") == hierarchy.content_hash


def test_a_store_of_0_1_0_can_be_written_to_and_opened_again(store: Store) -> None:
    before = list(store.delegations.all())
    one = before[0].delegation
    store.delegations.end_many([((one.first, one.last), "a test")], LATER_S)
    store.samples.add_many(store.samples.newest(1))
    with Store.open(store.connection.path) as again:
        assert list(again.delegations.all()) == before[1:]
        assert again.delegations.history(one.first, one.last)[-1].reason == "a test"
        assert again.samples.count() == len(expected()["store"]["samples"]) + 1


# --- saved states


def saved(store: Store, name: str) -> bytes:
    data = store.states.get(name)
    assert data is not None
    return data


@pytest.mark.parametrize("name", sorted(expected()["states"]["coordinates"]))
def test_coordinates_saved_by_0_1_0_estimate_the_same(store: Store, name: str) -> None:
    then = expected()["states"]["coordinates"][name]
    found = Coordinates.from_bytes(saved(store, name))
    assert (found.method, found.crawlers) == (then["method"], then["crawlers"])
    assert found.landmarks.tolist() == then["landmarks"]
    assert found.points().tolist() == then["points"]
    samples = np.array(then["asked_ms"], dtype=np.float64)
    assert found.predict(samples) == pytest.approx(np.array(then["predicted_ms"]), rel=CLOSE, abs=CLOSE)
    assert found.predict_subnets(then["subnets"]) == pytest.approx(
        np.array(then["subnets_ms"]), rel=CLOSE, abs=CLOSE
    )


@pytest.mark.parametrize("name", sorted(expected()["states"]["overlays"]))
def test_overlay_saved_by_0_1_0_has_the_same_owners(store: Store, name: str) -> None:
    then = expected()["states"]["overlays"][name]
    found = Overlay.from_bytes(saved(store, name), rng=np.random.default_rng(1))
    assert (found.scheme, found.expected, plain(found.options)) == (
        then["scheme"],
        then["expected"],
        then["options"],
    )
    assert plain(found.crawlers()) == then["crawlers"]
    assert plain(found.owners(then["asked"])) == then["owners"]
    assert plain(found.loads()) == then["loads"]
    zones = {str(one): [found.bounds(zone) for zone in found.zones_of(one)] for one in then["crawlers"]}
    assert plain(zones) == then["zones"]


@pytest.mark.parametrize("name", sorted(expected()["states"]["kept_overlays"]))
def test_zones_kept_by_0_1_0_are_gone_on_with(store: Store, name: str) -> None:
    then = expected()["states"]["kept_overlays"][name]
    found = KeptOverlay.from_bytes(saved(store, name))
    assert found.crawlers == then["crawlers"]
    assert plain(found.sites) == then["sites"]
    assert sorted(found.known) == then["known"]
    assert found.owners(list(then["sites"])) == then["owners"]


# --- messages


@pytest.mark.parametrize("number", range(len(messages())))
def test_a_message_of_0_1_0_is_understood(number: int) -> None:
    message, then = messages()[number], expected()["messages"][number]
    assert message["kind"] == then["kind"]
    assert same(DECODERS[message["kind"]](message["text"].encode()), then["decoded"])


def test_an_agent_of_0_1_0_speaks_a_version_that_is_spoken_now() -> None:
    told = [json.loads(one["text"])["versions"] for one in messages() if one["kind"] == "health"]
    assert told
    assert all(set(versions) & set(VERSIONS) for versions in told)
