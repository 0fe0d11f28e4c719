"""What stands alone in a line is what came out: a value with its name, a record, a row of figures. Pure."""

from __future__ import annotations

from onbox.regex import lazy

_VALUE = lazy(
    r"^\W*[^\W\d][\w @./()-]{0,40}?\s?[:=]\s{0,8}-?(?:\d+(?:\.\d+)?|\d+ ?/ ?\d+)\s?(?:%|s|sec|seconds)?"
    r"(?: \(\d+ ?/ ?\d+\))?\W*$"
)
_FRAME = lazy(r"^\s*at [\w.$<>/]{1,120} ?\(")  # of a stack of the JVM or of Node
_RECORD = lazy(r"^\s*\{\W{0,2}[A-Za-z_][^{}]{0,400}[:=][^{}]{0,400}\}\s*$")  # `{'C': 10, 'gamma': 0.1}`
_FIGURES = lazy(r"^(?=\D*\d)[-+\d.,%()\[\]\s]{1,200}$")


def is_value(text: str) -> bool:
    """`Correct = 98.42%`, `exact_match: 0.66 (330/500)`."""
    return _VALUE.match(text) is not None and not _FRAME.match(text)


def is_record(text: str) -> bool:
    """`{'C': 10, 'gamma': 0.1}`: the settings that were found, or the scores."""
    return _RECORD.match(text) is not None


def is_figures(text: str) -> bool:
    """`-0.3711  0.3817`, `1770`: numbers, and nothing else."""
    return _FIGURES.match(text) is not None
