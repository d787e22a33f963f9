"""Options that several commands share, and how their values are combined."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ipmicra.app.home import Home


class Format(StrEnum):
    """Values of `--format`."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


class LogLevel(StrEnum):
    """Values of `--log-level`, most detailed first."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """Values of `--log-format`."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[
    Format | None,
    typer.Option("--format", "-f", help="Output format; default: table on a terminal, JSON in a pipe."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
TARGETS_HELP = "Host names, URLs, addresses, files of them, or - for standard input."
"""Help of arguments that name sites."""


def file_option(name: str, help_text: str) -> Any:  # noqa: ANN401 - as of typer.Option
    """Declare an option that names an existing file."""
    return typer.Option(name, metavar="FILE", exists=True, dir_okay=False, help=help_text)


HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home", metavar="DIR", envvar="IPMICRA_HOME", help="Folder with hierarchy.ipm and state.db."
    ),
]
HierarchyOption = Annotated[
    Path | None,
    typer.Option(
        "--hierarchy", metavar="FILE", help="Hierarchy to use; default: hierarchy.ipm in the home folder."
    ),
]
RulesOption = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        metavar="FILE",
        help="Who may own which sites; default: rules.txt in the home folder, if it exists.",
        show_default=False,
    ),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Store to use: sqlite:///FILE or postgresql://USER@HOST/DATABASE; "
        "default: IPMICRA_STORE, else state.db in the home folder.",
    ),
]
LogLevelOption = Annotated[
    LogLevel | None,
    typer.Option(
        "--log-level",
        envvar="IPMICRA_LOG_LEVEL",
        case_sensitive=False,
        help="Lowest level to log [default: warning; agent, serve: info].",
    ),
]
LogFormatOption = Annotated[
    LogFormat,
    typer.Option(
        "--log-format",
        envvar="IPMICRA_LOG_FORMAT",
        case_sensitive=False,
        help="Log as text or as JSON lines.",
    ),
]

# How `probe` and `delegate` reach the agents, and what each probe measures.
TokenOption = Annotated[
    Path | None,
    typer.Option("--token-file", metavar="FILE", help="Token of the agents; default: IPMICRA_AGENT_TOKEN."),
]
AuthorityOption = Annotated[
    Path | None, typer.Option("--ca", metavar="FILE", help="CA that signed the agents' certificates.")
]
CertificateOption = Annotated[
    Path | None, typer.Option("--client-cert", metavar="FILE", help="Our own certificate, for mutual TLS.")
]
KeyOption = Annotated[
    Path | None, typer.Option("--client-key", metavar="FILE", help="Private key of --client-cert.")
]
SamplesOption = Annotated[
    int, typer.Option("--samples", min=1, max=10, help="Round trips measured by each probe.")
]
TimeoutOption = Annotated[
    float, typer.Option("--timeout-ms", min=1, max=10000, help="Longest wait for one round trip.")
]

# Where `locate` and `delegate` find known places.
TableOption = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE", help="Known places: CSV of target, latitude, longitude, radius_km, city, country."
    ),
]
GeofeedOption = Annotated[
    list[Path] | None, typer.Option(metavar="FILE", help="Known places: a geofeed (RFC 8805).")
]


def chosen(output_format: Format | None, as_json: bool) -> Format:
    """Combine `--format` and `--json` with what standard output is."""
    if as_json and output_format not in {None, Format.JSON}:
        raise typer.BadParameter(f"--json and --format {output_format} exclude each other")
    if as_json:
        return Format.JSON
    return output_format or (Format.TABLE if sys.stdout.isatty() else Format.JSON)


def home_of(
    context: typer.Context,
    *,
    store: str | None = None,
    hierarchy: Path | None = None,
    rules: Path | None = None,
) -> Home:
    """Return the home folder of the command line, with the files that were named instead of its own."""
    home: Home = context.obj
    return home.using(store=store, hierarchy=hierarchy, rules=rules)
