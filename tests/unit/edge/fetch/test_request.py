"""Redirects and reasons, without a server."""

from __future__ import annotations

import pytest

from ipmicra.edge.fetch.redact import Link
from ipmicra.edge.fetch.request import redirected, root_reason
from ipmicra.errors import FetchError

HTTP, HTTPS = "http://example.org/a/dump", "https://example.org/a/dump"


@pytest.mark.parametrize(
    ("url", "location", "expected"),
    [
        (HTTPS, "/b", "https://example.org/b"),
        (HTTPS, "b?token=1", "https://example.org/a/b?token=1"),
        (HTTPS, "https://mirror.example/dump", "https://mirror.example/dump"),
        (HTTP, "https://example.org/b", "https://example.org/b"),
        (HTTP, "HTTP://example.org/b", "HTTP://example.org/b"),
    ],
)
def test_redirect_within_the_web_is_followed(url: str, location: str, expected: str) -> None:
    target = redirected(Link(url=url), url, location)
    assert target.lower() == expected.lower()


@pytest.mark.parametrize(
    ("url", "location"),
    [(HTTPS, "http://example.org/b"), (HTTP, "ftp://example.org/b"), (HTTP, "http://["), (HTTP, "")],
)
def test_other_redirects_are_refused(url: str, location: str) -> None:
    """An encrypted connection is not left for an open one, nor the web for anything else."""
    with pytest.raises(FetchError, match="which is not followed"):
        redirected(Link(url=url), url, location)


def test_reason_is_what_lies_at_the_root() -> None:
    error = RuntimeError("three layers up")
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert root_reason(error) == "Connection refused"
    assert root_reason(TimeoutError("timed out")) == "timed out"
    assert root_reason(EOFError()) == "EOFError"
