"""Colours by the part they play, for light and dark surroundings, and the shapes beside them.

Crawlers and curves keep their colours in both: whoever has learnt that Tokyo is green must not learn it again
at night. Such a colour stands out from white and from near-black alike, which leaves a narrow band of
lightness; within it the colours were chosen so that the closest two stay as far apart as possible for people
with and without any kind of colour blindness (`tests/unit/app/report/plots/test_palette.py` measures it).
With more than seven they come too close; further crawlers repeat the colours with another shape.
"""

from __future__ import annotations

from typing import Literal

Form = Literal["circle", "square", "triangle", "diamond"]

CRAWLERS = ("#068eff", "#d37700", "#117935", "#b801c1", "#ff004c", "#7837ff", "#bd70bf")
"""Colours of crawlers, on white and on a dark ground."""
FORMS: tuple[Form, ...] = ("circle", "square", "triangle", "diamond")

SAME = {
    "shared": "#948a92",
    "ours": CRAWLERS[0],
    "hash": CRAWLERS[1],
    "oracle": CRAWLERS[2],
    "random": "#948a92",
}
"""What looks the same in both: boxes of several crawlers, and the curves of the ways that are compared."""
LIGHT = {
    "page": "#f5f6f8",
    "card": "#ffffff",
    "ink": "#16202c",
    "muted": "#586575",
    "line": "#dde2e8",
    "sea": "#eef3f7",
    "land": "#d3dbe3",
    "quiet": "#e9edf1",
    "accent": "#0b5cad",
    "good": "#0b6b4f",
    "bad": "#b3261e",
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
    "accent": "#6db3ff",
    "good": "#4fd1a5",
    "bad": "#ff8a80",
}


def crawler_role(number: int) -> str:
    """Name the colour of a crawler; after the last colour they repeat."""
    return f"c{number % len(CRAWLERS)}"


def crawler_form(number: int) -> Form:
    """Choose the shape of a crawler's mark: neighbours in the list differ, and so do those of one colour.

    Seven colours: crawlers 0, 7, 14 and 21 have the first, as circle, square, triangle and diamond.
    """
    return FORMS[(number % len(CRAWLERS) + number // len(CRAWLERS)) % len(FORMS)]


def looks() -> int:
    """Return how many crawlers there can be without two that look the same."""
    return len(CRAWLERS) * len(FORMS)


def colours(*, is_dark: bool = False) -> dict[str, str]:
    """Return every role's colour."""
    return {
        **(DARK if is_dark else LIGHT),
        **SAME,
        **{f"c{i}": colour for i, colour in enumerate(CRAWLERS)},
    }
