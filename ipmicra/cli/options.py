"""Options that several commands share, and how their values are combined."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.app.home import Home

if TYPE_CHECKING:
    from ipmicra.app.connect.commands import Connection


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
CoordinatorOption = Annotated[
    str | None,
    typer.Option(
        "--coordinator",
        metavar="URL",
        envvar="IPMICRA_COORDINATOR",
        help="Ask a running coordinator; default: the one that holds the home folder, if one does.",
        show_default=False,
    ),
]
CoordinatorTokenOption = Annotated[
    Path | None,
    typer.Option(
        "--coordinator-token",
        metavar="FILE",
        help="Token for it; default: IPMICRA_COORDINATOR_TOKEN, then operator.token in the home folder.",
        show_default=False,
    ),
]
CoordinatorAuthorityOption = Annotated[
    Path | None,
    typer.Option("--coordinator-ca", metavar="FILE", help="CA that signed its certificate."),
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
        help="Lowest level to log [default: warning; agent, frontier, serve: info].",
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


def connection_of(
    context: typer.Context, home: Home, takes: Sequence[str], *, is_asked: bool = True
) -> Connection | None:
    """Return the coordinator that is to answer instead of the home; None if there is none.

    Options beyond those that it `takes` are refused, because they are settled where it runs. `is_asked` is
    false for commands that need no coordinator unless one is named.
    """
    if home.coordinator is None and not is_asked:
        return None
    from ipmicra.app.connect.commands import find_connection

    found = find_connection(home)
    if found is None:
        return None
    allowed = {*takes, "output_format", "as_json"}
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in allowed:
            option = "--" + name.removesuffix("_file").replace("_", "-")
            raise typer.BadParameter(
                f"{found.who} answers this by its own options: leave this one out", param_hint=option
            )
    return found


def refuse_connection(context: typer.Context, home: Home, reason: str) -> None:
    """Refuse a command that no coordinator can answer, if one is named or holds the home."""
    from ipmicra.app.connect.commands import find_connection

    found = find_connection(home)
    if found is not None:
        raise typer.BadParameter(f"{found.who} cannot do this: {reason}", ctx=context)
