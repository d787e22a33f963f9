"""Run a coordinator until it is stopped: its server, its token, and the file that says where it is."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from types import FrameType

import anyio
import uvicorn

from ipmicra.app.access import TokenWish, add_token, coordinator_url, note_coordinator
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.home import Home
from ipmicra.app.serve.api.app import make_app
from ipmicra.app.serve.api.limits import ApiLimits
from ipmicra.app.serve.coordinator import Coordinator, CoordinatorConfig
from ipmicra.app.serve.dealing import RENEWALS, DealingConfig
from ipmicra.app.serve.metrics import Metrics
from ipmicra.app.serve.pages.routes import Pages
from ipmicra.app.serve.peers import PeersConfig, PeerSettings
from ipmicra.app.serve.place import OPERATOR_TOKEN, CoordinatorPlace, forget_place, note_place
from ipmicra.edge.files.crawlers import NAME, read_agent_url
from ipmicra.edge.log import EventLog
from ipmicra.edge.store.places import is_postgres
from ipmicra.edge.web.connection_limits import ConnectionLimiter, ConnectionLimits
from ipmicra.edge.web.server import (
    LimitedServer,
    ServerSettings,
    listening_or_error,
    read_place,
    url_of,
    uvicorn_config,
)
from ipmicra.errors import InputError
from ipmicra.model.token import Role

events = EventLog("coordinator")
YOUNG_OBJECTS = 20_000
"""Allocations after which Python collects its youngest generation. The default of 700 is too low where
thousands of hosts are in progress: the collector would traverse their objects again and again."""
LIMITS = ConnectionLimits(
    connections=3_000, unauthenticated=200, keep_alive_s=75.0, body_s=30.0, head_bytes=65_536
)
"""Agents hold a connection each, and crawlers keep theirs open between questions. Headers beyond what the API
takes (`ApiLimits`) are still read, up to this, so that their sender hears what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What an operator asks for."""

    home: Home
    server: ServerSettings = field(default_factory=lambda: ServerSettings(limits=LIMITS))
    delegating: DelegateOptions = field(default_factory=DelegateOptions)
    config: CoordinatorConfig = field(default_factory=CoordinatorConfig)
    limits: ApiLimits = field(default_factory=ApiLimits)
    public_url: str | None = None
    """Where agents and other coordinators reach it; None takes where it listens."""
    name: str | None = None
    """Of this coordinator among those that share a database; by default the machine's and the port."""
    lease_s: float = DealingConfig().lease_s
    """How long the others wait for it if it says nothing."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if (self.server.certificate is None) != (self.server.key is None):
            raise InputError("--tls-cert and --tls-key go together")
        if self.public_url is not None:
            coordinator_url(self.public_url)


class CoordinatorServer(LimitedServer):
    """A server that tells its coordinator when it is asked to stop."""

    def __init__(self, config: uvicorn.Config, coordinator: Coordinator, limiter: ConnectionLimiter) -> None:
        """Serve a coordinator."""
        super().__init__(config, limiter)
        self.coordinator = coordinator
        self.is_interrupted = False
        """Whether it was stopped by Ctrl-C."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGTERM and Ctrl-C; uvicorn would raise them again when it has stopped.

        That would end the process before the coordinator has written what is left.
        """
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: requests under way are finished, those that wait for something are answered."""
        self.is_interrupted = sig == signal.SIGINT
        self.coordinator.stop()
        super().handle_exit(sig, frame)


def server_settings(listen: str, certificate: Path | None, key: Path | None) -> ServerSettings:
    """Read where to listen, HOST:PORT."""
    host, port = read_place(listen)
    return ServerSettings(host=host, port=port, certificate=certificate, key=key, limits=LIMITS)


def run_coordinator(options: ServeOptions) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    if options.server.certificate is None and not _is_loopback(options.server.host):
        events.warning(
            "coordinator_without_tls",
            "without TLS tokens can be read on the way: use --tls-cert, or a proxy that has TLS",
        )
    asyncio.run(_serve(options))


async def _serve(options: ServeOptions) -> None:
    settings = options.server
    with ExitStack() as stack, listening_or_error(settings.host, settings.port) as made:
        port = int(made.getsockname()[1])
        url = url_of(settings.host, port, is_secure=settings.certificate is not None)
        peer = _peer_settings(options, url, port)
        coordinator = Coordinator(options.home, options.delegating, options.config, peer=peer)
        async with coordinator:
            _make_operator_token(coordinator)
            metrics = Metrics(coordinator)
            pages = stack.enter_context(Pages(coordinator))
            app = make_app(coordinator, options.limits, [*pages.routes(), *metrics.routes()])
            config = uvicorn_config(metrics.counted(app), settings)
            try:
                config.load()
            except OSError as error:
                raise InputError(f"the coordinator cannot start: {error}") from error
            server = CoordinatorServer(config, coordinator, ConnectionLimiter(settings.limits))
            async with anyio.create_task_group():
                pass  # loads what the first streamed answer would wait for
            tend_memory(coordinator)
            note_coordinator(coordinator.deciding.store, options.public_url or url, settings.certificate)
            with _announced(options.home, url, settings):
                await server.serve(sockets=[made])
            events.info("coordinator_stops", "the coordinator stops", waiting=coordinator.deciding.pending)
        events.info("coordinator_stopped", "the coordinator has stopped")
        if server.is_interrupted:
            raise KeyboardInterrupt


def tend_memory(coordinator: Coordinator) -> None:
    """Collect garbage less often from now on, and exempt each session that is opened."""
    settle_memory()
    coordinator.deciding.on_open.append(lambda _session: settle_memory())
    gc.set_threshold(YOUNG_OBJECTS)


def settle_memory() -> None:
    """Free the previous session, a reference cycle, and exempt everything that is left from collection.

    Otherwise the collector spends a tenth of the processor time on objects that stay. Exempt objects are not
    freed when they become garbage, so this is called again whenever a session replaces another.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _peer_settings(options: ServeOptions, url: str, port: int) -> PeerSettings | None:
    """Return how others know this coordinator; None if its store is a file, which is nobody else's."""
    if not is_postgres(options.home.store):
        if options.name:
            raise InputError("--name is for several coordinators on one PostgreSQL store")
        return None
    name = options.name or f"{socket.gethostname()}-{port}"
    if not NAME.fullmatch(name):
        raise InputError(f"--name {name!r}: letters, digits, `.`, `_`, `-`, 64 at most, are a name")
    dealing = DealingConfig(lease_s=options.lease_s, renew_s=options.lease_s / RENEWALS)
    config = PeersConfig(dealing=dealing)
    return PeerSettings(name=name, url=read_agent_url(options.public_url or url), config=config)


@contextmanager
def _announced(home: Home, url: str, settings: ServerSettings) -> Iterator[None]:
    """Tell commands of the same home where the coordinator is, as long as it is there."""
    note_place(home, CoordinatorPlace(url=url, pid=os.getpid(), certificate=settings.certificate))
    events.info("coordinator_listens", "the coordinator listens on {url}", url=url)
    try:
        yield
    finally:
        forget_place(home)


def _make_operator_token(coordinator: Coordinator) -> None:
    """Make a token for the operator at the first start, in a file that nobody else can read."""
    path = coordinator.home.folder / OPERATOR_TOKEN
    store = coordinator.deciding.store
    if any(one.role is not Role.PEER for one in store.tokens.all()):
        return
    text = add_token(store, TokenWish(name="operator", role=Role.OPERATOR, valid_hours=87_600.0))
    coordinator.access.refresh()
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{text}\n")
    events.info("operator_token", "the operator's token is in {file}", file=str(path))


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
