"""What a browser may do with our pages, and which requests it may send."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Of every page."""


def is_own_form(request: Request) -> bool:
    """Return whether a form was sent from one of our own pages.

    Browsers say where a request comes from by `Sec-Fetch-Site`, older ones by `Origin` only. One that says
    neither is no browser: it has no cookie that somebody else could make use of.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host", "")
