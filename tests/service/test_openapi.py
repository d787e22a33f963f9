"""The description of the API says what the API does: the same routes, and answers as described."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.config import SchemathesisConfig

from ipmicra.app.serve.api.app import RESOURCES
from ipmicra.app.serve.api.described import document
from ipmicra.app.serve.refusals import KINDS
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.service.conftest import coordinator_of, prepared

DOCUMENT: dict[str, Any] = json.loads(document())


def described() -> set[tuple[str, str]]:
    methods = {"get", "post", "put", "delete", "patch"}
    return {
        (method.upper(), path)
        for path, operations in DOCUMENT["paths"].items()
        for method in operations
        if method in methods
    }


def test_every_route_is_described_and_every_description_has_its_route() -> None:
    assert described() == {(one.method, one.path) for one in RESOURCES if one.path.startswith("/v1/")}


def test_routes_without_a_token_are_described_as_such() -> None:
    for one in RESOURCES:
        operation = DOCUMENT["paths"][one.path][one.method.lower()]
        assert (operation.get("security") == []) == (one.role is None), one.path


def test_path_parameters_are_described() -> None:
    for path, operations in DOCUMENT["paths"].items():
        wanted = set(re.findall(r"{(\w+)}", path))
        for operation in operations.values():
            found = {one["name"] for one in operation.get("parameters", []) if one.get("in") == "path"}
            assert found == wanted, path


def test_every_kind_of_problem_has_its_place_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    for kind in KINDS.values():
        assert f"### {kind.name}\n" in page


# --- schemathesis


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, internet: InternetProcess
) -> Iterator[RunningCoordinator]:
    folder = prepared(tmp_path_factory.mktemp("served"), internet)
    with coordinator_of(folder, internet, "--policy", "hash") as running:
        yield running


@pytest.fixture(scope="module")
def api(served: RunningCoordinator) -> Any:
    rejecting = [400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 422, 429, 431, 503]
    config = SchemathesisConfig.from_dict(
        {"checks": {"negative_data_rejection": {"expected-statuses": rejecting}}}
    )
    schema = schemathesis.openapi.from_dict(DOCUMENT, config=config)
    schema.config.update(base_url=served.url)
    return schema


@schemathesis.serializer("application/x-ndjson")
def lines(_context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


schema = schemathesis.pytest.from_fixture("api")


@schema.parametrize()
@settings(
    max_examples=6,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
def test_answers_are_as_described(case: Any, served: RunningCoordinator) -> None:
    """Whatever is asked, the answer is one that the description knows; never a fault of the coordinator."""
    response = case.call(headers={"Authorization": f"Bearer {served.token}"})
    case.validate_response(
        response,
        excluded_checks=[
            schemathesis.checks.ignored_auth,  # asks without a token: `test_access.py` does that
            # A schema cannot say what is a host, an address or a policy: those are refused with reasons.
            schemathesis.checks.positive_data_acceptance,
        ],
    )
