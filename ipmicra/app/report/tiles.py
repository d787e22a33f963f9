"""The figures on top of the page."""

from __future__ import annotations

from ipmicra.app.report.figures import Summary
from ipmicra.app.report.plots.axes import plural, short


def tiles(summary: Summary, *, is_oracle: bool = False) -> list[tuple[str, str, str]]:
    """Return the figures on top of the page: name, figure, and what to know about it."""
    inside = [plural(summary.subnets, "subnet")] if summary.subnets else []
    inside += [plural(summary.organisations, "organisation")] if summary.organisations else []
    found = [
        (
            "sites",
            f"{summary.sites:,}",
            f"on {summary.crawlers_used:,} of {plural(summary.crawlers, 'crawler')}"
            + (f"; {', '.join(inside)}" if inside else ""),
        ),
    ]
    if summary.optimal is not None and not is_oracle:
        found.append(
            (
                "nearest crawler",
                f"{summary.optimal:.1%}",
                f"of sites have it; {summary.within_2ms:.1%} within 2 ms of it",
            )
        )
    if summary.probes_per_site is not None:
        found.append(("probes per site", f"{summary.probes_per_site:.2f}", f"{summary.probes:,} in all"))
    found += _rtt_tile(summary) + _pages_tile(summary)
    special = [(summary.anycast, "anycast"), (summary.unprobeable, "unprobeable")]
    special.append((summary.sites - summary.assigned, "without a crawler"))
    kinds = ", ".join(f"{count:,} {name}" for count, name in special if count)
    if kinds:
        found.append(("special sites", f"{sum(count for count, _ in special):,}", kinds))
    return found


def _rtt_tile(summary: Summary) -> list[tuple[str, str, str]]:
    if summary.mean_rtt_ms is None:
        return []
    notes = [f"median {summary.median_rtt_ms:.1f} ms"]
    if summary.hash_rtt_ms and summary.mean_rtt_ms:
        ratio = summary.hash_rtt_ms / summary.mean_rtt_ms
        notes.append(f"site hash {summary.hash_rtt_ms:.1f} ms: × {ratio:.1f}")
    if summary.oracle_rtt_ms is not None:
        notes.append(f"at best {summary.oracle_rtt_ms:.1f} ms")
    return [("mean round trip", f"{summary.mean_rtt_ms:.1f} ms", "; ".join(notes))]


def _pages_tile(summary: Summary) -> list[tuple[str, str, str]]:
    """Show pages per hour until the last crawler is done, since uneven loads count; then if all are busy."""
    if summary.pages_per_hour is None:
        return []
    busy = f"while all lines are busy{_against(summary.pages_per_hour, summary.hash_pages_per_hour)}"
    if summary.pages_per_hour_to_the_end is None:
        return [("pages per hour", short(summary.pages_per_hour), f"by the cost model, {busy}")]
    ratio = _against(summary.pages_per_hour_to_the_end, summary.hash_pages_per_hour_to_the_end)
    notes = (
        f"by the cost model, until the last crawler is done{ratio}",
        f"{short(summary.pages_per_hour)} {busy}",
    )
    return [("pages per hour", short(summary.pages_per_hour_to_the_end), "; ".join(notes))]


def _against(ours: float, by_hash: float | None) -> str:
    return f" (× {ours / by_hash:.2f} of site hash)" if by_hash else ""
