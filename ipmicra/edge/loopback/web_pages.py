"""The pages of a loopback web: content, links, robots.txt, sitemaps, redirects and oddities.

How it works
------------
Nothing is stored: a page follows from plan, host and path. Page 0 of a site is its main page; page n links to
its children 8n+1 … 8n+8, so that all pages can be reached and depth grows with the logarithm, and to random
pages of its own site and of others. What else can be asked for:

| path | what |
|---|---|
| `/d2/p17.html` | page 17, in one of the first-level directories |
| `/robots.txt`, `/sitemap.xml` | `/private/` is forbidden; the sitemap lists the pages |
| `/private/17.html` | a page that no polite crawler asks for |
| `/hop/3/17` | redirects three times, then to page 17 |
| `/away/2` | redirects to the main page of another site |
| `/calendar/5` | a trap: each day links to the next two |
| `/huge.html`, `/drip.html`, `/picture.png` | 5 MB; one byte per second without end; not a page |

`version` counts editions of the web: in edition v every page whose number leaves the remainder v modulo
`CHANGES_EVERY` has changed, and with it its ETag and Last-Modified.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from hashlib import blake2b
from itertools import accumulate

from ipmicra.edge.loopback.web_plan import WebPlan

CHANGES_EVERY = 5
"""Of so many pages one changes in each edition."""
CHILDREN = 8
PRIVATE_EVERY = 4
"""Of so many pages one links to a page that robots.txt forbids."""
FIRST_EDITION_S, EDITION_S = 1_700_000_000, 86_400
HUGE_BYTES = 5_000_000
_PAGE = re.compile(r"/d(\d+)/p(\d+)\.html")
_HOP = re.compile(r"/hop/(\d+)/(\d+)")
_NUMBERED = re.compile(r"/(private|calendar|away)/(\d+)(?:\.html)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAnswer:
    """What a server answers."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    drips: bool = False
    """Sends a byte per second and never ends."""
    has_line: bool = True
    """Whether the body takes the line's time."""


NOT_FOUND = WebAnswer(status=404, body=b"no such page")
_HTML = (("Content-Type", "text/html"),)
_ODDITIES = {
    "/huge.html": WebAnswer(headers=_HTML, body=b"x" * HUGE_BYTES, has_line=False),
    "/drip.html": WebAnswer(headers=_HTML, drips=True),
    "/picture.png": WebAnswer(headers=(("Content-Type", "image/png"),), body=b"\x89PNG\r\n\x1a\n"),
}


