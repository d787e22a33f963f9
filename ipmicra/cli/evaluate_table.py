"""What `ipmicra evaluate` shows to people: a table, and the saving in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ipmicra.cli.output import print_table

if TYPE_CHECKING:
    from ipmicra.lab.evaluate.evaluate import Evaluation

Cell = Callable[[dict[str, Any]], str]
UNKNOWN = "–"


def share(key: str) -> Cell:
    """Write a share as per cent."""
    return lambda row: UNKNOWN if row.get(key) is None else f"{100 * row[key]:.1f} %"


def number(key: str, digits: int = 2) -> Cell:
    """Write a number."""
    return lambda row: UNKNOWN if row.get(key) is None else f"{row[key]:.{digits}f}"


def with_spread(one: Cell, spread: Cell) -> Cell:
    """Write a mean with the spread of the orders."""
    return lambda row: f"{one(row)} ±{spread(row)}"


OPTIMAL = with_spread(share("optimal"), lambda row: f"{100 * row['optimal_spread']:.1f}")
PROBES = with_spread(number("probes_per_site"), number("probes_spread"))
NAMES: dict[str, Cell] = {"policy": lambda row: row["policy"], "setting": lambda row: row["setting"]}
COLUMNS: dict[str, Cell] = {
    **NAMES,
    "optimal": OPTIMAL,
    "within 2 ms": share("within_2ms"),
    "probes/site": PROBES,
    "excess ms": number("mean_excess_ms"),
    "if sub-optimal": number("excess_of_suboptimal_ms"),
    "in training": number("training_probes_per_site"),
}
"""Of a world with known round trips."""
TODAY, JUDGED = "ms saved\non today", "judged"
SAVINGS: dict[str, Cell] = {
    "policy": lambda row: f"{row['policy']} {row['setting']}".removesuffix("default").strip(),
    "optimal": share("optimal"),
    "probes\na site": number("probes_per_site"),
    "in\ntraining": number("training_probes_per_site"),
    "probes\nsaved": share("probes_saved"),
    "mean\nms": number("mean_rtt_ms", 1),
    "ms saved\non hash": number("saved_vs_hash_ms", 1),
    TODAY: number("saved_vs_today_ms", 1),
    JUDGED: share("judged"),
}
"""Of a user's own measurements: what each policy would save."""


def print_evaluation(evaluation: Evaluation) -> None:
    """Print the table."""
    columns = dict(SAVINGS if evaluation.is_measured else COLUMNS)
    rows = evaluation.rows
    if not any("saved_vs_today_ms" in row for row in rows):
        columns.pop(TODAY, None)
    if all(row["judged"] == 1 for row in rows):
        columns.pop(JUDGED, None)
    print_table(
        title_of(evaluation), list(columns), [[cell(row) for cell in columns.values()] for row in rows]
    )


def title_of(evaluation: Evaluation) -> str:
    """Say what was replayed."""
    return (
        f"{evaluation.world}: {evaluation.seeds} orders of arrival, {evaluation.train} sites of training, "
        f"places: {evaluation.location}"
    )


def saving_in_words(evaluation: Evaluation) -> str | None:
    """Say what the first setting of predict, or else the first policy that probes, would save."""
    probing = [row for row in evaluation.rows if row["probes_per_site"]]
    row = next((one for one in probing if one["policy"] == "predict"), probing[0] if probing else None)
    if row is None or row["mean_rtt_ms"] is None or row["policy"] == "everyone":
        return None
    ways = {"by site hash": row.get("hash_mean_rtt_ms"), "today": row.get("today_mean_rtt_ms")}
    others = [f"{way} {mean_ms:.0f} ms" for way, mean_ms in ways.items() if mean_ms is not None]
    said = ", ".join([f"mean round trip {row['mean_rtt_ms']:.0f} ms", *others])
    before = f" ({row['training_probes_per_site']:.1f} in training)" if evaluation.train else ""
    rest = f" ({100 * row['judged']:.0f} % of the answers can be judged)" if row["judged"] < 1 else ""
    return (
        f"With {row['policy']}: {row['probes_per_site']:.1f} probes a site{before} instead of "
        f"{row['everyone_probes_per_site']:.3g}; {said}{rest}."
    )
