"""The command line: one command a file, all of them registered here."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.models import CommandInfo

from ipmicra.app.home import find_home
from ipmicra.cli import (
    agent,
    assign,
    build,
    crawler,
    delegate,
    demo,
    diff,
    evaluate,
    explain,
    fetch,
    info,
    locate,
    lookup,
    org,
    partition,
    probe,
    report,
    simulate,
)
from ipmicra.cli.examples import FIRST_STEPS, examples_of
from ipmicra.cli.log_options import LogFormat, LogFormatOption, LogLevelOption, start_logging
from ipmicra.cli.output import say
from ipmicra.cli.page import PageCommand, PageGroup, ReaderGoneError
from ipmicra.cli.service_extra import told_missing
from ipmicra.errors import InputError, IpmicraError

FAILED, WRONG_USAGE = 1, 2


class _Page(PageGroup):
    """The commands as they are listed below."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - typer keeps its contexts private
        return [_name(one) for listed in SECTIONS.values() for one in listed]


app = typer.Typer(
    name="ipmicra",
    cls=_Page,
    help="Find the crawler that is nearest on the network, for each site of a list.\n\n"
    "The hierarchy of addresses comes from the registries' dumps; a few probes tell which crawler is near.",
    epilog=FIRST_STEPS,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SECTIONS: dict[str, tuple[Callable[..., None] | typer.Typer, ...]] = {
    "Start here": (demo.demo,),
    "The hierarchy": (
        fetch.fetch,
        build.build,
        info.info,
        lookup.lookup,
        org.org,
        diff.diff,
        locate.locate,
    ),
    "The fleet": (crawler.crawler, agent.agent, probe.probe),
    "Delegating": (delegate.delegate, explain.explain, assign.assign, report.report),
    "Whole lists and worlds": (evaluate.evaluate, partition.partition, simulate.simulate),
}
"""Commands, and groups that have commands of their own, in the order in which a newcomer meets them."""
GROUPS = tuple(one for listed in SECTIONS.values() for one in listed if isinstance(one, typer.Typer))


def _register(heading: str, listed: Callable[..., None] | typer.Typer) -> None:
    """Put a command or a group under its heading, each with its examples."""
    if not isinstance(listed, typer.Typer):
        epilog = examples_of(listed.__name__)
        app.command(cls=PageCommand, rich_help_panel=heading, epilog=epilog)(listed)
        return
    for inner in listed.registered_commands:
        inner.cls, inner.epilog = PageCommand, examples_of(f"{listed.info.name} {_name_of(inner)}")
    app.add_typer(listed, rich_help_panel=heading)


def _name(listed: Callable[..., None] | typer.Typer) -> str:
    return str(listed.info.name) if isinstance(listed, typer.Typer) else listed.__name__


def _name_of(inner: CommandInfo) -> str:
    return inner.name or (inner.callback.__name__ if inner.callback else "")


for _heading, _listed in SECTIONS.items():
    for _one in _listed:
        _register(_heading, _one)


def command_names() -> list[str]:
    """List the commands in the order of the help; those of a group as `group command`."""
    names: list[str] = []
    for one in (one for listed in SECTIONS.values() for one in listed):
        names.append(_name(one))
        if isinstance(one, typer.Typer):
            names += [f"{_name(one)} {_name_of(inner)}" for inner in one.registered_commands]
    return names


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        typer.echo(f"ipmicra {version('ipmicra')}")
        raise typer.Exit


@app.callback()
def common(
    context: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option(
            "--home", metavar="DIR", envvar="IPMICRA_HOME", help="Folder with hierarchy.ipm and state.db."
        ),
    ] = None,
    log_level: LogLevelOption = None,
    log_format: LogFormatOption = LogFormat.TEXT,
    show_version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Keep what all commands share."""
    start_logging(log_level, log_format, context.invoked_subcommand)
    context.obj = find_home(home)


def run() -> None:
    """Run the command line; what goes wrong ends in one line that says what to do, and an exit code."""
    try:
        _run_to_the_end()
    except IpmicraError as error:
        _fail(str(error) + "".join(f" ({note})" for note in getattr(error, "__notes__", [])))
        is_usage = isinstance(error, InputError) and not hasattr(error, "byte")
        sys.exit(WRONG_USAGE if is_usage else FAILED)
    except (ReaderGoneError, BrokenPipeError):
        # The reader of our output went away, as `head` does: no reason to complain.
        _give_up_output()
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        _give_up_output()
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error))
        sys.exit(FAILED)
    except MemoryError:
        _fail("there is not enough memory for this")
        sys.exit(FAILED)
    except Exception as error:  # noqa: BLE001 - a fault of ours must not look like one of the user's
        missing = told_missing(error) if isinstance(error, ModuleNotFoundError) else None
        if missing:
            _fail(missing)
            sys.exit(WRONG_USAGE)
        _fail(
            f"a fault of ipmicra, not of yours: {type(error).__name__}: {error}\n"
            "run the same with `ipmicra --log-level debug …` to see where, and report it, please"
        )
        sys.exit(FAILED)


def _run_to_the_end() -> None:
    """Run, and see that what was printed has arrived: a full disk must not pass for success."""
    try:
        app(prog_name="ipmicra")
    except SystemExit:
        sys.stdout.flush()
        raise


def _give_up_output() -> None:
    """Keep the interpreter from complaining once more about output that cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> None:
    """Say what went wrong; who debugs sees where."""
    from ipmicra.edge.log import is_debugging, log_traceback

    if is_debugging():
        log_traceback()
    for line in f"ipmicra: {message}".splitlines():
        say(line)


if __name__ == "__main__":
    run()
