"""Log events with fields, as text for people or as JSON lines for programs, on standard error.

An event has a name that stays the same, a sentence for people and fields for programs. The core logs
nothing; edge and app do, through an `EventLog`. Other libraries are logged from warnings on, since their
lower levels write whole requests.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from collections.abc import Iterable
from typing import Any

from ipmicra.model.foreign_text import json_text

ROOT = "ipmicra"
HIDDEN = "***"
SECRET_VARIABLES = ("IPMICRA_AGENT_TOKEN", "IPMICRA_ARIN_KEY", "IPMICRA_JOIN_TOKEN", "IPMICRA_TOKEN")
"""Environment variables whose values are never written."""
_SECRET_NAME = re.compile(r"token|password|secret|authori[sz]ation|api_?key", re.IGNORECASE)
_SECRET_TEXT = (
    (re.compile(r"(?<=://)[^/\s@]+@"), f"{HIDDEN}@"),
    (re.compile(r"\b(bearer|basic)\s+\S+", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (re.compile(r"\bipm_([a-z])_[\w.-]+"), rf"ipm_\1_{HIDDEN}"),
    (re.compile(r"(?<=\S)\?[^\s'\")]*=[^\s'\")]+"), f"?{HIDDEN}"),
)


class EventLog:
    """Writes events of one part of ipmicra."""

    def __init__(self, part: str) -> None:
        """Log under the name of a part."""
        self._logger = logging.getLogger(f"{ROOT}.{part}")

    def debug(self, event: str, sentence: str, **fields: object) -> None:
        """Log a detail for debugging."""
        self._write(logging.DEBUG, event, sentence, fields)

    def info(self, event: str, sentence: str, **fields: object) -> None:
        """Log what an operator may want to know."""
        self._write(logging.INFO, event, sentence, fields)

    def warning(self, event: str, sentence: str, **fields: object) -> None:
        """Log what an operator should look into."""
        self._write(logging.WARNING, event, sentence, fields)

    def _write(self, level: int, event: str, sentence: str, fields: dict[str, object]) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, sentence.format(**fields), extra={"event": event, "fields": fields})


class Censor:
    """Removes secrets from texts and fields."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Hide known secrets, besides whatever looks like one."""
        self._secrets = tuple(secret for secret in secrets if secret)

    def text(self, text: str) -> str:
        """Hide users and passwords of URLs, queries, authorisations, and the secrets that are known.

        `http://me:pw@example.org/a?key=K` becomes `http://***@example.org/a?***`.
        """
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        for pattern, instead in _SECRET_TEXT:
            text = pattern.sub(instead, text)
        return text

    def field(self, name: str, value: object) -> object:
        """Return a field as it may be written."""
        if value is None or isinstance(value, bool | int | float):
            return value
        return HIDDEN if _SECRET_NAME.search(name) else self.text(str(value))


class LogFormatter(logging.Formatter):
    """Writes an event as a line of text or as a JSON object; never a secret."""

    def __init__(self, censor: Censor, *, is_json: bool) -> None:
        """Write events as text or as JSON."""
        super().__init__()
        self.is_json, self._censor = is_json, censor

    def format(self, record: logging.LogRecord) -> str:
        """Write one event."""
        message = self._censor.text(record.getMessage())
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{record.msecs:03.0f}Z"
        trace = self._censor.text(self.formatException(record.exc_info)) if record.exc_info else ""
        if self.is_json:
            return json_text(self._entry(record, when, message, trace))
        lines = [f"{when} {record.levelname} {message}", *trace.rstrip().splitlines()]
        return "\n".join(_one_line(line) for line in lines)

    def _entry(self, record: logging.LogRecord, when: str, message: str, trace: str) -> dict[str, Any]:
        fields: dict[str, object] = getattr(record, "fields", {})
        entry: dict[str, Any] = {
            "time": when,
            "level": record.levelname.lower(),
            "part": record.name.removeprefix(f"{ROOT}."),
            "event": getattr(record, "event", "message"),
            "message": message,
        }
        entry |= {
            name: self._censor.field(name, value) for name, value in fields.items() if name not in entry
        }
        return entry | ({"traceback": trace} if trace else {})


class _StderrHandler(logging.StreamHandler[Any]):
    """Writes to the current standard error, and ignores that its reader is gone."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)  # the stream is not kept

    @property
    def stream(self) -> Any:  # noqa: ANN401 - whatever stands for standard error
        return sys.stderr

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        if not isinstance(sys.exc_info()[1], OSError | ValueError):
            super().handleError(record)


def set_up_logging(level: str, *, is_json: bool = False) -> None:
    """Log to standard error from a level on, as `info`; the last call counts."""
    handler = _StderrHandler()
    secrets = [os.environ.get(name, "") for name in SECRET_VARIABLES]
    handler.setFormatter(LogFormatter(Censor(secrets), is_json=is_json))
    root = logging.getLogger()
    for old in [one for one in root.handlers if isinstance(one, _StderrHandler)]:
        root.removeHandler(old)
    root.addHandler(handler)
    logging.getLogger(ROOT).setLevel(level.upper())


def is_debugging() -> bool:
    """Return whether everything is logged, tracebacks included."""
    return logging.getLogger(ROOT).isEnabledFor(logging.DEBUG)


def log_traceback() -> None:
    """Log the traceback of the error that is being handled."""
    extra = {"event": "traceback", "fields": {}}
    logging.getLogger(ROOT).log(logging.DEBUG, "where it went wrong", exc_info=sys.exc_info(), extra=extra)


def log_as_json(message: str) -> bool:
    """Write a message for the user as an event, if events are JSON; return whether it was written."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, _StderrHandler) and isinstance(handler.formatter, LogFormatter):
            if not handler.formatter.is_json:
                return False
            record = logging.LogRecord(f"{ROOT}.cli", logging.INFO, "", 0, message, (), None)
            record.event = "said"
            handler.handle(record)
            return True
    return False


def _one_line(text: str) -> str:
    """Keep foreign text on one line."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
