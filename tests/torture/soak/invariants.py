"""What must not be in the record of a soak.

Each check takes events in the order in which they were noted and returns sentences, none if all is well.
What `bin/torture coordinator` checks as well is checked by the same functions (`tests/torture/history.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.torture.history import History, Sent, overspent, probed_twice, sent_unpaid, unanswered
from tests.torture.soak.record import Event

FOREVER_S = float("inf")
Events = Sequence[Event]


def of_kind(events: Events, kind: str) -> list[Event]:
    return [one for one in events if one["kind"] == kind]


def violations(events: Events, store: History) -> list[str]:
    """Return what must not have happened; `store` has what was paid and spent, as the store says."""
    history = history_of(events, store)
    return [
        *unanswered(history),
        *changed_owner(events),
        *probed_twice(history),
        *measured_again(events),
        *sent_unpaid(history),
        *overspent(history),
        *lost_pages(events),
        *fetched_again(events),
        *shared_slots(events),
        *old_tokens(events),
        *lost_lines(events),
    ]


def history_of(events: Events, store: History) -> History:
    """Return what was asked, answered and sent, beside what the store has."""
    forgotten = {host for one in of_kind(events, "forgotten") for host in one["hosts"]}
    asked = [one["host"] for one in of_kind(events, "asked") if one["host"] not in forgotten]
    answers = [(one["host"], one["who"]) for one in of_kind(events, "answer")]
    sent = [Sent(one["agent"], one["order"], one["address"]) for one in of_kind(events, "probe")]
    return History(asked=asked, answers=answers, sent=sent, paid=store.paid, spent=store.spent)


def changed_owner(events: Events) -> Iterable[str]:
    """A site has one owner at a time: another one is named only after the first has left the fleet.

    Two questions that overlap may be heard in either order.
    """
    left_s = {one["name"]: one["t"] for one in reversed(of_kind(events, "leaves"))}
    last: dict[str, Event] = {}
    found = []
    for one in of_kind(events, "answer"):
        before = last.get(one["host"])
        last[one["host"]] = one
        if before is None or before["who"] == one["who"]:
            continue
        is_overlapping = one["began"] < before["t"]
        has_left = left_s.get(before["who"], FOREVER_S) <= one["t"]
        if not has_left and not (is_overlapping and left_s.get(one["who"], FOREVER_S) <= one["t"]):
            found.append(
                f"{one['host']} was {before['who']}'s at {before['t']} s and {one['who']}'s at {one['t']} s, "
                f"and {before['who']} had not left"
            )
    return found


def measured_again(events: Events) -> Iterable[str]:
    """A probe that an agent has finished and handed in is not asked of it again."""
    targets = {one["order"]: (one["agent"], one["address"]) for one in of_kind(events, "probe")}
    handed = [one["order"] for one in of_kind(events, "handed")]
    counts = Counter(targets[order] for order in dict.fromkeys(handed) if order in targets)
    return [
        f"{agent} measured {address} {count} times" for (agent, address), count in counts.items() if count > 1
    ]


# --- crawls


def lost_pages(events: Events) -> Iterable[str]:
    """When a run of the crawl has ended, each page that there is was fetched."""
    fetched: dict[int, set[str]] = defaultdict(set)
    for one in of_kind(events, "fetched"):
        fetched[one["run"]].add(one["url"])
    found = []
    for one in of_kind(events, "run_ended"):
        missing = one["pages"] - len(fetched[one["run"]])
        if missing:
            found.append(f"run {one['run']} ended with {missing} of {one['pages']} pages missing or unknown")
    return found


def fetched_again(events: Events) -> Iterable[str]:
    """A page that was reported as fetched, and acknowledged, is not fetched again in its run."""
    done: set[tuple[int, str]] = set()
    found = []
    for one in events:
        page = (one.get("run", 0), one.get("url", ""))
        if one["kind"] == "fetched" and page in done:
            found.append(f"{one['url']} was fetched in run {one['run']} and, at {one['t']} s, again")
        elif one["kind"] == "finished":
            done.add(page)
    return found


@dataclass
class _Holder:
    session: str
    until_s: float = FOREVER_S


def shared_slots(events: Events) -> Iterable[str]:
    """The sites of an address block are fetched by one node at a time.

    A node holds a block from its first page on until it gives it up, leaves, is killed, or may no longer
    fetch because it got no answer for its lease.
    """
    ends: dict[str, float] = {
        one["session"]: one["since"] if "since" in one else one["t"]
        for one in of_kind(events, "node")
        if one["state"] != "joined"
    }
    holders: dict[tuple[int, str], _Holder] = {}
    found = []
    for one in events:
        if one["kind"] not in {"fetched", "released"}:
            continue
        block = (one["run"], one["slot"])
        holder = holders.get(block)
        if one["kind"] == "released":
            if holder is not None and holder.session == one["session"]:
                holder.until_s = one["t"]
            continue
        if holder is not None and holder.session != one["session"]:
            until_s = min(holder.until_s, ends.get(holder.session, FOREVER_S))
            if one["t"] < until_s:
                found.append(f"{one['slot']} was fetched at {one['t']} s by two nodes in run {one['run']}")
        if holder is None or holder.session != one["session"] or holder.until_s < FOREVER_S:
            holders[block] = _Holder(one["session"])
    return found


# --- operation


def old_tokens(events: Events) -> Iterable[str]:
    """A token that was revoked is refused within two seconds, a new one works within one or two."""
    return [
        f"token {one['name']}: {one['what']} at {one['t']} s"
        for one in of_kind(events, "token")
        if one["what"] in {"accepted although revoked", "refused although new"}
    ]


def lost_lines(events: Events) -> Iterable[str]:
    """What is cut off a log that is rotated are whole lines, and none is damaged."""
    return [
        f"{one['damaged']} lines of the log that was rotated at {one['t']} s are damaged"
        for one in of_kind(events, "log")
        if one["damaged"]
    ]
