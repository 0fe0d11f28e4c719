"""The history as one HTML page: no script, no outside file, plots as inline SVG. Pure.

Every text that comes from a box is escaped here, once, at the edge of the page.
"""

from __future__ import annotations

import time
from html import escape as html_escape
from typing import TYPE_CHECKING, NamedTuple

from onbox.outside import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patrol.memory.rows import Flip, LastWord, Point

WIDTH, HEIGHT, MARGIN = 560, 96, 4
POINTS_LIMIT = 2000  # of one plot; more is thinned out
COLOURS = ("#2e7d32", "#f9a825", "#c62828", "#757575")  # by severity
# field of Point, title, what its largest value is by nature
PLOTS = (
    ("current", "progress", None),
    ("loss", "loss", None),
    ("memory_percent", "memory, % of the limit", 100.0),
    ("disk_percent", "fullest disk, %", 100.0),
    ("inodes_percent", "inodes, %", 100.0),
    ("gpu_percent", "GPU, %", 100.0),
)
STYLE = """
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1200px;padding:0 1em;color:#212121;background:#fff}
h1{font-size:1.3em}h2{font-size:1.1em;margin-top:2em;border-bottom:1px solid #ddd}
code,.line{font:12px ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.plots{display:flex;flex-wrap:wrap;gap:1em}figure{margin:0}figcaption{font-size:12px;color:#555}
svg{background:#fafafa;border:1px solid #eee}table{border-collapse:collapse;font-size:12px}
td{padding:2px 8px 2px 0;vertical-align:top}
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}svg{background:#222;border-color:#333}
h2{border-color:#444}figcaption{color:#aaa}}
""".strip()


class RunHistory(NamedTuple):
    """One run's last word, its numbers as `(at, rule, severity, point)`, and its changes, newest first. cells: of a
    sweep, some of them: name, state, metric or failure class.
    """

    word: LastWord
    points: Sequence[tuple[int, str, int, Point]]
    flips: Sequence[Flip]
    cells: Sequence[Sequence[str]] = ()


def escape(text: str) -> str:
    return html_escape(safe_line(text))


def render_page(title: str, about: Sequence[str], runs: Sequence[RunHistory]) -> str:
    """The whole page. about: lines about the patrol itself."""
    parts = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(line)}</p>" for line in about)]
    for run in runs:
        parts += _run(run)
    if not runs:
        parts.append("<p>No run is known yet.</p>")
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


def _run(run: RunHistory) -> list[str]:
    name = f"{run.word.box}/{run.word.run}" if run.word.run else run.word.box
    parts = [f"<h2>{escape(name)}</h2>", f'<p class="line">{escape(run.word.line)}</p>']
    plots = [plot for field, title, top in PLOTS if (plot := _plot(run.points, field, title, top))]
    if run.points:
        parts.append(f'<div class="plots">{_band(run.points)}{"".join(plots)}</div>')
    if run.cells:
        rows = "".join("<tr>" + "".join(f"<td>{escape(one)}</td>" for one in row) + "</tr>" for row in run.cells)
        parts.append(f"<table>{rows}</table>")
    if run.flips:
        rows = "".join(
            f"<tr><td>{_clock(flip.at)}</td><td>{escape(flip.state)}</td><td>{escape(flip.rule)}</td>"
            f"<td>{escape(flip.say)}</td></tr>"
            for flip in run.flips
        )
        parts.append(f"<table>{rows}</table>")
    return parts


def _band(points: Sequence[tuple[int, str, int, Point]]) -> str:
    """Severity over time, one stripe per change."""
    first, last = points[0][0], points[-1][0]
    stripes: list[str] = []
    for number, (at, rule, severity, _) in enumerate(points):
        if number and (rule, severity) == points[number - 1][1:3]:
            continue
        x = _x(at, first, last)
        colour = COLOURS[severity if severity in range(4) else 3]
        stripes.append(
            f'<rect x="{x:.1f}" y="0" width="{WIDTH - x:.1f}" height="16" fill="{colour}">'
            f"<title>{_clock(at)} {escape(rule)}</title></rect>"
        )
    svg = f'<svg width="{WIDTH}" height="16" role="img">{"".join(stripes)}</svg>'
    return f"<figure>{svg}<figcaption>what was said, {_clock(first)} to {_clock(last)}</figcaption></figure>"


def _plot(points: Sequence[tuple[int, str, int, Point]], field: str, title: str, top: float | None) -> str:
    """A line; "" where fewer than two values are known. Gaps in the knowledge are gaps in the line."""
    values = [(at, getattr(point, field)) for at, _, _, point in points]
    known = [value for _, value in values if value is not None]
    if len(known) < 2:
        return ""
    low, high = (0.0, top) if top is not None else (min(known), max(known))
    step = max(1, len(values) // POINTS_LIMIT)
    path, pen_down, before = [], False, 0.0
    for at, value in values[::step]:
        if value is None:
            pen_down = False
            continue
        if field == "current" and pen_down and value < before:
            pen_down = False  # another stage's counter, or another attempt's: no line goes back to it
        before = value
        y = HEIGHT - MARGIN - (value - low) / ((high - low) or 1.0) * (HEIGHT - 2 * MARGIN)
        path.append(f"{'L' if pen_down else 'M'}{_x(at, values[0][0], values[-1][0]):.1f} {min(max(y, 0), HEIGHT):.1f}")
        pen_down = True
    line = f'<path d="{"".join(path)}" fill="none" stroke="#1565c0" stroke-width="1.5"/>'
    caption = f"{escape(title)}: {known[-1]:g} (lowest {min(known):g}, highest {max(known):g})"
    svg = f'<svg width="{WIDTH}" height="{HEIGHT}" role="img">{line}</svg>'
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def _x(at: float, first: float, last: float) -> float:
    return MARGIN + (at - first) / ((last - first) or 1.0) * (WIDTH - 2 * MARGIN)


def _clock(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
