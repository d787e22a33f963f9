"""What every endpoint of the API is given, and how it reads parameters and writes answers."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ipmicra.app.serve.api.limits import ApiLimits
from ipmicra.app.serve.coordinator import Coordinator
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.edge.web.bodies import BodyError, read_body
from ipmicra.errors import MessageError
from ipmicra.model.foreign_text import json_text
from ipmicra.model.token import Identity, Role
from ipmicra.wire.fields import read_json

OK, CREATED, ACCEPTED, NOT_MODIFIED = 200, 201, 202, 304
NDJSON = "application/x-ndjson"
TEXT = {"", "text/plain", "application/octet-stream", "application/x-www-form-urlencoded"}
"""Kinds of bodies that are taken as lines of text; the last is what curl says of any file."""
_WORDS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Call:
    """One request, and who sent it."""

    request: Request
    coordinator: Coordinator
    limits: ApiLimits
    identity: Identity | None
    """None where no token is needed."""

    def text(self, name: str) -> str:
        """Return a parameter that is needed."""
        found = self.text_or_none(name)
        if not found:
            raise RefusedError("bad-request", f"the parameter `{name}` is missing")
        return found

    def text_or_none(self, name: str) -> str | None:
        """Return a parameter; None if it is missing."""
        found = self.request.query_params.getlist(name)
        if len(found) > 1:
            raise RefusedError("bad-request", f"the parameter `{name}` is there {len(found)} times")
        if found and len(found[0]) > self.limits.parameter:
            raise RefusedError("bad-request", f"`{name}` is longer than {self.limits.parameter:,} characters")
        return found[0] if found else None

    def number(self, name: str, default: int, lowest: int, highest: int) -> int:
        """Return a parameter that is a whole number."""
        found = self.text_or_none(name)
        if found is None:
            return default
        is_number = found.isascii() and found.isdigit() and len(found) < 20  # noqa: PLR2004 - 64 bits
        if not is_number or not lowest <= int(found) <= highest:
            raise RefusedError("bad-request", f"`{name}` is a whole number from {lowest} to {highest}")
        return int(found)

    def flag(self, name: str) -> bool:
        """Return a parameter that is true or false, by default false."""
        found = self.text_or_none(name)
        if found is not None and found not in _WORDS:
            raise RefusedError("bad-request", f"`{name}` is true or false")
        return _WORDS.get(found or "false", False)

    def page(self) -> int:
        """Return how many rows are wanted."""
        return self.number("limit", self.limits.page, 1, self.limits.longest_page)

    async def body(self) -> bytes:
        """Return the body of a list."""
        return await read_body(self.request, self.limits.body_bytes, self.limits.body_s)

    async def lines(self, most: int) -> list[str]:
        """Return the lines of a list, without empty ones."""
        try:
            text = (await self.body()).decode("utf-8")
        except UnicodeDecodeError as error:
            raise RefusedError("bad-request", f"byte {error.start} of the list is not UTF-8") from error
        lines = [line.strip() for line in text.splitlines()]
        lines = [line for line in lines if line]
        if not lines:
            raise RefusedError("bad-request", "the list is empty: send one host or target per line")
        if len(lines) > most:
            raise RefusedError("too-large", f"{len(lines):,} lines are over the limit of {most:,}")
        longest = max(lines, key=len)
        if len(longest) > self.limits.line:
            detail = f"{longest[:100]}…: longer than {self.limits.line:,} characters"
            raise RefusedError("bad-request", detail)
        return lines

    def has_json_lines(self, *, may_be: bool = True) -> bool:
        """Return whether the lines of a list are JSON; refuse other kinds of bodies."""
        given = self.request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if given in TEXT:
            return False
        if not may_be or given not in {NDJSON, "application/json"}:
            raise RefusedError("bad-media", f"{given[:100]!r} is not taken here")
        return True

    async def json(self, most: int | None = None) -> dict[str, Any]:
        """Return a body that is a JSON object."""
        longest = most or self.limits.json_bytes
        try:
            return dict(read_json(await read_body(self.request, longest, self.limits.body_s), longest))
        except BodyError:
            raise
        except MessageError as error:
            raise RefusedError("bad-request", f"the body: {error}") from error

    def answer(self, content: object, status: int = OK) -> Response:
        """Answer with JSON."""
        return Response(json_text(content), status_code=status, media_type="application/json")

    def tagged(self, content: object) -> Response:
        """Answer with JSON that has a tag; a client that has it already gets no body."""
        body = json_text(content).encode()
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        return self.unchanged(tag) or Response(body, media_type="application/json", headers={"ETag": tag})

    def unchanged(self, tag: str) -> Response | None:
        """Answer that a client has what it asks for; None if it has not."""
        known = [one.strip() for one in self.request.headers.get("if-none-match", "").split(",")]
        if tag in known or f"W/{tag}" in known or "*" in known:
            return Response(status_code=NOT_MODIFIED, headers={"ETag": tag})
        return None

    def stream(self, lines: AsyncIterator[bytes], media_type: str = NDJSON, **headers: str) -> Response:
        """Answer with lines as they come."""
        return StreamingResponse(lines, media_type=media_type, headers=headers)


Endpoint = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Resource:
    """One method of one path."""

    method: str
    path: str
    endpoint: Endpoint
    role: Role | None = Role.CRAWLER
    """Who may call it, besides operators; None for everybody, without a token."""
    is_stream: bool = False
    """Whether it may take long, so that a token may have only some of them at a time."""
