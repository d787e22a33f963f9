"""Owners and changes of assignments as plain dictionaries."""

from __future__ import annotations

from typing import Any

from ipmicra.app.describe.assignment import describe_assignment
from ipmicra.app.describe.texts import time_text
from ipmicra.model.assignment import AssignmentChange
from ipmicra.model.owner import Owner


def describe_owner(owner: Owner) -> dict[str, Any]:
    """Describe the owner of a site."""
    return {
        "host": owner.host,
        "vantage": owner.vantage or None,
        "crawler": owner.crawler,
        "address": str(owner.address),
        "subnet": owner.subnet,
        "rtt_ms": None if owner.rtt_ms is None else round(owner.rtt_ms, 3),
        "evidence": owner.evidence.value if owner.evidence else None,
        "source": owner.source.value,
        "reason": owner.reason,
        "since": time_text(owner.since_s),
        "pieces": [
            {"piece": f"{one.piece}/{one.of}", "crawler": one.crawler, "filters": list(one.filters)}
            for one in owner.pieces
        ],
    }


def describe_change(change: AssignmentChange) -> dict[str, Any]:
    """Describe what happened to a site of a crawler."""
    return {
        "seq": change.seq,
        "host": change.host,
        "vantage": change.vantage or None,
        "piece": f"{change.piece}/{change.of}",
        "crawler": change.crawler,
        "change": "lost" if change.assignment is None else "assigned",
        "at": time_text(change.at_s),
        "assignment": None if change.assignment is None else describe_assignment(change.assignment),
    }
