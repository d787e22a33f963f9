"""What all pages share: templates that escape, the style sheet and the script.

The report puts style and script into its one file; the coordinator's page serves them as files. Both are put
together here, from the same pieces.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ipmicra.app.report.plots.palette import CRAWLERS, colours, crawler_form, crawler_role, looks
from ipmicra.app.report.plots.svg import plain
from ipmicra.model.quantities import plural

SCRIPTS = ("address", "state", "tips", "tables", "legend", "icicle", "world")
"""In this order they make one module."""


def environment(*packages: str) -> Environment:
    """Make the templates of some packages; the first that has a template gives it."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"plural": plural, "comma": "{:,}".format, "look": _look, "digest": _digest}
    made.globals |= {"look_count": looks()}
    return made


def page_style() -> str:
    """Return the style sheet with its colours."""
    return _asset("report.css") + palette_css()


def page_script() -> str:
    """Join the scripts into one module: a file opened from disk cannot load others."""
    return "\n".join(_asset("scripts", f"{name}.js") for name in SCRIPTS)


def palette_css() -> str:
    """Write the colours of light and dark surroundings as a style sheet."""
    roles = {
        name: "".join(f"--{role}:{colour};" for role, colour in colours(is_dark=is_dark).items())
        for name, is_dark in (("light", False), ("dark", True))
    }
    paint = "".join(f".f-{role}{{fill:var(--{role})}}.s-{role}{{stroke:var(--{role})}}" for role in colours())
    swatches = "".join(f".w.c{i}{{background:var(--c{i})}}" for i in range(len(CRAWLERS)))
    return (
        f":root{{{roles['light']}}}@media (prefers-color-scheme:dark){{:root{{{roles['dark']}}}}}"
        f"@media print{{:root{{{roles['light']}}}}}{paint}{swatches}"
    )


def _finalize(value: object) -> object:
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _asset(*names: str) -> str:
    return files("ipmicra.app.report").joinpath("assets", *names).read_text(encoding="utf-8")


def _look(number: int) -> str:
    """Name the classes that give a crawler's swatch its colour and shape."""
    return f"{crawler_role(number)} h-{crawler_form(number)}"


def _digest(text: str) -> str:
    """Write the hash by which a policy allows a script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
