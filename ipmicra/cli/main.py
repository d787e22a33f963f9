"""The command line: one file per command, all of them listed here.

A command reads its arguments, calls `app` and prints. What can go wrong anywhere is handled here, once: `run`
turns errors into one line and an exit code, and an interrupt into one line that says what is left.

Only the command that is called is imported (`CommandTable`): describing the options of all of them to typer
takes longer than some commands run.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
from collections.abc import Iterator, MutableMapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandInfo

from ipmicra.app.home import find_home
from ipmicra.app.log import is_debugging, log_traceback, set_up_logging
from ipmicra.app.memory_limit import prepare_for_limits
from ipmicra.cli.examples import FIRST_STEPS, examples_of
from ipmicra.cli.extras import missing_extra
from ipmicra.cli.options import (
    CoordinatorAuthorityOption,
    CoordinatorOption,
    CoordinatorTokenOption,
    HomeOption,
    LogFormat,
    LogFormatOption,
    LogLevel,
    LogLevelOption,
)
from ipmicra.cli.out_of_memory import NO_MEMORY, lacks_memory
from ipmicra.cli.output import say
from ipmicra.errors import InputError, IpmicraError

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130
"""Exit codes; 0 is done, 3 done in part."""

HALF_DONE = {
    "crawl": "what was fetched is kept; the same command resumes where this one stopped",
    "build": "the hierarchy that was there stays; run the same command again",
    "delegate": "what was found is kept; the same command resumes where this one stopped",
    "demo": "nothing is left running",
    "serve": "the coordinator has stopped; start it again, and batches resume where they stopped",
    "frontier": "the proxy has stopped; what it holds is kept, and taken up by the next start",
    "fetch": "what was received is kept; run the same command to resume",
    "agent": "the agent has stopped; probes in progress were finished",
    "probe": "samples so far are kept in the store; run the same command again",
}
"""What an interrupted command leaves, and what to do next."""
_leaves_at_once = False
"""Whether a batch of `delegate` has ended: a kill while Python tidies up must not make it look unfinished."""
CONNECTING = {
    *("assign", "crawl", "crawler", "delegate", "divert", "explain", "export", "forget", "frontier"),
    *("locate", "lookup"),
}
"""Commands that a coordinator can answer."""
NOT_CONNECTING = {
    "agent": "an agent listens, or joins with a token; coordinators call it by its --agent-url",
    "probe": "it probes from here, through agents of a home; coordinators probe when asked for owners",
    "rules": "rules are a file of the coordinator's home: read them there",
    "serve": "it is the coordinator",
    "token": "tokens are made and revoked on the coordinator's machine, in its home",
    "report": "a report reads a store of this machine: run it beside the coordinator",
}
"""Why others cannot be."""
ON_THIS_MACHINE = "it works on files of this machine, which a coordinator does not see"
OTHERWISE = "nothing was left half-written; run the same command again"


class ReaderGoneError(Exception):
    """The reader of our output closed its end; typer would treat that as a failure."""


class PageCommand(TyperCommand):
    """A command whose usage names arguments as the help does."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer keeps its contexts private
        """Leave out the braces that some versions put around what is required."""
        return [
            piece[1:-1] if piece.startswith("{") and piece.endswith("}") else piece
            for piece in super().collect_usage_pieces(ctx)
        ]


