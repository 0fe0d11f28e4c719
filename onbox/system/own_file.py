"""Whether a file that one of our programs writes anew each time is its own."""

from __future__ import annotations

import os
import stat

from onbox.system.files import read_file


def why_not_ours(path: str, start: bytes, what: str) -> str | None:
    """Why the file there must stay as it is: something else wrote it. None: it is ours, or there is none.

    start: the bytes that each of ours begins with. what: one of ours in words, such as `a page of a patrol`.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return "is not a file"
        found = read_file(path, len(start)) or b""
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return None if found == start or not found else f"holds something else than {what}"
