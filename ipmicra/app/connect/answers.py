"""Answers of a coordinator as the nouns that they were made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ipmicra.errors import AddressError, MessageError
from ipmicra.model.address import read_address, read_range
from ipmicra.model.assignment import Assignment
from ipmicra.model.delegation import Decision, Evidence, Origin
from ipmicra.model.owner import Owner, OwnerSource


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerProblem:
    """A host of a list that has no owner, and why."""

    host: str
    kind: str
    """As `docs/api.md` lists them: `unresolved`, `nobody`, …"""
    reason: str


def decision_of(record: dict[str, Any]) -> Decision:
    """Read a decision."""
    try:
        first, last = read_range(record["subnet"])
        return Decision(
            host=str(record["host"]),
            address=read_address(record["address"]),
            first=first,
            last=last,
            crawler=str(record["crawler"]),
            evidence=Evidence(record["evidence"]),
            rtt_ms=record["rtt_ms"],
            probes=int(record["probes"]),
            inherited_from=_origin_of(record.get("inherited_from"), record.get("measured")),
        )
    except (KeyError, TypeError, ValueError, AddressError) as error:
        raise MessageError(f"the coordinator sent a decision that makes no sense: {error}") from error


def _origin_of(text: str | None, measured: str | None) -> Origin | None:
    if text is None:
        return None
    first, last = read_range(text) if "/" in text or "-" in text else (read_address(text),) * 2
    return Origin(first, last, None if measured is None else _seconds(measured))


def owner_of(record: dict[str, Any]) -> Owner:
    """Read an owner."""
    try:
        address, since_s = read_address(record["address"]), _seconds(record["since"])
        return Owner(
            host=str(record["host"]),
            vantage=record["vantage"] or "",
            address=address,
            crawler=str(record["crawler"]),
            source=OwnerSource(record["source"]),
            reason=str(record["reason"]),
            subnet=record["subnet"],
            evidence=Evidence(record["evidence"]) if record["evidence"] else None,
            rtt_ms=record["rtt_ms"],
            since_s=since_s,
            pieces=tuple(
                Assignment(
                    host=str(record["host"]),
                    vantage=record["vantage"] or "",
                    piece=int(one["piece"].partition("/")[0]),
                    of=int(one["piece"].partition("/")[2]),
                    address=address,
                    crawler=one["crawler"],
                    reason=str(record["reason"]),
                    backend="",
                    filters=tuple(one["filters"]),
                    assigned_s=since_s,
                )
                for one in record["pieces"]
            ),
        )
    except (KeyError, TypeError, ValueError, AddressError) as error:
        raise MessageError(f"the coordinator sent an owner that makes no sense: {error}") from error


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
