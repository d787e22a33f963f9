"""The figures on top of the page."""

from __future__ import annotations

from ipmicra.app.report.figures import Summary
from ipmicra.app.report.plots.axes import short
from ipmicra.model.quantities import percent, plural


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
    if summary.optimal is not None and summary.within_2ms is not None and not is_oracle:
        found.append(
            (
                "nearest crawler",
                percent(summary.optimal),
                f"of sites have it; {percent(summary.within_2ms)} within 2 ms of it",
            )
        )
    if summary.probes_per_site is not None:
        found.append(("probes per site", f"{summary.probes_per_site:.2f}", f"{summary.probes:,} in all"))
    found += _rtt_tile(summary) + _saved_tile(summary) + _pages_tile(summary)
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


def _saved_tile(summary: Summary) -> list[tuple[str, str, str]]:
    """Show what was gained over a site hash, per round trip and in pages."""
    if summary.saved_rtt_ms is None:
        return []
    by_hash = (
        "expected by the model, not measured" if summary.are_baselines_expected else "by true round trips"
    )
    notes = [f"of every round trip, against a site hash; {by_hash}"]
    if summary.random_rtt_ms is not None:
        notes.append(f"random crawlers {summary.random_rtt_ms:.1f} ms")
    if summary.saved_pages_per_hour is not None:
        more = "more" if summary.saved_pages_per_hour >= 0 else "fewer: the hash wins by its even load"
        notes.append(f"{short(abs(summary.saved_pages_per_hour))} pages per hour {more}")
    return [("saved", f"{summary.saved_rtt_ms:.1f} ms", "; ".join(notes))]


def _pages_tile(summary: Summary) -> list[tuple[str, str, str]]:
    """Show pages per hour until the last crawler is done, since uneven loads count; then if all are busy."""
    if summary.pages_per_hour is None:
        return []
    alike = "" if summary.pages else ", all sites counted alike"
    busy = f"while all lines are busy{_against(summary.pages_per_hour, summary.hash_pages_per_hour)}"
    if summary.pages_per_hour_to_the_end is None:
        return [("pages per hour", short(summary.pages_per_hour), f"by the cost model{alike}, {busy}")]
    ratio = _against(summary.pages_per_hour_to_the_end, summary.hash_pages_per_hour_to_the_end)
    notes = (
        f"by the cost model{alike}, until the last crawler is done{ratio}",
        f"{short(summary.pages_per_hour)} {busy}",
    )
    return [("pages per hour", short(summary.pages_per_hour_to_the_end), "; ".join(notes))]


def _against(ours: float, by_hash: float | None) -> str:
    return f" (× {ours / by_hash:.2f} of site hash)" if by_hash else ""
