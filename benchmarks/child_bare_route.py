"""A bare Starlette route under uvicorn, with the settings of the coordinator: returns the same bytes to all.

Run by `benchmarks.service`: reads the bytes from standard input, prints its port.
"""

from __future__ import annotations

import asyncio
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ipmicra.edge.web.server import ServerSettings, listening, uvicorn_config


async def main(body: bytes) -> None:
    """Serve until somebody ends the process."""

    async def owner(_request: Request) -> Response:
        return Response(body, media_type="application/json")

    app = Starlette(routes=[Route("/v1/owner", owner)])
    server = uvicorn.Server(uvicorn_config(app, ServerSettings()))
    with listening("127.0.0.1", 0) as made:
        print(made.getsockname()[1], flush=True)
        await server.serve(sockets=[made])


if __name__ == "__main__":
    asyncio.run(main(sys.stdin.buffer.readline().strip()))
