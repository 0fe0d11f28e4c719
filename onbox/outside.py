"""The one door for text from outside: of a box, a log, an engine, another program. Pure, standard library only.

Whatever is printed, written to a page or a store, or sent on passes `safe_line` or `safe_text`. The order is fixed,
because each other one leaks: bounded first (patterns run over it), then what a terminal hides or obeys taken out (a
colour within a key hides the key), then secrets masked while the line breaks still stand (a value may be on the next
line), then line breaks shown as signs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.redact import redact
from onbox.regex import lazy

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

LINE_LIMIT = 4096
TEXT_LIMIT = 1 << 20
REACH = 8  # of a text with many control sequences so many times the limit is looked at
_PIECES = 256  # between control sequences that hold a secret each: more in one text are not looked for
_PIECE_LENGTH = 8  # a shorter piece holds no secret of its own

# ESC and its one-letter forms of C1, each with what belongs to it; control characters but tab and line break. A
# sequence that never ends is one to the end of its line: it must not hide the next.
_CONTROL_FORM = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\x1b."
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
# Unicode's Cf, Zl, Zp, Co and Cs (a test compares), and letters that are drawn as nothing: fillers, selectors.
_HIDDEN_FORM = (
    r"[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\uf8ff\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
    r"|(?<![\u2000-\ufdff\U0001f000-\U0001faff])[\ufe00-\ufe0f]"  # behind a sign they choose its look
)
_CONTROL = lazy(_CONTROL_FORM)
_HIDDEN = lazy(f"(?:{_HIDDEN_FORM})+")
_UNSEEN = lazy(f"{_CONTROL_FORM}|{_HIDDEN_FORM}")
_BREAK = lazy(r"\r\n?|[\u2028\u2029]")
# Most text holds only letters that need none of this; to see so costs a twentieth of the search for those that do. Few
# ranges, because each start compiles it anew: others are searched in full.
_SUSPECT = lazy(r"[^\t\n\x20-\x7e\xa0-\xac\xae-\xff\u2010-\u2027\u2030-\u205f\u2190-\u2bff]")


def safe_line(value: object, limit: int = LINE_LIMIT) -> str:
    """One line without secrets, of at most `limit` characters, in which nothing is hidden and nothing is obeyed by a
    terminal. Line breaks are shown as ⏎, invisible and turning letters by their code, `<U+202E>`. Blanks stay as they
    are, so that a path still names its file.
    """
    return _bounded(value, limit, lambda text: _shown(text).replace("\n", "⏎").replace("\t", " "))


def safe_words(value: object, limit: int = LINE_LIMIT) -> str:
    """`safe_line`, with runs of blanks as one: for what is read as a sentence."""
    return _bounded(value, limit, lambda text: " ".join(_shown(text).replace("\n", "⏎").split()))


def safe_text(value: object, limit: int = TEXT_LIMIT) -> str:
    """As `safe_line`; line breaks and tabs stay."""
    return _bounded(value, limit, _shown)


def printable(text: str) -> str:
    """`text` without control sequences, control characters and invisible letters, for a program that reads it. What a
    person or a store gets passes one of the above.
    """
    return _unseen_in(text).sub("", text) if _SUSPECT.search(text) else text


def for_terminal(text: str) -> str:
    """A log as a terminal shows it: colours and every other control sequence are gone, a carriage return still begins
    the line again, as a progress bar does. Nothing is masked or cut.
    """
    if not _SUSPECT.search(text):
        return text
    return "\r".join(map(_told, text.split("\r")))


def _bounded(value: object, limit: int, make: Callable[[str], str]) -> str:
    text = (value if isinstance(value, str) else str(value)).replace("\0", "")  # a hole in a file is gigabytes of them
    looked_at = text[: REACH * limit]
    safe = make(looked_at)
    return safe if len(safe) <= limit and len(looked_at) == len(text) else safe[: limit - 1] + "…"


def _shown(text: str) -> str:
    if not _SUSPECT.search(text):
        return redact(text)
    text = _BREAK.sub("\n", text)
    pieces = _unseen_in(text).split(text)
    joined = "".join(pieces)
    masked = _masked_apart(redact(joined), pieces)
    return masked if masked != joined else redact(_told(text))


def _unseen_in(text: str) -> re.Pattern[str]:
    return _CONTROL if text.isascii() else _UNSEEN


def _told(text: str) -> str:
    """Without control sequences, and with each hidden letter told."""
    text = _CONTROL.sub("", text)
    return text if text.isascii() else _HIDDEN.sub(_codes, text)


def _codes(found: re.Match[str]) -> str:
    """`<U+202E>`; of several in a row the first: hidden words are not to be read by anybody."""
    more = f" and {len(found[0]) - 1} more" if len(found[0]) > 1 else ""
    return f"<U+{ord(found[0][0]):04X}{more}>"


def _masked_apart(text: str, pieces: list[str]) -> str:
    """Masks what is a secret only in a piece of its own: without the colour before it, it hangs on the word before."""
    found = {piece: redact(piece) for piece in pieces if len(piece) >= _PIECE_LENGTH}
    for piece, masked in [one for one in found.items() if one[0] != one[1]][:_PIECES]:
        text = text.replace(piece, masked)
    return text
