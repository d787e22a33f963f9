"""The command line: one command a file, all of them registered here."""

from __future__ import annotations

import os
import signal
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from ipmicra.app.home import find_home
from ipmicra.cli import (
    agent,
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
    probe,
)
from ipmicra.cli.output import say
from ipmicra.errors import InputError, IpmicraError

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="ipmicra",
    help="Find the crawler that is nearest on the network: address hierarchy, probes, delegation.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS = (
    demo.demo,
    fetch.fetch,
    build.build,
    info.info,
    lookup.lookup,
    org.org,
    diff.diff,
    probe.probe,
    agent.agent,
    delegate.delegate,
    explain.explain,
    evaluate.evaluate,
    locate.locate,
)
"""In the order in which a newcomer meets them."""
for command in COMMANDS:
    app.command()(command)
GROUPS = (crawler.crawler,)
"""Commands that have commands of their own."""
for group in GROUPS:
    app.add_typer(group)


def command_names() -> list[str]:
    """List the commands in the order of the help; those of a group as `group command`."""
    names = [command.__name__ for command in COMMANDS]
    for group in GROUPS:
        inner = [one.name or one.callback.__name__ for one in group.registered_commands if one.callback]
        names += [str(group.info.name), *(f"{group.info.name} {name}" for name in inner)]
    return names


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"ipmicra {version('ipmicra')}")
        raise typer.Exit


@app.callback()
def common(
    context: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option(
            "--home", metavar="DIR", envvar="IPMICRA_HOME", help="Folder with hierarchy.ipm and the state."
        ),
    ] = None,
    show_version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Keep what all commands share."""
    context.obj = find_home(home)


def run() -> None:
    """Run the command line; what goes wrong ends in one line that says what to do, and an exit code."""
    try:
        app()
    except IpmicraError as error:
        say(f"ipmicra: {error}" + "".join(f" ({note})" for note in getattr(error, "__notes__", [])))
        sys.exit(WRONG_USAGE if isinstance(error, InputError) and not hasattr(error, "byte") else FAILED)
    except KeyboardInterrupt:
        say("ipmicra: interrupted; nothing was left half-written")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away, as `head` does: no reason to complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        say(f"ipmicra: {error.filename or ''}: {error.strerror or error}")
        sys.exit(FAILED)


if __name__ == "__main__":
    run()
