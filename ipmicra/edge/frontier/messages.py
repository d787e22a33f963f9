"""The messages of URLFrontier, made from their description; see `urlfrontier.proto`.

Code that protobuf generates works with one version of protobuf; a description works with all. It has a pool
of its own, so that programs which have loaded URLFrontier's own messages can import this as well.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SERVICE = "/urlfrontier.URLFrontier/"
PUT_URLS, PUT_DISCOVERED = f"{SERVICE}PutURLs", f"{SERVICE}PutDiscovered"
OK, SKIPPED, FAIL = 0, 1, 2
"""Of acknowledgements: done; wrong, do not send it again; send it again."""

_POOL = descriptor_pool.DescriptorPool()
for _file in descriptor_pb2.FileDescriptorSet.FromString(
    files("ipmicra.edge.frontier").joinpath("urlfrontier.binpb").read_bytes()
).file:
    _POOL.AddSerializedFile(_file.SerializeToString())


def _message(name: str) -> Any:  # noqa: ANN401 - protobuf makes classes while it runs
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"urlfrontier.{name}"))


URLInfo, URLItem, AckMessage = _message("URLInfo"), _message("URLItem"), _message("AckMessage")
DiscoveredBatch, BatchAck = _message("DiscoveredBatch"), _message("BatchAck")
