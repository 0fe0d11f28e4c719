"""Expected trouble, as one clear line each: what, where, what was seen, what to do; of a defect, where it is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onbox.contract.exits import Exit


class Trouble(Exception):
    """Something a user can put right. `exit` is the code that the command ends with; the text may have many lines."""

    def __init__(self, exit_code: Exit, text: str) -> None:
        self.exit_code = exit_code
        super().__init__(text)


def describe_defect(error: Exception) -> str:
    """What went wrong and the line of code that met it, in one line: `KeyError: 'loss' (track.py:31)`."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = "" if frame is None else f" ({os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno})"
    return f"{type(error).__name__}: {error}{place}"
