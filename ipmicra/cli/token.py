"""`ipmicra token`: who may ask the coordinator."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.options import FormatOption, JsonOption, StoreOption, chosen, file_option, home_of
from ipmicra.cli.output import print_rows, say
from ipmicra.model.token import Role

token = typer.Typer(
    name="token", help="Manage who may ask the coordinator: add, list, revoke tokens.", no_args_is_help=True
)
COLUMNS = ("name", "role", "crawler", "state", "created", "expires", "last_used")
SPARED = ("created", "crawler")


@token.command()
def add(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its name; of a join token: the crawler's name.")
    ],
    role: Annotated[
        Role, typer.Option(help="What its bearer may do: operator, crawler (asks) or join (makes an agent).")
    ],
    crawler: Annotated[
        str | None, typer.Option(metavar="NAME", help="The crawler for which its bearer speaks.")
    ] = None,
    valid_hours: Annotated[
        float | None,
        typer.Option(
            min=0.01, max=87_600, help="How long it works; default: a year, 1 hour for a join token."
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="URL",
            help="For a join token: where agents reach the coordinator; default: as it serves.",
        ),
    ] = None,
    cert: Annotated[
        Path | None,
        file_option("--cert", "For a join token: certificate of the coordinator or its CA, to pin."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Make a token and print it, once: only its hash is kept.

    Redirect it into a file that nobody else can read. A join token works once: the agent that joins with it
    gets an identity of its own.
    """
    from ipmicra.app.access import TokenWish, add_token

    wish = TokenWish(
        name=name, role=role, crawler=crawler, valid_hours=valid_hours, url=url, certificate=cert
    )
    with home_of(context, store=store).open_store() as opened:
        text = add_token(opened, wish)
    typer.echo(text)
    say(f"{role.value} token {name!r}: it is not shown again; revoke it with `ipmicra token revoke {name}`")


@token.command(name="list")
def list_(
    context: typer.Context,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the tokens, without their text."""
    from ipmicra.app.access import list_tokens
    from ipmicra.app.describe.token import describe_token

    print_format = chosen(output_format, as_json)
    with home_of(context, store=store).open_store() as opened:
        tokens = list_tokens(opened)
    if not tokens:
        say("no tokens yet: `ipmicra token add NAME --role operator`")
    print_rows([describe_token(one, time.time()) for one in tokens], COLUMNS, print_format, spared=SPARED)


@token.command()
def revoke(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Names of tokens.")],
    role: Annotated[Role | None, typer.Option(help="Only those of a role.")] = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke tokens; a running coordinator refuses them within a second."""
    from ipmicra.app.access import revoke_tokens
    from ipmicra.app.describe.token import describe_token

    print_format = chosen(output_format, as_json)
    with home_of(context, store=store).open_store() as opened:
        revoked = revoke_tokens(opened, names, role)
    print_rows([describe_token(one, time.time()) for one in revoked], COLUMNS, print_format, spared=SPARED)
