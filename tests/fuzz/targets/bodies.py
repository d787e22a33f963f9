"""Requests to a coordinator, by every route as it is served.

What lies behind the routes is real as far as it reads what was sent (fleet, store, crawlers, results), and
otherwise stands in: it only checks that what it is given can be stored.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

from ipmicra.app.fleet.fleet import Fleet
from ipmicra.app.forget import check_forgetting, find_forgotten
from ipmicra.app.serve.api.app import RESOURCES, make_app
from ipmicra.app.serve.coordinator import Coordinator
from ipmicra.app.serve.membership import AgentDesk
from ipmicra.app.serve.pages.routes import Pages
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.app.serve.rendered import Asked
from ipmicra.edge.coordinator.switchboard import Switchboard
from ipmicra.edge.files.seeds import Seed, parse_seed
from ipmicra.edge.store.store import Store
from ipmicra.model.token import Identity, Role
from ipmicra.wire.joining import JoinAnswer
from ipmicra.wire.links import ExchangeAnswer
from ipmicra.wire.links import JoinAnswer as NodeJoined
from ipmicra.wire.peers import PeerAnswer, PeerWish
from ipmicra.wire.polling import PollAnswer
from tests.fuzz.target import target
from tests.reference.fast_building import built

ROUTES = [(one.method, one.path) for one in RESOURCES] + [("POST", "/signin"), ("POST", "/signout")]
MEDIA = ("", "text/plain", "application/json", "application/x-ndjson", "image/png")
ROLE_OF = {"/v1/peers": Role.PEER, "/v1/agents": Role.AGENT}
LARGEST = 1 << 63


class _UndoneError(Exception):
    pass


def writable(given: object) -> None:
    """See that what reaches a use case can be stored: whole characters, numbers of 64 bits."""
    if isinstance(given, str):
        given.encode()
    elif isinstance(given, int):
        assert -LARGEST <= given < LARGEST
    elif isinstance(given, float):
        assert math.isfinite(given)
    elif isinstance(given, Mapping):
        writable([*given.keys(), *given.values()])
    elif isinstance(given, Iterable):
        for one in given:
            writable(one)


def taking(answer: Any, *, is_awaited: bool = False) -> Callable[..., Any]:
    """Return a function that checks what it is given."""

    def take(*given: object, **named: object) -> Any:
        writable([given, named])
        return _at_once(answer) if is_awaited else answer

    return take


async def _at_once(answer: Any) -> Any:
    return answer


async def _answers(asked: Iterable[Asked]) -> AsyncIterator[list[bytes | RefusedError]]:
    for one in asked:
        writable([one.text, one.vantage])
        seed = parse_seed(one.text)
        yield [b"{}" if isinstance(seed, Seed) else RefusedError("unresolved", seed.reason)]


async def _nothing(*given: object, **named: object) -> AsyncIterator[Any]:
    writable([given, named])
    for one in list[Any]():
        yield one


class Standing(SimpleNamespace):
    """A coordinator as far as requests are read."""

    def __init__(self) -> None:
        self.role = Role.OPERATOR
        self.store, self.hierarchy = Store.open(":memory:"), built("inetnum: 192.0.2.0/24\nnetname: N\n")
        told = self._told
        super().__init__(
            is_stopping=False,
            clock=lambda: 0.0,
            health=dict,
            readiness=lambda: {"is_ready": True},
            crawlers=lambda **_: [{"name": "fra"}],
            assign=taking({}, is_awaited=True),
            remove_crawler=taking({}, is_awaited=True),
            drain_crawler=taking({}),
            access=SimpleNamespace(identify=self._who, refusal=lambda _: "no", record=lambda _: None),
            owners=SimpleNamespace(
                kept=lambda _query: None,
                owner=lambda asked: taking(b"{}", is_awaited=True)(asked.text, asked.vantage),
                keep_query=lambda *_: None,
                many=_answers,
                decisions=_nothing,
                decide_for_peer=self._decide,
            ),
            reader=SimpleNamespace(read=lambda function: _at_once(function(self.store))),
            deciding=SimpleNamespace(store=self.store, options=SimpleNamespace()),
            agents=AgentDesk(
                membership=cast("Any", self._membership()), on_leave=taking({}, is_awaited=True)
            ),
            post=SimpleNamespace(
                join=lambda *_: _at_once(NodeJoined(run=1, session="s", lease_s=1.0)),
                exchange=lambda *_: _at_once(ExchangeAnswer(delivery=1)),
                status=taking({}, is_awaited=True),
                crawls=taking([], is_awaited=True),
            ),
            batches=SimpleNamespace(
                start=taking({}),
                describe=taking({}),
                cancel=taking({}, is_awaited=True),
                watch=_nothing,
                is_over=lambda _number: True,
                page=lambda *_: ([], None),
            ),
            looking=SimpleNamespace(
                explain=taking({}, is_awaited=True),
                explain_lines=taking([], is_awaited=True),
                lookup=told,
                locate=told,
            ),
        )

    def _membership(self) -> SimpleNamespace:
        joined = JoinAnswer(fleet="0" * 16, crawler="fra", agent="0" * 32)
        switchboard = SimpleNamespace(
            poll=lambda *_: _at_once(PollAnswer(cursor="", works=())),
            take=Switchboard().take,
            forget=lambda *_: None,
        )
        return SimpleNamespace(
            agent_of=self._who,
            join=lambda *_: _at_once(joined),
            access=SimpleNamespace(refresh=lambda: None),
            switchboard=switchboard,
        )

    def _who(self, *_given: object) -> Identity:
        return Identity(name="n", role=self.role, crawler="fra")

    async def _told(self, targets: list[str], **_named: object) -> list[dict[str, Any]]:
        writable(targets)
        return [{"target": parse_seed(one).text} for one in targets]

    async def _decide(self, wish: PeerWish) -> PeerAnswer:
        return PeerAnswer(host=wish.site.host, reason="r")

    def fleet(self) -> Fleet:
        """Return a fleet without crawlers."""
        return Fleet(self.store, self.hierarchy, lambda: 0.0)

    async def add_crawler(self, fields: Mapping[str, Any], *, replaces: bool) -> dict[str, Any]:
        """Add a crawler as a coordinator does, and take that back."""
        labels = [f"{key}={word}" for key, word in (fields.get("labels") or {}).items()]
        plain = {key: value for key, value in fields.items() if key != "labels"}
        with suppress(_UndoneError), self.store.transaction():
            self.fleet().add_fields(plain, labels, replaces=replaces)
            raise _UndoneError
        return {}

    async def forget(
        self, targets: Iterable[str] = (), policy: str | None = None, *, samples: bool = False, **_: bool
    ) -> dict[str, Any]:
        """Look for what is to be forgotten as a coordinator does."""
        check_forgetting(list(targets), policy)
        seeds = [parse_seed(text) for text in targets]
        return find_forgotten(self.store, seeds, policy, samples=samples).record()


COORDINATOR = Standing()
APP = make_app(cast("Coordinator", COORDINATOR), also=Pages(cast("Coordinator", COORDINATOR)).routes())
LOOP = asyncio.new_event_loop()


@target("bodies", longest=560)
def ask(data: bytes) -> None:
    """No request is answered with `internal`: it is answered, or refused with a reason.

    The first byte chooses the route, the second the type of the body; then come words of the path and the
    query up to a line end, then the body.
    """
    route, media = (data[:2] + b"\0\0")[:2]
    words, _, body = data[2:].partition(b"\n")
    word, _, query = words.partition(b"?")
    method, path = ROUTES[(route - ord("A")) % len(ROUTES)]
    text = word.decode("utf-8", "replace").replace("/", "") or "x"
    for name in ("{name}", "{id}", "{crawl}"):
        path = path.replace(name, text)
    COORDINATOR.role = next(
        (role for start, role in ROLE_OF.items() if path.startswith(start)), Role.OPERATOR
    )
    kind = MEDIA[(media - ord("0")) % len(MEDIA)].encode()
    status, answer = LOOP.run_until_complete(_exchange(method, path, query, kind, body))
    assert status != 500, (method, path, answer)
    assert status < 400 or path.startswith("/sign") or json.loads(answer)["status"] == status


async def _exchange(method: str, path: str, query: bytes, kind: bytes, body: bytes) -> tuple[int, bytes]:
    scope = {
        "type": "http",
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": path,
        "raw_path": quote(path).encode(),
        "query_string": query,
        "root_path": "",
        "headers": [(b"authorization", b"Bearer x"), (b"content-type", kind)],
        "client": ("192.0.2.1", 1),
        "server": ("127.0.0.1", 1),
    }
    sent: list[Any] = []
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        return left.pop() if left else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await APP(scope, receive, send)
    return sent[0]["status"], b"".join(one.get("body", b"") for one in sent[1:])
