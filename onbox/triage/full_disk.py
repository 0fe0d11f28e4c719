"""Which disk was full, where the line that proves it names the file. Pure."""

from __future__ import annotations

import posixpath
import re

from onbox.regex import lazy

_FULL = r"(?:no space left on device|disk quota exceeded|quota exceeded)"
_PLAIN, _QUOTED = r"/[\w.+@%,=~/-]{1,200}", r"/[\w.+@%,=~/ -]{1,200}"
# `tee: /mnt/out: No space left on device`, `error writing '/mnt/out': ...`; Python tells the file last. Only what
# touches the words was written: `/app/train.py:33: No space left on device` names the program.
_NAMED = lazy(
    rf"(?:^|[\s=(])(?P<plain>{_PLAIN}): {_FULL}"
    rf"|['\"`\u2018\u201c](?P<quoted>{_QUOTED})['\"\u2019\u201d]: {_FULL}"
    rf"|{_FULL}(?: \(os error \d+\)| \(\d+\))?: ['\"](?P<behind>{_QUOTED})['\"]",
    re.IGNORECASE,
)


def full_folder(line: str | None) -> str:
    """The folder of the file that could not be written, absolute; "": the line names none."""
    found = _NAMED.search((line or "")[:1000])
    if found is None:
        return ""
    return posixpath.dirname(found["plain"] or found["quoted"] or found["behind"])


def folder_to_look_at(line: str | None) -> str:
    """The same for a shell in the project: "." where the line names no other place."""
    return full_folder(line) or "."
