"""Why a coordinator does not answer a question: one error with what a client needs to know.

A kind is the last part of the `type` of a problem (RFC 9457) and never changes its meaning; `docs/api.md`
lists them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.errors import IpmicraError


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of refusal."""

    name: str
    status: int
    """Of HTTP."""
    title: str
    next_step: str
    """What to do about it."""
    retry_s: int | None = None
    """Seconds after which to try again; None if that does not help."""


KINDS = {
    kind.name: kind
    for kind in (
        Kind("bad-request", 400, "The request makes no sense", "Compare it with /v1/openapi.json."),
        Kind("bad-input", 422, "The input cannot be used", "Correct what the detail names, and ask again."),
        Kind(
            "unauthenticated",
            401,
            "A token is needed",
            "Send `Authorization: Bearer TOKEN`; an operator makes tokens with `ipmicra token add`.",
        ),
        Kind(
            "forbidden",
            403,
            "The token's role may not do this",
            "Use a token of another role: `ipmicra token add NAME --role operator`.",
        ),
        Kind(
            "not-member",
            403,
            "The agent is no member of the fleet",
            "Join with a new token: an operator makes one with `ipmicra token add NAME --role join`.",
        ),
        Kind(
            "superseded",
            409,
            "Another process calls as the same agent",
            "Run one agent per identity; let the others join with tokens of their own.",
        ),
        Kind("not-found", 404, "There is no such thing", "Look at /v1/openapi.json for what there is."),
        Kind(
            "no-method", 405, "The method is not known here", "Look at the `Allow` header for those that are."
        ),
        Kind("too-slow", 408, "The request took too long to arrive", "Send it again, faster.", 1),
        Kind(
            "vantage-needed",
            409,
            "The site has an owner for each vantage",
            "Name one with `vantage=`; the detail lists them.",
        ),
        Kind("conflict", 409, "This contradicts how things are", "Look at what is there, then decide."),
        Kind("too-large", 413, "The request is too large", "Send it in parts."),
        Kind(
            "bad-media",
            415,
            "The body is of another kind",
            "Send text/plain with a host per line, or application/x-ndjson where it is taken.",
        ),
        Kind("long-headers", 431, "The headers are too long", "Send shorter ones."),
        Kind(
            "unresolved",
            422,
            "The host has no address",
            "Check its spelling; if it is right, ask again when its name resolves.",
        ),
        Kind("too-many", 429, "Too many requests of this token at a time", "Wait for those under way.", 1),
        Kind("internal", 500, "A fault of the coordinator", "Look into its log; then report it."),
        Kind(
            "nobody",
            503,
            "No crawler can be given the site, or asked about it",
            "Look at `ipmicra crawler list`: start agents, or wait until one is back.",
            5,
        ),
        Kind("busy", 503, "The coordinator has too much to do", "Try again later.", 2),
        Kind("not-ready", 503, "The coordinator cannot decide for now", "Try again later.", 2),
        Kind("stopping", 503, "The coordinator stops", "Try again when it is back.", 5),
    )
}


class RefusedError(IpmicraError):
    """A question without an answer, of a kind that clients can tell apart."""

    def __init__(self, kind: str, detail: str) -> None:
        """Name the kind, one of `KINDS`, and the facts of this case."""
        super().__init__(detail)
        self.kind = KINDS[kind]
        self.detail = detail
