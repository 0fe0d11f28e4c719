"""What no configuration needs, and a TOML parser takes minutes for or breaks on: refused before it is parsed. Pure."""

from __future__ import annotations

import re

KEY_PARTS = 16  # of a dotted key; ours have five. A parser's work grows with their square
DEPTH = 64  # of brackets
DIGITS = 400  # of a number

# Strings and comments are one piece each, closed or not, so that each letter is looked at once.
_STRING = r"\"{3}(?:[^\"\\]+|\\.|\"(?!\"\"))*(?:\"{3,5})?|'{3}(?:[^']+|'(?!''))*(?:'{3,5})?"
_STRING += r"|\"(?:[^\"\\\n]+|\\.)*\"?|'[^'\n]*'?"
_PIECES = re.compile(
    rf"(?P<string>{_STRING})|\#[^\n]*|(?P<word>[A-Za-z0-9_+-]+)|(?P<other>[^\sA-Za-z0-9_+-])", re.DOTALL
)


def bounds_problem(text: str) -> str | None:
    """What is wrong with the text of a file, with its line; None: it can be parsed in no time."""
    parts = depth = 0
    between = False  # the last piece was the dot of a dotted key
    for piece in _PIECES.finditer(text):
        word = piece["word"]
        if word is not None or piece["string"]:
            parts = parts + 1 if between else 1
            between = False
            if parts > KEY_PARTS:
                return f"line {_line(text, piece)}: a dotted key of more than {KEY_PARTS} parts"
            if word is not None and len(word) > DIGITS and _is_number(word):
                return f"line {_line(text, piece)}: a number of more than {DIGITS} digits"
            continue
        sign = piece["other"]
        between = sign == "." and parts > 0
        if not between:
            parts = 0
        depth += (sign in ("[", "{")) - (sign in ("]", "}"))
        if depth > DEPTH:
            return f"line {_line(text, piece)}: more than {DEPTH} brackets within each other"
    return None


def _is_number(word: str) -> bool:
    return word.lstrip("+-")[:1].isdigit() and re.fullmatch(r"[+-]?(?:0x[0-9A-Fa-f_]+|[0-9_eE+-]+)", word) is not None


def _line(text: str, piece: re.Match[str]) -> int:
    return text.count("\n", 0, piece.start()) + 1
