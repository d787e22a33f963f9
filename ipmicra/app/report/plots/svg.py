"""Scenes as SVG: inside the page, or as files of their own."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from ipmicra.app.report.plots.palette import colours
from ipmicra.app.report.plots.scene import Circle, Layer, Mark, Path, Rect, Scene, Shape, Style, Text

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
# What XML 1.0 has no way to write, and what reorders or hides the text around it.
_UNSPEAKABLE = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u200a\u2010-\u2027\u202f-\u205f\u2070-\ud7ff\ue000-\ufdcf\ufdf0-\ufefe\uff00-\uffef"
    "\U00010000-\U000dffff]"
)


def plain(text: str) -> str:
    """Make a text safe to show: control and direction characters become a mark that something was there."""
    return _UNSPEAKABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def written(text: str) -> str:
    """Write a text between tags."""
    return escape(plain(text))


def attribute(text: str) -> str:
    """Write a text as an attribute's value, with its quotes."""
    return quoteattr(plain(text))


def number(value: float) -> str:
    """Write a length in pixels with one decimal at most."""
    text = f"{value:.1f}"
    return text.removesuffix(".0")


def to_svg(scene: Scene) -> str:
    """Draw a scene as a file of its own, in light colours; tips are titles."""
    body = "".join(_layer(layer, is_page=False) for layer in scene.layers if not layer.is_hidden)
    ground = f'<rect width="100%" height="100%" fill="{colours()["card"]}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(scene.width)} {number(scene.height)}"'
        f' width="{number(scene.width)}" height="{number(scene.height)}" font-family="{FONT}" role="img">'
        f"<title>{written(scene.title)}</title><desc>{written(scene.alt)}</desc>{ground}{body}</svg>\n"
    )


def to_inline(scene: Scene) -> str:
    """Draw a scene inside the page: colours come from the style sheet, tips from the script."""
    role = "group" if any(layer.is_focusable for layer in scene.layers) else "img"
    body = "".join(_layer(layer, is_page=True) for layer in scene.layers)
    return (
        f'<svg id="plot-{scene.name}" viewBox="0 0 {number(scene.width)} {number(scene.height)}"'
        f' role="{role}" aria-label={attribute(scene.alt)}>{body}</svg>'
    )


def _layer(layer: Layer, *, is_page: bool) -> str:
    looks = _classes(layer) if is_page else _paint(layer.style)
    shapes = "".join(_shape(shape, layer, is_page=is_page) for shape in layer.shapes)
    hidden = " hidden" if layer.is_hidden else ""
    return f"<g{looks}{_measures(layer.style)}{hidden}>{shapes}</g>"


def _classes(layer: Layer) -> str:
    style = layer.style
    names = [
        layer.kind,
        "m" if layer.crawler is not None else "",
        f"k{layer.crawler}" if layer.crawler is not None else "",
        f"f-{style.fill}" if style.fill else "f-none",
        f"s-{style.stroke}" if style.stroke else "",
    ]
    return f' class="{" ".join(name for name in names if name)}"'


def _paint(style: Style) -> str:
    known = colours()
    fill = known[style.fill] if style.fill else "none"
    stroke = f' stroke="{known[style.stroke]}"' if style.stroke else ""
    return f' fill="{fill}"{stroke}'


def _measures(style: Style) -> str:
    parts = ""
    if style.stroke:
        parts += f' stroke-width="{number(style.stroke_width)}"'
    if style.opacity != 1.0:
        # On each shape, not on the group: browsers would blend every group separately, and round each time.
        parts += f' fill-opacity="{style.opacity:g}"' if style.fill else ""
        parts += f' stroke-opacity="{style.opacity:g}"' if style.stroke else ""
    if style.dash:
        parts += f' stroke-dasharray="{" ".join(number(part) for part in style.dash)}"'
    return parts


def _shape(shape: Shape, layer: Layer, *, is_page: bool) -> str:
    if isinstance(shape, Text):
        return _text(shape)
    if isinstance(shape, Mark):
        shape = shape.outline
    geometry = _geometry(shape)
    if not is_page:
        named = f"><title>{written(shape.tip)}</title>{_end(shape)}" if shape.tip else "/>"
        return f"{geometry}{named}"
    tip = f" data-t={attribute(shape.tip)}" if shape.tip else ""
    focus = (
        f' tabindex="0" role="img" aria-label={attribute(shape.tip)}' if tip and layer.is_focusable else ""
    )
    return f"{geometry}{tip}{_links(shape)}{focus}/>"


def _links(shape: Rect | Circle | Path) -> str:
    """Write what the page's script needs of a box: where a click leads, and its place in the tree."""
    if not isinstance(shape, Rect):
        return ""
    find = f" data-q={attribute(shape.find)}" if shape.find else ""
    span = f' data-b="{",".join(map(str, shape.span))}"' if shape.span else ""
    return find + span


def _geometry(shape: Rect | Circle | Path) -> str:
    if isinstance(shape, Rect):
        return (
            f'<rect x="{number(shape.x)}" y="{number(shape.y)}"'
            f' width="{number(shape.width)}" height="{number(shape.height)}"'
        )
    if isinstance(shape, Circle):
        return f'<circle cx="{number(shape.x)}" cy="{number(shape.y)}" r="{number(shape.radius)}"'
    lines = "".join(
        "M" + "L".join(f"{number(x)} {number(y)}" for x, y in line) + ("Z" if shape.is_closed else "")
        for line in shape.lines
    )
    return f'<path d="{lines}"'


def _end(shape: Rect | Circle | Path) -> str:
    names: dict[type, str] = {Rect: "rect", Circle: "circle", Path: "path"}
    return f"</{names[type(shape)]}>"


def _text(text: Text) -> str:
    anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
    bold = ' font-weight="600"' if text.is_bold else ""
    x, y = number(text.x), number(text.y)
    turned = "" if text.is_upright else f' transform="rotate(-90 {x} {y})"'
    size = number(text.size)
    return f'<text x="{x}" y="{y}" font-size="{size}"{anchor}{bold}{turned}>{written(text.text)}</text>'
