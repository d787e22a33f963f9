"""Write DNS questions and read answers.

dnspython reads whatever comes from the network, except answers of the plainest form, which are most of a
crawl's and are read by hand: a full reading takes most of the time that a question costs
(docs/decisions/0023).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdataclass
from dns.rdatatype import AAAA, A, RdataType

from ipmicra.model.address import Address
from ipmicra.model.name import NameStatus

if TYPE_CHECKING:
    from dns.rdata import Rdata


_HEAD = struct.Struct("!HHHHHH")
_RECURSE = 0x0100
_FLAGS_THAT_MATTER, _IS_ANSWER = 0xFA0F, 0x8000
"""Answer, kind of question, truncated, and the error code; the first alone is set where all is well."""
_POINTER = 0xC00C
"""Stands for the name in the question."""
_PARSED_BY_HAND: dict[RdataType, tuple[int, type[IPv4Address | IPv6Address]]] = {
    A: (4, IPv4Address),
    AAAA: (16, IPv6Address),
}
"""Size of the data in bytes, and what they are."""
_STATUS_OF = {
    dns.rcode.NOERROR: NameStatus.FOUND,
    dns.rcode.NXDOMAIN: NameStatus.NXDOMAIN,
    dns.rcode.REFUSED: NameStatus.REFUSED,
}
_LONGEST_NAME, _LONGEST_LABEL = 253, 63
"""Characters (RFC 1035)."""
_EDNS = b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00"
"""OPT record: answers of up to 1,232 bytes, which no network truncates (DNS flag day 2020)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The content of one answer."""

    status: NameStatus
    addresses: tuple[Address, ...] = ()
    """Of A and AAAA records."""
    records: tuple[Rdata, ...] = ()
    """All others."""
    ttl_s: float = 0.0
    is_truncated: bool = False
    """The answer did not fit into a datagram; ask over TCP."""


def qname_of(name: str) -> bytes | None:
    """Return a host name in the form of the wire; None if it is not a valid name."""
    labels = name.rstrip(".").encode("ascii", "replace").split(b".")
    if name.isascii() and b"\\" not in name.encode():
        is_name = len(name) <= _LONGEST_NAME and all(0 < len(label) <= _LONGEST_LABEL for label in labels)
        return b"".join(bytes((len(label),)) + label for label in labels) + b"\0" if is_name else None
    try:
        return dns.name.from_text(name, idna_codec=dns.name.IDNA_2008_Practical).to_wire(origin=None)
    except (dns.exception.DNSException, UnicodeError, ValueError):
        return None


def question(number: int, qname: bytes, kind: RdataType) -> bytes:
    """Write the question for a name's records of one kind."""
    head = _HEAD.pack(number, _RECURSE, 1, 0, 0, 1)
    return head + qname + struct.pack("!HH", kind, dns.rdataclass.IN) + _EDNS


def is_answer_to(data: bytes, asked: bytes) -> bool:
    """Return whether a datagram answers a question: the same number and the same question, case aside."""
    end = len(asked) - len(_EDNS)
    if len(data) < end or not data[2] & 0x80 or data[:2] != asked[:2]:
        return False
    return data[4:6] == b"\x00\x01" and data[12:end].lower() == asked[12:end].lower()


def read_reply(data: bytes, kind: RdataType) -> Reply | None:
    """Read an answer; None if it is malformed."""
    return _read_plain(data, kind) or _read_any(data, kind)


def _read_plain(data: bytes, kind: RdataType) -> Reply | None:
    """Read an answer of the plainest form; None for all others.

    The plainest: no error, one question, then only addresses of that very name (owner: a pointer to byte 12).
    """
    if kind not in _PARSED_BY_HAND:
        return None
    flags, questions, count = struct.unpack_from("!HHH", data, 2)
    if flags & _FLAGS_THAT_MATTER != _IS_ANSWER or questions != 1 or not count:
        return None
    size, family = _PARSED_BY_HAND[kind]
    wanted = struct.pack("!HHH", _POINTER, kind, dns.rdataclass.IN)
    at = data.find(b"\0", 12) + 5
    step = len(wanted) + 6 + size
    records = [data[at + step * i : at + step * (i + 1)] for i in range(count)]
    for record in records:
        if len(record) < step or record[:6] != wanted or record[10:12] != bytes((0, size)):
            return None
    ttl_s = min(int.from_bytes(record[6:10], "big") for record in records)
    addresses = tuple(family(record[12:]) for record in records)
    return Reply(status=NameStatus.FOUND, addresses=addresses, ttl_s=float(ttl_s))


def _read_any(data: bytes, kind: RdataType) -> Reply | None:
    """Read any answer, aliases included."""
    try:
        message = dns.message.from_wire(data, ignore_trailing=True)
        if not isinstance(message, dns.message.QueryMessage):
            raise dns.exception.FormError
        if message.flags & dns.flags.TC:
            return Reply(status=NameStatus.SERVFAIL, is_truncated=True)
        status = _STATUS_OF.get(message.rcode(), NameStatus.SERVFAIL)
        if status is not NameStatus.FOUND:
            return Reply(status=status)
        chain = message.resolve_chaining()
    except (dns.exception.DNSException, ValueError, struct.error):
        return None
    ttl_s = float(chain.minimum_ttl)
    if chain.answer is None or chain.answer.rdtype != kind:
        return Reply(status=NameStatus.NO_ADDRESS, ttl_s=ttl_s)
    if kind not in _PARSED_BY_HAND:
        return Reply(status=status, records=tuple(chain.answer), ttl_s=ttl_s)
    family = _PARSED_BY_HAND[kind][1]
    return Reply(
        status=status, addresses=tuple(family(record.address) for record in chain.answer), ttl_s=ttl_s
    )
