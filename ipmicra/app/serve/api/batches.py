"""`/v1/batches`: lists of hosts that are delegated in the background."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

from starlette.responses import Response

from ipmicra.app.describe.delegation import describe_decision
from ipmicra.app.serve.api.calls import ACCEPTED, Call, Resource
from ipmicra.app.serve.api.owners import read_hosts
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.delegation import Decision
from ipmicra.model.foreign_text import json_text
from ipmicra.model.token import Role

_LARGEST = (1 << 63) - 1
_PART = 1_000
"""Results that are read at a time."""


async def start_batch(call: Call) -> Response:
    """Start a batch."""
    budget = call.number("probe_budget", -1, 0, _LARGEST)
    words, key = call.text_or_none("words") or "a batch", call.text_or_none("key")
    asked = await read_hosts(call)
    if any(one.vantage for one in asked):
        raise RefusedError("bad-input", "a batch delegates subnets, which have no vantage")
    seeds = [one.text for one in asked]
    made = call.coordinator.batches.start(seeds, None if budget < 0 else budget, words[:200], key)
    return call.answer(made, ACCEPTED)


async def list_batches(call: Call) -> Response:
    """List the batches, newest first."""
    found, more = call.coordinator.batches.page(call.number("cursor", 0, 0, _LARGEST), call.page())
    return call.tagged({"batches": found, "next": more})


async def get_batch(call: Call) -> Response:
    """Describe a batch."""
    return call.tagged(call.coordinator.batches.describe(_number(call)))


async def watch_batch(call: Call) -> Response:
    """Describe a batch whenever it gets on, until its end."""
    number = _number(call)
    call.coordinator.batches.describe(number)

    async def lines() -> AsyncIterator[bytes]:
        async for described in call.coordinator.batches.watch(number):
            yield json_text(described).encode() + b"\n"
            if call.coordinator.is_stopping:
                return

    return call.stream(lines())


async def results_of_batch(call: Call) -> Response:
    """Return results of a batch as lines, from a cursor on; with `follow` until the batch is over."""
    number, mark, follows = _number(call), call.number("cursor", 0, 0, _LARGEST), call.flag("follow")
    call.coordinator.batches.describe(number)
    return call.stream(_results(call, number, mark, follows=follows))


async def _results(call: Call, number: int, mark: int, *, follows: bool) -> AsyncIterator[bytes]:
    """Return results with the cursor that follows each part of them."""
    batches = call.coordinator.batches
    watching = batches.watch(number)
    while True:
        is_over = not follows or await anext(watching, None) is None or batches.is_over(number)
        while True:
            mark, found = await call.coordinator.reader.read(partial(_read_part, number, mark))
            if found:
                lines = [json_text(describe_decision(one)) for one in found]
                yield "".join(f"{line}\n" for line in lines).encode()
                yield json_text({"cursor": mark}).encode() + b"\n"
            if len(found) < _PART:
                break
        if is_over or call.coordinator.is_stopping:
            return


def _read_part(number: int, mark: int, store: StorePort) -> tuple[int, list[Decision]]:
    return store.results.after(number, mark, _PART)


async def cancel_batch(call: Call) -> Response:
    """Cancel a batch."""
    return call.answer(await call.coordinator.batches.cancel(_number(call)))


def _number(call: Call) -> int:
    text = call.request.path_params["id"]
    if not (text.isascii() and text.isdigit() and len(text) < 19):  # noqa: PLR2004 - 63 bits
        raise RefusedError("not-found", f"{text[:64]!r} is no number of a batch")
    return int(text)


RESOURCES = (
    Resource("POST", "/v1/batches", start_batch, Role.OPERATOR),
    Resource("GET", "/v1/batches", list_batches),
    Resource("GET", "/v1/batches/{id}", get_batch),
    Resource("GET", "/v1/batches/{id}/progress", watch_batch, is_stream=True),
    Resource("GET", "/v1/batches/{id}/results", results_of_batch, is_stream=True),
    Resource("POST", "/v1/batches/{id}/cancel", cancel_batch, Role.OPERATOR),
)
