"""Host names as text: labels, the registered domain, letters that are no Latin ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

LONGEST_NAME = 253
"""Characters of a host name, without the dot at the end (RFC 1035)."""
LONGEST_LABEL = 63
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "å": "a", "ł": "l"})

RegisteredDomain = Callable[[str], str | None]
"""Returns the registered domain of a host name, None for a public suffix: `a.b.co.uk` → `b.co.uk`."""


@dataclass(slots=True)
class HostName:
    """A host name cut at the registered domain."""

    text: str
    """Small letters, no dot at the end."""
    host: list[str]
    """Labels in front of the registered domain; in Latin letters, empty where they are not."""
    domain: str
    """First label of the registered domain."""
    suffix: list[str]
    """Labels behind it: the public suffix."""
    registered: str
    """The registered domain as it was written; a public suffix if there is no more."""
    findings: tuple[str, ...] = ()


def read_host_name(name: str, registered_domain: RegisteredDomain) -> HostName | str:
    """Cut a host name into its parts; for an invalid name, return the reason."""
    text = name.strip().lower().rstrip(".")
    labels = text.split(".")
    if not text or "" in labels:
        return "the host name is empty" if not text else "the host name has an empty label"
    if len(text) > LONGEST_NAME:
        return f"the host name has {len(text)} characters; {LONGEST_NAME} are allowed"
    if len(text) > LONGEST_LABEL and max(map(len, labels)) > LONGEST_LABEL:
        return f"a label of the host name has more than {LONGEST_LABEL} characters"
    findings: tuple[str, ...] = ()
    if not text.isascii() or "xn--" in text:
        labels, findings = _latin(labels)
    registered = registered_domain(text) or text
    cut = len(labels) - registered.count(".") - 1
    return HostName(text, labels[:cut], labels[cut], labels[cut + 1 :], registered, findings)


def _latin(labels: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Spell labels in plain Latin letters; look-alikes from other scripts are named and left out."""
    plain, findings = [], []
    for label in labels:
        spelled = _decoded(label)
        if spelled is None:
            findings.append(f"the label {label!r} is no valid IDN")
        elif _is_mixed(spelled):
            findings.append(f"the label {label!r} mixes scripts: {spelled!r} may imitate another name")
        plain.append(_plain(spelled) if spelled and not _is_mixed(spelled) else "")
    return plain, tuple(findings)


def _decoded(label: str) -> str | None:
    """Decode a punycode label; None if that fails."""
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode").lower()
    except (UnicodeError, ValueError, OverflowError):
        return None


def _is_mixed(label: str) -> bool:
    """Return whether letters of several scripts stand in one label."""
    return len({unicodedata.name(letter, "?").split()[0] for letter in label if letter.isalpha()}) > 1


def _plain(label: str) -> str:
    """Spell umlauts as German does and drop other accents: `münchen` → `muenchen`; other scripts vanish."""
    spelled = label.translate(_GERMAN)
    plain = unicodedata.normalize("NFKD", spelled)
    return "".join(letter for letter in plain if letter.isascii() and (letter.isalnum() or letter in "-_"))
