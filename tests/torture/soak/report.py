"""What a soak has found, as a table and as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import Any

from tests.torture.soak.flatness import Level
from tests.torture.soak.invariants import of_kind
from tests.torture.soak.record import Event
from tests.torture.soak.sampling import SERIES, levels


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The outcome of a soak."""

    hours: float
    counts: dict[str, int]
    """How often each thing happened."""
    levels: list[Level]
    figures: dict[str, float]
    """What is reported and not judged."""
    violations: list[str]

    @property
    def is_well(self) -> bool:
        return not self.violations and all(one.is_flat for one in self.levels)

    def described(self) -> dict[str, Any]:
        return {
            "hours": round(self.hours, 3),
            "is_well": self.is_well,
            "counts": self.counts,
            "figures": self.figures,
            "levels": [
                {
                    "name": one.name,
                    "points": one.points,
                    "median": round(one.median, 3),
                    "rise": round(one.rise, 4),
                    "limit": one.limit,
                    "hours": round(one.hours, 3),
                    "is_judged": one.is_judged,
                    "is_flat": one.is_flat,
                }
                for one in self.levels
            ],
            "violations": self.violations,
        }

    def text(self, most: int) -> str:
        lines = [f"{self.hours:.2f} hours, {len(self.violations)} violations", ""]
        lines += [f"  {count:>9,}  {name}" for name, count in self.counts.items()]
        lines += ["", f"  {'after the warm-up':<34}{'median':>10}{'rise':>9}{'limit':>8}"]
        for one in self.levels:
            what, unit, _ = SERIES[one.name]
            verdict = "" if one.is_flat else "  NOT FLAT"
            verdict = verdict if one.is_judged else f"  not judged: {one.points} points"
            middle = f"{one.median:,.2f} {unit}".strip()
            lines.append(f"  {what:<34}{middle:>10}{one.rise:>9.1%}{one.limit:>8.0%}{verdict}")
        lines += ["", *(f"  {value:>12,.3f}  {name}" for name, value in self.figures.items())]
        lines += self.violations[:most]
        return "\n".join(lines)


def report_of(events: list[Event], found: list[str]) -> Report:
    """Sum up a record."""
    samples = of_kind(events, "sample")
    return Report(
        hours=(events[-1]["t"] - events[0]["t"]) / 3600 if events else 0.0,
        counts=_counts(events),
        levels=levels(samples),
        figures=_figures(events, samples),
        violations=found,
    )


def _counts(events: list[Event]) -> dict[str, int]:
    kinds = Counter(one["kind"] for one in events)
    happened = Counter(one["name"] for one in of_kind(events, "event"))
    trouble = Counter(one["who"] for one in of_kind(events, "trouble"))
    return {
        "sites asked for": len({one["host"] for one in of_kind(events, "asked")}),
        "answers": kinds["answer"],
        "questions refused, asked again": kinds["refused"],
        "probes": kinds["probe"],
        "runs of the crawl": kinds["run_ended"],
        "pages fetched": kinds["fetched"],
        "blocks handed over": kinds["released"],
        "samples": kinds["sample"],
        **dict(sorted(happened.items())),
        "requests that failed": trouble.total(),
    }


def _figures(events: list[Event], samples: list[Event]) -> dict[str, float]:
    if len(samples) < 2:
        return {}
    last = samples[-1]
    quarter = max(1, len(samples) // 4)
    found = {
        "share of a core that the coordinator used": _share(samples),
        "MB of memory at the end": last["rss_mb"],
        "MB of the store at the end": last["store_mb"],
        "MB of the crawls at the end": last["crawls_mb"],
        "ms of an owner question, median": median(one["owner_ms"] for one in samples),
        "ms of an exchange, median": median(one["exchange_ms"] for one in samples),
        "ms of the bare route, median": median(one["bare_ms"] for one in samples),
        "share of a core in the first quarter": _share(samples[: quarter + 1]),
        "share of a core in the last quarter": _share(samples[-quarter - 1 :]),
        "MB of memory, median of the first quarter": median(one["rss_mb"] for one in samples[:quarter]),
        "MB of memory, median of the last quarter": median(one["rss_mb"] for one in samples[-quarter:]),
    }
    return {name: round(value, 3) for name, value in found.items()}


def _share(samples: list[Event]) -> float:
    """Return the processor time per second between the first and the last of some samples."""
    first, last = samples[0], samples[-1]
    return float((last["cpu_s"] - first["cpu_s"]) / max(last["t"] - first["t"], 1e-9))
