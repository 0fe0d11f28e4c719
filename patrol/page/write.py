"""The page as a file: made from the memory, replaced in one step."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.system import own_file
from onbox.system.clock import wall
from onbox.system.files import StateNotWritten, replace_file
from patrol.defects import note_defect
from patrol.memory.rows import MemoryTrouble
from patrol.page.gather import gather

if TYPE_CHECKING:
    from patrol.config.settings import Settings
    from patrol.page.model import PageHistory

SINCE_SECONDS = 30 * 86400.0
USUAL = "report.html"
_START = b"<!doctype html>\n<!-- patrol report -->"


class NoExtra(Exception):
    """What the page is made with is not installed; the text names it."""


def page_of(history: PageHistory) -> str:
    """Raises NoExtra."""
    try:
        from patrol.page.render import render_page  # noqa: PLC0415 - an extra
        from patrol.page.view import view_of  # noqa: PLC0415 - with it
    except ModuleNotFoundError as error:
        raise NoExtra(f"{error.name} is not installed: in onbox's checkout: pip install '.[report]'") from error
    return render_page(view_of(history))


def path_of(settings: Settings) -> str:
    """Where the configured page lies, else the usual one: in the project's folder."""
    return os.path.join(settings.folder, os.path.expanduser(settings.patrol.report or USUAL))


def write_page(path: str, page: str) -> None:
    """In one step. Raises StateNotWritten."""
    replace_file(path, page.encode("utf-8", "replace"), durable=False)


def renew_page(settings: Settings, *, timed: bool | None = None) -> list[str]:
    """After a tick, where [patrol] asks for a page: trouble, if there was any. It never ends the tick."""
    path, now = path_of(settings), wall()
    if why := why_not_ours(path):
        return [f"the report was not written: {path} {why}; move it away, or name another file"]
    try:
        write_page(path, page_of(gather(settings, now, now - SINCE_SECONDS, renews=True, timed=timed)))
    except (NoExtra, MemoryTrouble, StateNotWritten) as error:
        return [f"the report could not be written: {error}"]
    except Exception as error:  # noqa: BLE001 - the tick is remembered and said all the same
        return [f"the report could not be made: {note_defect(settings.state, 'report', error)}"]
    return []


def why_not_ours(path: str) -> str | None:
    """Why the file there must stay as it is: something else wrote it. None: it is ours, or there is none."""
    return own_file.why_not_ours(path, _START, "a page of a patrol")
