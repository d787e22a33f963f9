"""Tokens: recognised by their hash, refused once they expired, were revoked or were used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ipmicra.app.access import TokenWish, add_token, coordinator_url, list_tokens, revoke_tokens
from ipmicra.edge.coordinator.access import Access, Identity, Role, fleet_id, hash_of, make_token
from ipmicra.edge.store.sqlite import SqliteConnection
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.wire.joining import decode_join_token


@dataclass
class Clock:
    now_s: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open("sqlite://") as opened:
        yield opened


def bearer(token: str) -> str:
    return f"Bearer {token}"


def added(store: Store, name: str = "alice", role: Role = Role.OPERATOR, **more: object) -> str:
    return add_token(store, TokenWish(name=name, role=role, **more), lambda: 1_000_000.0)  # type: ignore[arg-type]


def access_of(store: Store) -> tuple[Access, Clock]:
    clock = Clock()
    return Access(store, clock=clock, ticks=clock), clock


def test_bearer_of_a_token_is_recognised(store: Store) -> None:
    text = added(store, "crawl", Role.CRAWLER, crawler="fra")
    access, _ = access_of(store)
    assert access.identify(bearer(text)) == Identity(name="crawl", role=Role.CRAWLER, crawler="fra")
    assert access.identify(f"bearer  {text} ") is not None


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic abc", "Bearer ipm_o_wrong", "ü"])
def test_anything_else_is_nobody(store: Store, header: str | None) -> None:
    added(store)
    access, _ = access_of(store)
    assert access.identify(header) is None
    assert "needed" in access.refusal(header)


def test_token_has_256_random_bits_and_names_its_role() -> None:
    tokens = {make_token(Role.CRAWLER) for _ in range(100)}
    assert len(tokens) == 100
    assert all(one.startswith("ipm_c_") and len(one) == 49 for one in tokens)


def test_only_the_hash_is_on_disk(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "state.db")) as store:
        text = added(store)
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert text.encode() not in data
    assert text[6:].encode() not in data
    assert hash_of(text) in data


def test_token_stops_working_when_it_expires(store: Store) -> None:
    text = added(store, valid_hours=2.0)
    access, clock = access_of(store)
    clock.now_s += 7_199.0
    assert access.identify(bearer(text)) is not None
    clock.now_s += 1.0
    assert access.identify(bearer(text)) is None
    assert "expired" in access.refusal(bearer(text))


def test_revoked_token_is_refused_within_a_second(store: Store) -> None:
    text = added(store)
    access, clock = access_of(store)
    assert access.identify(bearer(text)) is not None
    assert [one.name for one in revoke_tokens(store, ["alice"], clock=clock)] == ["alice"]
    clock.now_s += 1.0
    assert access.identify(bearer(text)) is None
    assert "revoked" in access.refusal(bearer(text))


def test_new_token_works_almost_at_once(store: Store) -> None:
    access, clock = access_of(store)
    text = added(store)
    clock.now_s += 0.25
    assert access.identify(bearer(text)) is not None


def test_flood_of_unknown_tokens_does_not_reach_the_store(store: Store) -> None:
    access, clock = access_of(store)
    reads: list[str] = []
    assert isinstance(store.connection, SqliteConnection)
    store.connection.raw.set_trace_callback(reads.append)
    for number in range(1_000):
        clock.now_s += 0.0001
        access.identify(f"Bearer ipm_o_{number}")
    assert len(reads) <= 2


def test_use_is_written_once_a_minute_for_all(store: Store) -> None:
    text = added(store)
    access, clock = access_of(store)
    access.identify(bearer(text))
    assert list_tokens(store)[0].last_used_s is None
    clock.now_s += 60.0
    access.identify(bearer(text))
    assert list_tokens(store)[0].last_used_s == 1_000_000.0
    access.write_used()
    assert list_tokens(store)[0].last_used_s == 1_000_060.0


def test_operator_may_do_what_anybody_may() -> None:
    assert all(Identity(name="a", role=Role.OPERATOR).may(role) for role in Role)
    asks = Identity(name="b", role=Role.CRAWLER)
    assert [role for role in Role if asks.may(role)] == [Role.CRAWLER]


def test_name_of_a_good_token_is_taken_until_it_is_revoked(store: Store) -> None:
    added(store)
    with pytest.raises(InputError, match="choose another name"):
        added(store)
    added(store, role=Role.CRAWLER)
    revoke_tokens(store, ["alice"], Role.OPERATOR)
    added(store)
    assert [one.role for one in list_tokens(store) if one.revoked_s is None].count(Role.CRAWLER) == 1


def test_new_join_token_replaces_the_one_before(store: Store) -> None:
    url = "https://c.example:8460"
    texts = [added(store, "fra", Role.JOIN, url=url) for _ in range(2)]
    access, _ = access_of(store)
    first, second = (access.identify(bearer(decode_join_token(text).secret)) for text in texts)
    assert first is None
    assert second == Identity(name="fra", role=Role.JOIN, crawler="fra")


def test_join_token_names_fleet_and_coordinator(store: Store) -> None:
    text = added(store, "fra", Role.JOIN, url="https://c.example:8460/")
    read = decode_join_token(text)
    assert (read.fleet, read.url, read.pin) == (fleet_id(store), "https://c.example:8460", None)
    assert read.secret not in repr(read)


def test_agents_get_no_token_by_hand(store: Store) -> None:
    with pytest.raises(InputError, match="--role join"):
        added(store, "fra", Role.AGENT)


def test_unknown_name_is_not_revoked_and_nothing_else_is(store: Store) -> None:
    added(store)
    with pytest.raises(InputError, match="there are: alice"):
        revoke_tokens(store, ["alice", "bob"])
    assert list_tokens(store)[0].revoked_s is None


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("http://c.example", "clear text"),
        ("ftp://c.example", "must look like"),
        ("https://", "must look like"),
        ("https://me:pw@c.example", "no names or passwords"),
        ("https://c.example:99999", "must look like"),
        ("https://c.example/?a=b", "must look like"),
    ],
)
def test_unsafe_url_of_a_coordinator_is_refused(url: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        coordinator_url(url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1", "http://localhost", "http://[::1]:8", "https://c.example"]
)
def test_loopback_and_tls_are_safe(url: str) -> None:
    assert coordinator_url(url) == url
