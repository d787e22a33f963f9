"""Answers for sites and their explanations as plain dictionaries."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from ipmicra.app.describe.texts import time_text
from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.model.address import range_text
from ipmicra.model.delegation import Decision, Origin

if TYPE_CHECKING:
    from ipmicra.app.explain.explain import Explanation
    from ipmicra.app.explain.surroundings import Holdings
    from ipmicra.edge.store.ports import DelegationRecord


def describe_decision(decision: Decision) -> dict[str, Any]:
    """Describe the answer for a site."""
    return {
        "host": decision.host,
        "address": str(decision.address),
        "subnet": range_text(decision.first, decision.last),
        "crawler": decision.crawler,
        "rtt_ms": None if decision.rtt_ms is None else round(decision.rtt_ms, 3),
        "evidence": decision.evidence.value,
        "probes": decision.probes,
        **_describe_origin(decision.inherited_from),
    }


def _describe_origin(origin: Origin | None) -> dict[str, Any]:
    """Describe what was measured instead of the site itself."""
    if origin is None:
        return {"inherited_from": None, "measured": None}
    return {"inherited_from": origin.text, "measured": _describe_time(origin.measured_s)}


def describe_explanation(explanation: Explanation) -> dict[str, Any]:
    """Describe why a site has its crawler."""
    from ipmicra.app.explain.views import describe_views  # not needed for plain answers

    return {
        "host": explanation.site.host,
        "address": str(explanation.site.address),
        "crawler": explanation.decided.delegation.crawler if explanation.decided else None,
        "evidence": explanation.evidence[0].value if explanation.evidence else None,
        **_describe_origin(explanation.evidence[1] if explanation.evidence else None),
        "delegation": _describe_record(explanation.decided) if explanation.decided else None,
        "answers_differ": explanation.is_scattered,
        "views": describe_views(explanation),
        "lineage": [
            {
                "subnet": level.subnet.label,
                "netname": level.subnet.netname,
                "organisation": level.subnet.organisation.name if level.subnet.organisation else None,
                "country": level.subnet.country,
                "holder": level.holder.delegation.crawler if level.holder else None,
            }
            for level in explanation.lineage
        ],
        "organisation": _describe_holdings(explanation.holdings),
        "known": [_describe_considered(one) for one in explanation.considered(Verdict.KNOWN)],
        "asked": [_describe_considered(one) for one in explanation.considered(Verdict.ASKED)],
        "not_asked": [_describe_considered(one) for one in explanation.considered(Verdict.NOT_ASKED)],
        "fallback": [
            {"step": one.crawler, "outcome": one.reason, "expected_ms": one.expected_ms}
            for one in explanation.considered(Verdict.STEP)
        ],
        "reason": next((one.reason for one in explanation.considered(Verdict.CHOSEN)), None),
        "samples": [
            {
                "crawler": one.crawler,
                "rtt_ms": one.rtt_ms,
                "loss": one.loss.value if one.loss else None,
                "taken": time_text(one.taken_s),
            }
            for one in explanation.samples
        ],
        "crawled": [
            {
                "crawler": one.crawler,
                "first_byte_ms": one.rtt_ms,
                "detail": one.detail,
                "taken": time_text(one.taken_s),
            }
            for one in explanation.crawled
        ],
        "history": [
            {**_describe_record(one.record), "ended": time_text(one.ended_s), "reason": one.reason}
            for one in explanation.history
        ],
        "coordinate": explanation.in_space.as_record() if explanation.in_space else None,
        "rules": list(explanation.ruled),
        "load": list(explanation.load),
        "next_check": _describe_time(explanation.next_check_s),
        "edition_is_current": explanation.is_current,
    }


def _describe_time(seconds: float | None) -> str | None:
    return None if seconds is None or seconds == inf else time_text(seconds)


def _describe_holdings(found: Holdings | None) -> dict[str, Any] | None:
    if found is None:
        return None
    who = found.organisation
    return {"name": who.name, "handle": who.handle, "subnets": found.subnets, "delegated": found.crawlers}


def _describe_record(record: DelegationRecord) -> dict[str, Any]:
    one, place = record.delegation, record.location
    return {
        "subnet": range_text(one.first, one.last),
        "crawler": one.crawler,
        "evidence": one.evidence.value,
        "rtt_ms": one.rtt_ms,
        "probes": one.probes,
        "policy": one.policy,
        "rests_on": one.origin.text if one.origin else None,
        "measured": _describe_time(one.origin.measured_s if one.origin else None),
        "created": time_text(one.created_s),
        "expires": time_text(one.expires_s),
        "decided_for": str(record.address) if record.address else None,
        "latitude": place.latitude if place else None,
        "longitude": place.longitude if place else None,
        "radius_km": place.radius_km if place else None,
    }


def _describe_considered(one: Considered) -> dict[str, Any]:
    return {
        "crawler": one.crawler,
        "reason": one.reason,
        "expected_ms": one.expected_ms,
        "saving_ms": one.saving_ms,
        "rtt_ms": one.rtt_ms,
        "loss": one.loss.value if one.loss else None,
    }
