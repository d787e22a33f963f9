"""A crawler's fate does not depend on when it reconnects or when the program restarts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from ipmicra.delegate.actions import Action, CrawlerChecked, Delegated
from ipmicra.delegate.events import CrawlerJoined
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.baselines import Everyone
from ipmicra.model.crawler import Crawler, CrawlerState, TrackRecord
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from tests.fakes.fleet import arrived, asked, crawler, place
from tests.fakes.subnet_tree import flat_tree

SITES = 16
TOKYO = place(35.68, 139.69)
FLEET = (
    crawler("ny", "192.0.2.1", place(40.71, -74.01)),
    crawler("athens", "192.0.2.2", place(37.98, 23.73)),
    crawler("lima", "192.0.2.3", place(-12.05, -77.04)),
)
NAMES = [one.name for one in FLEET]


class Tokyo:
    def location_of(self, site: Site, key: int) -> Location | None:
        return TOKYO


@dataclass
class Kept:
    """What the store has: written together whenever an attempt ends, never in between."""

    records: dict[str, TrackRecord]
    delegations: dict[int, Delegated]

    def write(self, actions: list[Action]) -> None:
        for action in actions:
            if isinstance(action, CrawlerChecked):
                self.records[action.crawler] = action.record
            elif isinstance(action, Delegated):
                self.delegations[action.key] = action

    def start(self, crawlers: list[Crawler]) -> DelegationMachine:
        machine = DelegationMachine(flat_tree(SITES), Everyone(), locations=Tokyo())
        for one in crawlers:
            machine.handle(CrawlerJoined(one, 0.0, self.records.get(one.name)))
        for key, done in self.delegations.items():
            machine.restore(key, done.delegation, done.location)
        return machine


steps = st.lists(
    st.tuples(
        st.integers(0, SITES - 1),
        st.none() | st.sampled_from(NAMES),
        st.none() | st.sampled_from(NAMES),
        st.booleans(),
    ),
    max_size=40,
)
"""Site that arrives, who reports the impossible; before that, who reconnects and whether all restarts."""


@given(script=steps)
def test_fate_of_a_crawler_does_not_depend_on_reconnects_and_restarts(
    script: list[tuple[int, str | None, str | None, bool]],
) -> None:
    calm, steady = Kept({}, {}), list(FLEET)
    uninterrupted = calm.start(steady)
    rough = Kept({}, {})
    machine = rough.start(steady)
    for number, culprit, reconnects, restarts in script:
        if reconnects is not None:
            known = machine.crawler(reconnects)
            assert known is not None
            machine.handle(CrawlerJoined(replace(known, state=CrawlerState.UNREACHABLE), 0.0))
            machine.handle(CrawlerJoined(known, 0.0))
        if restarts:
            machine = rough.start(steady)

        def rtt_ms(name: str, _address: str, culprit: str | None = culprit) -> float:
            return 1.0 if name == culprit else 400.0

        address = f"10.0.{number}.1"
        expected = arrived(uninterrupted, address, rtt_ms)
        actions = arrived(machine, address, rtt_ms)
        calm.write(expected)
        rough.write(actions)
        assert asked(actions) == asked(expected)
        assert machine.roster.flagged() == uninterrupted.roster.flagged()
        assert rough.records == calm.records
