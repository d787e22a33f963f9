"""Policies that ask nobody: sites are decided when they arrive, and forgotten when that is written.

Such a decision depends on the address and the fleet alone, so there is no attempt to open, nothing to learn
and no neighbour to look at. A list of a million sites leaves a million delegations of single addresses. They
are in the store, and only those that are not written yet stay here: whoever drives the machine restores the
delegations of the sites that arrive (`unknown`), and calls `forget` after writing. So memory does not grow
with the list.

Sites arrive many at a time. Those whose addresses nobody holds are decided together, in runs, and a run stays
a table of columns (`AnsweredMany`); a site whose address is held ends the run before it and is answered by
itself, so that answers leave in the order of arrival. A run that was given is looked into only if one of its
addresses comes again before it is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ipmicra.delegate.actions import Action, AnsweredMany, GaveUp
from ipmicra.delegate.attempt import Account, Attempt, Settle, account_of
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.ledger import Held, Holdings, Ledger
from ipmicra.delegate.ports import LocationSource, UnaskedPolicy
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import single
from ipmicra.model.address import Address
from ipmicra.model.location import Location
from ipmicra.model.site import Site

NOBODY = "there is no crawler to give it to: add one, or wait until one is reachable"


class AtOnce:
    """Decides sites by a policy that asks nobody."""

    def __init__(
        self,
        policy: UnaskedPolicy,
        roster: Roster,
        ledger: Ledger,
        holdings: Holdings,
        config: DelegatorConfig,
        locations: LocationSource | None = None,
    ) -> None:
        """Share what the machine has."""
        self._policy, self._roster, self._ledger = policy, roster, ledger
        self._holdings, self._config, self._locations = holdings, config, locations
        self._given: dict[int, AnsweredMany] = {}
        """Delegations that are not written yet, by key."""
        self._accounts: dict[Settle, Account] = {}
        """The same for all sites of a crawler, as long as the same crawlers may be chosen."""
        self._usable: list[int] = []

    def arrived(self, site: Site, now_s: float) -> list[Action]:
        """Answer for one site."""
        actions: list[Action] = []
        for action in self.arrived_many([site], now_s):
            actions += action.one_by_one() if isinstance(action, AnsweredMany) else [action]
        return actions

    def arrived_many(self, sites: Sequence[Site], now_s: float) -> list[Action]:
        """Answer for sites, in order: by their delegations if those are good, else by the policy."""
        actions: list[Action] = []
        fresh: dict[int, int] = {}
        for i, site in enumerate(sites):
            key = single(site.address)
            if key not in fresh and not self._is_known(key):
                fresh[key] = i
                continue
            actions += self._decide(sites, fresh, now_s)
            fresh = {}
            known, is_held = self._by_delegation(site, key, now_s)
            actions += known
            if not is_held:
                fresh[key] = i
        return actions + self._decide(sites, fresh, now_s)

    def _by_delegation(self, site: Site, key: int, now_s: float) -> tuple[list[Action], bool]:
        """Answer for a site by the delegation of its address; end one that is no longer good."""
        held = self._held(site.address, key)
        if held is None:
            return [], False
        if self._holdings.is_good(held, now_s) and not self._holdings.is_outdated(held.delegation):
            return [*self._holdings.renew(held, now_s), self._holdings.assign(site, held, 0)], True
        return self._holdings.revoke_bad(key, held, now_s), False

    def _decide(self, arrived: Sequence[Site], fresh: dict[int, int], now_s: float) -> list[Action]:
        """Delegate addresses that nobody holds to the crawlers that the policy chooses."""
        if not fresh:
            return []
        sites = [arrived[i] for i in fresh.values()]
        if not self._roster.usable():
            return [GaveUp(site, NOBODY) for site in sites]
        settles = self._policy.settle_many([site.address for site in sites])
        distinct = {id(settle): settle for settle in settles}
        names = {number: self._roster.name(settle.crawler) for number, settle in distinct.items()}
        accounts = {number: self._account(sites[0], settle) for number, settle in distinct.items()}
        for settle in settles:
            self._roster.load[settle.crawler] += 1
        given = AnsweredMany(
            sites,
            settles,
            [names[id(settle)] for settle in settles],
            [accounts[id(settle)] for settle in settles],
            self._places(sites, fresh),
            created_s=now_s,
            expires_s=now_s + self._config.lifetime_s,
            policy=self._policy.name,
        )
        self._given.update(dict.fromkeys(fresh, given))
        return [given]

    def _places(self, sites: Sequence[Site], keys: Iterable[int]) -> list[Location | None]:
        source = self._locations
        if source is None:
            return [None] * len(sites)
        return [source.location_of(site, key) for site, key in zip(sites, keys, strict=True)]

    def _account(self, site: Site, settle: Settle) -> Account:
        if self._usable is not self._roster.usable():  # a new list whenever somebody comes or goes
            self._usable = self._roster.usable()
            self._accounts.clear()
        found = self._accounts.get(settle)
        if found is None:
            attempt = Attempt(-1, single(site.address), 0, site.address, None)
            found = account_of(attempt, settle, self._roster.name, self._policy.explain(attempt))
            self._accounts[settle] = found
        return found

    def _held(self, address: Address, key: int) -> Held | None:
        """Return what holds an address; one that was given with others is taken out of their table."""
        given = self._given.pop(key, None)
        if given is not None:
            i = next(i for i, site in enumerate(given.sites) if site.address == address)
            self._holdings.restore(key, given.delegation(i), given.locations[i], None)
        return self._ledger.get(key)

    def _is_known(self, key: int) -> bool:
        return key in self._given or self._ledger.get(key) is not None

    def unknown(self, sites: Sequence[Site]) -> list[Address]:
        """Return the addresses whose delegations, if any, are in the store alone."""
        return [site.address for site in sites if not self._is_known(single(site.address))]

    def forget(self) -> None:
        """Drop what is written by now."""
        self._ledger.clear()
        self._given.clear()
