"""`/v1/export`: who crawls what, in the formats of other crawlers."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

from starlette.responses import Response

from ipmicra.app.export.export import for_format
from ipmicra.app.export.formats import ExportFormat, Rendering, format_named
from ipmicra.app.export.rows import SiteReader, export_mark
from ipmicra.app.export.scope import ExportScope
from ipmicra.app.export.sources import StoreSource
from ipmicra.app.serve.api.calls import NDJSON, Call, Resource
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.foreign_text import json_text


async def export(call: Call) -> Response:
    """Return all sites in a format, by host; or what the format leaves out of them."""
    name, crawler = call.text_or_none("format") or "csv", call.text_or_none("crawler")
    chosen, is_about_rest = format_named(name), call.flag("left_out")
    if chosen.is_per_crawler and crawler is None:
        raise RefusedError("bad-request", f"`{name}` is a file for one crawler: name it as `crawler`")
    tag = await call.coordinator.reader.read(lambda store: _tag(store, name, crawler, is_about_rest))
    unchanged = call.unchanged(tag)
    if unchanged is not None:
        return unchanged
    proxies = await call.coordinator.reader.read(_proxies)
    exporting = _Exporting(call, chosen, ExportScope(crawler=crawler, proxies=proxies))
    if is_about_rest:
        return call.stream(exporting.left_out(), NDJSON, ETag=tag)
    place = f'attachment; filename="{"assignments" if chosen.is_table else name}{chosen.ending}"'
    return call.stream(exporting.parts(), chosen.media_type, **{"ETag": tag, "Content-Disposition": place})


def _tag(store: StorePort, *asked: object) -> str:
    words = f"{asked} {export_mark(store)} {sorted(_proxies(store).items())}"
    return f'"{hashlib.sha256(words.encode()).hexdigest()[:32]}"'


def _proxies(store: StorePort) -> dict[str, str]:
    return {one.name: one.proxy for one in StoreSource(store).fleet() if one.proxy}


class _Exporting:
    """An export under way: sites are read and rendered beside the event loop."""

    def __init__(self, call: Call, chosen: ExportFormat, scope: ExportScope) -> None:
        self._call, self._chosen, self._scope = call, chosen, scope
        self._rendering: Rendering = chosen.open(scope)

    async def parts(self) -> AsyncIterator[bytes]:
        reader = self._call.coordinator.reader
        yield self._rendering.begin()
        after = ""
        while True:
            piece, after = await reader.read(lambda store, at=after: self._part(store, at))  # type: ignore[misc]
            if not after:
                break
            yield piece
        yield self._rendering.end()

    def _part(self, store: StorePort, after: str) -> tuple[bytes, str]:
        sites = SiteReader(store).after(after)
        if not sites:
            return b"", ""
        return self._rendering.part(for_format(self._chosen, sites, self._scope)), sites[-1][0].host

    async def left_out(self) -> AsyncIterator[bytes]:
        async for _ in self.parts():
            pass
        for reason, one in self._scope.left_out.sites.items():
            line = {"reason": reason, "sites": one.count, "examples": one.examples}
            yield json_text(line).encode() + b"\n"


RESOURCES = (Resource("GET", "/v1/export", export, is_stream=True),)
