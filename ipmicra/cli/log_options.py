"""What `--log-level` and `--log-format` take."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class LogLevel(StrEnum):
    """From the most to the least that is told."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """How it is told."""

    TEXT = "text"
    JSON = "json"


LogLevelOption = Annotated[
    LogLevel | None,
    typer.Option(
        "--log-level",
        envvar="IPMICRA_LOG_LEVEL",
        case_sensitive=False,
        help="Log from this level on [default: warning; agent: info].",
    ),
]
LogFormatOption = Annotated[
    LogFormat,
    typer.Option(
        "--log-format",
        envvar="IPMICRA_LOG_FORMAT",
        case_sensitive=False,
        help="Log lines for people, or JSON lines.",
    ),
]


def start_logging(level: LogLevel | None, log_format: LogFormat, command: str | None) -> None:
    """Log to standard error; an agent has no other way to tell what it does."""
    from ipmicra.edge.log import set_up_logging

    usual = LogLevel.INFO if command == "agent" else LogLevel.WARNING
    set_up_logging((level or usual).value, is_json=log_format is LogFormat.JSON)
