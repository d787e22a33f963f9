"""`ipmicra simulate delegation`: the experiment of 2004 from the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.paper import Paper
from ipmicra.delegate.replay.replay import Replay
from ipmicra.lab.worlds.registries import RegistryPlan, invent_registries
from tests.cli.command_line import invoked

COMMAND = ("simulate", "delegation", "--seeds", "1")


def test_published_figures_stand_beside_ours_for_each_hierarchy() -> None:
    result = invoked(*COMMAND, "--policy", "paper", "--format", "table")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["paper", "50", "ms"]
    assert lines[1].split() == ["published", "deep", "flat"]
    assert any(line.startswith("got their nearest crawler") and "75.0 %" in line for line in lines)
    assert max(map(len, lines)) <= 80
    assert "350 of 1000 sites count" in result.stderr


def test_rows_are_what_a_replay_of_the_same_world_gives() -> None:
    rows = json.loads(invoked(*COMMAND, "--policy", "paper", "--hierarchy", "deep", "--json").stdout)
    assert [(row["hierarchy"], row["policy"]) for row in rows] == [
        ("deep", "paper"),
        ("any", "everyone"),
        ("any", "random"),
    ]
    made = invent_registries(RegistryPlan(), np.random.default_rng([0, 2004]))
    order = np.random.default_rng(0).permutation(1000).tolist()
    outcomes = Replay(made.world, DelegationMachine(made.deep, Paper())).run(order)[650:]
    probes = [one.probes for one in outcomes]
    ours = rows[0]
    assert ours["optimal_sites"] == pytest.approx(sum(one.excess_ms <= 0 for one in outcomes))
    assert (ours["probes"], ours["published"]["probes"]) == (sum(probes), 1048)
    assert ours["probes_first"] == pytest.approx(np.mean(probes[:300]))
    assert ours["probes_last"] == pytest.approx(np.mean(probes[300:]))
    everyone = rows[1]
    assert (everyone["optimal"], everyone["probes"]) == (1.0, 12 * 350)
    assert everyone["rtt_by_random"] < ours["rtt_by_random"] < 1


def test_a_threshold_of_ten_has_no_published_figures() -> None:
    words = ("--policy", "paper", "--threshold", "10", "--hierarchy", "flat", "--sites", "100")
    rows = json.loads(invoked(*COMMAND, *words, "--json").stdout)
    assert (rows[0]["setting"], rows[0]["published"]) == ("10 ms", {})


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("--policy", "papper"), "no policy named 'papper': there are predict, paper"),
        (("--hierarchy", "high"), "no hierarchy named 'high': there are deep, flat"),
        (("--sites", "20", "--train", "20"), "20 sites to train with leave none of 20 to count"),
        (("--crawlers", "400"), "400 crawlers need as many cities"),
    ],
)
def test_mistakes_are_explained(words: tuple[str, ...], answer: str) -> None:
    result = invoked(*COMMAND, *words)
    assert result.exit_code != 0
    assert answer in str(result.exception)
