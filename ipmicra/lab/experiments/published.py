"""What Xu et al. published on splitting schemes, and whether it is seen here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ipmicra.model.types import Floats

IN_ZONE = {"DL": 0.30, "MPP": 0.35, "NH": 0.07, "GH": 0.03, "MP": 1.0}
"""Share of crawlers in their own zones, of both populations together."""
PRD_BELOW_DL = {"ts": 0.45, "king-like": 0.26}
"""How much lower MP's average distance is than DL's."""
DIVERSITY_BELOW = {
    "ts": {"MP_30_NH": 0.10, "DL_30_NH": 0.30},
    "king-like": {"MP_30_NH": 0.04, "DL_30_NH": 0.28},
}
"""How much lower the load diversity is than that of the scheme before the switch."""
PLAIN = {"DL", "MPP", "NH", "GH", "MP"}
STRONG = -0.7
"""Rank correlation of five schemes from which on we call it inverse."""
_REASONS = {
    "in their own zone": "these shares come out when newcomers take a random half (--half random)",
    "diversity of MP_30_NH": "MP is more even here than in the paper; NH cuts in the middle of a zone, "
    "which parts dense clusters badly",
    "like that of MPP": "MPP is more even here: sites move when its zones are cut",
    "above that of MPP": "NH and GH cut in the middle, often through empty space",
    "the more crawlers": "with the half that holds the newcomer MPP is in zone more often than DL",
    "has a lower average": "after the switch newcomers serve neighbours' zones, where they do not stand",
    "below DL's": "draws differ: average over more seeds",
}
ROOM = 0.08
"""How far an in-zone share may be off and still count as reproduced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Means of one scheme."""

    average_prd: float
    in_zone: float
    load_diversity: float
    hops: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim of the paper beside what was measured."""

    population: str
    claim: str
    published: str
    measured: str
    is_reproduced: bool
    note: str = ""
    """Why not, as far as we know."""


def claims(
    population: str, means: Mapping[str, Figures], by_crawler: Mapping[str, Floats] | None = None
) -> list[Claim]:
    """Check every claim that the schemes at hand allow to be checked.

    `by_crawler` has the mean distance of each crawler to its sites, one row per seed,
    in the order of joining.
    """
    paper = "king-like" if population.startswith("king") else population
    found: list[Claim] = []
    if {"MP", "DL"} <= means.keys():
        found += [
            _prd_claim(population, paper, means),
            _best(population, means),
            _most_uneven(population, means),
        ]
    if "GH" in means and len(means) > 1:
        found.append(_worst(population, means))
    found += [_in_zone(population, name, share, means) for name, share in IN_ZONE.items() if name in means]
    if means.keys() >= PLAIN:
        found += [_inverse(population, means), _uneven(population, means)]
    for scheme in ("MP_30_NH", "DL_30_NH"):
        if scheme in means:
            found.append(_diversity(population, paper, scheme, means))
        if scheme in means and means.keys() >= PLAIN:
            found += [_nearer(population, scheme, means), _even(population, scheme, means)]
    found += distribution_claims(population, by_crawler or {})
    return [claim if claim.is_reproduced else replace(claim, note=_reason(claim.claim)) for claim in found]


