"""Keys and passwords stay hidden."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.fetch.redact import Link, hidden_from_logs, links_of, without_secrets
from ipmicra.errors import FetchError
from ipmicra.model.dump_source import DumpKind, DumpSource
from ipmicra.model.registry import Registry

KEYED = DumpSource(
    name="arin_db.zip",
    registry=Registry.ARIN,
    kind=DumpKind.WHOIS,
    url="https://example.org/bulk.zip?apikey={key}",
    checksum_url="https://example.org/bulk.zip.md5?apikey={key}",
    needs_key="IPMICRA_ARIN_KEY",
)


def test_shown_url_has_neither_user_nor_query() -> None:
    assert (
        without_secrets("https://me:pw@example.org:8443/a/b.zip?apikey=K#f")
        == "https://example.org:8443/a/b.zip"
    )


def test_key_goes_into_the_urls_escaped() -> None:
    link, checksum_link = links_of(KEYED.with_key("a/b&c"))
    assert link.url == "https://example.org/bulk.zip?apikey=a%2Fb%26c"
    assert checksum_link is not None
    assert checksum_link.url.endswith("?apikey=a%2Fb%26c")


@pytest.mark.parametrize("source", [KEYED, KEYED.with_key("")])
def test_missing_key_is_asked_for_by_the_name_of_its_variable(source: DumpSource) -> None:
    with pytest.raises(FetchError, match="set IPMICRA_ARIN_KEY") as caught:
        links_of(source)
    assert caught.value.url == "https://example.org/bulk.zip"


@given(
    key=st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=8),
    before=st.text(),
    after=st.text(),
)
def test_no_text_gives_the_key_away_once_redacted(key: str, before: str, after: str) -> None:
    link, _ = links_of(KEYED.with_key(key))
    for secret in (key, link.url):
        assert key not in link.redact(before + secret + after).replace("***", "")


def test_neither_links_nor_sources_show_the_key_when_printed() -> None:
    source = KEYED.with_key("API-1111-2222")
    assert "API-1111" not in repr(source) + repr(links_of(source))


def test_password_of_a_mirror_is_a_secret_too() -> None:
    link, _ = links_of(KEYED.at_mirror("https://me:pass-word@mirror.example/dumps"))
    assert link.redact("cannot log in with pass-word") == "cannot log in with ***"


def test_http_library_logs_no_key_meanwhile(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("urllib3.connectionpool")
    with caplog.at_level(logging.DEBUG), hidden_from_logs(Link(url="x", secrets=("API-1111",))):
        logger.debug("%s GET %s", "https://example.org", "/bulk.zip?apikey=API-1111")
    assert "API-1111" not in caplog.text
    assert "bulk.zip" in caplog.text
    assert logger.filters == []
