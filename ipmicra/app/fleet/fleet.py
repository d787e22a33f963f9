"""The fleet: crawlers join, are listed and leave."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from ipmicra.app.home import Home, home_at
from ipmicra.edge.files.crawlers import crawler_of, import_crawlers, read_labels
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import DelegationRecord, EndedDelegation, Member, StateChange, StorePort
from ipmicra.errors import InputError
from ipmicra.model import membership
from ipmicra.model.address import Address
from ipmicra.model.crawler import Capacity, Crawler, CrawlerState
from ipmicra.model.membership import Change
from ipmicra.model.token import Role

PRESENT = membership.PRESENT
"""States of crawlers that have not left."""


class Fleet(AbstractContextManager["Fleet"]):
    """The crawlers that a store knows.

    ```python
    from ipaddress import ip_address

    from ipmicra import Crawler, Fleet

    with Fleet.open() as fleet:
        fleet.add(Crawler(name="ath", address=ip_address("192.0.2.1")))
        [member.crawler.name for member in fleet.members()]
    ```
    """

    def __init__(
        self,
        store: StorePort,
        hierarchy: Hierarchy | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Use a store; crawlers that join are given their subnet from the hierarchy, if there is one."""
        self.taken: list[EndedDelegation] = []
        """Delegations that ended because a crawler joined that stands in their subnet, oldest first."""
        self._store = store
        self._hierarchy = hierarchy
        self._clock = clock

    @classmethod
    def open(
        cls, home: Home | Path | str | None = None, *, store: str | None = None, hierarchy: Path | None = None
    ) -> Self:
        """Open the fleet of a home folder; a hierarchy is used if there is one."""
        place = home_at(home).using(store=store, hierarchy=hierarchy)
        return cls(place.open_store(), place.open_hierarchy_if_any())

    def add(self, crawler: Crawler, *, replaces: bool = False) -> Member:
        """Let a crawler join; one that left may come back, one that is present only be replaced.

        The subnet that it stands in is delegated to it at once, whoever held it (see `taken`).
        """
        before = self._store.crawlers.get(crawler.name)
        if before is not None and before.crawler.state is not CrawlerState.LEFT and not replaces:
            raise InputError(f"there is a crawler named {crawler.name!r} already; replace it with --replace")
        return self._join(crawler, before)

    def add_fields(
        self, fields: Mapping[str, Any], labels: Iterable[str] = (), *, replaces: bool = False
    ) -> Member:
        """Let a crawler join by its fields, named as in a list of crawlers, and labels `key=word`.

        One that is replaced keeps what the fields leave out; its place only if it keeps its address.
        """
        given = crawler_of({**fields, "labels": read_labels(labels)})
        before = self._store.crawlers.get(given.name) if replaces else None
        return self.add(given if before is None else _completed(given, before.crawler), replaces=replaces)

    def import_file(self, path: Path) -> list[Member]:
        """Let the crawlers of a list join, all or none; those that are present are replaced."""
        return self.add_many(import_crawlers(path))

    def add_many(self, crawlers: Iterable[Crawler]) -> list[Member]:
        """Let crawlers join, all or none; those that are present are replaced."""
        with self._store.transaction():
            return [self._join(one, self._store.crawlers.get(one.name)) for one in crawlers]

    def _join(self, crawler: Crawler, before: Member | None) -> Member:
        now_s = self._clock()
        state = None if before is None else before.crawler.state
        # One that is merely unreachable did not leave: its track record is kept.
        is_member = state in PRESENT
        joined = replace(
            crawler,
            state=membership.next_state(state or CrawlerState.LEFT, Change.JOIN),
            joined_s=before.crawler.joined_s if before and is_member else now_s,
            changed_s=before.crawler.changed_s if before and state is CrawlerState.JOINED else now_s,
        )
        member = Member(crawler=joined, **self._subnet(joined.address))
        is_settled = before is not None and is_member and before.crawler.address == joined.address
        with self._store.transaction():
            self._store.crawlers.put(member)
            if self._hierarchy is not None and not is_settled:
                self._give_own(self._hierarchy, joined, now_s)
        return member

    def _give_own(self, hierarchy: Hierarchy, crawler: Crawler, now_s: float) -> None:
        """Delegate the subnet that a crawler stands in to it, unless another that stands there holds it."""
        from ipmicra.app.delegate.new_edition import EDITION
        from ipmicra.delegate.config import DelegatorConfig
        from ipmicra.delegate.own_subnet import TAKEN, own_delegation, own_key

        key = own_key(hierarchy, crawler.address)
        own, account = own_delegation(hierarchy, crawler, key, now_s, DelegatorConfig().lifetime_s)
        before = self._store.delegations.get(own.first, own.last)
        if before is not None:
            holder = self._store.crawlers.get(before.delegation.crawler)
            is_present = holder is not None and holder.crawler.state in PRESENT
            is_good = is_present and before.delegation.expires_s > now_s
            if holder and is_good and own_key(hierarchy, holder.crawler.address) == key:
                return
            self._store.delegations.end_many([((own.first, own.last), TAKEN)], now_s)
            self.taken.append(EndedDelegation(record=before, ended_s=now_s, reason=TAKEN))
        record = DelegationRecord(delegation=own, location=crawler.location, account=account.tried)
        self._store.delegations.put_many([record])
        if self._store.meta.get(EDITION) is None:
            self._store.meta.set(EDITION, hierarchy.content_hash)

    def _subnet(self, address: Address) -> dict[str, Address]:
        """Find the smallest subnet that holds an address; the root, which holds all, says nothing."""
        subnet = self._hierarchy.lookup(address) if self._hierarchy else None
        return {"first": subnet.first, "last": subnet.last} if subnet and subnet.depth else {}

    def remove(self, name: str) -> Member:
        """Let a crawler leave; what is known of it is kept, but its agent is no longer let in."""
        with self._store.transaction():
            self._change(name, Change.REMOVE)
            self._store.agents.forget(name)
            left_s = self.get(name).crawler.changed_s
            self._store.tokens.revoke(agent_tokens(self._store, name), left_s)
        return self.get(name)

    def drain(self, name: str) -> Member:
        """Assign nothing new to a crawler; it keeps what it holds until it is removed or joins again."""
        if self.get(name).crawler.state is CrawlerState.LEFT:
            raise InputError(f"{name} has left the fleet: there is nothing to drain")
        self._change(name, Change.DRAIN)
        return self.get(name)

    def mark(self, name: str, state: CrawlerState) -> bool:
        """Note that a crawler's agent answers again, or no longer; one that left or drains stays as it is."""
        answers = state is CrawlerState.JOINED
        return self._change(name, Change.ANSWER if answers else Change.FAIL_TO_ANSWER)

    def _change(self, name: str, change: Change) -> bool:
        before = self.get(name).crawler.state
        state = membership.next_state(before, change)
        return state is not before and self._store.crawlers.set_state(name, state, self._clock())

    def get(self, name: str) -> Member:
        """Return the crawler of a name."""
        member = self._store.crawlers.get(name)
        if member is None:
            known = ", ".join(one.crawler.name for one in self.members()) or "none yet: `ipmicra crawler add`"
            raise InputError(f"there is no crawler named {name!r}; there are: {known}")
        return member

    def members(self, states: Sequence[CrawlerState] = PRESENT) -> list[Member]:
        """Return the crawlers in some states, in the order of their names."""
        return self._store.crawlers.all(states)

    def history(self, name: str) -> list[StateChange]:
        """Return a crawler's states, oldest first."""
        return self._store.crawlers.history(name)

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def __exit__(self, *_error: object) -> None:
        """Close."""
        self.close()


def agent_tokens(store: StorePort, crawler: str) -> list[bytes]:
    """Return the hashes of the tokens with which agents of a crawler come in, or may join."""
    return [
        one.hash
        for one in store.tokens.all()
        if one.crawler == crawler and one.role in {Role.AGENT, Role.JOIN} and one.revoked_s is None
    ]


def _completed(given: Crawler, before: Crawler) -> Crawler:
    """Return a crawler with what it leaves out taken from the one that it replaces."""
    stays = given.address == before.address
    capacity = {
        name: getattr(given.capacity, name) or getattr(before.capacity, name)
        for name in ("bandwidth_mbps", "memory_gb", "max_pieces", "connections")
    }
    return replace(
        given,
        agent_url=given.agent_url or before.agent_url,
        location=given.location or (before.location if stays else None),
        labels={**before.labels, **given.labels},
        capacity=Capacity(**capacity),
    )
