"""`ipmicra simulate delegation`: the experiment of 2004."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.completion import HIERARCHIES, POLICIES, one_of
from ipmicra.cli.options import Format, FormatOption, JsonOption, chosen
from ipmicra.cli.output import print_records, print_table, say, show_message
from ipmicra.cli.simulate.shared import SeedsOption, figure
from ipmicra.model.quantities import percent

if TYPE_CHECKING:
    from ipmicra.lab.experiments.delegation_2004 import Result

WORDS = {
    "optimal": "got their nearest crawler",
    "optimal_sites": "sites that did",
    "within_2ms": "got one within 2 ms of it",
    "probes": "probes",
    "probes_per_site": "probes per site",
    "probes_first": "… without the last seventh",
    "probes_last": "… of the last seventh",
    "excess_of_suboptimal_ms": "others: beyond the nearest, ms",
    "mean_rtt_ms": "mean round trip, ms",
    "rtt_by_random": "… × assigned at random",
    "download_by_random": "download time × at random",
}
SHARES = {"optimal", "within_2ms"}
PolicyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(POLICIES),
        help="paper, predict, geo, everyone, random or hash; repeatable. Default: paper and predict.",
    ),
]
ThresholdOption = Annotated[
    list[float] | None,
    typer.Option(metavar="MS", min=0, help="Threshold of paper; repeatable. Default: 50, as published."),
]
HierarchyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(HIERARCHIES),
        help="deep (registry to customer) or flat (allocations only); repeatable. Default: both.",
    ),
]
BeyondOption = Annotated[
    bool,
    typer.Option(
        "--beyond-organisation",
        help="For paper: keep climbing if no crawler of the organisation is below the threshold.",
    ),
]


def delegation(
    policy: PolicyOption = None,
    threshold: ThresholdOption = None,
    hierarchy: HierarchyOption = None,
    beyond_organisation: BeyondOption = False,
    crawlers: Annotated[int, typer.Option(min=2, help="Number of crawlers.")] = 12,
    sites: Annotated[int, typer.Option(min=2, help="Number of sites.")] = 1000,
    train: Annotated[
        int | None,
        typer.Option(
            min=0, help="Sites that come first and do not count. Default: 65 % of them.", show_default=False
        ),
    ] = None,
    seeds: SeedsOption = 20,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Repeat the delegation experiment of 2004 in invented worlds.

    12 crawlers and 1,000 sites, of which 650 train; every seed is another world. Published figures are
    shown beside ours, and so are sites probed from everywhere and sites assigned at random.
    """
    from ipmicra.lab.experiments.delegation_2004 import TRAIN_SHARE, Experiment, run_experiment, variants_of
    from ipmicra.lab.worlds.registries import RegistryPlan

    print_format = chosen(output_format, as_json)
    experiment = Experiment(
        variants=variants_of(
            policy or ("paper", "predict"), threshold or (50.0,), is_beyond=beyond_organisation
        ),
        hierarchies=hierarchy or HIERARCHIES,
        train=round(sites * TRAIN_SHARE) if train is None else train,
        seeds=seeds,
        plan=RegistryPlan(crawlers=crawlers, sites=sites),
    )
    results = run_experiment(experiment, show_message)
    if print_format is not Format.TABLE:
        print_records([one.record() for one in results], print_format)
        return
    _print(results, experiment.train, experiment.plan.sites)


def _print(results: list[Result], train: int, sites: int) -> None:
    """Print a table per policy, with a column per hierarchy."""
    for (policy, setting), some in groupby(results, key=lambda one: (one.policy, one.setting)):
        shown = list(some)
        rows = [
            [word, _cell(name, getattr(shown[0].published, name)), *(_with_error(one, name) for one in shown)]
            for name, word in WORDS.items()
        ]
        columns = ["here" if one.hierarchy == "any" else one.hierarchy for one in shown]
        print_table(f"{policy} {setting}".strip(), ("", "published", *columns), rows)
        typer.echo()
    say(f"{sites - train} of {sites} sites count; ± is the standard error over seeds")


def _with_error(one: Result, name: str) -> str:
    error = _cell(name, getattr(one.errors, name))
    return f"{_cell(name, getattr(one.figures, name))} ± {error}"


def _cell(name: str, value: float | None) -> object:
    if value is None:
        return "–"
    return percent(value) if name in SHARES else figure(value)
