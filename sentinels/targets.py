"""What can be waited for, from the words of the command line. Pure: nothing is looked up here.

`MARKER`, `BOX:/PATH/MARKER`, `BOX:RUN`, and with options logs, artifacts, processes and fail markers.
"""

from __future__ import annotations

import re
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.contract.names import name_problem
from onbox.model.units import parse_duration, parse_size
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DEFAULT_STABLE_SECONDS = 10.0
_BOX = r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9._-]*"


class TargetKind(str, Enum):
    """What a target is."""

    MARKER = "marker"
    RUN = "run"
    LOG = "log"
    ARTIFACT = "artifact"
    PROCESS = "process"


class Target(NamedTuple):
    """One thing to wait for. text: as it was typed. box: None: this machine. path: of marker, log, pattern, run
    directory; the name of a run that the configuration places; the pid of a process. fails: its landing means failure.
    """

    kind: TargetKind
    text: str
    box: str | None
    path: str
    fails: bool = False
    regex: str = ""
    fail_regex: str = ""
    min_bytes: int = 1
    stable_seconds: float = DEFAULT_STABLE_SECONDS


class BadTarget(ValueError):
    """A word that names nothing to wait for: what was seen and what is wanted, one line."""


def split_place(text: str) -> tuple[str | None, str]:
    """`BOX:REST` or a path here. What has a slash before its first colon is a path here (`./a:b`). Raises BadTarget."""
    if "\0" in text or not text:
        raise BadTarget("an empty target; wanted: MARKER, BOX:/PATH/MARKER or BOX:RUN")
    before, colon, rest = text.partition(":")
    if not colon or "/" in before:
        return None, text
    if not re.fullmatch(_BOX, before):
        raise BadTarget(f"{text!r}: {before!r} cannot be the name of a box; a path here that holds a colon: ./{text}")
    if not rest:
        raise BadTarget(
            f"{text!r}: what is to be waited for on {before}? wanted: {before}:/PATH/MARKER or {before}:RUN"
        )
    return before, rest


def parse_target(text: str) -> Target:
    """A positional word: a marker here or on a box, or a run on a box. Raises BadTarget."""
    box, path = split_place(text)
    if box is None or path.startswith(("/", "~/")) or "/" in path:
        return Target(TargetKind.MARKER, text, box, path)
    problem = name_problem(path)
    if problem is not None:
        raise BadTarget(f"{text!r}: {path!r} is not a run ({problem}) and no path (wanted: {box}:/PATH/MARKER)")
    return Target(TargetKind.RUN, text, box, path)


def parse_fail_marker(text: str) -> Target:
    """`--fail MARKER`: its landing ends the wait as failed. Raises BadTarget."""
    box, path = split_place(text)
    return Target(TargetKind.MARKER, text, box, path, fails=True)


def parse_process(text: str) -> Target:
    """`--pid PID` or `--pid BOX:PID`: its end without a marker ends the wait as gone. Raises BadTarget."""
    box, path = split_place(text)
    if not re.fullmatch(r"[1-9][0-9]{0,9}", path):
        raise BadTarget(f"--pid {text!r}: wanted a process number, or BOX:NUMBER")
    return Target(TargetKind.PROCESS, text, box, path)


def parse_logs(logs: Sequence[str], regexes: Sequence[str], fail_regexes: Sequence[str]) -> Iterable[Target]:
    """`--log PATH --regex RE [--fail-regex RE]`; one pattern for all logs, or one for each. Raises BadTarget."""
    if (regexes or fail_regexes) and not logs:
        option = "--regex" if regexes else "--fail-regex"
        raise BadTarget(f"{option} goes with a log, and none is named; name it: --log PATH, or on a box --log BOX:PATH")
    for number, text in enumerate(logs):
        box, path = split_place(text)
        chosen = [
            _pattern(option, given, number, len(logs))
            for option, given in (("--regex", regexes), ("--fail-regex", fail_regexes))
        ]
        yield Target(TargetKind.LOG, text, box, path, regex=chosen[0], fail_regex=chosen[1])


def _pattern(option: str, given: Sequence[str], number: int, wanted: int) -> str:
    if not given:
        return ""
    if len(given) not in (1, wanted):
        raise BadTarget(f"{len(given)} times {option} for {wanted} logs; wanted: one for all, or one for each")
    text = given[0] if len(given) == 1 else given[number]
    try:
        re.compile(text.encode())
    except (re.error, UnicodeEncodeError) as error:
        raise BadTarget(f"{option} {text!r}: not a regular expression ({error})") from error
    if not text:
        raise BadTarget(f"{option}: an empty pattern matches every line")
    return text


def parse_artifact(text: str, min_bytes: str | None, stable: str | None) -> Target:
    """`--artifact GLOB --min-bytes N --stable 10s`. Raises BadTarget."""
    box, path = split_place(text)
    size = 1 if min_bytes is None else _read("--min-bytes", min_bytes, parse_size)
    seconds = DEFAULT_STABLE_SECONDS if stable is None else _read("--stable", stable, parse_duration)
    return Target(TargetKind.ARTIFACT, text, box, path, min_bytes=int(size), stable_seconds=seconds)


def _read(option: str, text: str, parse: object) -> float:
    assert callable(parse)
    try:
        return float(parse(text))
    except ValueError as error:
        raise BadTarget(f"{option} {text!r}: wanted {error}") from error


def read_seconds(option: str, text: str, *, least: float = 0.0) -> float:
    """A duration of an option, in seconds. Raises BadTarget."""
    seconds = _read(option, text, parse_duration)
    if seconds < least:
        raise BadTarget(f"{option} {text!r}: wanted at least {least:g}s")
    return seconds


# One piece of a pattern: an escape, a set, a counted repeat, or anything else.
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|.", re.DOTALL)
_ERE_OF_PIECE = {
    r"\d": "[0-9]",
    r"\D": "[^0-9]",
    r"\s": "[[:space:]]",
    r"\S": "[^[:space:]]",
    r"\w": "[A-Za-z0-9_]",
    r"\W": "[^A-Za-z0-9_]",
    r"\b": r"\b",
    r"\B": r"\B",
    r"\t": "\t",
    "{": "[{]",  # as a repeat it is a piece of its own
}


def ere_of(regex: str) -> str | None:
    """The same pattern for `grep -E`, for a box without python; None: it cannot be said there.

    What POSIX has no word for (look-around, lazy repeats, named groups, characters by number) gives None: a grep would
    read it as something else and find other lines.
    """
    pieces = _PIECE.findall(regex)
    for piece, after in pairwise(pieces):
        repeats = piece in ("*", "+", "?") or (len(piece) > 1 and piece[0] == "{")
        if (repeats and after in ("?", "+")) or (piece + after in ("(?", "{,")):
            return None
    parts = [_ere_of_piece(piece) for piece in pieces]
    return None if None in parts else "".join(part for part in parts if part is not None)


def _ere_of_piece(piece: str) -> str | None:
    if piece in _ERE_OF_PIECE:
        return _ERE_OF_PIECE[piece]
    if piece[0] == "[" and len(piece) > 1:
        return None if "\\" in piece or re.search(r"\[[:.=]", piece[1:]) else piece
    if piece[0] == "\\":
        if piece[1:].isalnum():
            return None
        return piece if piece[1] in ".[](){}*+?|^$\\" else piece[1]
    return piece
