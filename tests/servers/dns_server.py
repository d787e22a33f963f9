"""A small DNS server on loopback, over UDP and TCP, that can misbehave."""

from __future__ import annotations

import errno
import socket
import struct
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Self

import dns.rdata
from dns.rdataclass import RdataClass
from dns.rdatatype import RdataType


@dataclass(frozen=True, kw_only=True)
class Zone:
    """What the server answers about a name."""

    addresses: tuple[str, ...] = ()
    records: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Texts of records of other kinds, by kind: {"PTR": ("a.example.",)}."""
    ttl_s: int = 300
    rcode: int = 0
    """3 is NXDOMAIN, 2 SERVFAIL, 5 REFUSED."""
    alias: str | None = None
    """Canonical name, given with its addresses."""
    silent: int = 0
    """Ignore so many questions."""
    is_cut: bool = False
    """Over UDP, answer only that the answer does not fit."""
    garbage: bytes | None = None
    """Send this instead, after the number of the question."""
    is_spoofed: bool = False
    """First send an answer with another number, and one to another question, both with a wrong address."""


NOWHERE = Zone(rcode=3)


def wire_name(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def read_question(data: bytes) -> tuple[str, int, int]:
    """Return name, type and where the question ends."""
    labels, at = [], 12
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode("latin-1").lower())
        at += 1 + data[at]
    return ".".join(labels), struct.unpack_from("!H", data, at + 1)[0], at + 5


def record(owner: bytes, kind: int, ttl_s: int, content: bytes) -> bytes:
    return owner + struct.pack("!HHIH", kind, 1, ttl_s, len(content)) + content


def pair_of_sockets() -> tuple[socket.socket, socket.socket]:
    """Take one port over UDP and TCP; a port that one of them has may be another's over the other."""
    while True:
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        try:
            return udp, socket.create_server(udp.getsockname())
        except OSError as error:
            udp.close()
            if error.errno != errno.EADDRINUSE:
                raise


class DnsServer:
    """Answers from a table, and counts what it was asked."""

    def __init__(self, zones: dict[str, Zone] | None = None) -> None:
        self.zones = zones or {}
        self.asked: Counter[str] = Counter()
        self.asked_by_kind: Counter[tuple[str, str]] = Counter()
        self._silences: Counter[str] = Counter()
        self._udp, self._tcp = pair_of_sockets()
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._serve_udp, self._serve_tcp)
        ]

    @property
    def place(self) -> tuple[str, int]:
        host, port = self._udp.getsockname()
        return host, port

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            waker.sendto(b"", self.place)
        self._tcp.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        self._udp.close()
        self._tcp.close()

    def _serve_udp(self) -> None:
        while True:
            data, sender = self._udp.recvfrom(4096)
            if not data:
                return
            for answer in self._answers(data, is_udp=True):
                self._udp.sendto(answer, sender)

    def _serve_tcp(self) -> None:
        while True:
            try:
                connection, _ = self._tcp.accept()
            except OSError:
                return
            with connection:
                data = connection.recv(4096)[2:]
                for answer in self._answers(data, is_udp=False):
                    connection.sendall(struct.pack("!H", len(answer)) + answer)

    def _answers(self, data: bytes, *, is_udp: bool) -> list[bytes]:
        name, kind, end = read_question(data)
        self.asked[name] += 1
        self.asked_by_kind[name, RdataType.to_text(RdataType(kind))] += 1
        zone = self.zones.get(name, NOWHERE)
        if self._silences[name] < zone.silent:
            self._silences[name] += 1
            return []
        if zone.garbage is not None:
            return [data[:2] + zone.garbage]
        asked = data[12:end]
        if zone.is_cut and is_udp:
            return [data[:2] + struct.pack("!HHHHH", 0x8380, 1, 0, 0, 0) + asked]
        records = self._records(zone, kind)
        answer = struct.pack("!HHHHH", 0x8180 | zone.rcode, 1, len(records), 0, 0) + asked + b"".join(records)
        if zone.is_spoofed:
            wrong = record(b"\xc0\x0c", 1, 300, b"\x7f\x00\x00\x01")
            forged = struct.pack("!HHHHH", 0x8180, 1, 1, 0, 0)
            other_number = bytes([data[0] ^ 0xFF, data[1]]) + forged + asked + wrong
            other_question = data[:2] + forged + wire_name("other.example") + asked[-4:] + wrong
            return [other_number, other_question, data[:2] + answer]
        return [data[:2] + answer]

    def _records(self, zone: Zone, kind: int) -> list[bytes]:
        owner, records = b"\xc0\x0c", []
        if zone.alias is not None:
            owner = wire_name(zone.alias)
            records.append(record(b"\xc0\x0c", 5, zone.ttl_s, owner))
        for text in zone.records.get(RdataType.to_text(RdataType(kind)), ()):
            content = dns.rdata.from_text(RdataClass.IN, RdataType(kind), text).to_wire()
            records.append(record(owner, kind, zone.ttl_s, content or b""))
        wanted = {1: 4, 28: 6}.get(kind)
        parsed = [ip_address(address) for address in zone.addresses]
        records += [
            record(owner, kind, zone.ttl_s, address.packed) for address in parsed if address.version == wanted
        ]
        return records
