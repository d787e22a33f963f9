"""An explanation as a person reads it.

How it works
------------
The order is that in which an operator asks: who has the site and how far that is, where it is registered,
what was known before, who was asked and who was not, why it ended there, and what became of it since
(coordinate and zone, rules, load, renewal, history). A section is a generator of lines without line breaks of
its own, left out if it has nothing to say; lines are wrapped at the end, in one place. Nothing is worked out
here: all that is shown is in `Explanation`, and `--json` has the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from textwrap import wrap

from ipmicra.app.describe.texts import time_text
from ipmicra.app.explain.explain import Explanation, Level
from ipmicra.app.explain.in_space import render_in_space
from ipmicra.app.explain.surroundings import Holdings
from ipmicra.app.explain.views import render_known, render_views
from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.delegate.policies.registry import WITHOUT_PROBES
from ipmicra.edge.store.ports import DelegationRecord
from ipmicra.model.address import range_text
from ipmicra.model.delegation import OWN, Delegation, Evidence, Origin
from ipmicra.model.quantities import percent, plural

WIDTH = 80
BY = {
    Evidence.PROBED: "by probes of its own",
    Evidence.INHERITED: "by what is known about its neighbours",
    Evidence.COORDINATE: "by network coordinates, because it cannot be probed",
    Evidence.GEOLOCATED: "by its geographic location",
    Evidence.ANYCAST: "by load alone: it is in many places at once",
}

_EXPECTED = dict.fromkeys((Evidence.COORDINATE, Evidence.GEOLOCATED), " as expected")
"""Said of round trips that nobody measured."""


def render(explanation: Explanation) -> Iterator[str]:
    """Write an explanation for people, line by line; none is wider than a narrow terminal."""
    for line in _story(explanation):
        indent = " " * (len(line) - len(line.lstrip()))
        yield from wrap(
            line, WIDTH, subsequent_indent=f"{indent}  ", break_long_words=False, break_on_hyphens=False
        ) or [""]


def _story(explanation: Explanation) -> Iterator[str]:
    yield from _headline(explanation)
    if explanation.views:
        yield from ("", "What crawlers see")
        yield from render_views(explanation)
    yield from ("", "Where it is")
    yield from _lineage(explanation)
    if explanation.holdings is not None:
        yield from _organisation(explanation.holdings)
    if explanation.decided is not None:
        yield from ("", "What was known before")
        yield from _known(explanation, explanation.decided)
        yield from ("", "Who was asked")
        yield from _asked(explanation)
        yield from ("", "Who was not asked")
        yield from _not_asked(explanation)
        yield from ("", "Why it ended there")
        yield from _end(explanation, explanation.decided)
    yield from ("", "Where it stands by network coordinates")
    yield from render_in_space(explanation.in_space)
    if explanation.ruled:
        yield from ("", "What rules leave")
        yield from _ruled(explanation)
    if explanation.load:
        yield from ("", "What load made of it")
        yield from _load(explanation)
    if explanation.crawled:
        yield from ("", "What downloading it showed")
        yield from _crawled(explanation)
    if explanation.decided is not None:
        yield from ("", "What comes next")
        yield from _next(explanation, explanation.decided)
    if explanation.history:
        yield from ("", "Who had it before")
        yield from _history(explanation)
    if not explanation.is_current:
        yield ""
        yield "The hierarchy is another one than was delegated: the next `ipmicra delegate` carries all over."


def _ruled(explanation: Explanation) -> Iterator[str]:
    for rule in explanation.ruled[0]["rules"]:
        yield f"  {rule}"
    for one in explanation.ruled:
        seen = f"Seen from {one['vantage']}" if one["vantage"] else "It"
        names = ", ".join(one["crawlers"])
        yield f"  {seen} may belong to {names}." if names else f"  {seen}: no crawler of the fleet is left."


def _load(explanation: Explanation) -> Iterator[str]:
    for one in explanation.load:
        piece = "It " if one["piece"] == "1/1" else f"Piece {one['piece']} "
        piece = f"Seen from {one['vantage']}, {piece.lower()}" if one["vantage"] else piece
        if one["crawler"] is None:
            yield f"  {piece}is not assigned: {one['reason']}."
            continue
        yield f"  {piece}is assigned to {one['crawler']} by {one['backend']}: {one['reason']}."
        yield from _distance(explanation, one["crawler"], one["expected_ms"])
        if one["relative_page_load"] is not None and one["mean_page_load"]:
            share = one["relative_page_load"] / one["mean_page_load"]
            sites = plural(one["crawler_tasks"], "site")
            yield f"  {one['crawler']} has {sites} and {percent(share, 0)} of the mean load."


def _crawled(explanation: Explanation) -> Iterator[str]:
    """Tell the last observation of each crawler; earlier ones are in `--json`."""
    for one in {sample.crawler: sample for sample in explanation.crawled}.values():
        first = "no answer" if one.rtt_ms is None else f"{one.rtt_ms:.1f} ms to the first byte"
        yield f"  {one.crawler} at {time_text(one.taken_s)}: {first} ({one.detail})."


def _distance(explanation: Explanation, crawler: str, expected_ms: float | None) -> Iterator[str]:
    """Say how far the crawler is that load chose, and who says so."""
    if expected_ms is None:
        return
    is_measured = any(one.crawler == crawler and one.rtt_ms is not None for one in explanation.samples)
    how = "as measured" if is_measured else "as expected: it did not probe the site"
    yield f"  {crawler} is {expected_ms:.1f} ms away, {how}."


def _headline(explanation: Explanation) -> Iterator[str]:
    site, record = explanation.site, explanation.decided
    name = site.host if site.host == str(site.address) else f"{site.host} ({site.address})"
    if record is None or explanation.evidence is None:
        yield f"{name} has no crawler yet: `ipmicra delegate {site.host}` finds one."
        return
    one, (evidence, origin) = record.delegation, explanation.evidence
    how = _inherited(one, origin) if evidence is Evidence.INHERITED else BY[evidence]
    distance = "" if one.rtt_ms is None else f", {one.rtt_ms:.1f} ms away{_EXPECTED.get(evidence, '')}"
    subnet = range_text(one.first, one.last)
    yield f"{name} belongs to {one.crawler}{distance}, {how}."
    life = f"since {time_text(one.created_s)} and until {time_text(one.expires_s)}"
    if explanation.is_scattered:
        yield f"Its name answers differently in different places, so the answer is for it alone, {life}."
    else:
        yield f"So does all of {subnet}, {life}."
    if origin is not None and origin.measured_s is not None:
        yield f"{one.crawler} measured {origin.text} at {time_text(origin.measured_s)}, not the site itself."
    if explanation.result is not None and explanation.result.crawler != one.crawler:
        yield f"When it was last delegated itself, {explanation.result.crawler} got it."


def _inherited(one: Delegation, origin: Origin | None) -> str:
    """Say from whom an answer is inherited."""
    if one.policy == OWN:
        return f"whose own subnet it lies in ({one.crawler} stands at {origin.text if origin else '?'})"
    if one.policy in WITHOUT_PROBES:
        return f"by {one.policy}, which measures nothing"
    if origin is None:
        return BY[Evidence.INHERITED]
    is_address = origin.first == origin.last
    where = "of the same subnet" if one.first <= origin.first <= one.last else "of another subnet"  # type: ignore[operator]
    return f"inherited from {origin.text}" + (f" {where}" if is_address else "")


def _lineage(explanation: Explanation) -> Iterator[str]:
    if not explanation.lineage:
        yield "  No registry's dump holds this address; the slice of addresses around it stands in."
        return
    for depth, level in enumerate(explanation.lineage):
        yield f"  {'  ' * depth}{_level(level)}"


def _level(level: Level) -> str:
    subnet = level.subnet
    words = [subnet.netname, subnet.organisation.name if subnet.organisation else None, subnet.country]
    text = ", ".join(dict.fromkeys(word for word in words if word))
    holder = f"held by {level.holder.delegation.crawler}" if level.holder else "not delegated"
    return f"{subnet.label}  {text + '; ' if text else ''}{holder}"


def _organisation(holdings: Holdings) -> Iterator[str]:
    """Say whose subnet it is, and who has the organisation's others."""
    name, count = holdings.organisation.label, holdings.subnets
    yield f"  {name} holds {count:,} {'subnet' if count == 1 else 'subnets'}; {_shared(holdings.crawlers)}."


