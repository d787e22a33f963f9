"""The machine as the store left it: crawlers, delegations, and what samples taught."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ipmicra.app.delegate.driver import Driver
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.delegate.probes import Pair
from ipmicra.delegate.actions import Delegated
from ipmicra.delegate.events import CrawlerJoined, SampleReturned
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.subnets import SubnetTree, key_of, key_of_bounds
from ipmicra.edge.store.ports import Member, StorePort
from ipmicra.errors import InputError
from ipmicra.model.crawler import Crawler, CrawlerState

NOBODY = "no crawler can be asked: add one with `ipmicra crawler add NAME ADDRESS --agent-url URL`"
ALL_SILENT = "no agent answers: start them with `ipmicra agent`, or look at `ipmicra crawler list`"
NOT_LET_IN = (
    "no agent lets us in, and no token was given: name it with --token-file FILE or IPMICRA_AGENT_TOKEN"
)


@dataclass(slots=True)
class Roster:
    """The crawlers that take part, in the order in which they joined."""

    crawlers: list[Crawler]
    joined_s: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What the user should know."""

    def __post_init__(self) -> None:
        """Order by time of joining: a delegation is reconsidered for those that came later."""
        self.crawlers.sort(key=lambda one: (one.joined_s, one.name))
        self.joined_s = [one.joined_s for one in self.crawlers]


def make_roster(members: Iterable[Member], options: DelegateOptions) -> Roster:
    """Choose who takes part; crawlers without an agent keep what they hold and get nothing new."""
    members = list(members)
    present = [one.crawler for one in members if one.crawler.state is not CrawlerState.LEFT]
    if not present:
        raise InputError(NOBODY)
    without = [one.name for one in present if one.agent_url is None] if options.needs_agents else []
    if len(without) == len(present):
        raise InputError(f"{NOBODY} ({', '.join(without[:5])}: without an agent)")
    crawlers = [
        replace(one.crawler, state=CrawlerState.UNREACHABLE) if one.crawler.name in without else one.crawler
        for one in members
    ]
    notes = [f"without an agent, so not asked: {', '.join(without)}"] if without else []
    return Roster(crawlers, notes=notes)


def prepare(driver: Driver, store: StorePort, tree: SubnetTree, roster: Roster) -> int:
    """Let crawlers join and delegations be taken over; give how many the machine could not place."""
    now_s = driver.clock()
    own: list[Delegated] = []
    for crawler in roster.crawlers:
        actions = driver.machine.handle(CrawlerJoined(crawler, now_s))
        if crawler.state is not CrawlerState.LEFT:
            own += [action for action in actions if isinstance(action, Delegated)]
    _mark(driver.machine, store, roster)
    held, unplaced = set(), 0
    for record in store.delegations.all():
        one = record.delegation
        key = key_of_bounds(tree, one.first, one.last)
        fleet_size = bisect_right(roster.joined_s, one.created_s)
        if key is None or not driver.machine.restore(key, one, record.location, fleet_size):
            unplaced += 1
            continue
        driver.expect(key, one.expires_s)
        held.add(key)
    for action in own:
        if action.key not in held:
            driver.delegated(action, None)
    driver.flush()
    return unplaced


def _mark(machine: DelegationMachine, store: StorePort, roster: Roster) -> None:
    """Remember who lied since it joined; whoever is removed and added again starts anew."""
    joined_s = {one.name: one.joined_s for one in roster.crawlers}
    for mark in store.marks.all():
        index = machine.roster.index_of(mark.crawler)
        if index is not None and mark.at_s >= joined_s[mark.crawler]:
            machine.roster.mark(index, machine.config.physics.marks_allowed)


def teach(driver: Driver, store: StorePort, tree: SubnetTree, unfinished: set[Pair]) -> int:
    """Let the policy learn from samples of earlier runs; give how many.

    Samples of probes that an unfinished batch asked for, and whose subnets are nobody's yet, are left out:
    they are learnt from when they are told once more.
    """
    now_s = driver.clock()
    lies = {(mark.crawler, mark.address) for mark in store.marks.all()}
    since_s = now_s - driver.machine.config.lifetime_s
    count = 0
    for sample in store.samples.newest(driver.config.taught, since_s):
        pair = sample.crawler, sample.address
        if sample.rtt_ms is None or pair in lies or not int(sample.address):
            continue
        if pair in unfinished and driver.machine.ledger.get(key_of(tree, sample.address)) is None:
            continue
        driver.machine.handle(SampleReturned(None, sample, now_s))
        count += 1
    return count
