"""What all tests of commands share."""

from __future__ import annotations

import pytest

from tests.cli.command_line import built_file


@pytest.fixture(scope="session", autouse=True)
def kernels(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compile kernels before anybody looks at what a command tells: whoever is first would be told of it."""
    built_file(tmp_path_factory.mktemp("kernels"))