def distribution_claims(population: str, by_crawler: Mapping[str, Floats]) -> list[Claim]:
    """Check what the paper reads off its distributions of distances over crawlers."""
    found = []
    if "NH" in by_crawler:
        tenth = max(by_crawler["NH"].shape[1] // 10, 1)
        first, last = (
            float(np.nanmean(part)) for part in (by_crawler["NH"][:, :tenth], by_crawler["NH"][:, -tenth:])
        )
        found.append(
            Claim(
                population=population,
                claim="under NH those who joined first are farthest from their sites",
                published="yes",
                measured=f"first tenth {first:.0f} ms, last {last:.0f} ms",
                is_reproduced=first > last,
            )
        )
    if by_crawler.keys() >= PLAIN:
        shares = np.linspace(0.1, 0.9, 9)
        quantiles = {name: np.nanquantile(by_crawler[name], shares) for name in PLAIN}
        best = np.min([quantiles[name] for name in PLAIN - {"MP"}], axis=0)
        ahead = int((quantiles["MP"] <= best).sum())
        found.append(
            Claim(
                population=population,
                claim="MP is ahead at every share of the crawlers",
                published="yes",
                measured=f"at {ahead} of 9 tenths",
                is_reproduced=ahead == len(shares),
            )
        )
    return found


def _reason(claim: str) -> str:
    """Say why a claim may fail to show."""
    return next((reason for part, reason in _REASONS.items() if part in claim), "")


def _prd_claim(population: str, paper: str, means: Mapping[str, Figures]) -> Claim:
    lower = 1 - means["MP"].average_prd / means["DL"].average_prd
    stated = PRD_BELOW_DL.get(paper)
    return Claim(
        population=population,
        claim="MP's average distance is below DL's",
        published="by about 26 to 45 %" if stated is None else f"by {stated:.0%}",
        measured=f"by {lower:.0%}",
        is_reproduced=lower > (stated or 0.26) - ROOM,
    )


def _best(population: str, means: Mapping[str, Figures]) -> Claim:
    # Joined schemes (MP_30_NH) are left out: the paper compares the plain ones here.
    paper = {name: one for name, one in means.items() if name in PLAIN}
    order = sorted(paper, key=lambda name: paper[name].average_prd)
    return Claim(
        population=population,
        claim="MP has the lowest average distance, DL the next",
        published="MP, DL",
        measured=", ".join(order),
        is_reproduced=order[:2] == ["MP", "DL"],
    )


def _worst(population: str, means: Mapping[str, Figures]) -> Claim:
    order = sorted(means, key=lambda name: -means[name].average_prd)
    return Claim(
        population=population,
        claim="GH has the highest average distance",
        published="GH",
        measured=order[0],
        is_reproduced=order[0] == "GH",
    )


def _most_uneven(population: str, means: Mapping[str, Figures]) -> Claim:
    order = sorted(means, key=lambda name: -means[name].load_diversity)
    return Claim(
        population=population,
        claim="DL has the highest load diversity of all schemes",
        published="DL",
        measured=f"{order[0]} ({means[order[0]].load_diversity:.2f})",
        is_reproduced=order[0] == "DL",
    )


def _uneven(population: str, means: Mapping[str, Figures]) -> Claim:
    others = {name: means[name].load_diversity for name in ("MPP", "NH", "GH")}
    highest = max(others, key=others.__getitem__)
    return Claim(
        population=population,
        claim="MP's load diversity is above that of MPP, NH and GH",
        published="yes",
        measured=f"{means['MP'].load_diversity:.2f} against {others[highest]:.2f} ({highest})",
        is_reproduced=means["MP"].load_diversity > others[highest],
    )


def _inverse(population: str, means: Mapping[str, Figures]) -> Claim:
    names = sorted(PLAIN)
    ranks = [
        np.argsort(np.argsort([getattr(means[n], what) for n in names]))
        for what in ("in_zone", "average_prd")
    ]
    correlation = float(np.corrcoef(ranks[0], ranks[1])[0, 1])
    return Claim(
        population=population,
        claim="the more crawlers stand in their zones, the lower the average distance",
        published="almost inversely proportional",
        measured=f"rank correlation {correlation:.1f}",
        is_reproduced=correlation <= STRONG,
    )


def _nearer(population: str, scheme: str, means: Mapping[str, Figures]) -> Claim:
    others = min(means[name].average_prd for name in ("NH", "MPP", "GH"))
    return Claim(
        population=population,
        claim=f"{scheme} has a lower average distance than NH, MPP and GH",
        published="yes",
        measured=f"{means[scheme].average_prd:.1f} against {others:.1f} ms",
        is_reproduced=means[scheme].average_prd < others,
    )


def _even(population: str, scheme: str, means: Mapping[str, Figures]) -> Claim:
    ours, mpp = means[scheme].load_diversity, means["MPP"].load_diversity
    return Claim(
        population=population,
        claim=f"load diversity of {scheme} is below or like that of MPP",
        published="yes",
        measured=f"{ours:.2f} against {mpp:.2f}",
        is_reproduced=ours <= mpp * (1 + ROOM),
    )


def _in_zone(population: str, scheme: str, share: float, means: Mapping[str, Figures]) -> Claim:
    measured = means[scheme].in_zone
    return Claim(
        population=population,
        claim=f"share of crawlers in their own zone under {scheme}",
        published=f"{share:.0%}",
        measured=f"{measured:.0%}",
        is_reproduced=abs(measured - share) <= ROOM,
    )


def _diversity(population: str, paper: str, scheme: str, means: Mapping[str, Figures]) -> Claim:
    before = scheme.split("_", maxsplit=1)[0]
    stated = DIVERSITY_BELOW.get(paper, {}).get(scheme)
    beside = means.get(before, means[scheme])
    lower = 1 - means[scheme].load_diversity / beside.load_diversity
    return Claim(
        population=population,
        claim=f"load diversity of {scheme} is below that of {before}",
        published="yes" if stated is None else f"by {stated:.0%}",
        measured=f"by {lower:.0%}" if lower >= 0 else f"higher by {-lower:.0%}",
        is_reproduced=lower > 0,
    )
