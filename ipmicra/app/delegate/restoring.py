"""The machine restored from the store: crawlers with their records, delegations, and what samples taught."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ipmicra.app.delegate.driver import Driver
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.delegate.probe_queue import Pair
from ipmicra.delegate.actions import Delegated
from ipmicra.delegate.events import CrawlerJoined
from ipmicra.delegate.ledger import compared_s
from ipmicra.delegate.own_subnet import TAKEN
from ipmicra.delegate.subnets import SubnetTree, key_of_bounds
from ipmicra.edge.store.ports import Member, StorePort
from ipmicra.errors import InputError
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.delegation import Delegation
from ipmicra.model.sample import Sample

NOBODY = "no crawler can be asked: add one with `ipmicra crawler add NAME ADDRESS --agent-url URL`"
ALL_SILENT = "no agent answers: start them with `ipmicra agent`, or look at `ipmicra crawler list`"
NOT_AUTHENTICATED = (
    "no agent lets us in, and no token was given: name it with --token-file FILE or IPMICRA_AGENT_TOKEN"
)
FLAGGED = (
    "not asked, for most of its samples that could be checked are shorter than light allows; "
    "look at its agent and its place, then `ipmicra crawler remove` it and add it again"
)


@dataclass(slots=True)
class Participants:
    """The crawlers that take part, in the order in which they joined."""

    crawlers: list[Crawler]
    joined_s: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What the user should know."""

    def __post_init__(self) -> None:
        """Order by time of joining: a delegation is reconsidered for those that came later."""
        self.crawlers.sort(key=lambda one: (one.joined_s, one.name))
        self.joined_s = [one.joined_s for one in self.crawlers]


def choose_participants(
    members: Iterable[Member], options: DelegateOptions, *, is_patient: bool = False
) -> Participants:
    """Choose who takes part; crawlers without an agent keep what they hold and get nothing new.

    Whoever is patient goes on without anybody that can be asked: some may join later.
    """
    members = list(members)
    present = [one.crawler for one in members if one.crawler.state is not CrawlerState.LEFT]
    if not present and not is_patient:
        raise InputError(NOBODY)
    without = [one.name for one in present if one.agent_url is None] if options.needs_agents else []
    if len(without) == len(present) and not is_patient:
        raise InputError(f"{NOBODY} ({', '.join(without[:5])}: without an agent)")
    crawlers = [
        replace(one.crawler, state=CrawlerState.UNREACHABLE) if one.crawler.name in without else one.crawler
        for one in members
    ]
    notes = [f"without an agent, so not asked: {', '.join(without)}"] if without else []
    return Participants(crawlers, notes=notes)


def restore_machine(driver: Driver, store: StorePort, tree: SubnetTree, participants: Participants) -> int:
    """Let crawlers join and delegations be taken over; return how many the machine could not place."""
    now_s, records = driver.clock(), store.track_records.all()
    own: dict[int, Delegated] = {}
    joined_s = {one.name: one.joined_s for one in participants.crawlers}
    for crawler in participants.crawlers:
        actions = driver.machine.handle(CrawlerJoined(crawler, now_s, records.get(crawler.name)))
        if crawler.state is not CrawlerState.LEFT:
            own.update((action.key, action) for action in actions if isinstance(action, Delegated))
    held, unplaced = set(), 0
    at_once = driver.machine.at_once is not None  # then single addresses are restored when they arrive
    for record in store.delegations.all(is_wide=at_once):
        one = record.delegation
        key = key_of_bounds(tree, one.first, one.last)
        if at_once and key is not None:
            continue
        fleet_size = bisect_right(participants.joined_s, compared_s(one))
        if key is not None and key in own and _is_taken(own[key], one, joined_s):
            driver.writes.end(one, TAKEN, now_s)
            continue
        if key is None or not driver.machine.restore(key, one, record.location, fleet_size):
            unplaced += 1
            continue
        held.add(key)
    for key, action in own.items():  # a crawler's own subnet, unless the store knows better
        if key not in held:
            driver.keep(action)
    driver.flush()
    return unplaced


def _is_taken(own: Delegated, stored: Delegation, joined_s: dict[str, float]) -> bool:
    """Return whether a crawler joined after its own subnet was delegated to another, as `Fleet` may not see.

    Of two that stand in the same subnet the machine gave it to the one that joined first.
    """
    return own.delegation.crawler != stored.crawler and joined_s[own.delegation.crawler] > stored.created_s


def believed_samples(store: StorePort, most: int, since_s: float) -> Iterator[Sample]:
    """Return the newest samples with a round trip, oldest first; those that cannot be true are left out."""
    rejected = {(one.crawler, one.address) for one in store.track_records.rejected()}
    for sample in store.samples.newest(most, since_s):
        if sample.rtt_ms is None or not int(sample.address):
            continue
        if (sample.crawler, sample.address) not in rejected:
            yield sample


def teach_policy(driver: Driver, store: StorePort, since_s: float, unfinished: set[Pair]) -> int:
    """Let the policy learn from samples of earlier runs; return how many.

    Samples of probes that an unfinished batch asked for, and whose subnets are not settled, are left out:
    the probe queue returns them again when their site arrives, and they are learnt from then.
    """
    now_s = driver.clock()
    samples = [
        one
        for one in believed_samples(store, driver.config.taught, since_s)
        if (one.crawler, one.address) not in unfinished or driver.machine.is_settled(one.address, now_s)
    ]
    driver.machine.learn(samples)
    return len(samples)
