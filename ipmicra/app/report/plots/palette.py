"""Colours by the part they play, for light and dark surroundings."""

from __future__ import annotations

CRAWLER_LIGHT = (
    *("#266ac2", "#da7d05", "#429bab", "#aa2f7c", "#64661e", "#742936"),
    *("#a16fff", "#ec3c70", "#092dc5", "#53127d", "#0a1940", "#3b0900"),
)
"""Twelve colours on white that people with any kind of colour blindness can distinguish; a test checks."""
CRAWLER_DARK = (
    *("#3599ff", "#ffad48", "#1fda89", "#e458e0", "#6ea532", "#ad5947"),
    *("#b4b3ff", "#e24986", "#a0dfff", "#b49fab", "#daed65", "#f6c1c5"),
)
"""The same on a dark ground."""

LIGHT = {
    "page": "#f5f6f8",
    "card": "#ffffff",
    "ink": "#16202c",
    "muted": "#586575",
    "line": "#dde2e8",
    "sea": "#eef3f7",
    "land": "#d3dbe3",
    "quiet": "#e9edf1",
    "shared": "#8b97a5",
    "accent": "#0b5cad",
    "ours": "#0b5cad",
    "oracle": "#16202c",
    "hash": "#c2570c",
    "random": "#77818d",
    "good": "#0b6b4f",
}
DARK = {
    "page": "#0f141a",
    "card": "#171e26",
    "ink": "#e8edf2",
    "muted": "#9dabba",
    "line": "#2b3642",
    "sea": "#121a22",
    "land": "#2c3947",
    "quiet": "#202a34",
    "shared": "#6f7d8c",
    "accent": "#6db3ff",
    "ours": "#6db3ff",
    "oracle": "#e8edf2",
    "hash": "#ffa45c",
    "random": "#8e9aa7",
    "good": "#4fd1a5",
}


def crawler_role(number: int) -> str:
    """Name the colour of a crawler; after the last colour they repeat."""
    return f"c{number % len(CRAWLER_LIGHT)}"


def colours(*, is_dark: bool = False) -> dict[str, str]:
    """Return every role's colour."""
    own, crawlers = (DARK, CRAWLER_DARK) if is_dark else (LIGHT, CRAWLER_LIGHT)
    return {**own, **{f"c{i}": colour for i, colour in enumerate(crawlers)}}
