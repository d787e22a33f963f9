"""Requests of Scrapy as links, and back.

A link carries what another node needs to make the same request: method, callback by name, headers, body,
cookies, meta, arguments. What only the sender has (a proxy, a download slot, timings) stays there, and so do
headers that its downloader middlewares add: a redirected request has them, and the receiver adds its own.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from scrapy import Request, Spider
from scrapy.http.headers import Headers as ScrapyHeaders
from scrapy.settings import BaseSettings
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.request import RequestFingerprinterProtocol, request_from_dict

from ipmicra.errors import InputError
from ipmicra.model.link import Link

SLOT = "download_slot"
_SCHEMES = ("http", "https")
_LOCAL = frozenset(
    f"{SLOT} depth download_latency download_timeout is_start_request proxy retry_times ftp_user "
    "ftp_password bindaddress dont_obey_robotstxt".split()
)
"""Keys of meta that mean nothing elsewhere, or must not be decided by another node."""
_OWN_HEADERS = frozenset({b"Accept-Encoding", b"Cookie", b"Proxy-Authorization"})
_TRAVELLING = ("callback", "errback", "cb_kwargs", "flags", "cookies", "encoding")
_ENCODING = "utf-8"
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def host_of(request: Request) -> str | None:
    """Return the host that a request goes to; None if it goes to none, as for `data:` and `file:`."""
    parts = urlparse_cached(request)
    if parts.scheme not in _SCHEMES or not parts.hostname:
        return None
    return parts.hostname.rstrip(".").lower()


def key_of(request: Request, fingerprinter: RequestFingerprinterProtocol) -> int:
    """Return 64 bits of a request's fingerprint, never 0; Scrapy decides which requests are the same."""
    return int.from_bytes(fingerprinter.fingerprint(request)[:8], "big", signed=True) or 1


Headers = dict[bytes, list[bytes]]


def headers_of(settings: BaseSettings) -> Headers:
    """Return the headers that every request of a node gets."""
    agent = settings.get("USER_AGENT")
    given = dict(settings.getdict("DEFAULT_REQUEST_HEADERS")) | ({"User-Agent": agent} if agent else {})
    return dict(ScrapyHeaders({name: value for name, value in given.items() if value is not None}))


def link_of(request: Request, key: int, spider: Spider, added: Headers) -> Link:
    """Make a link of a request; headers that are `added` to every request are left out.

    Raises:
        InputError: It cannot travel: its callback is no method of the spider, or its meta is no JSON.
    """
    try:
        extra = _extra_of(request, type(spider), added)
        text = _encode(extra) if extra else ""
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{request.url} cannot be handed to another node: {error}") from error
    return Link(
        url=request.url,
        host=host_of(request) or "",
        depth=int(request.meta.get("depth", 0)),
        priority=int(request.priority),
        key=key,
        extra=text,
    )


def _extra_of(request: Request, spider: type[Spider], added: Headers) -> dict[str, Any]:
    """Return what is not usual of a request; most have a callback and a header of their own at most."""
    extra = {name: value for name in ("cb_kwargs", "flags", "cookies") if (value := getattr(request, name))}
    for name, method in (("callback", request.callback), ("errback", request.errback)):
        if method is not None:
            extra[name] = _method_name(spider, method)
    if request.encoding != _ENCODING:
        extra["encoding"] = request.encoding
    if request.method != "GET":
        extra["method"] = request.method
    if request.body:
        extra["body"] = base64.b64encode(request.body).decode()
    headers = {name: value for name, value in request.headers.items() if value != added.get(name)}
    if headers.keys() - _OWN_HEADERS:
        extra["headers"] = _texts_of(headers)
    if meta := {name: value for name, value in request.meta.items() if _travels(name)}:
        extra["meta"] = meta
    if request.dont_filter and not request.meta.get("is_start_request"):
        extra["dont_filter"] = True
    return extra


def _method_name(spider: type[Spider], method: object) -> str:
    """Return the name of a spider's method; a search through all members would cost more than the page."""
    function = getattr(method, "__func__", None)
    name = str(getattr(function, "__name__", ""))
    if function is not None and getattr(spider, name, None) is function:
        return name
    for name in dir(spider):
        if function is not None and getattr(spider, name, None) is function:
            return name
    raise ValueError(f"{method} is no method of spider {spider.name!r}")


def _travels(name: object) -> bool:
    return isinstance(name, str) and name not in _LOCAL and not name.startswith(("_", "ipmicra"))


def _texts_of(headers: Headers) -> dict[str, list[str]]:
    return {
        name.decode("latin-1"): [value.decode("latin-1") for value in values]
        for name, values in headers.items()
        if name not in _OWN_HEADERS
    }


def request_of(link: Link, spider: Spider) -> Request:
    """Make the request that a link stands for.

    Raises:
        InputError: It makes no sense here: another spider sent it, or somebody who is no node.
    """
    try:
        extra: dict[str, Any] = json.loads(link.extra) if link.extra else {}
        content: dict[str, Any] = {name: extra[name] for name in _TRAVELLING if name in extra}
        content["url"] = link.url
        content["priority"] = link.priority
        content["method"] = extra.get("method", "GET")
        content["body"] = base64.b64decode(extra.get("body", ""), validate=True)
        content["headers"] = extra.get("headers") or None
        content["dont_filter"] = bool(extra.get("dont_filter"))
        meta = {name: value for name, value in extra.get("meta", {}).items() if _travels(name)}
        content["meta"] = meta | {"depth": link.depth}
        for name in ("callback", "errback"):
            _check_method(content.get(name), spider)
        request = request_from_dict(content, spider=spider)
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{link.url[:200]} was handed over but makes no request here: {error}") from error
    if host_of(request) is None:
        raise InputError(f"{link.url[:200]} was handed over but is no web address")
    return request


def _check_method(name: object, spider: Spider) -> None:
    """Refuse a callback that is no method of the spider's class: what arrives may not call anything else."""
    if name is not None and not (isinstance(name, str) and callable(getattr(type(spider), name, None))):
        raise ValueError(f"spider {spider.name!r} has no method {str(name)[:80]!r}")
