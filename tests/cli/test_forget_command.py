"""`ipmicra delegate --again` and `ipmicra forget` as a user runs them, over real agents."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.store.store import Store
from ipmicra.model.delegation import OWN
from tests.cli.command_line import built_file, invoked
from tests.delegating_worlds import (
    PER_SUBNET,
    enrol,
    hierarchy_of,
    seeds_of,
    site_address,
    split_world,
    subnet_dump,
)

SITES, CRAWLERS = 8, 2
SUBNETS = SITES // PER_SUBNET
QUICK = ("--first-rung", "head", "--samples", "1", "--location", "none")


@pytest.fixture(scope="module")
def internet() -> Iterator[LoopbackInternet]:
    with LoopbackInternet(split_world(SITES, CRAWLERS)) as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IPMICRA_AGENT_TOKEN", internet.token)
    hierarchy_of(tmp_path, SITES)
    with Store.open(str(tmp_path / "state.db")) as store:
        enrol(store, list(internet.crawlers.values()))
    (tmp_path / "seeds.txt").write_text("\n".join(seeds_of(SITES, internet.port)))
    return tmp_path


def delegated(home: Path, *words: str) -> tuple[list[dict[str, str]], str]:
    done = invoked("--home", home, "delegate", home / "seeds.txt", *QUICK, *words, "--format", "csv")
    assert done.exit_code == 0, done.output
    return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


def forgotten(home: Path, *words: str) -> dict[str, list[dict[str, Any]]]:
    """Forget, and return what went by kind."""
    done = invoked("--home", home, "forget", *words, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, list[dict[str, Any]]] = {}
    for row in json.loads(done.stdout):
        found.setdefault(row["kind"], []).append(row)
    return found


def probes_of(rows: list[dict[str, str]]) -> int:
    return sum(int(row["probes"]) for row in rows)


def policies_of(home: Path) -> set[str | None]:
    with Store.open(str(home / "state.db")) as store:
        return {one.delegation.policy for one in store.delegations.all()} - {OWN}


def test_another_policy_on_held_subnets_is_reported_and_again_decides_them_by_it(home: Path) -> None:
    delegated(home)
    kept, messages = delegated(home, "--policy", "paper")
    assert probes_of(kept) == 0
    assert "8 sites have the crawler that an earlier policy chose (predict)" in messages
    assert "--again" in messages
    assert policies_of(home) == {"predict"}
    redone, messages = delegated(home, "--policy", "paper", "--again")
    assert "earlier policy" not in messages
    assert policies_of(home) == {"paper"}
    assert sum(int(row["probes"]) > 0 for row in redone) == SUBNETS, "each subnet once, whatever its sites"
    once_more, messages = delegated(home, "--policy", "paper")
    assert (probes_of(once_more), "earlier policy" in messages) == (0, False)


def test_again_works_for_policies_that_ask_nobody(home: Path) -> None:
    delegated(home, "--policy", "random")
    _, messages = delegated(home, "--policy", "hash")
    assert "random" in messages
    assert policies_of(home) == {"random"}
    delegated(home, "--policy", "hash", "--again")
    assert policies_of(home) == {"hash"}


def test_forgotten_site_takes_the_answers_along_that_rest_on_it(home: Path) -> None:
    """The first site of a subnet was probed; the second inherited from it, and both were assigned."""
    delegated(home)
    assert invoked("--home", home, "assign", home / "seeds.txt").exit_code == 0
    first, second = (str(site_address(i)) for i in range(2))
    planned = forgotten(home, first, "--dry-run")
    assert [row["what"] for row in planned["delegation"]] == ["203.0.112.0/29"]
    assert {row["what"] for row in planned["result"]} == {first, second}
    assert {row["what"] for row in planned["assignment"]} == {first, second}
    assert forgotten(home, first, "--dry-run") == planned, "a dry run changes nothing"
    assert forgotten(home, first) == planned
    with Store.open(str(home / "state.db")) as store:
        assert store.results.latest(first) is store.results.latest(second) is None
        assert store.assignments.of(second) == []
        (ended,) = store.delegations.history(*(site_address(0) - 1, site_address(0) + 6))
        assert "forgotten" in ended.reason
        assert store.samples.latest(site_address(0)), "samples are kept"
    rows, _ = delegated(home)
    assert sum(int(row["probes"]) > 0 for row in rows) == 1


def test_site_that_inherited_goes_alone_and_its_subnet_is_said_to_stay(home: Path) -> None:
    rows, _ = delegated(home)
    (inherited, *_) = (row for row in rows if row["evidence"] == "inherited")
    done = invoked("--home", home, "forget", inherited["host"], "--json")
    assert [row["kind"] for row in json.loads(done.stdout)] == ["result"]
    assert f"`ipmicra forget {inherited['subnet']}`" in done.stderr
    assert len(policies_of(home)) == 1


def test_forgotten_range_and_its_samples_are_gone(home: Path) -> None:
    delegated(home)
    found = forgotten(home, "203.0.112.0/28", "--samples")
    assert [row["what"] for row in found["delegation"]] == ["203.0.112.0/29", "203.0.112.8/29"]
    assert len(found["result"]) == 2 * PER_SUBNET
    with Store.open(str(home / "state.db")) as store:
        assert store.samples.latest(site_address(0)) == {}
        assert store.samples.count() > 0, "others have theirs"
    rows, _ = delegated(home)
    assert sum(int(row["probes"]) > 0 for row in rows) == 2


def test_answers_of_a_policy_are_forgotten_and_others_stay(home: Path) -> None:
    delegated(home)
    delegated(home, "--policy", "hash")
    assert policies_of(home) == {"predict", "hash"}
    found = forgotten(home, "--policy", "hash")
    assert len(found["delegation"]) == SITES
    assert policies_of(home) == {"predict"}
    rows, _ = delegated(home)
    assert probes_of(rows) == 0
    done = invoked("--home", home, "forget", "--policy", "hash", "--json")
    assert (json.loads(done.stdout), done.exit_code) == ([], 0)
    assert "forgotten: nothing" in done.stderr


COMPANY = "organisation: ORG-A\norg-name: Alpha\nsource: RIPE\n\n"


def test_what_was_taken_over_from_a_forgotten_subnet_goes_as_well(
    tmp_path: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two subnets of a company: the second was given to the first one's crawler without a probe."""
    monkeypatch.setenv("IPMICRA_AGENT_TOKEN", internet.token)
    dump = subnet_dump(SUBNETS).replace("netname: N0\n", "netname: N0\norg: ORG-A\n")
    built_file(
        tmp_path, COMPANY + dump.replace("netname: N2\n", "netname: N2\norg: ORG-A\n"), "hierarchy.ipm"
    )
    with Store.open(str(tmp_path / "state.db")) as store:
        enrol(store, list(internet.crawlers.values()))
    (tmp_path / "seeds.txt").write_text("\n".join(seeds_of(SITES, internet.port)[::PER_SUBNET]))
    rows, _ = delegated(tmp_path, "--policy", "paper")
    by_subnet = {row["subnet"]: row for row in rows}
    other = by_subnet["203.0.112.16/29"]
    assert (other["evidence"], other["probes"]) == ("inherited", "0")
    assert other["inherited_from"] == "203.0.112.0/29"
    assert other["measured"], "when that subnet was measured"
    found = forgotten(tmp_path, "203.0.112.0/29")
    assert {row["what"]: row["reason"] for row in found["delegation"]} == {
        "203.0.112.0/29": "named",
        "203.0.112.16/29": "rests on 203.0.112.0/29",
    }
    assert len(found["result"]) == 2


