"""Recognise a coordinator by a public key rather than by a certificate: the key outlives its certificates.

A pin is the SHA-256 of a certificate's public key (its SubjectPublicKeyInfo, as in RFC 7469). The certificate
is that of the coordinator or of the authority that signs it. An agent asks the coordinator for the pinned
certificate over a connection that proves nothing yet and carries no secret; the pin proves the certificate,
and the certificate proves every connection from then on.
"""

from __future__ import annotations

import hashlib

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ipmicra.errors import InputError

LONGEST_PEM = 100_000
"""Bytes of a file, or an answer, with certificates."""


def pin_of(certificate: x509.Certificate) -> str:
    """Return the pin of a certificate: 64 hexadecimal digits."""
    key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(key).hexdigest()


def read_certificates(data: bytes, where: str) -> list[x509.Certificate]:
    """Read the certificates of a PEM file; a private key beside them is left alone."""
    try:
        return x509.load_pem_x509_certificates(data[:LONGEST_PEM])
    except ValueError as error:
        raise InputError(f"{where}: there is no certificate in PEM form in it") from error


def is_self_signed(certificate: x509.Certificate) -> bool:
    """Return whether nobody else signed a certificate."""
    return certificate.issuer == certificate.subject


def text_of(certificate: x509.Certificate) -> str:
    """Write a certificate in PEM form."""
    return certificate.public_bytes(Encoding.PEM).decode()


def find_pinned(data: bytes, pin: str, where: str) -> x509.Certificate:
    """Return the certificate among those of a PEM text that a pin proves."""
    for certificate in read_certificates(data, where):
        if pin_of(certificate) == pin:
            return certificate
    raise InputError(
        f"{where} shows another key than the one that the join token names: it is not the coordinator that "
        "made the token, or its key was replaced; make a new join token if it was"
    )
