"""Somebody who looks at the page of a running coordinator."""

from __future__ import annotations

import requests

from tests.page_reader import Page
from tests.patience import PATIENCE_S
from tests.servers.coordinator import RunningCoordinator


def signed_in(coordinator: RunningCoordinator, token: str | None = None) -> requests.Session:
    session = requests.Session()
    answer = session.post(
        f"{coordinator.url}/signin",
        data={"token": token or coordinator.token, "next": "/"},
        allow_redirects=False,
        verify=coordinator.trusted,
        timeout=PATIENCE_S,
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/"), answer.text
    return session


def page_of(session: requests.Session, coordinator: RunningCoordinator, path: str) -> Page:
    answer = session.get(f"{coordinator.url}{path}", timeout=PATIENCE_S, verify=coordinator.trusted)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)
