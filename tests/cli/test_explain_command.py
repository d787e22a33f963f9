"""`ipmicra explain` tells the whole story of a site, from its registration to its zone, over real agents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.store.store import Store
from ipmicra.model.sample import Sample
from tests.cli.command_line import built_file, invoked
from tests.delegating_worlds import enrol, seeds_of, site_address, split_world, subnet_dump

SITES, CRAWLERS = 8, 4
QUICK = ("--first-rung", "head", "--samples", "1", "--location", "none")
COMPANY = "organisation: ORG-A\norg-name: Alpha Networks\nsource: RIPE\n\n"


@pytest.fixture(scope="module")
def internet() -> Iterator[LoopbackInternet]:
    with LoopbackInternet(split_world(SITES, CRAWLERS, step_ms=30.0)) as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IPMICRA_AGENT_TOKEN", internet.token)
    dump = subnet_dump(SITES // 2).replace("netname: N0\n", "netname: N0\norg: ORG-A\n")
    built_file(
        tmp_path, COMPANY + dump.replace("netname: N2\n", "netname: N2\norg: ORG-A\n"), "hierarchy.ipm"
    )
    with Store.open(str(tmp_path / "state.db")) as store:
        enrol(store, list(internet.crawlers.values()))
    (tmp_path / "seeds.txt").write_text("\n".join(seeds_of(SITES, internet.port)))
    return tmp_path


def explained(home: Path, site: str) -> tuple[str, dict[str, Any]]:
    text = invoked("--home", home, "explain", site).stdout
    assert max(map(len, text.splitlines())) <= 80, text
    record: dict[str, Any] = json.loads(invoked("--home", home, "explain", site, "--json").stdout)
    return text, record


def test_neighbour_of_a_probed_site_is_told_from_whom_it_inherited(home: Path) -> None:
    assert invoked("--home", home, "delegate", home / "seeds.txt", *QUICK).exit_code == 0
    probed, neighbour = (str(site_address(i)) for i in (2, 3))
    text, record = explained(home, neighbour)
    story = " ".join(text.split())
    assert "by probes of its own" not in story
    assert f"inherited from {probed} of the same subnet" in story
    crawler = record["crawler"]
    assert f"{crawler} measured {probed} at {record['measured']}, not the site itself." in story
    assert f"Evidence: inherited from {probed}" in story
    assert (record["evidence"], record["inherited_from"]) == ("inherited", probed)
    assert record["delegation"]["policy"] == "predict"
    text, record = explained(home, probed)
    assert "by probes of its own" in text
    assert (record["evidence"], record["inherited_from"], record["measured"]) == ("probed", None, None)
    assert record["delegation"]["measured"] is not None


def test_whole_chain_is_one_story(home: Path, internet: LoopbackInternet) -> None:
    """Registration, organisation, probes, coordinate and zone, load, and what comes next."""
    assert invoked("--home", home, "delegate", home / "seeds.txt", *QUICK, "--policy", "paper").exit_code == 0
    with Store.open(str(home / "state.db")) as store:
        trips = [
            (one.name, other.address, 5.0 + 20.0 * abs(i - k))
            for i, one in enumerate(internet.world.crawlers)
            for k, other in enumerate(internet.world.crawlers)
            if i != k
        ]
        store.samples.add_many(
            Sample(crawler=name, address=address, rtt_ms=rtt_ms, all_ms=(rtt_ms,), taken_s=1.0)
            for name, address, rtt_ms in trips
        )
    done = invoked("--home", home, "assign", home / "seeds.txt", "--backend", "can")
    assert done.exit_code == 0, done.output
    text, record = explained(home, str(site_address(0)))
    heads = [line for line in text.splitlines() if line and not line.startswith(" ")]
    wanted = [
        "Where it is",
        "What was known before",
        "Who was asked",
        "Who was not asked",
        "Why it ended there",
        "Where it stands by network coordinates",
        "What load made of it",
        "What comes next",
    ]
    assert [head for head in heads if head in wanted] == wanted
    story = " ".join(text.split())
    assert "203.0.112.0/29 N0, Alpha Networks, GR; held by " in story
    assert "Alpha Networks holds 2 subnets; delegated: 2 to " in story
    assert "Its coordinate is (" in story
    assert f"in the zone of {record['coordinate']['zone_of']}, by scheme MP" in story
    assert "it is measured again (--recheck)" in story
    assert record["organisation"] == {
        "name": "Alpha Networks",
        "handle": "ORG-A",
        "subnets": 2,
        "delegated": {record["crawler"]: 2},
    }
    assert record["load"][0]["backend"] == "can"
    assert record["next_check"] > record["delegation"]["created"]
    assert list(record)[-1] == "edition_is_current"


def test_site_without_an_answer_says_what_to_do(home: Path) -> None:
    done = invoked("--home", home, "explain", str(site_address(0)))
    assert done.exit_code == 1
    assert "`ipmicra delegate 203.0.112.1` finds one" in done.stdout
    assert "What comes next" not in done.stdout
