"""What `onbox stats --hogs` shows, as lines for people of at most 80 columns. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.model.screen import WIDTH, clip, labelled
from onbox.model.units import format_size
from onbox.outside import safe_line

if TYPE_CHECKING:
    from onbox.collectors.hogs import Hogs

SHOWN = 20
SHOWN_UNSEEN = 5


def render_hogs(hogs: Hogs) -> str:
    """The biggest first; then where nobody could look."""
    lines = [clip(f"      size     files  {'nothing of over 1 MB' if not hogs.found else 'where'}", WIDTH)]
    for one in hogs.found[:SHOWN]:
        mark = " " if one.whole else ">"
        lines.append(clip(f"{mark} {format_size(one.bytes):>8}  {one.files:>8}  {safe_line(one.path)}", WIDTH))
    if len(hogs.found) > SHOWN:
        lines.append(f"  … and {len(hogs.found) - SHOWN} more: --json")
    lines += labelled("looked", f"into {', '.join(map(safe_line, hogs.places))}")
    if hogs.late:
        lines += labelled(
            "late", "the time for this look was over: what has > is at least so big, and not all is listed"
        )
    for text in hogs.unseen[:SHOWN_UNSEEN]:
        lines += labelled("unseen", safe_line(f"could not look into {text}"))
    if len(hogs.unseen) > SHOWN_UNSEEN:
        lines.append(f"  unseen   and {len(hogs.unseen) - SHOWN_UNSEEN} more")
    return "\n".join(lines)
