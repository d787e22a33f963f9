"""Metrics of a real coordinator with real agents, as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from ipmicra.app.serve.metrics import OTHERS, Histogram
from tests.delegating_worlds import seeds_of
from tests.patience import PATIENCE_S
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.service.conftest import CRAWLERS, SITES, coordinator_of, prepared

Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(scope="module")
def coordinator(
    tmp_path_factory: pytest.TempPathFactory, internet: InternetProcess
) -> Iterator[RunningCoordinator]:
    home = prepared(tmp_path_factory.mktemp("home"), internet)
    with coordinator_of(home, internet, "--policy", "everyone") as running:
        yield running


def scraped(coordinator: RunningCoordinator) -> Series:
    answer = coordinator.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def total(series: Series, name: str, **labels: str) -> float:
    wanted = set(labels.items())
    return sum(value for (one, given), value in series.items() if one == name and wanted <= set(given))


def test_samples_decisions_and_loads_are_counted_by_crawler(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    before = scraped(coordinator)
    coordinator.owners(seeds_of(SITES, internet.port))
    after = scraped(coordinator)
    for crawler in ("c0", "c1", "c2"):
        answered = {"crawler": crawler, "outcome": "answered"}
        assert total(after, "ipmicra_crawler_samples_total", **answered) == SITES
        assert total(after, "ipmicra_crawler_round_trip_seconds_count", crawler=crawler) == SITES
        assert total(after, "ipmicra_crawler_up", crawler=crawler) == 1
    assert total(after, "ipmicra_crawler_sites") == SITES
    assert total(after, "ipmicra_decisions_total", evidence="probed") == SITES
    assert total(before, "ipmicra_decisions_total") == 0
    assert total(after, "ipmicra_store_commit_seconds_count") > 0
    assert total(after, "ipmicra_crawlers", state="joined") == CRAWLERS
    assert total(after, "ipmicra_ready") == 1
    assert total(after, "process_resident_memory_bytes") > 1e7


def test_requests_are_counted_by_route_and_unknown_paths_share_a_label(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    host = seeds_of(1, internet.port)[0]
    before = scraped(coordinator)
    for _ in range(3):
        coordinator.owner(host)
    for i in range(20):
        assert coordinator.get(f"/nosuch/{i}").status_code == 404
    coordinator.get("/v1/crawlers")
    after = scraped(coordinator)

    def grew(**labels: str) -> float:
        name = "ipmicra_requests_total"
        return total(after, name, **labels) - total(before, name, **labels)

    assert grew(route="/v1/owner", status="200") == 3
    assert grew(route=OTHERS, status="404") == 20
    assert grew(route="/v1/crawlers", status="200") == 1
    routes = {dict(labels).get("route") for name, labels in after if name == "ipmicra_requests_total"}
    assert not any(route and "nosuch" in route for route in routes)
    assert total(after, "ipmicra_request_seconds_count", route="/v1/owner") >= 3


def test_metrics_need_a_token(coordinator: RunningCoordinator) -> None:
    answer = requests.get(f"{coordinator.url}/metrics", timeout=PATIENCE_S)
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"


def test_buckets_hold_what_is_at_most_their_end() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 9.0):
        histogram.add(value)
    assert histogram.buckets() == [("1.0", 2.0), ("2.0", 4.0), ("+Inf", 5.0)]
    assert histogram.total == 14.0