class WebPages:
    """Answers for all sites of a plan."""

    def __init__(self, plan: WebPlan, port: int) -> None:
        """Know the port of the sites, which is part of links between them."""
        self._plan, self._port = plan, port
        self._hosts = list(plan.pages)
        self._weights = list(accumulate(plan.pages.values()))
        self.version = 0
        """Edition of the web; a test may raise it."""

    def answer(self, host: str, path: str, headers: dict[str, str]) -> WebAnswer:
        """Answer a GET of a path at a host; `headers` have lower-case names."""
        pages = self._plan.pages.get(host)
        if pages is None:
            return NOT_FOUND
        number = self.number_of(path)
        if number is not None and number < pages and path == self.path_of(number):
            return self._page(host, number, headers)
        if path == "/robots.txt":
            return _text(f"User-agent: *\nDisallow: /private/\nSitemap: {self.url(host, '/sitemap.xml')}\n")
        if path == "/sitemap.xml":
            return self._sitemap(host, pages)
        return self._odd(host, path, pages)

    def url(self, host: str, path: str) -> str:
        """Name a path of a site from outside."""
        return f"http://{host}:{self._port}{path}"

    def path_of(self, number: int) -> str:
        """Return the path of a page."""
        return "/" if number == 0 else f"/d{number % self._plan.directories}/p{number}.html"

    @staticmethod
    def number_of(path: str) -> int | None:
        """Return the number of the page at a path; None if it is something else."""
        found = _PAGE.fullmatch(path)
        return 0 if path == "/" else int(found[2]) if found else None

    def links_of(self, host: str, number: int) -> list[str]:
        """List the links of a page, as they stand in it: own ones without the host."""
        plan, pages = self._plan, self._plan.pages[host]
        rng = random.Random(f"{plan.seed}:{host}:{number}")  # noqa: S311 - no secrets, and the same each time
        first = CHILDREN * number + 1
        links = [self.path_of(child) for child in range(first, min(first + CHILDREN, pages))]
        for _ in range(plan.links):
            if rng.random() < plan.leaving:
                (other,) = rng.choices(self._hosts, cum_weights=self._weights)
                links.append(self.url(other, self.path_of(rng.randrange(plan.pages[other]))))
            else:
                links.append(self.path_of(rng.randrange(pages)))
        if plan.private and number % PRIVATE_EVERY == 0:
            links.append(f"/private/{number}.html")
        if plan.oddities and number == 0:
            links += [f"/hop/3/{pages - 1}", "/away/1", "/calendar/1", "/huge.html", "/drip.html"]
            links += ["/picture.png"]
        return links

    def _page(self, host: str, number: int, headers: dict[str, str]) -> WebAnswer:
        edition = self._edition(number)
        tag = blake2b(f"{self._plan.seed}:{host}:{number}:{edition}".encode(), digest_size=8).hexdigest()
        changed_s = FIRST_EDITION_S + edition * EDITION_S
        about = (("ETag", f'"{tag}"'), ("Last-Modified", formatdate(changed_s, usegmt=True)))
        if _is_unchanged(headers, f'"{tag}"', changed_s):
            return WebAnswer(status=304, headers=about)
        links = "\n".join(f'<a href="{link}">{link}</a>' for link in self.links_of(host, number))
        start = f"<!doctype html><title>Page {number} of {host}, edition {edition}</title>\n{links}\n<p>"
        filler = "words " * (max(0, self._plan.page_bytes - len(start)) // 6)
        return WebAnswer(
            headers=(("Content-Type", "text/html; charset=utf-8"), *about), body=(start + filler).encode()
        )

    def _edition(self, number: int) -> int:
        """Return the last edition, up to the present one, in which a page changed."""
        return max(
            (one for one in range(1, self.version + 1) if number % CHANGES_EVERY == one % CHANGES_EVERY),
            default=0,
        )

    def _sitemap(self, host: str, pages: int) -> WebAnswer:
        places = "".join(
            f"<url><loc>{self.url(host, self.path_of(number))}</loc></url>" for number in range(pages)
        )
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
        return WebAnswer(headers=(("Content-Type", "application/xml"),), body=body.encode())

    def _odd(self, host: str, path: str, pages: int) -> WebAnswer:
        """Answer what is no page of the tree."""
        hop, numbered = _HOP.fullmatch(path), _NUMBERED.fullmatch(path)
        if hop:
            left, number = int(hop[1]), int(hop[2])
            return _redirect(f"/hop/{left - 1}/{number}" if left > 1 else self.path_of(number % pages))
        if numbered and numbered[1] == "private":
            return _text("forbidden by robots.txt")
        if numbered and self._plan.oddities:
            return self._numbered(host, numbered[1], int(numbered[2]))
        return _ODDITIES.get(path, NOT_FOUND) if self._plan.oddities else NOT_FOUND

    def _numbered(self, host: str, kind: str, number: int) -> WebAnswer:
        if kind == "away":
            other = self._hosts[(self._hosts.index(host) + number) % len(self._hosts)]
            return _redirect(self.url(other, "/"))
        days = "".join(f'<a href="/calendar/{number + step}">day</a>' for step in (1, 2))
        return WebAnswer(headers=_HTML, body=days.encode())


def _is_unchanged(headers: dict[str, str], tag: str, changed_s: int) -> bool:
    if "if-none-match" in headers:
        return tag in headers["if-none-match"]
    since = headers.get("if-modified-since")
    return since is not None and parsedate_to_datetime(since).timestamp() >= changed_s


def _text(body: str) -> WebAnswer:
    return WebAnswer(headers=(("Content-Type", "text/plain; charset=utf-8"),), body=body.encode())


def _redirect(place: str) -> WebAnswer:
    return WebAnswer(status=302, headers=(("Location", place),))
