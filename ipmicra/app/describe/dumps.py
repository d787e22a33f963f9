"""Dumps to download as plain dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ipmicra.model.dump_source import DumpSource

if TYPE_CHECKING:
    from ipmicra.app.fetch import DumpChoice, FetchReport


def describe_source(source: DumpSource) -> dict[str, Any]:
    """Describe where a dump comes from; in place of an API key there is a mark, never the key."""
    return _named(source) | {
        "url": source.url,
        "checksum_url": source.checksum_url,
        "needs_key": source.needs_key,
        "note": source.note,
    }


def describe_fetched(choice: DumpChoice, report: FetchReport) -> list[dict[str, Any]]:
    """Describe what became of each dump."""
    empty = {"path": None, "bytes_received": 0, "bytes_total": None, "checksum": None, "reason": None}
    rows = {source.name: _named(source) | {"status": "skipped"} | empty for source in choice.everything}
    for result in report.results:
        rows[result.path.name] |= {
            "status": result.status,
            "path": str(result.path),
            "bytes_received": result.bytes_received,
            "bytes_total": result.bytes_total,
            "checksum": result.checksum,
        }
    for failure in report.failures:
        rows[failure.source.name] |= {"status": "failed", "reason": str(failure.error)}
    return list(rows.values())


def _named(source: DumpSource) -> dict[str, Any]:
    return {"name": source.name, "registry": source.registry.label, "kind": source.kind.value}
