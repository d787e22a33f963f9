"""Help that reads like a page, with commands under headings; and interrupts that say what is left."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ipmicra.cli.output import say

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

HALF_DONE = {
    "build": "the hierarchy that was there stays; run the same command again",
    "delegate": "what was found is kept; the same command goes on where this one ended",
    "demo": "nothing is left running",
    "fetch": "what was received is kept; run the same command to go on",
    "agent": "the agent has stopped; what was under way was finished",
    "probe": "samples that came are kept in the store; run the same command again",
}
"""What an interrupted command leaves, and what to do next."""
OTHERWISE = "nothing was left half-written; run the same command again"


class ReaderGoneError(Exception):
    """Whoever read our output went away; typer would make a failure of it."""


class PageCommand(TyperCommand):
    """A command whose usage names arguments as the help does."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer keeps its contexts private
        """Leave out the braces that some versions put around what is required."""
        return [
            piece[1:-1] if piece.startswith("{") and piece.endswith("}") else piece
            for piece in super().collect_usage_pieces(ctx)
        ]


class PageGroup(TyperGroup):
    """The commands under their headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - as above
        """Write the commands, then the options: that is what a page is read for."""
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
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say(f"interrupted: {HALF_DONE.get(ctx.invoked_subcommand or '', OTHERWISE)}")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError as error:
            raise ReaderGoneError from error