class CommandTable(MutableMapping[str, Any]):
    """The commands by name, in the order of their headings; each is loaded when it is asked for."""

    def __init__(self) -> None:
        """Know the names of all commands."""
        self._headings = {name: heading for heading, names in SECTIONS.items() for name in names}
        self._added: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - typer keeps its commands private
        """Return a command, importing its module."""
        return self._added[name] if name in self._added else load_command(name, self._headings[name])

    def __setitem__(self, name: str, command: Any) -> None:  # noqa: ANN401 - as above
        """Add a command that has no module of its own."""
        self._added[name] = command

    def __delitem__(self, name: str) -> None:
        """Remove a command that was added."""
        del self._added[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter({**self._headings, **self._added})

    def __len__(self) -> int:
        """Count the commands."""
        return len({**self._headings, **self._added})


class PageGroup(TyperGroup):
    """The commands under their headings."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - typer's own
        """Take the commands from their modules."""
        super().__init__(**settings)
        self.commands = CommandTable()

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - as above
        """Write the commands before the options: most readers look for a command."""
        self.format_commands(ctx, formatter)
        records = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - as above
        """List commands heading by heading, all in the same columns."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        widest = max(len(name) for name, _ in commands)
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in commands:
            if command is not None and not command.hidden:
                heading = getattr(command, "rich_help_panel", None) or "Commands"
                line = command.get_short_help_str(formatter.width - 6 - widest)
                sections.setdefault(heading, []).append((name.ljust(widest), line))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as above
        """Run the command; after Ctrl-C say what is left and what to do."""
        global _leaves_at_once  # noqa: PLW0603 - read once, by `run`, when typer's contexts are gone
        try:
            result = super().invoke(ctx)
            _leaves_at_once = ctx.invoked_subcommand == "delegate"
        except typer.Exit:
            _leaves_at_once = ctx.invoked_subcommand == "delegate"
            raise
        except KeyboardInterrupt:
            say(f"interrupted: {HALF_DONE.get(ctx.invoked_subcommand or '', OTHERWISE)}")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError as error:
            raise ReaderGoneError from error
        else:
            return result


app = typer.Typer(
    name="ipmicra",
    cls=PageGroup,
    help="Find the crawler that is nearest on the network, for each site of a list.\n\n"
    "The hierarchy of addresses comes from the registries' dumps; a few probes find the nearest crawler.",
    epilog=FIRST_STEPS,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SECTIONS = {
    "Start here": ("demo",),
    "The hierarchy": ("fetch", "build", "info", "lookup", "org", "diff", "locate"),
    "The fleet": ("crawler", "agent", "token", "probe"),
    "Delegating": ("delegate", "explain", "forget", "rules", "assign", "report"),
    "Crawling": ("crawl", "export", "divert", "frontier"),
    "As a service": ("serve", "store"),
    "Whole lists and worlds": ("evaluate", "partition", "simulate"),
}
"""Commands and groups of commands, in the order in which a newcomer needs them. The module of each in
`ipmicra.cli` has a function, or a `typer.Typer`, of the same name."""


@cache
def load_command(name: str, heading: str) -> Any:  # noqa: ANN401 - typer keeps its commands private
    """Import a command or a group of commands, with its examples."""
    listed = getattr(import_module(f"ipmicra.cli.{name}"), name)
    if not isinstance(listed, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cls=PageCommand, rich_help_panel=heading, epilog=examples_of(name))(listed)
        return typer.main.get_command(alone)
    for inner in listed.registered_commands:
        inner.cls, inner.epilog = PageCommand, examples_of(f"{name} {_name_of(inner)}")
    listed.info.rich_help_panel, listed.rich_markup_mode = heading, None
    return typer.main.get_group(listed)


def _name_of(inner: CommandInfo) -> str:
    return inner.name or (inner.callback.__name__ if inner.callback else "")


def command_names() -> list[str]:
    """List the commands in the order of the help; those of a group as `group command`."""
    names: list[str] = []
    for name, command in CommandTable().items():
        names += [name, *(f"{name} {inner}" for inner in getattr(command, "commands", ()))]
    return names


def group_names() -> list[str]:
    """List the groups of commands."""
    return [name for name, command in CommandTable().items() if hasattr(command, "commands")]


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        typer.echo(f"ipmicra {version('ipmicra')}")
        raise typer.Exit


@app.callback()
def common(
    context: typer.Context,
    home: HomeOption = None,
    log_level: LogLevelOption = None,
    log_format: LogFormatOption = LogFormat.TEXT,
    coordinator: CoordinatorOption = None,
    coordinator_token: CoordinatorTokenOption = None,
    coordinator_ca: CoordinatorAuthorityOption = None,
    show_version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Set up what all commands share."""
    # Agents and coordinators have no output but their log.
    usual = (
        LogLevel.INFO if context.invoked_subcommand in {"agent", "frontier", "serve"} else LogLevel.WARNING
    )
    set_up_logging((log_level or usual).value, is_json=log_format is LogFormat.JSON)
    if coordinator is not None and context.invoked_subcommand not in CONNECTING:
        reason = NOT_CONNECTING.get(context.invoked_subcommand or "", ON_THIS_MACHINE)
        raise typer.BadParameter(f"{context.invoked_subcommand}: {reason}", param_hint="--coordinator")
    context.obj = replace(
        find_home(home),
        coordinator=coordinator,
        coordinator_token=coordinator_token,
        coordinator_authority=coordinator_ca,
    )


def run() -> None:
    """Run the command line; an error ends in one line that says what to do, and an exit code."""
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
        if error.errno == errno.EMFILE:  # asyncio complains of the event loop that it could not make
            sys.unraisablehook = lambda _: None
            warnings.simplefilter("ignore")
        _give_up_output()
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error))
        sys.exit(FAILED)
    except MemoryError:
        _fail(NO_MEMORY)
        sys.exit(FAILED)
    except Exception as error:  # noqa: BLE001 - a bug of ipmicra must not look like a mistake of the user
        missing = missing_extra(error) if isinstance(error, ModuleNotFoundError) else None
        if missing:
            _fail(missing)
            sys.exit(WRONG_USAGE)
        _fail(
            f"a fault of ipmicra, not of yours: {type(error).__name__}: {error}\n"
            "run the same with `ipmicra --log-level debug …` to see where, and please report it"
        )
        sys.exit(FAILED)


def _run_to_the_end() -> None:
    """Run, and flush what was printed: a full disk must not pass for success."""
    try:
        prepare_for_limits()
        app(prog_name="ipmicra")
    except SystemExit as done:
        sys.stdout.flush()
        if _leaves_at_once:
            sys.stderr.flush()
            os._exit(done.code if isinstance(done.code, int) else 0)
        raise
    except Exception as error:
        if lacks_memory(error):
            raise MemoryError from error
        raise


def _give_up_output() -> None:
    """Keep the interpreter from reporting once more that output cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> None:
    """Say what went wrong; with `--log-level debug` also where."""
    if is_debugging():
        log_traceback()
    for line in f"ipmicra: {message}".splitlines():
        say(line)


if __name__ == "__main__":
    run()
