"""`ipmicra simulate crawl`: the papers' crawls on a loopback web, downloaded for real."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ipmicra.cli.extras import need_scrapy
from ipmicra.cli.options import Format, FormatOption, JsonOption, chosen
from ipmicra.cli.output import Record, print_records, print_table, say, show_message
from ipmicra.cli.simulate.shared import figure
from ipmicra.model.quantities import percent

BUSY = 0.8
"""Share of the processors from which on they limit a crawl."""


class CrawlExperiment(StrEnum):
    """Values of `--experiment`."""

    SMALL_TEST = "small-test"
    FLEET = "fleet"
    SPEED_UP = "speed-up"
    TWO_NODES = "two-nodes"


def crawl(
    experiment: Annotated[
        CrawlExperiment,
        typer.Option(
            help="small-test: six schemes of Xu et al. 2010, section 5.1; fleet: five crawlers, by balance, "
            "nearness and hash; speed-up: one node to eight; two-nodes: two that exchange links."
        ),
    ] = CrawlExperiment.SMALL_TEST,
    sites: Annotated[
        int | None, typer.Option(min=4, max=200, help="Sites [default: 12; fleet: 60; speed-up: 64].")
    ] = None,
    pages: Annotated[int, typer.Option(min=2, max=100, help="Pages per site.")] = 12,
    seed: Annotated[int, typer.Option(help="Random seed of the small test's world.")] = 1,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Crawl a loopback web with real Scrapy processes.

    Round trips, line rate and wait are injected; nothing leaves this machine. Measured figures are shown
    beside those of the simulation or the model. The processors must not be busy with anything else.
    """
    need_scrapy()
    print_format = chosen(output_format, as_json)
    rows = _rows(experiment, sites, pages, seed)
    if print_format is not Format.TABLE:
        print_records(rows, print_format)
    else:
        columns = tuple(rows[0])
        print_table(experiment.value, columns, [[figure(row[name]) for name in columns] for row in rows])
    busiest = max(row["processor"] for row in rows)
    if busiest > BUSY:
        say(
            f"the processors were {percent(busiest, 0)} busy: they limit these crawls, so figures are too low"
        )


def _rows(experiment: CrawlExperiment, sites: int | None, pages: int, seed: int) -> list[Record]:
    if experiment is CrawlExperiment.SMALL_TEST:
        from ipmicra.lab.churn.small_test import SmallConfig
        from ipmicra.lab.crawls.small_test import crawl_small_test

        config = SmallConfig(crawlers=4, sites=sites or 12)
        return [one.as_record() for one in crawl_small_test(config, pages, seed, show_message)]
    if experiment is CrawlExperiment.FLEET:
        from ipmicra.lab.crawls.fleet import BALANCE, HASH, NEAREST, FleetConfig, crawl_fleet

        count = sites or 60
        ways = (BALANCE, NEAREST, HASH)
        return [
            one.as_record() for one in crawl_fleet(FleetConfig(sites=count, pages=pages * count, ways=ways))
        ]
    if experiment is CrawlExperiment.TWO_NODES:
        from ipmicra.lab.crawls.two_nodes import crawl_two_nodes

        return [one.as_record() for one in crawl_two_nodes(sites or 12, pages, seed)]
    from ipmicra.lab.crawls.speed_up import SpeedUpConfig, speed_up

    return [one.as_record() for one in speed_up(SpeedUpConfig(sites=sites or 64, pages=pages))]
