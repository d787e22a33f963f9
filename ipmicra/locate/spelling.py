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


_SLAVIC = [
    pair.split(">")
    for pair in """
    shch>sc kh>h zh>z ts>c tz>c iy>y yy>y ii>y ij>y yi>y ye>e je>e yo>e jo>e ya>a ia>a ja>a yu>u ju>u ks>x j>y
    i>y w>v ph>f
    """.split()
]
"""Ways to write Cyrillic letters that name the same sound, in the order in which they are made one."""


def sounded(key: str) -> str:
    """Spell a folded name so that transliterations of one Cyrillic name are equal.

    `Khanty-Mansiysk` and `hanty-mansiisk` are both `hantymansysk`.
    """
    for one, other in _SLAVIC:
        key = key.replace(one, other)
    return "".join(letter for letter, before in zip(key, f" {key}", strict=False) if letter != before)
