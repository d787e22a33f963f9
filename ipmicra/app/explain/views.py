"""What crawlers see of a host, as a person reads it and as JSON has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ipmicra.app.describe.texts import time_text
from ipmicra.delegate.attempt import Verdict
from ipmicra.edge.dns.one_by_one import REASONS
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.name import View
from ipmicra.model.sample import Sample

if TYPE_CHECKING:
    from ipmicra.app.explain.explain import Explanation

SHOWN = 3
"""Addresses of a crawler that are named; the others are counted."""


def samples_seen(store: StorePort, views: tuple[View, ...]) -> list[Sample]:
    """Return the last sample of each crawler to what it sees."""
    found = (
        store.samples.latest(address).get(view.crawler) for view in views for address in view.answer.addresses
    )
    return [sample for sample in found if sample is not None]


def render_views(explanation: Explanation) -> Iterator[str]:
    """Write what each crawler sees, and how far away that is."""
    views = explanation.views
    if not explanation.is_scattered and len({view.answer.addresses for view in views}) == 1:
        who = f"All {len(views)} crawlers see" if len(views) > 1 else f"{views[0].crawler} sees"
        yield f"  {who} {_what(views[0])}."
        return
    if explanation.is_scattered:
        yield "  Answers differ; each crawler was measured to what it sees:"
    else:
        yield "  Answers differ a little: they have an address in common, or are next to each other."
    trips = _trips(explanation)
    for view in views:
        distance = f", {trips[view.crawler]:.1f} ms away" if view.crawler in trips else ""
        yield f"  {view.crawler} sees {_what(view)}{distance}."


def render_known(explanation: Explanation) -> Iterator[str]:
    """Write which round trips were known before."""
    known = explanation.considered(Verdict.KNOWN)
    if not known:
        yield "  Nobody had measured what it sees."
    for one in known:
        yield f"  {one.crawler}: {one.reason}{'' if one.rtt_ms is None else f', {one.rtt_ms:.1f} ms away'}."


def describe_views(explanation: Explanation) -> list[dict[str, Any]]:
    """Describe what each crawler sees."""
    trips = _trips(explanation)
    return [
        {
            "crawler": view.crawler,
            "status": view.answer.status.value,
            "addresses": [str(address) for address in view.answer.addresses],
            "rtt_ms": trips.get(view.crawler),
            "asked": time_text(view.asked_s),
            "expires": time_text(view.answer.expires_s),
        }
        for view in explanation.views
    ]


def _what(view: View) -> str:
    addresses = view.answer.addresses
    if not addresses:
        return f"nothing: {REASONS[view.answer.status.value]}"
    more = f" and {len(addresses) - SHOWN} more" if len(addresses) > SHOWN else ""
    return ", ".join(map(str, addresses[:SHOWN])) + more


def _trips(explanation: Explanation) -> dict[str, float]:
    """Return the round trips that the answer rests on, by crawler."""
    if not explanation.is_scattered or explanation.decided is None:
        return {}
    return {one.crawler: one.rtt_ms for one in explanation.decided.account if one.rtt_ms is not None}
