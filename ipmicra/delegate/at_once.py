"""Policies that ask nobody: every site is decided when it arrives, and forgotten when that is written.

Such a decision depends on the address and the fleet alone, so there is no attempt to open, nothing to learn
and no neighbour to look at. A list of a million sites leaves a million delegations of single addresses. They
are in the store, and only those that are not written yet stay in the ledger: whoever drives the machine
restores the delegations of the sites that arrive (`is_known`), and calls `forget` after writing. So memory
does not grow with the list.
"""

from __future__ import annotations

from ipmicra.delegate.actions import Action, Delegated, GaveUp
from ipmicra.delegate.attempt import Account, Attempt, Settle, account_of
from ipmicra.delegate.ledger import Holdings, HoldStep, Ledger
from ipmicra.delegate.ports import Policy
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import single
from ipmicra.model.address import Address
from ipmicra.model.location import Location
from ipmicra.model.site import Site

NOBODY = "there is no crawler to give it to: add one, or wait until one is reachable"


class AtOnce:
    """Decides sites one by one, by a policy that asks nobody."""

    def __init__(self, policy: Policy, roster: Roster, ledger: Ledger, holdings: Holdings) -> None:
        """Share what the machine has."""
        self._policy, self._roster, self._ledger, self._holdings = policy, roster, ledger, holdings
        self._accounts: dict[Settle, Account] = {}
        """The same for all sites of a crawler, as long as the same crawlers may be chosen."""
        self._usable: list[int] = []

    def arrived(self, site: Site, location: Location | None, now_s: float) -> list[Action]:
        """Answer for a site: by its delegation if it has a good one, else by the policy."""
        key, actions = single(site.address), list[Action]()
        held = self._ledger.get(key)
        if held is not None and self._holdings.is_good(held, now_s):
            return [*self._holdings.renew(held, now_s), self._holdings.assign(site, held, 0)]
        if held is not None:
            is_over = now_s >= held.delegation.expires_s
            step = HoldStep.DELEGATION_EXPIRED if is_over else HoldStep.CRAWLER_LEFT
            actions += self._holdings.revoke(key, step, "it expired" if is_over else "its crawler left")
        if not self._roster.usable():
            return [*actions, GaveUp(site, NOBODY)]
        attempt = Attempt(-1, key, 0, site.address, location)
        settle = self._policy.decide(attempt)
        assert isinstance(settle, Settle)  # noqa: S101 - it asks nobody
        held = self._holdings.give(attempt, settle, now_s)
        account = self._account(attempt, settle)
        actions.append(Delegated(key, held.delegation, account, site.address, location))
        actions.append(self._holdings.assign(site, held, 0))
        return actions

    def _account(self, attempt: Attempt, settle: Settle) -> Account:
        if self._usable is not self._roster.usable():  # a new list whenever somebody comes or goes
            self._usable = self._roster.usable()
            self._accounts.clear()
        found = self._accounts.get(settle)
        if found is None:
            found = account_of(attempt, settle, self._roster.name, self._policy.explain(attempt))
            self._accounts[settle] = found
        return found

    def is_known(self, address: Address) -> bool:
        """Return whether the ledger has the delegation of an address."""
        return self._ledger.get(single(address)) is not None

    def forget(self) -> None:
        """Drop what is written by now."""
        self._ledger.clear()
