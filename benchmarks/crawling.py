"""Whole crawls on a loopback web, by real Scrapy processes: what assigning is worth beside hash and model.

Only ratios count: both ways of assigning are crawled in one run, on the same web. The processors must not be
the limit; the rows say how busy they were, and a crawl that they limited is not judged.
"""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.results import Row, Target
from ipmicra.lab.crawls.fleet import FleetConfig, crawl_fleet
from ipmicra.lab.crawls.measured import MeasuredCrawl
from ipmicra.lab.crawls.speed_up import SpeedUpConfig, speed_up

GAIN = Target(sense="≥", limit=1.3)
MODEL = Target(sense="≤", limit=0.15)
BUSY = 0.8
"""Share of the processors above which they limit a crawl."""


def measure_crawl(bench: Bench) -> list[Row]:
    """Crawl by balance and by hash; then with one node to eight."""
    sites = 20 if bench.sizes.is_quick else 60
    bench.say(f"five crawlers, {sites} sites, by balance and by site hash")
    ours, hashed = crawl_fleet(FleetConfig(sites=sites, pages=5 * sites if bench.sizes.is_quick else 1_500))
    rows = [_gain(ours, hashed), *map(_against_model, (ours, hashed))]
    bench.say("one node to eight")
    config = SpeedUpConfig(sites=16, pages=4) if bench.sizes.is_quick else SpeedUpConfig()
    return [*rows, *_speed_ups(speed_up(config))]


def _gain(ours: MeasuredCrawl, hashed: MeasuredCrawl) -> Row:
    figures = tuple(f"{one.policy} {one.pages_per_s:.1f} pages/s" for one in (ours, hashed))
    what = "pages per second of a whole crawl, five crawlers: balance beside site hash"
    return _judged(what, ours.pages_per_s / hashed.pages_per_s, GAIN, figures, (ours, hashed))


def _against_model(one: MeasuredCrawl) -> Row:
    figures = (f"{one.pages_per_s:.1f} pages/s", f"{one.model_pages_per_s:.1f} by the model")
    what = f"difference of a measured crawl from the model, part of it: {one.policy}"
    return _judged(what, abs(one.difference), MODEL, figures, (one,), unit="")


def _judged(
    what: str,
    value: float,
    target: Target,
    figures: tuple[str, ...],
    crawls: tuple[MeasuredCrawl, ...],
    *,
    unit: str = "×",
) -> Row:
    """Return a row whose target counts only if the processors did not limit the crawl."""
    busiest = max(one.processor for one in crawls)
    about = (*figures, f"processors {busiest:.0%} busy")
    if busiest > BUSY:
        return Row(what=what, value=value, unit=unit, figures=(*about, "not judged"), is_disturbed=True)
    return Row(what=what, value=value, unit=unit, target=target, figures=about)


def _speed_ups(crawls: list[MeasuredCrawl]) -> list[Row]:
    base = crawls[0].pages_per_s
    return [
        Row(
            what=f"pages per second of {one.policy} beside one",
            value=one.pages_per_s / base,
            figures=(f"{one.pages_per_s:.1f} pages/s", f"processors {one.processor:.0%} busy"),
            is_disturbed=one.processor > BUSY,
        )
        for one in crawls[1:]
    ]
