"""What happened to a fleet in a campaign of faults, and what must never have happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that was broken for a while; times by the monotonic clock."""

    where: str
    kind: str
    began_s: float
    ended_s: float


@dataclass(frozen=True, slots=True)
class Sent:
    """A probe that an agent wrote down before it sent it."""

    agent: str
    order: str
    address: str


@dataclass(slots=True)
class History:
    """Everything that was asked, answered, ordered and sent; ids and names as texts."""

    asked: list[str] = field(default_factory=list)
    """Hosts whose owner was asked for; with the vantage, where a host has several."""
    answers: list[tuple[str, str]] = field(default_factory=list)
    """Hosts and the crawlers that were named, each time that one was."""
    sent: list[Sent] = field(default_factory=list)
    paid: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Crawler and address of each order that a budget was charged for."""
    measured: list[tuple[str, str]] = field(default_factory=list)
    """Crawler and address of each sample with a round trip."""
    spent: dict[str, tuple[int, int | None, int]] = field(default_factory=dict)
    """What each budget says it spent, its total, and how many orders it has."""
    replaced: list[str] = field(default_factory=list)
    """Subnets whose delegation another one took the place of, and why."""
    restarts: list[str] = field(default_factory=list)
    """Processes that ended by themselves, with their last words."""
    faults: list[Fault] = field(default_factory=list)


def violations(history: History) -> list[str]:
    """Return what must not have happened, in sentences; nothing if all is well."""
    return [
        *unanswered(history),
        *answered_differently(history),
        *probed_twice(history),
        *asked_again(history),
        *sent_unpaid(history),
        *overspent(history),
        *decided_again(history),
        *gave_up(history),
    ]


def unanswered(history: History) -> Iterable[str]:
    """Every site is answered."""
    answered = {host for host, _ in history.answers}
    return [f"{host} has no answer" for host in history.asked if host not in answered]


def answered_differently(history: History) -> Iterable[str]:
    """Every site is answered once: whoever asks again hears the same."""
    named: dict[str, set[str]] = {}
    for host, crawler in history.answers:
        named.setdefault(host, set()).add(crawler)
    return [f"{host} was given to {', '.join(sorted(who))}" for host, who in named.items() if len(who) > 1]


def probed_twice(history: History) -> Iterable[str]:
    """An order is carried out once at most, by whoever got it."""
    counts = Counter(one.order for one in history.sent)
    return [f"order {order} was sent {count} times" for order, count in counts.items() if count > 1]


def asked_again(history: History) -> Iterable[str]:
    """A crawler that has measured an address is not asked to measure it again."""
    counts = Counter(history.measured)
    return [
        f"{crawler} measured {address} {count} times"
        for (crawler, address), count in counts.items()
        if count > 1
    ]


def sent_unpaid(history: History) -> Iterable[str]:
    """Nothing is sent that was not paid for, and only by the crawler and to the address that were ordered."""
    found = []
    for one in history.sent:
        paid = history.paid.get(one.order)
        if paid is None:
            found.append(f"order {one.order} of {one.agent} was sent and never paid for")
        elif paid != (one.agent, one.address):
            found.append(f"order {one.order} was for {paid}, and {one.agent} probed {one.address}")
    return found


def overspent(history: History) -> Iterable[str]:
    """A budget says what it spent, and never more than it has."""
    found = []
    for name, (spent, total, orders) in history.spent.items():
        if spent != orders:
            found.append(f"budget {name} says {spent} and paid for {orders} orders")
        if total is not None and spent > total:
            found.append(f"budget {name} spent {spent} of {total}")
    return found


def decided_again(history: History) -> Iterable[str]:
    """A subnet is decided once as long as nobody joins or leaves."""
    return [f"decided again: {one}" for one in history.replaced]


def gave_up(history: History) -> Iterable[str]:
    """No process ends because of a fault that passes."""
    return [f"ended by itself: {one}" for one in history.restarts]
