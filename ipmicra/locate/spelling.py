"""Names of places as tables spell them: small Latin letters, nothing else."""

from __future__ import annotations

import unicodedata

_SPECIAL = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "ø": "o",
        "å": "a",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "œ": "oe",
        "\u0131": "i",
    }
)
"""Letters that do not decompose into a plain one and an accent."""


def folded(name: str) -> str:
    """Spell a name in small letters without accents, spaces and hyphens: `São Paulo` → `saopaulo`."""
    if name.isascii():
        return "".join(filter(str.isalpha, name.lower()))
    plain = unicodedata.normalize("NFKD", name.lower().translate(_SPECIAL))
    return "".join(letter for letter in plain if letter.isalpha())
