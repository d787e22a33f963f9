"""`ipmicra serve`: the coordinator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.delegate import PolicyOption
from ipmicra.cli.options import (
    AuthorityOption,
    CertificateOption,
    HierarchyOption,
    KeyOption,
    RulesOption,
    SamplesOption,
    StoreOption,
    TimeoutOption,
    TokenOption,
    home_of,
)
from ipmicra.model.sample import Rung

DEFAULT_PORT = 8460
PublicUrl = Annotated[
    str | None,
    typer.Option("--public-url", metavar="URL", help="Where agents and other coordinators reach it."),
]

Listen = Annotated[str, typer.Option(metavar="HOST:PORT", help="Where to listen; port 0 takes any free one.")]
LocationOption = Annotated[
    str, typer.Option(metavar="SOURCE", help="Where sites are: locate, dns, none, or a CSV; as of delegate.")
]
NodeLease = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0.5,
        max=3_600,
        help="How long a crawl's node may work without an answer; after twice that its sites move.",
    ),
]
OwnCertificate = Annotated[Path | None, typer.Option(metavar="FILE", help="Certificate of the coordinator.")]
OwnKey = Annotated[Path | None, typer.Option(metavar="FILE", help="Private key of --tls-cert.")]
NameOption = Annotated[
    str | None,
    typer.Option(
        "--name",
        metavar="NAME",
        help="With PostgreSQL: name among coordinators; default: machine and port.",
    ),
]
LeaseOption = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=1.0,
        max=600.0,
        help="With PostgreSQL: how long others wait for a coordinator that says nothing.",
    ),
]


def serve(
    context: typer.Context,
    listen: Listen = f"127.0.0.1:{DEFAULT_PORT}",
    tls_cert: OwnCertificate = None,
    tls_key: OwnKey = None,
    public_url: PublicUrl = None,
    policy: PolicyOption = "predict",
    location: LocationOption = "locate",
    samples: SamplesOption = 3,
    timeout_ms: TimeoutOption = 2000,
    first_rung: Annotated[Rung, typer.Option(help="First method to try.")] = Rung.TCP,
    token_file: TokenOption = None,
    ca: AuthorityOption = None,
    client_cert: CertificateOption = None,
    client_key: KeyOption = None,
    node_lease: NodeLease = 15.0,
    rules: RulesOption = None,
    hierarchy_file: HierarchyOption = None,
    store: StoreOption = None,
    name: NameOption = None,
    lease_s: LeaseOption = 10.0,
) -> None:
    """Run the coordinator, which tells who owns which site.

    Owns the hierarchy and the store while it runs; commands of the same home connect to it by themselves.
    The first start makes a token for the operator in operator.token of the home folder. Runs until Ctrl-C or
    SIGTERM, and logs to standard error.
    """
    from ipmicra.app.crawl.mailbox_config import MailboxConfig
    from ipmicra.app.delegate.options import DelegateOptions
    from ipmicra.app.probe import agent_access, probe_config
    from ipmicra.app.serve.coordinator import CoordinatorConfig
    from ipmicra.app.serve.run import ServeOptions, run_coordinator, server_settings

    options = DelegateOptions(
        policy=policy,
        location=location,
        recheck_percent=3.0,
        desk=probe_config(samples, timeout_ms, first_rung),
        access=agent_access(token_file, ca, client_cert, client_key),
    )
    home = home_of(context, store=store, hierarchy=hierarchy_file, rules=rules)
    run_coordinator(
        ServeOptions(
            home=home,
            server=server_settings(listen, tls_cert, tls_key),
            delegating=options,
            config=CoordinatorConfig(mailboxes=MailboxConfig(lease_s=node_lease)),
            public_url=public_url,
            name=name,
            lease_s=lease_s,
        )
    )
