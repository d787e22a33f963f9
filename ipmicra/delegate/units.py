"""The unit of delegation: which addresses one decision is good for.

How it works
------------
Registry subnets are of two kinds. Those of an access provider are mostly one place: what is true of one site
is true of all. Those of a hosting company span continents. Nothing in a registration tells them apart, so a
policy of `Scope.PLACE` decides for a *slice* (256 addresses of IPv4, a /48 of IPv6) unless it says that the
answer is good for the whole subnet (`Policy.covers`), which is then delegated as one:

    address ─ its slice is delegated ──────────────────────────▶ the slice
         ├─── its subnet is delegated, and it is no check ─────▶ the subnet
         ├─── its subnet is no wider than a slice ─────────────▶ the subnet
         └─── else ────────────────────────────────────────────▶ the slice; the policy may widen it at the end

Of the answers that such wide subnets give, one in `check_every` is a *check*: the site is decided by itself,
with a probe. When checks or other samples show that a subnet is in several places, its delegation as a whole
ends (`Policy.spread_since`), and so do those of the same holder's other subnets.

A site that is known to be elsewhere than the rest of its subnet always goes by its slice.
"""

from __future__ import annotations

from dataclasses import replace

from ipmicra.delegate.attempt import Attempt, Settle
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.ledger import Held, Hold, Ledger, is_decided_for
from ipmicra.delegate.own_subnet import own_key
from ipmicra.delegate.ports import Policy, Scope
from ipmicra.delegate.roster import are_apart
from ipmicra.delegate.subnets import SubnetTree, is_narrow, key_of, single, slice_of
from ipmicra.model.address import Address
from ipmicra.model.delegation import Evidence
from ipmicra.model.location import Location

EARNED = frozenset({Evidence.PROBED, Evidence.INHERITED, Evidence.GEOLOCATED})
"""Evidence of answers that may be good for more than a slice."""
SPREAD = "its sites, or its holder's, are in several places: it goes by slices from now on"


class Units:
    """Finds the key that answers for an address, or that is to be delegated for it."""

    def __init__(self, tree: SubnetTree, ledger: Ledger, scope: Scope, config: DelegatorConfig) -> None:
        """Remember where to look."""
        self._tree, self._ledger, self._scope, self._config = tree, ledger, scope, config
        self._narrow: dict[int, bool] = {}
        """Whether subnets are no wider than a slice, by row."""
        self._checks: set[int] = set()
        """Slices about to be decided as a check."""
        self._answered = 0
        """Answers of wide subnets since the last check."""

    def of(self, address: Address, location: Location | None = None) -> int:
        """Return the key of an address."""
        if self._scope is Scope.SITE:
            return single(address)
        key = key_of(self._tree, address)
        if self._scope is Scope.SUBNET or key < 0:
            return key
        held = self._ledger.get(key)
        is_here = held is not None and not self._is_apart(address, location, held)
        if self._is_narrow(key):
            return key if is_here or held is None else slice_of(address)
        own = slice_of(address)
        return key if is_here and self._ledger.get(own) is None else own

    def _is_narrow(self, row: int) -> bool:
        """Return whether a subnet lies within one slice; every site that arrives asks for it."""
        found = self._narrow.get(row)
        if found is None:
            found = self._narrow[row] = is_narrow(self._tree, row)
        return found

    def _is_apart(self, address: Address, place: Location | None, held: Held) -> bool:
        """Return whether an address is elsewhere than the site that a delegation was decided for."""
        if place is None or not are_apart(place, held.location, self._config.apart_km):
            return False
        return not is_decided_for(held.delegation, address)  # it may have been located better since

    def is_check(self, key: int, held: Held, address: Address) -> bool:
        """Count an answer from a delegation to another site; return whether it is to be checked instead."""
        if key < 0 or self._scope is not Scope.PLACE or self._is_narrow(key):
            return False
        if is_decided_for(held.delegation, address):
            return False
        self._answered += 1
        if self._answered < self._config.check_every:
            return False
        self._answered = 0
        return True

    def checked(self, address: Address) -> int:
        """Return the key of a site that is decided by itself to check its subnet."""
        key = slice_of(address)
        self._checks.add(key)
        return key

    def attempt(self, number: int, key: int, address: Address, location: Location | None) -> Attempt:
        """Return a new attempt for a key."""
        row = key if key >= 0 else self._tree.row_of(str(address))
        is_check = key in self._checks
        self._checks.discard(key)
        return Attempt(number, key, row, address, location, is_check=is_check)

    def widened(self, attempt: Attempt, settle: Settle, policy: Policy) -> Settle:
        """Widen an attempt for a slice to the whole subnet if the policy says so; return why it ended."""
        row = attempt.row
        if attempt.key >= 0 or self._scope is not Scope.PLACE or settle.evidence not in EARNED:
            return settle
        if self._tree.parent(row) is None or self._ledger.hold_of(row) is not Hold.FREE:
            return settle
        is_whole, why = policy.extent(attempt, settle.crawler)
        if is_whole:
            self._ledger.abandon(attempt.key)
            attempt.key = row
            self._ledger.contest(row)
        unit = "good for the whole subnet" if is_whole else "good for its slice of the subnet"
        return replace(settle, reason=f"{settle.reason}; {unit}: {why}")

    def own_of(self, address: Address) -> int:
        """Return the key of what a crawler may have without a probe because it stands there."""
        is_whole = self._scope is not Scope.PLACE
        return key_of(self._tree, address) if is_whole else own_key(self._tree, address)
