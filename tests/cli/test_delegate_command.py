"""`ipmicra delegate` and `ipmicra explain` as a user runs them."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest

from ipmicra.app.delegate.batch import Batch, BatchReport
from ipmicra.delegate.config import PredictConfig
from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError, MissingHierarchyError
from ipmicra.model.crawler import Crawler
from tests.cli.command_line import invoked, ran, told
from tests.cli.terminal import Terminal
from tests.delegating_worlds import enrol, hierarchy_of, nearest_of, seeds_of, site_address, split_world
from tests.patience import PATIENCE_S
from tests.servers.dns_server import DnsServer, Zone
from tests.servers.refusing import refusing_port

SITES, CRAWLERS = 8, 2
COLUMNS = ["host", "address", "subnet", "crawler", "rtt_ms", "evidence", "probes"]
QUICK = ("--first-rung", "head", "--samples", "2", "--location", "none")


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
    (tmp_path / "seeds.txt").write_text("\n".join(["# ours", *seeds_of(SITES, internet.port)]))
    return tmp_path


def test_rows_take_one_line_in_a_terminal_of_eighty_columns(home: Path) -> None:
    words = (
        "--home",
        str(home),
        "delegate",
        str(home / "seeds.txt"),
        "--policy",
        "hash",
        "--location",
        "none",
    )
    with Terminal() as terminal:
        subprocess.run(
            [sys.executable, "-m", "ipmicra", *words],
            env={**os.environ, "COLUMNS": "80", "TERM": "xterm"},
            stdout=terminal.end,
            stderr=subprocess.PIPE,
            check=True,
            timeout=PATIENCE_S,
        )
    head, *rows = terminal.shown.splitlines()
    assert head.split() == ["host", "subnet", "crawler", "rtt_ms", "evidence"]
    assert len(rows) == SITES
    assert all(len(line) <= 80 for line in (head, *rows))


def test_every_format_has_the_same_columns_and_sites(home: Path) -> None:
    words = ("--home", home, "delegate", home / "seeds.txt", *QUICK, "--policy", "everyone")
    as_json = json.loads(invoked(*words, "--json").stdout)
    lines = [json.loads(line) for line in invoked(*words, "--format", "jsonl").stdout.splitlines()]
    rows = list(csv.DictReader(io.StringIO(invoked(*words, "--format", "csv").stdout)))
    table = invoked(*words, "--format", "table").stdout.splitlines()
    hosts = {str(site_address(i)) for i in range(SITES)}
    for records in (as_json, lines, rows):
        assert {record["host"] for record in records} == hosts
        assert all(list(record) == [*COLUMNS, "inherited_from", "measured"] for record in records)
    assert table[0].split() == COLUMNS
    assert {line.split()[0] for line in table[1:]} == hosts
    assert {one["host"]: one["crawler"] for one in as_json} == {
        str(site_address(i)): nearest_of(i, CRAWLERS) for i in range(SITES)
    }
    assert sum(one["probes"] for one in as_json) == SITES * CRAWLERS
    assert sum(one["probes"] for one in lines) == 0


def test_input_without_seeds_is_a_mistake(home: Path) -> None:
    done = invoked("--home", home, "delegate", "-", *QUICK, "--json", stdin="# nothing\n")
    assert isinstance(done.exception, InputError)
    assert "there are no seeds" in str(done.exception)
    assert done.stdout == ""


def test_missing_seeds_end_with_code_3_and_their_reasons(
    home: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    zones = {"one.example": Zone(addresses=(str(site_address(0)),))}
    with DnsServer(zones) as server:
        monkeypatch.setattr("ipmicra.edge.dns.client.system_servers", lambda: (server.place,))
        words = (f"http://one.example:{internet.port}", "two.example", "ftp://three")
        done = invoked("--home", home, "delegate", *words, *QUICK, "--json")
        assert done.exit_code == 3
        assert [one["host"] for one in json.loads(done.stdout)] == ["one.example"]
        assert "two.example: there is no such host name" in done.stderr
        assert "ftp://three: no address, prefix, range, host name or file" in done.stderr
        nothing = invoked("--home", home, "delegate", "two.example", *QUICK, "--json")
        assert (nothing.exit_code, json.loads(nothing.stdout)) == (1, [])


def test_dry_run_prints_the_prices_by_pages(home: Path) -> None:
    hosts = [str(site_address(i)) for i in range(3)]
    (home / "pages.csv").write_text(
        "host,pages\n" + "".join(f"{host},{10**i}\n" for i, host in enumerate(hosts))
    )
    words = ("--home", home, "delegate", home / "seeds.txt", *QUICK, "--json", "--pages", home / "pages.csv")
    plan = json.loads(invoked(*words, "--dry-run").stdout)
    low, high = plan["lowest_price_by_pages_ms"], plan["highest_price_by_pages_ms"]
    assert low == pytest.approx(plan["price_ms"] / 4, abs=1e-4)
    assert high == pytest.approx(plan["price_ms"] * 4, abs=1e-4)
    assert invoked(*words).exit_code == 0


def test_dry_run_counts_and_sends_nothing(home: Path, internet: LoopbackInternet) -> None:
    before = dict(internet.servers.requests)
    words = ("--home", home, "delegate", home / "seeds.txt", *QUICK, "--json", "--dry-run")
    plan = json.loads(invoked(*words).stdout)
    assert plan == {
        "sites": SITES,
        "subnets": SITES // 2,
        "subnets_held": 0,
        "subnets_due": 0,
        "crawlers": CRAWLERS,
        "most_probes": SITES // 2 * CRAWLERS,
        "expected_probes": 5,
        "price_ms": plan["price_ms"],
        "aim_probes_per_site": plan["aim_probes_per_site"],
        "missing": 0,
    }
    assert plan["price_ms"] > PredictConfig().probe_price_ms  # a small fleet: fewer may be the nearest
    assert plan["aim_probes_per_site"] < 1.9
    fixed = json.loads(invoked(*words, "--probe-price-ms", "0.5").stdout)
    assert (fixed["price_ms"], fixed["aim_probes_per_site"]) == (0.5, None)
    assert json.loads(invoked(*words, "--policy", "everyone").stdout)["expected_probes"] == SITES * CRAWLERS
    assert json.loads(invoked(*words, "--policy", "hash").stdout)["most_probes"] == 0
    assert json.loads(invoked(*words, "--probe-budget", "3").stdout)["most_probes"] == 3
    assert internet.servers.requests == before
    with Store.open(str(home / "state.db")) as store:
        assert store.delegations.count() == 0


def test_budget_holds_for_the_whole_list(home: Path) -> None:
    words = ("--home", home, "delegate", home / "seeds.txt", *QUICK, "--policy", "everyone")
    done = invoked(*words, "--probe-budget", "3", "--json")
    assert done.exit_code == 0
    assert "3 of 3 probes of the budget spent" in done.stderr
    assert sum(one["probes"] for one in json.loads(done.stdout)) == 3


def test_listed_anycast_goes_to_the_least_loaded_without_a_probe(home: Path) -> None:
    prefixes = home / "anycast.txt"
    prefixes.write_text("203.0.112.0/20 # all of it\nnonsense\n")
    done = invoked("--home", home, "delegate", home / "seeds.txt", *QUICK, "--json", "--anycast", prefixes)
    found = json.loads(done.stdout)
    assert {one["evidence"] for one in found} == {"anycast"}
    assert sum(one["probes"] for one in found) == 0
    assert sorted(one["crawler"] for one in found) == ["c0"] * (SITES // 2) + ["c1"] * (SITES // 2)
    assert "line 2" in done.stderr


def test_explanation_tells_who_was_asked_and_who_was_not(home: Path) -> None:
    site = str(site_address(2))
    words = ("--home", home, "delegate", home / "seeds.txt", *QUICK, "--policy", "geo", "--nearest", "1")
    assert invoked(*words).exit_code == 0
    text = invoked("--home", home, "explain", site).stdout
    for part in (
        f"{site} belongs to c0",
        "203.0.0.0/16  WIDE, GR; not delegated",
        "203.0.112.8/29  N1, GR; not delegated",
        "1. c0: near on the map; it measured",
        "c1: farther away on the map.",
        "Evidence: probed, with one probe.",
    ):
        assert part in text
    known = json.loads(invoked("--home", home, "explain", site, "--json").stdout)
    assert (known["crawler"], known["evidence"]) == ("c0", "probed")
    assert [one["crawler"] for one in known["asked"]] == ["c0"]
    assert [one["crawler"] for one in known["not_asked"]] == ["c1"]
    assert [one["subnet"] for one in known["lineage"]] == ["203.0.0.0/16", "203.0.112.8/29"]
    assert known["samples"][0]["rtt_ms"] == known["asked"][0]["rtt_ms"]


def test_assignment_goes_by_delegations_and_explain_tells_its_load(home: Path) -> None:
    """One site of a subnet is probed; the others inherit, and are assigned without samples of their own."""
    assert invoked("--home", home, "delegate", home / "seeds.txt", *QUICK).exit_code == 0
    done = invoked("--home", home, "assign", home / "seeds.txt", "--json")
    assert done.exit_code == 0, done.output
    rows = {row["host"]: row for row in json.loads(done.stdout)}
    assert {host: row["crawler"] for host, row in rows.items()} == {
        str(site_address(i)): nearest_of(i, CRAWLERS) for i in range(SITES)
    }
    site = str(site_address(2))
    assert (
        f"is assigned to {rows[site]['crawler']} by balance: nearest"
        in invoked("--home", home, "explain", site).stdout
    )
    (load,) = json.loads(invoked("--home", home, "explain", site, "--json").stdout)["load"]
    assert (load["crawler"], load["crawler_tasks"]) == (rows[site]["crawler"], SITES // 2)


def test_report_is_written_when_asked_for_and_told_of_when_not(home: Path) -> None:
    words = ("--home", home, "delegate", home / "seeds.txt", *QUICK)
    page = home / "page.html"
    done = invoked(*words, "--report", page, "--json")
    assert done.exit_code == 0, done.output
    assert f"report: {page}" in done.stderr
    assert all(one["host"] in page.read_text() for one in json.loads(done.stdout))
    page.unlink()
    assert "`ipmicra report --last`" in invoked(*words).stderr
    told_of = invoked("--home", home, "report", "--last", "-o", page, "--json")
    assert json.loads(told_of.stdout)["sites"] == SITES
    assert json.loads(told_of.stdout)["probes"] == 0, "the second run found all delegated"
    whole = json.loads(invoked("--home", home, "report", "-o", page, "--json").stdout)
    assert (whole["sites"], whole["probes"] > 0) == (SITES, True)


def test_report_of_a_batch_that_ended_in_part_has_what_is_there(home: Path) -> None:
    page = home / "page.html"
    done = invoked("--home", home, "delegate", str(site_address(0)), "not a host", *QUICK, "--report", page)
    assert done.exit_code == 3
    assert str(site_address(0)) in page.read_text()


def test_report_is_written_after_an_interrupt_with_what_is_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Batch.run

    def interrupted(batch: Batch, words: list[str], texts: Iterable[str]) -> BatchReport:
        run(batch, words, list(texts)[:2])
        raise KeyboardInterrupt

    monkeypatch.setattr(Batch, "run", interrupted)
    page = home / "page.html"
    done = invoked("--home", home, "delegate", home / "seeds.txt", *QUICK, "--report", page)
    assert done.exit_code != 0
    assert f"report: {page}" in done.stderr
    assert str(site_address(0)) in page.read_text()
    assert str(site_address(SITES - 1)) not in page.read_text()


def test_report_that_cannot_be_written_is_told_before_anything_is_done(home: Path) -> None:
    done = invoked("--home", home, "delegate", home / "seeds.txt", *QUICK, "--report", home / "no" / "r.html")
    assert isinstance(done.exception, InputError)
    assert "name a file such as report.html" in str(done.exception)
    with Store.open(str(home / "state.db")) as store:
        assert store.batches.all() == []


def test_missing_token_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IPMICRA_AGENT_TOKEN")
    done = invoked("--home", home, "delegate", str(site_address(0)), *QUICK)
    assert done.exit_code != 0
    assert "--token-file FILE or IPMICRA_AGENT_TOKEN" in done.stderr + str(done.exception)


def test_site_without_a_crawler_is_told_what_to_do(home: Path) -> None:
    done = invoked("--home", home, "explain", str(site_address(0)))
    assert done.exit_code == 1
    assert "`ipmicra delegate 203.0.112.1` finds one" in done.stdout


def test_explanation_of_a_subnet_that_changed_hands_has_its_history(home: Path) -> None:
    words = ("--home", home, "delegate", home / "seeds.txt", *QUICK)
    assert invoked(*words).exit_code == 0
    assert invoked("--home", home, "crawler", "remove", "c0").exit_code == 0
    assert invoked(*words).exit_code == 0
    told_of = [invoked("--home", home, "explain", str(site_address(i))).stdout for i in range(0, SITES, 2)]
    assert all("belongs to c1" in text for text in told_of)
    assert any("Who had it before" in text and "its crawler left" in text for text in told_of)


@pytest.mark.parametrize(
    ("words", "error", "complaint"),
    [
        (("delegate", "192.0.2.1", "--policy", "best"), InputError, "there are predict"),
        (("delegate", "192.0.2.1", "--probe-price-ms", "0"), InputError, "above 0"),
        (("delegate", "192.0.2.1", "--location", "nowhere.csv"), InputError, "nor a file"),
        (("explain", "a b"), InputError, "host name or file"),
    ],
)
def test_mistake_is_told_with_the_next_step(
    home: Path, words: tuple[str, ...], error: type[Exception], complaint: str
) -> None:
    result = invoked("--home", home, *words)
    assert isinstance(result.exception, error)
    assert complaint in str(result.exception)


@pytest.mark.parametrize("print_format", ["json", "csv", "table"])
def test_error_before_the_first_result_leaves_the_output_empty(tmp_path: Path, print_format: str) -> None:
    done = ran("--home", tmp_path, "delegate", "10.0.0.1", "--format", print_format)
    assert (done.returncode, done.stdout) == (1, b"")


def test_missing_hierarchy_and_missing_crawlers_are_told(tmp_path: Path) -> None:
    assert isinstance(invoked("--home", tmp_path, "delegate", "192.0.2.1").exception, MissingHierarchyError)
    hierarchy_of(tmp_path, SITES)
    nobody = invoked("--home", tmp_path, "delegate", "192.0.2.1")
    assert "ipmicra crawler add" in str(nobody.exception)
    dry = invoked("--home", tmp_path, "delegate", "192.0.2.1", "--dry-run")
    assert "ipmicra crawler add" in str(dry.exception)


def test_process_of_its_own_writes_data_to_stdout_and_the_rest_to_stderr(
    home: Path, internet: LoopbackInternet
) -> None:
    done: subprocess.CompletedProcess[bytes] = ran(
        "--home", home, "delegate", home / "seeds.txt", *QUICK, IPMICRA_AGENT_TOKEN=internet.token
    )
    assert done.returncode == 0
    assert len(json.loads(done.stdout)) == SITES
    assert f"{SITES} sites; " in told(done)


def test_agents_that_are_all_silent_end_with_code_1(tmp_path: Path) -> None:
    hierarchy_of(tmp_path, SITES)
    with refusing_port() as closed:
        with Store.open(str(tmp_path / "state.db")) as store:
            url = f"http://127.0.0.1:{closed}"
            enrol(store, [Crawler(name="a", address=ip_address("198.51.99.1"), agent_url=url)])
        done = ran("--home", tmp_path, "delegate", "192.0.2.1", IPMICRA_AGENT_TOKEN="x" * 20)
    assert done.returncode == 1
    assert "no agent answers" in told(done)
