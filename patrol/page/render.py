"""From the view to HTML. Needs jinja2 (`onbox[report]`); everything else that the page needs lies in `assets/`.

Text from a box cannot become markup: autoescape is on, each value passes `safe_line` on its way out, and the page's own
policy (CSP) lets nothing run but the one script whose hash it names, and nothing be loaded at all.
"""

from __future__ import annotations

import base64
import hashlib
import math
import time
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from onbox.outside import safe_line

if TYPE_CHECKING:
    from patrol.page.view import View

ASSETS = files("patrol.page") / "assets"
SCRIPTS = ("uPlot.iife.min.js", "page.js")
STYLES = ("uPlot.min.css", "page.css")
TEMPLATE = "page.html.jinja"


def render_page(view: View) -> str:
    """The whole page."""
    script, style = _joined(SCRIPTS), _joined(STYLES)
    rules = {"default-src": "'none'", "script-src": _hash(script), "style-src": _hash(style), "img-src": "data:"}
    closed = {"base-uri": "'none'", "form-action": "'none'"}
    policy = "; ".join(f"{name} {value}" for name, value in (rules | closed).items())
    ours = {"script": Markup(script), "style": Markup(style), "policy": Markup(policy)}  # noqa: S704 - files of this package
    text: str = _template().render(view=view, **ours)
    return text


@lru_cache(maxsize=1)
def _template() -> Any:
    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters.update(clock=_clock, iso=_iso, ago_of=_ago_of)
    return environment.get_template(TEMPLATE)


def _shown(value: Any) -> Any:
    """Each text that is put into the page, but what is markup of ours."""
    return safe_line(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


@lru_cache(maxsize=2)
def _joined(names: tuple[str, ...]) -> str:
    return "\n".join(_asset(name).strip() for name in names)


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


# -- filters


def _clock(at: float | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """By this machine's clock; a time beyond the calendar is not a reason to fail."""
    try:
        return "" if at is None or not math.isfinite(at) else time.strftime(form, time.localtime(at))
    except (ValueError, OverflowError, OSError):
        return "?"


def _iso(at: float | None) -> str:
    return _clock(at, "%Y-%m-%dT%H:%M:%S%z")


def _ago_of(at: float | None, now: float) -> str:
    """`12 min`, `3 h`, `2 days`: whole units. assets/page.js does the same as time goes on."""
    if at is None:
        return ""
    seconds = max(0.0, now - at)
    if seconds < 5.0:
        return "just now"
    for size, unit in ((172800.0, "days"), (5400.0, "h"), (90.0, "min")):
        if seconds >= size:
            return f"{int(seconds // {'days': 86400.0, 'h': 3600.0, 'min': 60.0}[unit])} {unit} ago"
    return f"{int(seconds)} s ago"
