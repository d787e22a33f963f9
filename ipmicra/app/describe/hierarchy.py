"""Subnets, organisations, hierarchy files and builds as plain dictionaries.

The keys and their order are what users see in JSON and CSV. `LineageDescriber` is also the twin of the
compiled renderer (`native/hierarchy/render.c`), which writes the same lines for long lists and leaves to it
whatever needs escaping: a key that changes here has to change there, and
`tests/laws/test_streaming_laws.py` compares the two.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ipmicra.edge.files.seeds import UnresolvedSeed
from ipmicra.edge.hierarchy_file import shown
from ipmicra.model.edition import Edition
from ipmicra.model.finding import Finding
from ipmicra.model.foreign_text import json_text
from ipmicra.model.organisation import Organisation
from ipmicra.model.subnet import Subnet

if TYPE_CHECKING:
    from ipmicra.app.build.build import BuildReport, DumpReport
    from ipmicra.app.lookup.differences import Change
    from ipmicra.app.lookup.lookup import Found, Holding
    from ipmicra.edge.hierarchy_file import Hierarchy

REMEMBERED = 1 << 16
"""Subnets whose description is kept while many targets are described."""
NARROWEST = (
    *("target", "address", "first", "last", "prefix", "netname", "registry", "country", "status"),
    *("depth", "date", "geoloc", "geofeed", "postal_address"),
    *("organisation_handle", "organisation_name"),
)
"""Columns of a target with its narrowest subnet."""
NARROWEST_NUMBERS = frozenset({"depth"})
"""Those of them that are whole numbers; the others are texts."""
COUNTS = ("subnets", "organisations", "max_depth", "overlaps", "duplicates")
"""Figures that a build keeps in the file."""


def describe_subnet(subnet: Subnet) -> dict[str, Any]:
    """Describe a subnet."""
    organisation = subnet.organisation
    return {
        "first": str(subnet.first),
        "last": str(subnet.last),
        "prefix": subnet.prefix,
        "netname": subnet.netname,
        "organisation": organisation and {"handle": organisation.handle, "name": organisation.name},
        "registry": subnet.registry.label,
        "country": subnet.country,
        "status": subnet.status,
        "depth": subnet.depth,
        "date": subnet.date and subnet.date.isoformat(),
        "geoloc": subnet.geoloc,
        "geofeed": subnet.geofeed,
        "postal_address": subnet.postal_address,
    }


def describe_organisation(organisation: Organisation) -> dict[str, Any]:
    """Describe an organisation."""
    return {
        "handle": organisation.handle,
        "name": organisation.name,
        "address": organisation.address,
        "country": organisation.country,
        "registry": organisation.registry.label,
        "evidence": organisation.evidence.name.lower(),
    }


class LineageDescriber:
    """Describes what look-ups found, each subnet once as long as it is remembered.

    A list of a million addresses names the same wide subnets again and again.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        """Describe subnets of a hierarchy."""
        self._describe = lru_cache(REMEMBERED)(lambda row: describe_subnet(hierarchy.subnet(row)))
        self._json = lru_cache(REMEMBERED)(lambda row: json_text(self._describe(row)))

    def lineage_json(self, found: Found) -> str:
        """Write a target with the subnets that contain it as JSON, in one line, from remembered parts."""
        target = json_text(found.seed.text)
        subnets = ", ".join(map(self._json, found.rows))
        return f'{{"target": {target}, "address": "{found.seed.range_text}", "lineage": [{subnets}]}}'

    def narrowest(self, found: Found) -> dict[str, Any]:
        """Describe a target with its narrowest subnet, one value per column of `NARROWEST`."""
        described = self._describe(found.rows[-1]).copy()
        organisation = described.pop("organisation") or {"handle": None, "name": None}
        holder = {"organisation_handle": organisation["handle"], "organisation_name": organisation["name"]}
        return {"target": found.seed.text, "address": found.seed.range_text, **described, **holder}


def describe_holding(holding: Holding) -> dict[str, Any]:
    """Describe an organisation with its subnets."""
    return {
        **describe_organisation(holding.organisation),
        "subnet_count": holding.subnet_count,
        "subnets": [describe_subnet(subnet) for subnet in holding.subnets],
    }


def describe_change(change: Change) -> dict[str, Any]:
    """Describe a difference between two editions."""
    return {
        "change": change.kind,
        "first": str(change.subnet.first),
        "last": str(change.subnet.last),
        "prefix": change.subnet.prefix,
        "netname": change.subnet.netname,
        "old_holder": change.old_holder,
        "new_holder": change.new_holder,
    }


def describe_file(path: Path, hierarchy: Hierarchy, *, is_verified: bool) -> dict[str, Any]:
    """Describe a hierarchy's file: its size, counts and dumps."""
    meta = hierarchy.meta
    return {
        "file": str(path),
        "size_bytes": path.stat().st_size,
        "verified": is_verified,
        **{name: meta.get(name) for name in COUNTS},
        "tally": meta.get("tally"),
        "edition": describe_edition(hierarchy.edition),
    }


def describe_edition(edition: Edition) -> dict[str, Any]:
    """Describe an edition."""
    return {"content_hash": edition.content_hash, "dumps": [asdict(dump) for dump in edition.dumps]}


def describe_finding(finding: Finding) -> dict[str, Any]:
    """Describe a finding."""
    return {
        "dump": finding.dump,
        "line": finding.line,
        "fate": finding.fate.name.lower(),
        "reason": finding.reason.name.lower(),
        "text": finding.reason.text,
        "detail": finding.detail,
    }


def describe_build(report: BuildReport) -> dict[str, Any]:
    """Describe what a build read and made."""
    return {
        **asdict(report.tally),
        "dialects": {name: asdict(tally) for name, tally in report.tally_by_dialect().items()},
        "files": [_describe_dump(dump) for dump in report.dumps],
        "subnets": report.subnets,
        "organisations": report.organisations,
        "max_depth": report.max_depth,
        "overlaps": report.overlaps,
        "duplicates": report.duplicates,
        "findings": {reason.name.lower(): count for reason, count in report.findings.counts().items()},
        "failures": [
            {"file": shown(error.dump), "byte": error.byte, "reason": error.reason}
            for error in report.failures
        ],
        "edition": describe_edition(report.edition),
        "output": shown(report.output),
        "size_bytes": report.size_bytes,
    }


def _describe_dump(dump: DumpReport) -> dict[str, Any]:
    return {
        "file": dump.info.name,
        "dialect": dump.info.dialect.value,
        "date": dump.date,
        "lines": dump.lines,
        **asdict(dump.tally),
    }


def describe_found(hierarchy: Hierarchy, one: Found | UnresolvedSeed) -> dict[str, Any]:
    """Describe a target with the subnets that contain it, widest first, or why there is no answer."""
    if isinstance(one, UnresolvedSeed):
        return {"target": one.text, "address": None, "lineage": [], "problem": one.reason}
    return {
        "target": one.seed.text,
        "address": one.seed.range_text,
        "lineage": [describe_subnet(subnet) for subnet in hierarchy.subnets(one.rows)],
    }
