"""Located targets as plain dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ipmicra.locate.agreement import count_accuracy, count_agreements, count_hits
from ipmicra.model.location import Heuristic, Hint, Location

if TYPE_CHECKING:
    from ipmicra.app.locate.locate import LocatedTarget


def describe_located(target: LocatedTarget) -> dict[str, Any]:
    """Describe a located target with every vote."""
    located = target.located
    anycast = located.anycast
    return {
        "target": target.text,
        "address": target.address,
        "location": located.location and describe_location(located.location),
        "heuristic": located.heuristic,
        "votes": [_describe_hint(vote) for vote in located.votes],
        "struck": [
            {**_describe_hint(vote.hint), "crawler": vote.crawler, "reason": vote.reason}
            for vote in located.rejected
        ],
        "anycast": anycast is not None,
        "anycast_proof": [f"{bound.crawler}: {bound.rtt_ms:g} ms" for bound in anycast] if anycast else [],
        "findings": list(located.findings),
    }


def describe_location(location: Location) -> dict[str, Any]:
    """Describe a location."""
    return {
        "latitude": location.latitude,
        "longitude": location.longitude,
        "city": location.city,
        "country": location.country,
        "radius_km": location.radius_km,
    }


def _describe_hint(hint: Hint) -> dict[str, Any]:
    return {
        "heuristic": hint.heuristic,
        "location": describe_location(hint.location),
        "evidence": hint.evidence,
        "weight": round(hint.weight, 3),
    }


def describe_tables(targets: Sequence[LocatedTarget], order: Sequence[Heuristic]) -> dict[str, Any]:
    """Describe the tables of a list: hits per heuristic, pairwise agreement, and how often each is right."""
    located = [target.located for target in targets]
    unlocated = sum(one.location is None for one in located)
    return {
        "targets": len(located),
        "unlocated": unlocated,
        "hits": [
            {"heuristic": row.heuristic, "votes": row.votes, "hits": row.wins, "share": round(row.share, 4)}
            for row in count_hits(located, order)
        ],
        "agreement": [
            {
                "heuristics": [row.one, row.other],
                "intersection": row.both,
                "agree": row.agree,
                "share": None if row.share is None else round(row.share, 4),
            }
            for row in count_agreements(located, order)
        ],
        "accuracy": [
            {
                "heuristic": row.heuristic,
                "right": row.right,
                "wrong": row.wrong,
                "precision": None if row.precision is None else round(row.precision, 4),
                "recall": None if row.recall is None else round(row.recall, 4),
            }
            for row in count_accuracy(located, [target.truth for target in targets], order)
            if row.known
        ],
    }
