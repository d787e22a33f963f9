"""Rules while subnets are delegated: only crawlers are asked that rules leave for the whole subnet.

Rules say who may own a *site*, and act when sites are assigned. A subnet is delegated once for all its sites,
so it is limited by the rules that hold for every one of them: those on countries, organisations and prefixes
around it, never those on host names. Where these leave nobody of the fleet, the subnet is delegated as
without rules, and its sites are reported when they are assigned.

The machine knows no rules. Whatever it decides, it decides inside `handle`; so the roster is limited while it
takes in an event of a limited subnet, and free again before anything else happens.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ipmicra.app.rules import SiteRules
from ipmicra.assign.rules.rules import choices_of
from ipmicra.delegate.actions import Action, AskPlace, AskProbe, Delegated, GaveUp, Renewed
from ipmicra.delegate.events import Event, PlaceFound, ProbeLost, SampleReturned, SiteArrived
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.subnets import SubnetTree, bounds_of, key_of
from ipmicra.model.delegation import Decision
from ipmicra.model.site import Site

Answer = SampleReturned | ProbeLost | PlaceFound
ENDINGS = (Delegated, Renewed, GaveUp)
"""What an attempt ends with."""


@dataclass(slots=True)
class SubnetLimits:
    """Rules, and the subnets under way that they limit."""

    rules: SiteRules
    tree: SubnetTree
    against: int = 0
    """Sites whose subnet belongs to a crawler that their rules do not leave."""
    _under_way: dict[int, frozenset[str]] = field(default_factory=dict)
    """Crawlers that may be asked, by attempt."""

    def handle(self, machine: DelegationMachine, event: Event) -> list[Action]:
        """Let the machine take in an event, with the crawlers that are left for its subnet."""
        left = self._left(machine, event)
        if left is None:
            return machine.handle(event)
        machine.roster.limit(left)
        try:
            actions = machine.handle(event)
        finally:
            machine.roster.limit(None)
        for action in actions:
            if isinstance(action, AskProbe | AskPlace):
                self._under_way[action.attempt] = left
            elif isinstance(action, ENDINGS) and isinstance(event, Answer) and event.attempt is not None:
                self._under_way.pop(event.attempt, None)
        return actions

    def note(self, decision: Decision, machine: DelegationMachine) -> None:
        """Count a site whose crawler its rules do not leave."""
        crawlers = machine.roster.crawlers
        found = self.rules.choices([Site(decision.host, decision.address)], crawlers)
        choices = found.get(decision.host, ())
        names = {crawlers[one].name for choice in choices for one in choice.crawlers}
        self.against += bool(choices) and decision.crawler not in names

    def lines(self) -> list[str]:
        """Say what rules are still to change."""
        if not self.against:
            return []
        where = f"{self.against:,} sites are in subnets of crawlers that rules do not leave for them"
        return [f"{where}: `ipmicra assign` gives them to others"]

    def _left(self, machine: DelegationMachine, event: Event) -> frozenset[str] | None:
        """Return who may be asked for the subnet of an event; None for anybody."""
        if isinstance(event, SiteArrived):
            return self._of_site(machine, event.site)
        if isinstance(event, Answer) and event.attempt is not None:
            return self._under_way.get(event.attempt)
        return None

    def _of_site(self, machine: DelegationMachine, site: Site) -> frozenset[str] | None:
        first, last = bounds_of(self.tree, key_of(self.tree, site.address))
        rules = self.rules.rules.covering(self.rules.facts(site), first, last)
        if not rules:
            return None
        crawlers = machine.roster.crawlers
        left = {crawlers[one].name for choice in choices_of(rules, crawlers) for one in choice.crawlers}
        return frozenset(left) or None
