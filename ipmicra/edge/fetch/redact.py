"""Keep API keys and passwords out of errors, logs and files."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit, urlunsplit

from ipmicra.edge.log import HIDDEN
from ipmicra.errors import FetchError
from ipmicra.model.dump_source import KEY_MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ipmicra.model.dump_source import DumpSource

_CHATTY_LOGGERS = ("urllib3.connectionpool", "urllib3.util.retry")
"""Loggers that write whole request lines at level DEBUG."""


def without_secrets(url: str) -> str:
    """Leave out user, password, query and fragment of a URL.

    `https://me:pw@example.org/a.zip?apikey=K` becomes `https://example.org/a.zip`.
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A URL with what must not be shown of it."""

    url: str = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def shown(self) -> str:
        """The URL as people may see it."""
        return self.redact(without_secrets(self.url))

    def redact(self, text: str) -> str:
        """Hide the secrets, and every query, in a text that others wrote."""
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return re.sub(r"\?[^\s'\")]+", f"?{HIDDEN}", text)


def links_of(source: DumpSource) -> tuple[Link, Link | None]:
    """Return the links to a dump and to its checksum, with the API key in place."""
    try:
        password = urlsplit(source.url).password
    except ValueError as error:
        raise FetchError(source.name, f"its URL cannot be read: {error}") from error
    if KEY_MARK in source.url and not source.key:
        reason = f"needs an API key: set {source.needs_key} in the environment"
        raise FetchError(without_secrets(source.url), reason)
    key = quote(source.key or "", safe="")
    secrets = tuple({text for text in (source.key, key, password) if text})
    link = Link(url=source.url.replace(KEY_MARK, key), secrets=secrets)
    if source.checksum_url is None:
        return link, None
    return link, Link(url=source.checksum_url.replace(KEY_MARK, key), secrets=secrets)


class _Censor(logging.Filter):
    """Rewrites log records so that they hold no secret."""

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, redacted."""
        record.msg, record.args = self._link.redact(record.getMessage()), ()
        return True


@contextmanager
def hidden_from_logs(link: Link) -> Iterator[None]:
    """Keep the secrets of a link out of what the HTTP library logs meanwhile."""
    censor = _Censor(link)
    loggers = [logging.getLogger(name) for name in _CHATTY_LOGGERS] if link.secrets else []
    for logger in loggers:
        logger.addFilter(censor)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(censor)
