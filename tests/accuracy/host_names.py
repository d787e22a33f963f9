"""Host names whose places are known, and how well a reading of them does."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ipmicra.model.location import Hint
from tests.reference.slow_geodesy import slow_distance_km

FOLDER = Path(__file__).parents[1] / "data" / "hostnames"
SETS = ("written_first", "held_back", "written_last")
RIGHT_KM = 100.0
"""A place this near to the truth is right: airports stand some way from their city."""


@dataclass(frozen=True)
class Score:
    """Counts over a set."""

    right: int
    wrong: int
    missed: int
    inside: int
    """Of right and wrong ones, those whose radius holds the truth."""
    names: int
    placeless: int
    mistakes: tuple[str, ...]

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / (self.names - self.placeless)

    @property
    def inside_share(self) -> float:
        return self.inside / (self.right + self.wrong)


def places() -> dict[str, tuple[float, float]]:
    with (FOLDER / "places.csv").open(encoding="utf-8") as file:
        return {
            row["place"]: (float(row["latitude"]), float(row["longitude"])) for row in csv.DictReader(file)
        }


def rows(name: str) -> list[tuple[str, tuple[float, float] | None]]:
    known = places()
    lines = (FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(host, None if place == "-" else known[place]) for host, place in pairs]


def score(name: str, hints_of: Callable[[str], list[Hint]]) -> Score:
    """Judge the first vote on each name, as the chain does."""
    right = wrong = missed = inside = placeless = 0
    mistakes = []
    every = rows(name)
    for host, truth in every:
        hint = next(iter(hints_of(host)), None)
        placeless += truth is None
        if hint is None:
            missed += truth is not None
            continue
        place = hint.location
        away = slow_distance_km(place.latitude, place.longitude, *truth) if truth else float("inf")
        inside += away <= place.radius_km
        if away <= RIGHT_KM:
            right += 1
        else:
            wrong += 1
            mistakes.append(f"{host}: {place.city}")
    return Score(right, wrong, missed, inside, len(every), placeless, tuple(mistakes))
