"""`ipmicra agent`: the process beside a crawler."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.options import home_of
from ipmicra.cli.output import say

if TYPE_CHECKING:
    from ipmicra.app.agent import AgentOptions
    from ipmicra.app.calling_agent import CallingOptions
    from ipmicra.app.home import Home

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
ProbeRate = Annotated[
    float, typer.Option(min=0, help="Most probes per second of all targets together; 0 for no limit.")
]
TargetLogFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write down each target that is probed; rotated at 10 MB."),
]
JoinText = Annotated[
    str | None,
    typer.Option(
        "--join",
        metavar="TOKEN",
        help="Join a fleet with this token and only call out. Others can see it: rather use --join-file.",
    ),
]
JoinFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Join with the token in this file; default: IPMICRA_JOIN_TOKEN."),
]
IdentityFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Who this agent is, kept after joining; default: agent-identity.json in the home folder.",
    ),
]
Interval = Annotated[
    float, typer.Option(min=0, help="Seconds between probes of an address, and of its /24 or /48.")
]


Contact = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Page for those who are probed, sent in the User-Agent."),
]
Source = Annotated[
    str | None, typer.Option("--source", metavar="ADDRESS", help="Address from which probes are sent.")
]
PublicAddress = Annotated[
    str | None,
    typer.Option("--address", metavar="ADDRESS", help="When joining: the crawler's public address."),
]
Proxy = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Proxy to call out through; default: as HTTPS_PROXY says."),
]


def agent(
    context: typer.Context,
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
    contact: Contact = None,
    source: Source = None,
    concurrency: Annotated[int, typer.Option(min=1, max=10000, help="Probes at a time.")] = 1000,
    interval_s: Interval = 1.0,
    burst: Annotated[int, typer.Option(min=1, help="Probes that may be sent together after a pause.")] = 3,
    dns: DnsServers = None,
    resolve_rate: ResolveRate = 100.0,
    probe_rate: ProbeRate = 1000.0,
    target_log: TargetLogFile = None,
    join: JoinText = None,
    join_file: JoinFile = None,
    identity: IdentityFile = None,
    address: PublicAddress = None,
    proxy: Proxy = None,
    leave: Annotated[bool, typer.Option("--leave", help="Leave the fleet, and stop.")] = False,
) -> None:
    """Answer probe orders beside a crawler.

    Listens, and accepts only coordinators that have the token, or a certificate of a CA that it knows. Or,
    once it has joined a fleet with a join token, only calls out: no open port is needed. Runs until Ctrl-C or
    SIGTERM, and logs to standard error.
    """
    given = locals()  # the options are many, and two functions below make sense of them
    from ipmicra.app.agent import run_agent
    from ipmicra.app.calling_agent import leave_fleet, run_calling_agent

    calling = _calling_options(home_of(context), given).settings()
    if leave and calling is None:
        raise typer.BadParameter("there is no identity to leave with; name one with --identity")
    if calling is None:
        run_agent(_agent_options(given).settings())
    elif leave:
        say(f"{leave_fleet(calling)} has left the fleet")
    else:
        run_calling_agent(_agent_options(given).settings(), calling)


def _agent_options(given: dict[str, Any]) -> AgentOptions:
    from ipmicra.app.agent import AgentOptions

    same = "listen token_file opt_out contact source concurrency interval_s burst resolve_rate probe_rate"
    return AgentOptions(
        **{name: given[name] for name in (*same.split(), "target_log")},
        certificate=given["tls_cert"],
        key=given["tls_key"],
        client_authority=given["client_ca"],
        allowed=tuple(given["allow"] or ()),
        extra_ports=tuple(given["allow_port"] or ()),
        dns=tuple(given["dns"] or ()),
    )


def _calling_options(home: Home, given: dict[str, Any]) -> CallingOptions:
    from ipmicra.app.calling_agent import CallingOptions

    same = ("join", "join_file", "identity", "address", "proxy")
    listens = given["token_file"] is not None or given["client_ca"] is not None
    return CallingOptions(home=home, listens=listens, **{name: given[name] for name in same})
