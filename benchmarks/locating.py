"""How well and how fast host names are located, and what a world with known places says of physics."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.bench import Bench
from benchmarks.data import NO_WORLD, world_folder
from benchmarks.measure import children_time, run, side_by_side
from benchmarks.real_names import NO_NAMES, Judge, RealName, read_names
from benchmarks.results import Row, Target, against, rate, timed
from ipmicra.edge.files.locations import read_crawler_places, read_samples
from ipmicra.edge.geodata.places import load_gazetteer, load_institutions, load_registered_domain
from ipmicra.locate.config import LatencyConfig
from ipmicra.locate.locator import Clues, Locator, LocatorTables
from ipmicra.locate.physics import bounds_of, latency_hint, prove_anycast, reject_votes
from ipmicra.model.location import Heuristic, Hint, Location
from tests.accuracy.host_names import SETS, rows, score
from tests.reference.slow_geodesy import slow_distance_km

_FIRST_ANSWER = (
    "from ipmicra.app.locate.locate import LocateOptions, LocateRun;"
    "print(LocateRun(LocateOptions(is_offline=True)).locate(['cr1.fra2.example.net'])[0].located.heuristic)"
)
_WHAT = {
    "written_first": "rules were set on it",
    "held_back": "written after the rules; general rules were mended after a first run of 94 % and 94 %",
    "written_last": "written when all rules were fixed, run once",
}


UNSEEN_SETS = ("held_back", "written_last")
"""Invented names that the rules were not developed on."""


def measure_locating(bench: Bench) -> list[Row]:
    """Measure accuracy on the sets of host names, speed, start-up, and physics in a world."""
    locator = Locator(
        LocatorTables(
            gazetteer=load_gazetteer(),
            registered_domain=load_registered_domain(),
            institutions=load_institutions(),
        )
    )
    bench.say("locating host names")
    return [*_accuracy(locator), *_real_names(locator), *_speed(bench, locator), *_world()]


def _accuracy(locator: Locator) -> list[Row]:
    def hints_of(name: str) -> list[Hint]:
        return [hint for hint in locator.name_hints(name) if hint.heuristic is not Heuristic.INSTITUTION]

    found = []
    for name in SETS:
        one = score(name, hints_of)
        figures = (
            f"{one.right} right, {one.wrong} wrong, {one.missed} missed",
            f"{one.placeless} of {one.names} tell no place",
            _WHAT[name],
        )
        for what, value, least in (
            ("precision", one.precision, 95.0),
            ("recall", one.recall, 80.0),
            ("truth within the radius", one.inside_share, 80.0),
        ):
            row = Row(
                what=f"airport + city, `{name}`: {what}",
                value=100 * value,
                unit="%",
                target=Target(sense="≥", limit=least),
                figures=figures,
                is_exact=True,
            )
            found.append(row)
    return found


def _real_names(locator: Locator) -> list[Row]:
    """Count right and wrong votes on real names: those the rules were developed on, and those held back."""
    names, judge = read_names(), Judge(locator.tables)
    if not names:
        return [Row(what="real host names", missing=NO_NAMES)]
    parts = {
        "developed on": [name for name in names if name.is_developed_on],
        "held back": [name for name in names if not name.is_developed_on],
    }
    found = []
    for part, own in parts.items():
        counts = judge.count(own)
        votes = f"{len(own)} names; {counts.right} right, {counts.wrong} wrong"
        before = f"told in front of the domain by {counts.telling} of {len(own)} names"
        anywhere = f"told anywhere by {counts.told_anywhere} of {len(own)} names"
        found += [
            _share(f"real host names, {part}: precision", counts.precision, 97.0, (votes,)),
            _share(f"real host names, {part}: recall", counts.recall, 85.0, (before,)),
            _share(
                f"real host names, {part}: recall, domains included",
                counts.recall_anywhere,
                85.0,
                (anywhere,),
            ),
        ]
    return [*found, *_readings(judge, parts)]


def _readings(judge: Judge, parts: Mapping[str, Sequence[RealName]]) -> list[Row]:
    """Count the votes that weights come from: those on names that the rules were not developed on."""
    invented = [RealName(host, _location(truth)) for name in UNSEEN_SETS for host, truth in rows(name)]
    counts = judge.count_kinds([*parts["held back"], *invented])
    developed = judge.count_kinds(parts["developed on"])
    found = []
    for kind, (right, wrong) in sorted(counts.items()):
        reading, has_country = kind
        seen = "developed on: {} right, {} wrong".format(*developed.get(kind, (0, 0)))
        figures = (f"{right} right, {wrong} wrong", "held back, real and invented", seen)
        what = f"reading `{reading}`, {'country agrees' if has_country else 'no country'}: precision"
        found.append(_share(what, 100 * right / (right + wrong), None, figures))
    expected, real = judge.expected_and_right(parts["held back"])
    said = (f"weights of the other four fifths of the domains expect {expected:.1f} %",)
    return [*found, _share("held-back votes that were right, by cross-validation", real, None, said)]


def _share(what: str, value: float, least: float | None, figures: tuple[str, ...]) -> Row:
    target = Target(sense="≥", limit=least) if least else None
    return Row(what=what, value=value, unit="%", target=target, figures=figures, is_exact=True)


def _location(truth: tuple[float, float] | None) -> Location | None:
    return Location(latitude=truth[0], longitude=truth[1], radius_km=0.0) if truth else None


def _speed(bench: Bench, locator: Locator) -> list[Row]:
    """Time names with all numbers different, and a scan of the gazetteer."""
    hosts = [host for name in SETS for host, _truth in rows(name)]
    rng = np.random.default_rng(1)
    names = [
        "".join(str(rng.integers(10)) if letter.isdigit() else letter for letter in host)
        for host in hosts * bench.sizes.located
    ]
    clues = [Clues(host_names=(name,)) for name in names]
    keys = [key for key in load_gazetteer()._keys if len(key) > 3]  # noqa: SLF001 - the peer needs the bare list
    few = names[:10]

    def scan() -> None:
        for name in few:
            [key for key in keys if key in name]

    times = side_by_side(
        {
            "hints": lambda: [locator.name_hints(name) for name in names],
            "whole": lambda: locator.locate_many(clues),
            "scan": scan,
        },
        bench.sizes.short_rounds,
        clock=time.process_time,
    )
    command = {"first": lambda: run([sys.executable, "-c", _FIRST_ANSWER])}
    first = side_by_side(command, bench.sizes.short_rounds, clock=children_time)["first"]
    figures = [f"processor time, what an idle core takes; by the clock {first.median_elapsed:.2f} s"]
    each = {name: one.scaled(1 / (len(few) if name == "scan" else len(names))) for name, one in times.items()}
    named = (f"{len(names):,} names a round", "by processor time")
    fast = Target(sense="≥", limit=50_000)
    return [
        rate("host-name heuristics, one core", each["hints"], 1, "names/s", fast, named),
        rate("the whole chain on a host name, offline", each["whole"], 1, "names/s", None, named),
        against("host-name heuristics beside a scan of the gazetteer per name", each["hints"], each["scan"]),
        timed("start of Python, tables and first answer", first, "s", Target(sense="<", limit=1.0), figures),
    ]


def _world() -> list[Row]:
    """Check physics on true places."""
    folder, findings = world_folder(), []
    if folder is None:
        return [Row(what="physics on true places", missing=NO_WORLD)]
    places, samples = (
        read_crawler_places(folder / "crawlers.csv", findings),
        read_samples(folder / "rtt.csv", findings),
    )
    sites = list(csv.DictReader((folder / "sites.csv").read_text(encoding="utf-8").splitlines()))
    config = LatencyConfig()
    rejected = anycast = located = inside = 0
    for site in sites:
        truth = Location(latitude=float(site["latitude"]), longitude=float(site["longitude"]), radius_km=0.0)
        bounds = bounds_of([one for one in samples if str(one.address) == site["address"]], places)
        vote = Hint(heuristic=Heuristic.KNOWN, location=truth, evidence="truth")
        rejected += len(reject_votes([vote], bounds, config)[1])
        anycast += prove_anycast(bounds, config) is not None
        hint = latency_hint(bounds, config)
        if hint:
            place = hint.location
            away = slow_distance_km(place.latitude, place.longitude, truth.latitude, truth.longitude)
            located, inside = located + 1, inside + (away <= place.radius_km)
    figures = (f"{len(sites)} sites, {len(places)} crawlers, {len(samples)} round trips",)
    return [
        Row(
            what="true places rejected",
            value=rejected,
            unit="sites",
            target=Target(sense="≤", limit=0),
            figures=figures,
            is_exact=True,
        ),
        Row(
            what="unicast sites called anycast",
            value=anycast,
            unit="sites",
            target=Target(sense="≤", limit=0),
            figures=figures,
            is_exact=True,
        ),
        Row(
            what="latency: truth within the radius",
            value=100 * inside / max(1, located),
            unit="%",
            target=Target(sense="≥", limit=80.0),
            figures=(f"{located} of {len(sites)} sites located",),
            is_exact=True,
        ),
    ]
