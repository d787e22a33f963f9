"""The routes of the page: everything but signing in needs a session."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from typing import Any, Self
from urllib.parse import parse_qsl, quote

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from ipmicra.app.report.html import environment, page_script, page_style
from ipmicra.app.serve.coordinator import Coordinator
from ipmicra.app.serve.pages.browse_page import registries, shown_level
from ipmicra.app.serve.pages.browsing import PAGE, registry_counts, registry_level, subnet_level
from ipmicra.app.serve.pages.drawing import Drawings, Drawn
from ipmicra.app.serve.pages.news import RecentEvents
from ipmicra.app.serve.pages.overview import Glimpse, ago, live
from ipmicra.app.serve.pages.policy import HEADERS, is_own_form
from ipmicra.app.serve.pages.sessions import COOKIE, LIFETIME_S, Session, Sessions, is_form_of
from ipmicra.app.serve.pages.stream import Changes
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.edge.web.bodies import BodyError, read_body
from ipmicra.edge.web.connection_limits import AUTHENTICATED
from ipmicra.errors import IpmicraError

FORM_BYTES, FORM_S = 4_096, 10.0
SHOWN_EVENTS, SHOWN_BATCHES = 30, 20
LONGEST_TEXT = 1_000
MOST_BUTTONS = 60
SEE_OTHER, BAD, UNAUTHENTICATED, FORBIDDEN, MISSING, BUSY = 303, 400, 401, 403, 404, 503
STATIC_TYPES = {"page.css": "text/css", "report.js": "text/javascript", "live.js": "text/javascript"}

Endpoint = Callable[[Request, Session], Awaitable[Response]]


class Pages:
    """Answers browsers."""

    def __init__(self, coordinator: Coordinator) -> None:
        """Show a coordinator."""
        self._coordinator = coordinator
        self._sessions = Sessions(coordinator.access, coordinator.clock)
        self._drawings = Drawings(coordinator.reader)
        self._numbers: dict[str, int] = {}
        self._events = RecentEvents()
        self._changes = Changes(self._parts)
        self._glimpsed: Glimpse | None = None
        self._rendered: dict[str, str] = {}

    def __enter__(self) -> Self:
        """Hear of events."""
        self._events.listen()
        return self

    def __exit__(self, *_: object) -> None:
        """Hear of nothing any more."""
        self._events.stop()

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            Route("/", self._signed_in(self.overview)),
            Route("/site", self._signed_in(self.site)),
            Route("/browse", self._signed_in(self.browse)),
            Route("/stream", self.stream),
            Route("/signin", self.signin, methods=["GET", "POST"]),
            Route("/signout", self.signout, methods=["POST"]),
            Route("/static/{name}", static_file),
        ]

    # --- sessions

    def _session(self, request: Request) -> Session | None:
        session = self._sessions.find(request.cookies.get(COOKIE))
        if session is not None and (known := request.scope.get("state", {}).get(AUTHENTICATED)):
            known()
        return session

    def _signed_in(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            session = self._session(request)
            if session is None:
                # `request.url` fails on bytes that are no UTF-8
                query = request.scope["query_string"].decode("latin-1")
                back = request.scope["path"] + (f"?{query}" if query else "")
                return RedirectResponse(f"/signin?next={quote(back, safe='')}", SEE_OTHER, headers=HEADERS)
            return await endpoint(request, session)

        return answer

    async def signin(self, request: Request) -> Response:
        """Show the form, or begin a session."""
        if request.method != "POST":
            return _page("signin.html", next=_own_path(request.query_params.get("next")), problem="")
        if not is_own_form(request):
            return _page("signin.html", FORBIDDEN, next="/", problem="This form came from another site.")
        try:
            form = await _form(request)
        except BodyError as error:
            return _page("signin.html", error.status, next="/", problem=str(error))
        after = _own_path(form.get("next"))
        cookie = self._sessions.begin(form.get("token", ""))
        if cookie is None:
            problem = "This token does not work here: it is unknown, expired, revoked or of another role."
            return _page("signin.html", FORBIDDEN, next=after, problem=problem)
        answer = RedirectResponse(after, SEE_OTHER, headers=HEADERS)
        is_secure = request.scope["scheme"] == "https"
        answer.set_cookie(
            COOKIE, cookie, max_age=LIFETIME_S, httponly=True, samesite="strict", secure=is_secure
        )
        return answer

    async def signout(self, request: Request) -> Response:
        """End a session in this browser."""
        session = self._session(request)
        try:
            form = await _form(request)
        except BodyError as error:
            return _page("signin.html", error.status, next="/", problem=str(error))
        if session is not None and not (is_own_form(request) and is_form_of(session, form.get("key", ""))):
            return _page("signin.html", FORBIDDEN, next="/", problem="This form came from another site.")
        answer = RedirectResponse("/signin", SEE_OTHER, headers=HEADERS)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer

    # --- pages

    async def overview(self, _request: Request, session: Session) -> Response:
        """Show fleet, batches, events and plots."""
        loads = self._coordinator.owners.loads()
        drawn = await self._drawings.current(sum(sites for sites, _ in loads.values()))
        self._numbers = {name: i for i, name in enumerate(drawn.crawlers)}
        return _page(
            "overview.html",
            session=session,
            at="overview",
            live=live(self._glimpse()),
            drawn=drawn,
            legend=_legend(drawn, loads),
        )

    async def _parts(self) -> dict[str, str]:
        """Render what changes, part by part, beside the event loop; not at all if nothing did."""
        glimpse = self._glimpse()
        if glimpse != self._glimpsed:
            self._rendered = await self._coordinator.reader.run(lambda: _rendered(glimpse))
            self._glimpsed = glimpse
        return self._rendered

    def _glimpse(self) -> Glimpse:
        coordinator = self._coordinator
        health = coordinator.health()
        return Glimpse(
            software=str(health["ipmicra"]),
            up=ago(float(health["up_s"])),
            readiness=coordinator.readiness(),
            crawlers=coordinator.crawlers(),
            batches=self._batches(),
            nodes=coordinator.post.glimpse(),
            seen=self._seen(),
            news=self._events.newest(SHOWN_EVENTS),
            numbers=self._numbers,
        )

    def _seen(self) -> dict[str, str]:
        """Say when agents that call out were last heard of."""
        now_s, switchboard = self._coordinator.clock(), self._coordinator.switchboard
        return {
            one.crawler: "now" if switchboard.is_present(one.crawler) else f"{ago(now_s - one.seen_s)} ago"
            for one in self._coordinator.deciding.store.agents.all()
        }

    def _batches(self) -> list[dict[str, Any]]:
        """Describe the last batches, newest first."""
        try:
            return self._coordinator.batches.page(0, SHOWN_BATCHES)[0]
        except RefusedError:  # one that an earlier process did not finish to describe
            return []

    async def site(self, request: Request, session: Session) -> Response:
        """Explain a host or an address."""
        text = request.query_params.get("q", "").strip()[:LONGEST_TEXT]
        if not text:
            return RedirectResponse("/", SEE_OTHER, headers=HEADERS)
        try:
            lines = await self._coordinator.looking.explain_lines(text)
        except IpmicraError as error:
            advice = getattr(getattr(error, "kind", None), "next_step", "")
            return _page(
                "site.html", MISSING, session=session, at="site", q=text, problem=str(error), advice=advice
            )
        return _page(
            "site.html",
            session=session,
            at="site",
            q=text,
            problem="",
            sections=sections_of(lines),
            lineage=await self._lineage(text),
            edition=self._edition(),
        )

    async def _lineage(self, text: str) -> list[dict[str, Any]]:
        """Return the subnets around a target, for links; none for what has no single address."""
        try:
            (found,) = await self._coordinator.looking.lookup([text], one_each=True)
        except IpmicraError:
            return []
        hierarchy = self._coordinator.hierarchy
        if not found["lineage"]:
            return []
        narrowest = hierarchy.lookup(str(found["address"]).split(" ")[0].split("/")[0])
        return [{"row": one.row, "label": one.label} for one in hierarchy.lineage(narrowest)]

    def _edition(self) -> str:
        return self._coordinator.hierarchy.content_hash[:12]

    async def browse(self, request: Request, session: Session) -> Response:
        """Show registries, what one has, or what lies in a subnet."""
        given = request.query_params
        hierarchy, reader = self._coordinator.hierarchy, self._coordinator.reader
        start = _number(given.get("start")) or 0
        shown: dict[str, Any] = {"session": session, "at": "browse", "page": PAGE}
        row, registry = _number(given.get("row")), given.get("registry")
        if row is not None and given.get("edition", self._edition()) != self._edition():
            row, shown["note"] = None, "There is a new edition of the hierarchy since: begin at the top."
        if row is not None:
            level = await reader.read(lambda store: subnet_level(store, hierarchy, row, start))
        elif registry is not None:
            level = await reader.read(lambda store: registry_level(store, hierarchy, registry, start))
        else:
            counts = await reader.run(lambda: registry_counts(hierarchy))
            return _page("browse.html", title="Hierarchy", table=registries(counts), **shown)
        if level is None:
            return _page("browse.html", MISSING, title="Hierarchy", note="There is no such subnet.", **shown)
        return _page("browse.html", **shown, **shown_level(level, registry, row, self._edition()))

    # --- changes

    async def stream(self, request: Request) -> Response:
        """Send changes as they happen."""
        if self._session(request) is None:
            return Response(status_code=UNAUTHENTICATED, headers=HEADERS)
        if self._changes.is_full:
            return Response(status_code=BUSY, headers={**HEADERS, "Retry-After": "30"})

        def goes_on() -> bool:
            return not self._coordinator.is_stopping and self._session(request) is not None

        headers = {**HEADERS, "X-Accel-Buffering": "no"}
        return StreamingResponse(
            self._changes.stream(goes_on), media_type="text/event-stream", headers=headers
        )


# --- files


async def static_file(request: Request) -> Response:
    """Return the style sheet or a script."""
    name = request.path_params["name"]
    if name not in STATIC_TYPES:
        return Response(status_code=MISSING, headers=HEADERS)
    headers = {**HEADERS, "Cache-Control": "public, max-age=31536000, immutable"}
    return Response(_static()[name], media_type=STATIC_TYPES[name], headers=headers)


@cache
def _static() -> dict[str, str]:
    own = files("ipmicra.app.serve.pages").joinpath("static")
    return {
        "page.css": page_style() + own.joinpath("page.css").read_text(encoding="utf-8"),
        "report.js": page_script(),
        "live.js": own.joinpath("live.js").read_text(encoding="utf-8"),
    }


@cache
def _templates() -> Environment:
    made = environment("ipmicra.app.serve.pages", "ipmicra.app.report")
    # Files are kept by browsers as long as their address does not change.
    made.globals["tag"] = hashlib.sha256("".join(_static().values()).encode()).hexdigest()[:12]
    return made


def _rendered(glimpse: Glimpse) -> dict[str, str]:
    parts: Any = _templates().get_template("live.html").module
    shown = live(glimpse)
    return {"tiles": str(parts.show_tiles(shown.tiles))} | {
        table.name: str(parts.show_section(table)) for table in shown.tables
    }


def _page(template: str, status: int = 200, **shown: Any) -> Response:  # noqa: ANN401 - for the template
    given: dict[str, Any] = {"session": None, "at": "", "q": "", "note": "", "table": None} | shown
    for name in ("facts", "crumbs", "more"):
        given.setdefault(name, ())
    html = _templates().get_template(template).render(**given)
    return Response(html, status_code=status, media_type="text/html", headers=HEADERS)


# --- what was asked for, and what is shown of it


async def _form(request: Request) -> dict[str, str]:
    body = await read_body(request, FORM_BYTES, FORM_S)
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=10))
    except ValueError as error:
        raise BodyError(BAD, "the form has too many fields") from error


def _own_path(given: str | None) -> str:
    """Return a path of our own to go to after signing in; the overview for anything else."""
    is_own = given is not None and given.startswith("/") and not given.startswith(("//", "/\\"))
    return given if given is not None and is_own and given.isprintable() else "/"


def _number(text: str | None) -> int | None:
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) < 12  # noqa: PLR2004
    return int(text or 0) if is_number else None


def sections_of(lines: list[str]) -> list[list[str]]:
    """Split an explanation at its empty lines; the first section has no heading."""
    sections: list[list[str]] = [[]]
    for line in lines:
        if line:
            sections[-1].append(line)
        elif sections[-1]:
            sections.append([])
    found = [section for section in sections if section] or [[]]
    return [_unwrapped(found[0]), *found[1:]]


def _unwrapped(lines: list[str]) -> list[str]:
    """Join lines that were wrapped for a terminal: those that go on are indented."""
    joined: list[str] = []
    for line in lines:
        if joined and line.startswith(" "):
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line)
    return joined


def _legend(drawn: Drawn, loads: dict[str, tuple[int, float]]) -> list[dict[str, Any]]:
    """Return the crawlers with most sites; each gets a button that shows it alone."""
    found = [(loads.get(name, (0, 0.0))[0], i, name) for i, name in enumerate(drawn.crawlers)]
    found.sort(key=lambda one: (-one[0], one[1]))
    return [{"number": i, "name": name, "sites": sites} for sites, i, name in found[:MOST_BUTTONS]]