def _shared(crawlers: dict[str, int]) -> str:
    if not crawlers:
        return "none is delegated"
    return "delegated: " + ", ".join(f"{count:,} to {name}" for name, count in crawlers.items())


def _next(explanation: Explanation, record: DelegationRecord) -> Iterator[str]:
    """Say until when the answer holds, and when it is looked at again."""
    one = record.delegation
    yield f"  Unused, the answer ends at {time_text(one.expires_s)}; use renews it."
    if explanation.next_check_s is not None and explanation.next_check_s < inf:
        when = time_text(explanation.next_check_s)
        yield f"  At its first use after {when} it is measured again (--recheck)."
    what = explanation.site.host if one.first == one.last else range_text(one.first, one.last)
    yield f"  `ipmicra delegate --again` decides it anew; `ipmicra forget {what}` drops it."


def _known(explanation: Explanation, record: DelegationRecord) -> Iterator[str]:
    place = record.location
    if explanation.is_scattered:  # what is in many places has no location
        yield from render_known(explanation)
        return
    if place is not None:
        land = f", {place.country}" if place.country else ""
        point = f"{place.latitude:.2f}, {place.longitude:.2f}{land}"
        yield f"  It is thought to be at {point}, within {place.radius_km:.0f} km."
    else:
        yield "  No location is recorded: it was not located, or its samples ruled the location out."
    for one in explanation.considered(Verdict.KNOWN):
        yield f"  {one.crawler} had measured {_rtt(one)}."
    if record.address is not None and record.address != explanation.site.address:
        yield f"  It was decided for {record.address}, which lies in the same subnet."


