"""A defect that was met at one box: it costs that box's look, and leaves one report, whatever the number of ticks."""

from __future__ import annotations

import os
import traceback
from contextlib import suppress

from onbox.outside import safe_line, safe_text
from onbox.system.files import StateNotWritten, make_folders, replace_file

FOLDER = "defects"
WORDS_LIMIT = 200


def note_defect(state: str, box: str, error: BaseException) -> str:
    """Keep where it happened, in one file per box; what to say of it. Never raises for a state that cannot be written:
    then the words are all.
    """
    words = f"a defect in the patrol: {type(error).__name__}: {safe_line(str(error), WORDS_LIMIT)}"
    path = os.path.join(state, FOLDER, f"{box}.txt")
    text = safe_text("".join(traceback.format_exception(error)))
    with suppress(StateNotWritten, OSError):
        make_folders(os.path.dirname(path))
        replace_file(path, text.encode("utf-8", "backslashreplace"))
        words += f"; details in {path}"
    return words
