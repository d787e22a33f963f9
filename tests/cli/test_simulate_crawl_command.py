"""`ipmicra simulate crawl`: small crawls end to end; figures depend on the machine, laws do not."""

from __future__ import annotations

import json

import pytest

from tests.cli.command_line import ran, told


@pytest.mark.slow
def test_six_schemes_are_crawled_and_shown_beside_their_simulation() -> None:
    done = ran("simulate", "crawl", "--sites", "4", "--pages", "3", "--json")
    assert done.returncode == 0, told(done)
    rows = {row["scheme"]: row for row in json.loads(done.stdout)}
    assert list(rows) == ["random", "city", "isp-city", "rtt-worst", "rtt-best", "nc-can"]
    for row in rows.values():
        assert 0 < row["measured_mbps"] < 1.1 * row["simulated_mbps"], "no crawl beats its round trips"
        assert row["difference"] == pytest.approx(row["measured_mbps"] / row["simulated_mbps"] - 1, abs=1e-3)
    assert rows["rtt-best"]["simulated_mbps"] >= rows["rtt-worst"]["simulated_mbps"]


@pytest.mark.slow
def test_fleet_is_crawled_whole_by_each_way_of_assigning() -> None:
    done = ran("simulate", "crawl", "--experiment", "fleet", "--sites", "10", "--pages", "2", "--json")
    assert done.returncode == 0, told(done)
    rows = json.loads(done.stdout)
    assert [row["policy"] for row in rows] == ["balance", "nearest", "site hash"]
    for row in rows:
        assert row["pages"] == rows[0]["pages"] >= 18
        assert row["duplicates"] == row["robots_violations"] == row["foreign_requests"] == 0
        assert row["pages_per_s"] < 1.1 * row["model_pages_per_s"]


@pytest.mark.slow
def test_more_nodes_fetch_the_same_pages() -> None:
    done = ran("simulate", "crawl", "--experiment", "speed-up", "--sites", "8", "--pages", "2", "--json")
    assert done.returncode == 0, told(done)
    rows = json.loads(done.stdout)
    assert [row["policy"] for row in rows] == ["1 nodes", "2 nodes", "4 nodes", "8 nodes"]
    assert {row["pages"] for row in rows} == {16}


@pytest.mark.slow
def test_two_nodes_exchange_links_through_a_coordinator() -> None:
    done = ran("simulate", "crawl", "--experiment", "two-nodes", "--pages", "4", "--json")
    assert done.returncode == 0, told(done)
    rows = json.loads(done.stdout)
    assert [row["node"] for row in rows] == ["c0", "c1"]
    assert sum(row["pages"] for row in rows) == 48, "together they find what one would find"
    assert {row["fetched_twice"] for row in rows} == {0}
    assert all(row["links_sent"] > 0 for row in rows)
    assert [round(row["published_sent_per_page"], 1) for row in rows] == [5.2, 5.7]
