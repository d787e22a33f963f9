"""Hosts that answer differently in different places, as a user delegates and explains them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipmicra.errors import InputError
from tests.cli.command_line import invoked
from tests.scattered_worlds import NEAR_MS, ScatteredWorld, running_world
from tests.servers.dns_server import Zone

QUICK = ("--first-rung", "head", "--samples", "1", "--location", "none")
AGENTS = ("--resolve-at", "agents", "--near-ms", str(NEAR_MS))


@pytest.fixture(scope="module")
def world() -> Iterator[ScatteredWorld]:
    with running_world() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, world: ScatteredWorld, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IPMICRA_AGENT_TOKEN", world.internet.token)
    return world.prepare(tmp_path)


def test_rows_carry_the_address_that_the_chosen_crawler_sees(home: Path, world: ScatteredWorld) -> None:
    seeds = [world.seed("geo.example"), world.seed("same.example")]
    done = invoked("--home", home, "delegate", *seeds, *QUICK, *AGENTS, "--format", "csv")
    rows = {row["host"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert (rows["geo.example"]["crawler"], rows["geo.example"]["address"]) == ("tok", "193.10.12.1")
    assert rows["geo.example"]["subnet"] == "193.10.12.1/32"
    assert rows["same.example"]["subnet"] == "193.10.1.0/24"
    assert "1 of 2 hosts answer differently in different places" in done.stderr
    assert "names: 6 questions to agents in 3 requests" in done.stderr


def test_dry_run_tells_the_cost_and_asks_nobody(home: Path, world: ScatteredWorld) -> None:
    hosts = ["geo.example", "same.example", "six.example"]
    seeds = [world.seed(host) for host in hosts]
    words: tuple[str | Path, ...] = ("--home", home, "delegate", *seeds, *QUICK, *AGENTS, "--json")
    questions = world.questions()
    before = json.loads(invoked(*words, "--dry-run").stdout)
    assert world.questions() == questions
    assert (before["sites"], before["subnets"], before["hosts_to_resolve"]) == (3, 0, 3)
    assert (before["name_questions"], before["name_requests"]) == (9, 3)
    assert before["most_probes"] == 9
    assert json.loads(invoked(*words, "--dry-run", "--probe-budget", "4").stdout)["most_probes"] == 4
    done = json.loads(invoked(*words).stdout)
    assert sum(row["probes"] for row in done) <= before["most_probes"]
    after = json.loads(invoked(*words, "--dry-run").stdout)
    assert (after["sites"], after["subnets"], after["hosts_to_resolve"]) == (3, 1, 0)
    assert (after["hosts_scattered"], after["name_questions"], after["most_probes"]) == (2, 0, 0)


def test_explanation_tells_what_each_crawler_sees(home: Path, world: ScatteredWorld) -> None:
    seeds = [world.seed(host) for host in ("geo.example", "part.example", "same.example")]
    assert invoked("--home", home, "delegate", *seeds, *QUICK, *AGENTS).exit_code == 0
    text = invoked("--home", home, "explain", "geo.example").stdout
    for part in (
        "geo.example (193.10.12.1) belongs to tok, ",
        "Its name answers differently in different places",
        "What crawlers see\n  Answers differ; ",
        "  fra sees 193.10.10.1, 2",
        "  tok sees 193.10.12.1, ",
        "fra: it sees 193.10.10.1; it measured 2",
        "tok got it: the nearest of those that see it.",
        "Evidence: probed, with 3 probes.",
    ):
        assert part in text
    assert "So does all of" not in text
    known = json.loads(invoked("--home", home, "explain", "geo.example", "--json").stdout)
    assert known["answers_differ"] is True
    assert [(one["crawler"], one["addresses"]) for one in known["views"]] == [
        ("fra", ["193.10.10.1"]),
        ("nyc", ["193.10.11.1"]),
        ("tok", ["193.10.12.1"]),
    ]
    assert all(one["rtt_ms"] > 0 for one in known["views"])
    assert len(known["samples"]) == 3
    part = invoked("--home", home, "explain", "part.example").stdout
    assert "  fra sees nothing: there is no such host name." in part
    assert "  fra: it sees nothing: there is no such host name." in part
    same = invoked("--home", home, "explain", "same.example").stdout
    assert "What crawlers see\n  All 3 crawlers see 193.10.1.1." in same
    assert "So does all of 193.10.1.0/24" in same
    assert (
        json.loads(invoked("--home", home, "explain", "same.example", "--json").stdout)["answers_differ"]
        is False
    )


def test_near_everywhere_is_told(home: Path, world: ScatteredWorld) -> None:
    assert invoked("--home", home, "delegate", world.seed("near.example"), *QUICK, *AGENTS).exit_code == 0
    text = " ".join(invoked("--home", home, "explain", "near.example").stdout.split())
    assert "by load alone: it is in many places at once" in text
    assert "all 3 that see it are within 80 ms of each other: the least loaded" in text


def test_assignment_goes_by_what_each_crawler_sees(home: Path, world: ScatteredWorld) -> None:
    """No model and no load gives a host to a crawler that does not see it, and rows name what theirs sees."""
    near = [f"near{number}.example" for number in range(6)]
    for host in near:
        for i, server in enumerate(world.servers.values()):
            server.zones[host] = Zone(addresses=(f"193.10.{20 + i}.1",))
    hosts = ["geo.example", "part.example", "same.example", *near]
    seeds = [world.seed(host) for host in hosts]
    assert invoked("--home", home, "delegate", *seeds, *QUICK, *AGENTS).exit_code == 0
    done = invoked("--home", home, "assign", *seeds, "--evenness", "0", "--json")
    rows = {row["host"]: row for row in json.loads(done.stdout)}
    assert (rows["geo.example"]["crawler"], rows["geo.example"]["address"]) == ("tok", "193.10.12.1")
    assert rows["geo.example"]["expected_ms"] < 90
    assert (rows["part.example"]["crawler"], rows["same.example"]["crawler"]) == ("tok", "nyc")
    fair = json.loads(invoked("--home", home, "assign", *seeds, "--evenness", "1", "--json").stdout)
    assert all(row["crawler"] != "fra" for row in fair if row["host"] == "part.example")
    where = {"fra": "193.10.20.1", "nyc": "193.10.21.1", "tok": "193.10.22.1"}
    assert all(row["address"] == where[row["crawler"]] for row in fair if row["host"] in near)
    assert {row["crawler"] for row in fair} == set(where)
    moved = next(row for row in fair if row["host"] in near)
    text = invoked("--home", home, "explain", moved["host"]).stdout
    assert f"{moved['crawler']} is {moved['expected_ms']:.1f} ms away, as measured." in text


def test_answer_that_rests_on_a_neighbour_says_so(home: Path, world: ScatteredWorld) -> None:
    words = ("--home", home, "delegate", *QUICK, *AGENTS, "--json")
    invoked(*words, world.seed("geo.example"))
    for _ in range(2):  # the second time from the store
        (row,) = json.loads(invoked(*words, world.seed("beside.example")).stdout)
        assert (row["evidence"], row["inherited_from"], row["probes"]) == ("inherited", "193.10.12.1", 0)
        assert row["measured"].startswith("20")
    text = invoked("--home", home, "explain", "beside.example").stdout
    assert "tok: it sees 193.10.12.7, beside 193.10.12.1, which it had measured" in text


def test_rules_count_at_the_address_that_each_crawler_sees(home: Path, world: ScatteredWorld) -> None:
    """One rule speaks of a host, another of the address that only tok sees."""
    (home / "rules.txt").write_text("host=six.example -> only=nyc\nprefix=193.10.12.0/24 -> forbid=tok\n")
    seeds = [world.seed("six.example"), world.seed("geo.example")]
    done = invoked("--home", home, "delegate", *seeds, *QUICK, *AGENTS, "--json")
    rows = {row["host"]: row for row in json.loads(done.stdout)}
    assert (rows["six.example"]["crawler"], rows["six.example"]["probes"]) == ("nyc", 1)
    assert (rows["geo.example"]["crawler"], rows["geo.example"]["probes"]) == ("nyc", 2)


def test_again_asks_and_measures_everything_anew(home: Path, world: ScatteredWorld) -> None:
    words = ("--home", home, "delegate", world.seed("geo.example"), *QUICK, *AGENTS, "--json")
    invoked(*words)
    questions = world.questions()
    (row,) = json.loads(invoked(*words, "--again").stdout)
    assert (row["crawler"], row["probes"]) == ("tok", 3)
    assert world.questions() == questions + 3


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--resolve-at", "moon"), "--resolve-at moon: names are resolved here or at agents"),
        (("--resolve-at", "agents", "--policy", "hash"), "policy hash asks nobody"),
        (("--near-ms", "-1"), "--near-ms"),
    ],
)
def test_mistakes_are_told(home: Path, words: tuple[str, ...], reason: str) -> None:
    done = invoked("--home", home, "delegate", "geo.example", *words)
    assert isinstance(done.exception, InputError)
    assert reason in str(done.exception)
