"""The page over HTTP: who may look, what a browser may do with it, and what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from ipmicra.app.serve.pages.sessions import COOKIE
from tests.delegating_worlds import seeds_of
from tests.page_reader import Page
from tests.patience import PATIENCE_S, wait_until
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.servers.page_session import page_of, signed_in
from tests.service.conftest import CRAWLERS, SITES, coordinator_of, prepared


@pytest.fixture(scope="module")
def coordinator(
    tmp_path_factory: pytest.TempPathFactory, internet: InternetProcess
) -> Iterator[RunningCoordinator]:
    home = prepared(tmp_path_factory.mktemp("home"), internet)
    with coordinator_of(home, internet, "--policy", "everyone") as running:
        running.owners(seeds_of(SITES, internet.port))
        yield running


@pytest.mark.parametrize("path", ["/", "/site?q=a", "/browse?row=1"])
def test_without_a_session_every_page_leads_to_signing_in(coordinator: RunningCoordinator, path: str) -> None:
    answer = requests.get(f"{coordinator.url}{path}", allow_redirects=False, timeout=PATIENCE_S)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/signin?next=%2F")
    assert requests.get(f"{coordinator.url}/stream", timeout=PATIENCE_S).status_code == 401


def test_cookie_is_kept_from_scripts_and_other_sites(coordinator: RunningCoordinator) -> None:
    answer = requests.post(
        f"{coordinator.url}/signin",
        data={"token": coordinator.token},
        allow_redirects=False,
        timeout=PATIENCE_S,
    )
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"{COOKIE}=")
    assert {"httponly", "samesite=strict", "path=/", "max-age=43200"} <= {
        part.strip() for part in cookie.split(";")
    }
    assert coordinator.token.lower() not in cookie


def test_tokens_that_may_not_look_are_refused(coordinator: RunningCoordinator) -> None:
    for token in ("", "wrong", "ipm_o_" + "A" * 43, coordinator.token[:-1]):
        answer = requests.post(f"{coordinator.url}/signin", data={"token": token}, timeout=PATIENCE_S)
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}]
)
def test_forms_of_other_sites_are_refused(coordinator: RunningCoordinator, headers: dict[str, str]) -> None:
    form = {"token": coordinator.token}
    answer = requests.post(f"{coordinator.url}/signin", data=form, headers=headers, timeout=PATIENCE_S)
    assert answer.status_code == 403
    session = signed_in(coordinator)
    answer = session.post(f"{coordinator.url}/signout", headers=headers, timeout=PATIENCE_S)
    assert answer.status_code == 403
    assert COOKIE in session.cookies


def test_signing_out_needs_the_key_of_the_session(coordinator: RunningCoordinator) -> None:
    session = signed_in(coordinator)
    url = f"{coordinator.url}/signout"
    assert session.post(url, data={"key": "0" * 64}, timeout=PATIENCE_S).status_code == 403
    key = page_of(session, coordinator, "/").one("input", type="hidden").attributes["value"]
    answer = session.post(url, data={"key": key}, allow_redirects=False, timeout=PATIENCE_S)
    assert answer.status_code == 303
    assert COOKIE not in session.cookies


def test_session_leads_back_to_pages_of_our_own_only(coordinator: RunningCoordinator) -> None:
    for given, wanted in (
        ("/browse?row=3", "/browse?row=3"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil.example", "/"),
    ):
        answer = requests.post(
            f"{coordinator.url}/signin",
            data={"token": coordinator.token, "next": given},
            allow_redirects=False,
            timeout=PATIENCE_S,
        )
        assert answer.headers["location"] == wanted


def test_changed_cookies_open_nothing(coordinator: RunningCoordinator) -> None:
    good = signed_in(coordinator).cookies[COOKIE]
    for cookie in ("", "x", good[:-4] + "AAAA", good[:10], "A" * len(good), good * 3, "é"):
        answer = requests.get(
            f"{coordinator.url}/",
            headers={"Cookie": f"{COOKIE}={cookie}".encode()},
            allow_redirects=False,
            timeout=PATIENCE_S,
        )
        assert answer.status_code == 303, cookie


def test_session_ends_when_its_token_is_revoked(coordinator: RunningCoordinator) -> None:
    def command(*words: str) -> str:
        line = [sys.executable, "-m", "ipmicra", "--home", str(coordinator.home), "token", *words]
        return subprocess.run(line, capture_output=True, check=True, text=True).stdout

    token = re.findall(r"ipm_c_[\w-]+", command("add", "reader", "--role", "crawler"))[0]
    session = signed_in(coordinator, token)
    assert "reader" in page_of(session, coordinator, "/").one("form", class_="who").text
    command("revoke", "reader")
    wait_until(
        lambda: session.get(f"{coordinator.url}/", timeout=PATIENCE_S).url.endswith("%2F"),
        "the session is over",
    )


def test_large_forms_are_refused(coordinator: RunningCoordinator) -> None:
    answer = requests.post(f"{coordinator.url}/signin", data={"token": "x" * 100_000}, timeout=PATIENCE_S)
    assert answer.status_code == 413


def test_policy_allows_nothing_inline_and_nobody_else(coordinator: RunningCoordinator) -> None:
    session = signed_in(coordinator)
    for path in ("/", "/signin", "/browse", "/site?q=nosuch.invalid", "/static/page.css"):
        headers = session.get(f"{coordinator.url}{path}", timeout=PATIENCE_S).headers
        policy = dict(rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert headers["x-content-type-options"] == "nosniff"
        assert "unsafe" not in headers["content-security-policy"]
    page = page_of(session, coordinator, "/")
    assert all("src" in tag.attributes for tag in page.all("script"))
    assert not page.all("style")
    assert [tag for tag in page.tags if "style" in tag.attributes] == []


def test_overview_lists_crawlers_with_state_and_load(coordinator: RunningCoordinator) -> None:
    page = page_of(signed_in(coordinator), coordinator, "/")
    rows = [tag.text for tag in page.all("tr") if "table" in tag.above and "tbody" in tag.above]
    crawlers = [row for row in rows if row.startswith("c") and "joined" in row]
    assert len(crawlers) == CRAWLERS
    assert [plot.attributes["id"] for plot in page.all("svg")] == ["plot-rtt", "plot-load", "plot-hilbert"]
    assert any("coordinator_listens" in row for row in rows)


def test_overview_shows_how_far_batches_are(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    seeds = [*seeds_of(4, internet.port), "no host!"]
    made = coordinator.ask("POST", "/v1/batches?words=my+list", data="\n".join(seeds).encode()).json()
    wait_until(
        lambda: coordinator.get(f"/v1/batches/{made['id']}").json()["state"] == "done", "the batch is done"
    )
    page = page_of(signed_in(coordinator), coordinator, "/")
    table = page.one("table", id="table-batches")
    assert f"{made['id']}done 100 %41" in table.text
    assert "my list" in table.text
    assert page.one("progress").attributes == {"max": "1", "value": "1"}


def test_search_explains_a_site_and_leads_into_the_hierarchy(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    host = re.sub(r"^\w+://|[:/]\d*.*$", "", seeds_of(1, internet.port)[0])
    session = signed_in(coordinator)
    page = page_of(session, coordinator, f"/site?q={host}")
    assert f"{host} belongs to c" in page.all("section")[0].text
    assert {"Where it is", "Who was asked", "Why it ended there"} <= {tag.text for tag in page.all("h2")}
    narrowest = page.all("a")[-1]
    below = page_of(session, coordinator, narrowest.attributes["href"])
    assert below.one("h1").text == narrowest.text


def test_search_for_nonsense_says_what_to_do(coordinator: RunningCoordinator) -> None:
    session = signed_in(coordinator)
    for text in ("no host!", "<script>alert(1)</script>", "x" * 2_000):
        answer = session.get(f"{coordinator.url}/site", params={"q": text}, timeout=PATIENCE_S)
        assert answer.status_code == 404
        alert = Page(answer.text).one("p", role="alert")
        assert alert.text
        assert "<script>alert" not in answer.text


def test_hierarchy_is_browsed_from_registry_to_subnet(coordinator: RunningCoordinator) -> None:
    session = signed_in(coordinator)
    path, seen = "/browse", []
    while True:
        page = page_of(session, coordinator, path)
        seen.append(page.one("h1").text)
        links = [tag for tag in page.all("a") if tag.above[-1] == "td"]
        if not links:
            break
        path = links[0].attributes["href"]
    assert seen[:2] == ["Hierarchy", "ripe"]
    assert len(seen) == 4
    for strange in ("?row=99999999", "?registry=nosuch", "?row=1&start=99999999999"):
        answer = session.get(f"{coordinator.url}/browse{strange}", timeout=PATIENCE_S)
        assert answer.status_code in {200, 404}
    old = page_of(session, coordinator, "/browse?row=2&edition=000000000000")
    assert "new edition" in old.text_of("p")


def test_changes_are_sent_as_they_happen(coordinator: RunningCoordinator) -> None:
    session = signed_in(coordinator)
    with session.get(f"{coordinator.url}/stream", stream=True, timeout=PATIENCE_S) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines(decode_unicode=True)
        first = next(line for line in lines if line.startswith("data: "))
        assert "live-summary" in first
        second = next(line for line in lines if line.startswith("data: "))
        assert second != first


def test_streams_end_when_the_coordinator_stops(tmp_path: Path, internet: InternetProcess) -> None:
    with coordinator_of(prepared(tmp_path, internet), internet) as running:
        session = signed_in(running)
        with session.get(f"{running.url}/stream", stream=True, timeout=PATIENCE_S) as answer:
            lines = answer.iter_lines()
            next(lines)
            running.stop()
            assert not running.is_running
            assert list(lines) is not None
