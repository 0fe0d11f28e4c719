"""What people write into the page: everything between two marked lines survives a rebuild, byte for byte. Pure."""

from __future__ import annotations

from onbox.named_tuple import NamedTuple

NOTES_BEGIN = "<!-- notes: what you write below this line is kept -->"
NOTES_END = "<!-- end of notes: what you write below this line is lost -->"


class KeptNotes(NamedTuple):
    """notes: the text between the marked lines. damaged: those lines are not there as they must be, so that nobody can
    tell what is a note: the old page must be kept whole.
    """

    notes: str
    damaged: bool


def keep_notes(page: str | None) -> KeptNotes:
    """The notes of an earlier page; None: there is none."""
    if page is None:
        return KeptNotes("", damaged=False)
    begin = [at for at, line in enumerate(page.split("\n")) if line.rstrip("\r") == NOTES_BEGIN]
    lines = page.split("\n")
    end = [at for at, line in enumerate(lines) if line.rstrip("\r") == NOTES_END]
    if len(begin) != 1 or len(end) != 1 or begin[0] > end[0]:
        return KeptNotes("", damaged=bool(page.strip()))
    between = lines[begin[0] + 1 : end[0]]
    return KeptNotes("".join(f"{line}\n" for line in between), damaged=False)