def test_dry_run_counts_what_again_would_decide_anew(home: Path) -> None:
    delegated(home)

    def planned(*words: str) -> dict[str, int]:
        done = invoked("--home", home, "delegate", home / "seeds.txt", *QUICK, *words, "--dry-run", "--json")
        record: dict[str, int] = json.loads(done.stdout)
        return record

    quiet, again = planned("--recheck", "0"), planned("--again", "--recheck", "0")
    assert (quiet["subnets_held"], quiet["subnets_due"], quiet["most_probes"]) == (SUBNETS, 0, 0)
    assert (again["subnets_held"], again["subnets_due"]) == (0, SUBNETS)
    assert again["most_probes"] == SUBNETS * CRAWLERS


def test_added_crawler_gets_its_own_subnet_from_whoever_held_it(
    home: Path, internet: LoopbackInternet
) -> None:
    """`crawler add` says so, and the next list has its answer from it without a probe."""
    before, _ = delegated(home, "--policy", "paper")
    held = before[0]
    url = internet.crawlers["c1"].agent_url
    done = invoked(
        "--home", home, "crawler", "add", "beside", "203.0.112.5", "--agent-url", str(url), "--json"
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["subnet"] == held["subnet"] == "203.0.112.0/29"
    assert f"203.0.112.0/29 was {held['crawler']}'s" in done.stderr
    after, _ = delegated(home, "--policy", "paper", "--no-reconsider")
    assert [row["crawler"] for row in after[:PER_SUBNET]] == ["beside"] * PER_SUBNET
    assert probes_of(after) == 0
    text = " ".join(invoked("--home", home, "explain", held["host"]).stdout.split())
    assert "whose own subnet it lies in (beside stands at 203.0.112.5)" in text
    assert "a crawler joined that stands in this subnet" in text
