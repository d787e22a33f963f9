"""A small authoritative DNS server on loopback that can also be silent, fail, or talk nonsense."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from types import TracebackType
from typing import Self

import dns.asyncresolver
import dns.flags
import dns.message
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from tests.patience import PATIENCE_S

SILENT, SERVFAIL, GARBAGE = "silent", "servfail", "garbage"


class DnsServer:
    """Answers from a table of (name, type) → texts of records, or one of the moods above."""

    def __init__(self, records: dict[tuple[str, str], list[str] | str]) -> None:
        self._records = records
        self.questions: Counter[tuple[str, str]] = Counter()
        self.most_at_once = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.1)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join()
        self._socket.close()

    def resolver(self) -> dns.asyncresolver.Resolver:
        resolver = dns.asyncresolver.Resolver(configure=False)
        resolver.nameservers = ["127.0.0.1"]
        resolver.port = self._socket.getsockname()[1]
        resolver.timeout = PATIENCE_S  # a question is asked once, however busy the machine
        return resolver

    def _serve(self) -> None:
        while not self._stopped.is_set():
            try:
                wire, sender = self._socket.recvfrom(4096)
            except TimeoutError:
                continue
            answer = self._answer(wire)
            if answer:
                self._socket.sendto(answer, sender)

    def _answer(self, wire: bytes) -> bytes | None:
        query = dns.message.from_wire(wire)
        question = query.question[0]
        name, kind = str(question.name).rstrip(".").lower(), dns.rdatatype.to_text(question.rdtype)
        self.questions[name, kind] += 1
        found = self._records.get((name, kind))
        if found == SILENT:
            return None
        if found == GARBAGE:
            return wire[:2] + b"\x84\x00\x00\x01\x00\x01nonsense"
        response = dns.message.make_response(query)
        response.flags |= dns.flags.AA
        if found == SERVFAIL:
            response.set_rcode(dns.rcode.SERVFAIL)
        elif isinstance(found, list):
            response.answer.append(
                dns.rrset.from_text_list(question.name, 60, dns.rdataclass.IN, question.rdtype, found)
            )
        elif not any(known == name for known, _kind in self._records):
            response.set_rcode(dns.rcode.NXDOMAIN)
        return response.to_wire()
