"""`ipmicra agent`: the process beside a crawler."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.service_extra import need_service
from ipmicra.errors import InputError

DEFAULT_PORT = 8470

TokenFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Token that coordinators must show; else IPMICRA_AGENT_TOKEN."),
]
ClientAuthority = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Authority of coordinators' certificates (mutual TLS)."),
]
AllowedPrefixes = Annotated[
    list[str] | None,
    typer.Option(metavar="PREFIX", help="May be probed although it is not public; repeatable."),
]
AllowedPorts = Annotated[
    list[int] | None,
    typer.Option(min=1, max=65535, help="May be probed beside 80 and 443; repeatable."),
]
OptOut = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Prefixes that are never probed, one a line; read anew on change."),
]
Interval = Annotated[
    float, typer.Option(min=0, help="Seconds between probes of an address, and of its /24 or /48.")
]


def agent(
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where to listen; port 0 takes any.")
    ] = f"127.0.0.1:{DEFAULT_PORT}",
    token_file: TokenFile = None,
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="The agent's certificate.")] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Key of --tls-cert.")] = None,
    client_ca: ClientAuthority = None,
    allow: AllowedPrefixes = None,
    allow_port: AllowedPorts = None,
    opt_out: OptOut = None,
    contact: Annotated[
        str | None, typer.Option(metavar="URL", help="Page for those who are probed, in the User-Agent.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address from which probes are sent.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=10000, help="Probes at a time.")] = 1000,
    interval_s: Interval = 1.0,
    burst: Annotated[int, typer.Option(min=1, help="Probes that may come at once after a pause.")] = 3,
) -> None:
    """Answer probe orders beside a crawler.

    Only for those with the token, or with a certificate of --client-ca. Runs until Ctrl-C or SIGTERM, and
    logs to standard error.
    """
    need_service()
    from ipmicra.app.agent import run_agent
    from ipmicra.edge.agent.access import read_token
    from ipmicra.edge.agent.policy import WEB_PORTS
    from ipmicra.edge.agent.run import AgentSettings
    from ipmicra.edge.agent.service import PolitenessConfig, ServiceConfig
    from ipmicra.edge.prober.exchange import CONTACT, ProberConfig, user_agent
    from ipmicra.model.address import read_address

    host, port = read_place(listen)
    run_agent(
        AgentSettings(
            host=host,
            port=port,
            token=read_token(token_file),
            certificate=tls_cert,
            key=tls_key,
            client_authority=client_ca,
            allowed=tuple(allow or ()),
            ports=(*WEB_PORTS, *(allow_port or ())),
            opt_out=opt_out,
            source=read_address(source) if source else None,
            prober=ProberConfig(user_agent=user_agent(read_contact(contact or CONTACT))),
            service=ServiceConfig(concurrency=concurrency),
            politeness=PolitenessConfig(interval_s=interval_s, burst=burst),
        )
    )


def read_place(text: str) -> tuple[str, int]:
    """Read HOST:PORT; an IPv6 address stands in brackets."""
    host, is_pair, port = text.rpartition(":")
    if not is_pair or not port.isdigit() or int(port) > 65535:  # noqa: PLR2004 - the last port
        raise InputError(f"--listen {text!r} must look like HOST:PORT, [::1]:8470 for IPv6")
    return host.strip("[]") or "127.0.0.1", int(port)


def read_contact(url: str) -> str:
    """See that a contact fits into a header."""
    if not url.isascii() or not url.isprintable() or any(letter in url for letter in " ()<>"):
        raise InputError(f"--contact {url!r} must be a plain URL")
    return url
