"""`ipmicra agent`: the process beside a crawler."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.extras import need_service

DEFAULT_PORT = 8470

TokenFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Token that coordinators must present; default: IPMICRA_AGENT_TOKEN."),
]
ClientAuthority = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="CA that signs the coordinators' certificates (mutual TLS)."),
]
AllowedPrefixes = Annotated[
    list[str] | None,
    typer.Option(metavar="PREFIX", help="Also probe this prefix although it is not public; repeatable."),
]
AllowedPorts = Annotated[
    list[int] | None,
    typer.Option(min=1, max=65535, help="Also probe this port, beside 80 and 443; repeatable."),
]
OptOut = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Prefixes never to probe, one per line; reloaded on change."),
]
DnsServers = Annotated[
    list[str] | None,
    typer.Option(
        "--dns", metavar="ADDRESS[:PORT]", help="DNS server to ask; repeatable. Default: the system's."
    ),
]
ResolveRate = Annotated[
    float, typer.Option(min=0, help="Most names per second to resolve for coordinators; 0 for none.")
]
Interval = Annotated[
    float, typer.Option(min=0, help="Seconds between probes of an address, and of its /24 or /48.")
]


def agent(
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where to listen; port 0 takes any free one.")
    ] = f"127.0.0.1:{DEFAULT_PORT}",
    token_file: TokenFile = None,
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="Certificate of the agent.")] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Private key of --tls-cert.")] = None,
    client_ca: ClientAuthority = None,
    allow: AllowedPrefixes = None,
    allow_port: AllowedPorts = None,
    opt_out: OptOut = None,
    contact: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Page for those who are probed, sent in the User-Agent."),
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address from which probes are sent.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=10000, help="Probes at a time.")] = 1000,
    interval_s: Interval = 1.0,
    burst: Annotated[int, typer.Option(min=1, help="Probes that may be sent together after a pause.")] = 3,
    dns: DnsServers = None,
    resolve_rate: ResolveRate = 100.0,
) -> None:
    """Answer probe orders beside a crawler.

    Accepts only coordinators with the token or with a certificate of --client-ca. Runs until Ctrl-C or
    SIGTERM, and logs to standard error.
    """
    need_service()
    from ipmicra.app.agent import AgentOptions, run_agent

    options = AgentOptions(
        listen=listen,
        token_file=token_file,
        certificate=tls_cert,
        key=tls_key,
        client_authority=client_ca,
        allowed=tuple(allow or ()),
        extra_ports=tuple(allow_port or ()),
        opt_out=opt_out,
        contact=contact,
        source=source,
        concurrency=concurrency,
        interval_s=interval_s,
        burst=burst,
        dns=tuple(dns or ()),
        resolve_rate=resolve_rate,
    )
    run_agent(options.settings())