def _asked(explanation: Explanation) -> Iterator[str]:
    asked = explanation.considered(Verdict.ASKED)
    if not asked:
        yield "  Nobody: it took no probe."
    for i, one in enumerate(asked, 1):
        yield f"  {i}. {one.crawler}: {one.reason}; it {_came(one)}."


def _came(one: Considered) -> str:
    return f"lost the probe ({one.loss.value})" if one.loss else f"measured {_rtt(one)}"


def _rtt(one: Considered) -> str:
    return "nothing" if one.rtt_ms is None else f"{one.rtt_ms:.1f} ms"


def _not_asked(explanation: Explanation) -> Iterator[str]:
    rest = explanation.considered(Verdict.NOT_ASKED)
    if not rest:
        yield "  Nobody is left out."
    for one in rest:
        expected = "" if one.expected_ms is None else f"expected at {one.expected_ms:.1f} ms; "
        yield f"  {one.crawler}: {expected}{one.reason}."


def _end(explanation: Explanation, record: DelegationRecord) -> Iterator[str]:
    chosen = explanation.considered(Verdict.CHOSEN)
    one = record.delegation
    reason = chosen[0].reason if chosen else "it was carried over from an earlier edition of the hierarchy"
    for i, step in enumerate(explanation.considered(Verdict.STEP), 1):
        expected = "" if step.expected_ms is None else f", expected at {step.expected_ms:.1f} ms"
        yield f"  Without a sample, step {i}, {step.crawler}: {step.reason}{expected}."
    probes = {0: "no probe", 1: "one probe"}.get(one.probes, f"{one.probes} probes")
    yield f"  {one.crawler} got it: {reason}."
    evidence, origin = explanation.evidence or (one.evidence, None)
    whose = "" if origin is None else f" from {origin.text}"
    yield f"  Evidence: {evidence.value}{whose}, with {probes}."
    if one.policy and one.policy != OWN:
        yield f"  Decided by policy {one.policy}."


def _history(explanation: Explanation) -> Iterator[str]:
    for ended in explanation.history:
        one = ended.record.delegation
        yield (
            f"  {one.crawler}, {time_text(one.created_s)} to {time_text(ended.ended_s)} "
            f"({one.evidence.value}): {ended.reason}"
        )
