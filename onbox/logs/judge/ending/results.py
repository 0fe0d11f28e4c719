"""What stands alone in a line is what came out: values with their names, a record, a row of figures. Pure."""

from __future__ import annotations

from onbox.logs.metric import metric_in
from onbox.regex import lazy

_NUMBER = r"-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|\d+ ?/ ?\d+)"
_NAMED = rf"[^\W\d][\w @./()*-]{{0,40}}?[\"']?\s?[:=~]\s{{0,8}}{_NUMBER}\s?(?:%|s|sec|seconds)?"
_SPREAD = r"(?:\s?(?:\+/?-|±)\s?\d+(?:\.\d+)?)?(?: \([\w .=]{0,12}\d+(?:\.\d+)?(?: ?/ ?\d+)?\))?"
_VALUES = lazy(rf"^\W*{_NAMED}{_SPREAD}(?:[,;] {{0,2}}{_NAMED}{_SPREAD}){{0,5}}\W*$")
_MEAN = lazy(r"^\W*[A-Za-z][A-Za-z _-]{0,40} -?\d+(?:\.\d+)?\s?(?:\+/?-|±|\(\+/?-) ?\d")  # `reward 213.4 +/- 12.0`
_CELL = lazy(rf"^\W*[A-Za-z][\w@./-]{{0,40}}\s{{4}}{_NUMBER}$")  # `P@1`, a tab, `0.91`
_BAD_NEWS = lazy(  # `errors: 3`, `rc=1`: it is what went wrong
    r"(?i)(?<![a-z])(?:errors|fail\w*|rc|code|exit|status|singular|abort\w*|warnings?|missing|invalid|line|exceptions?"
    r"|killed|lost|assert\w*)(?![a-z])"
)
_FRAME = lazy(r"^\s*at [\w.$<>/]{1,120} ?\(")  # of a stack of the JVM or of Node
_RECORD = lazy(
    r"^\s*\{\W{0,2}[A-Za-z_][^{}]{0,400}[:=][^{}]{0,400}(?:\{[^{}]{0,400}\}[^{}]{0,80}){0,4}\}"
    r"(?: -?\d+(?:\.\d+)?)?\s*$"
)  # `{'C': 10, 'gamma': 0.1}`
_FIGURES = lazy(r"^(?=\D*\d)[-+\d.,%()\[\]\s]{1,200}$")
_ARRAY = lazy(r"^(?:tensor|array|\w{0,10}\.?float\d\d)\([^A-Za-z]{0,200}")
_ROW = lazy(
    r"^\s*[A-Za-z][\w/ -]{0,30}?(?:\s{1,20}-?\d+(?:\.\d+)?%?){2,20}\s*$"
)  # of a table with names before its rows
_LIST = lazy(  # `recommended: [0.29 0.30]`, `N, P@1, R@1: (4000, 1.0, 1.0)`
    r"^\W*[A-Za-z][\w @,]{1,40}\s?[:=]\s?[\[(]\s?-?\d[-+\d.,e\s]{0,200}[\])]\W{0,2}$"
)
_CELLS = lazy(r"^\s*[|│][^\d\n]{0,200}\d[^\n]{0,200}[|│]\s*$")


def is_value(text: str) -> bool:
    """`Correct = 98.42%`, `exact_match: 0.66 (330/500)`, `rmse = 0.21, r2 = 0.9`, `acc 0.93`."""
    if _FRAME.match(text) or _BAD_NEWS.search(text):
        return False
    return bool(_VALUES.match(text) or _MEAN.match(text) or _CELL.match(text) or ("." in text and metric_in(text)))


def is_record(text: str) -> bool:
    """`{'C': 10, 'gamma': 0.1}`: the settings that were found, or the scores."""
    return _RECORD.match(text) is not None


def is_figures(text: str) -> bool:
    """`-0.3711  0.3817`, `1770`, `tensor(0.12)`: numbers, and nothing else; or a row of a table of them."""
    return any(pattern.match(text) for pattern in (_FIGURES, _ARRAY, _ROW, _CELLS))


def is_list(text: str) -> bool:
    """`recommended: [0.29 0.30]`: a name, and the values that belong to it."""
    return _LIST.match(text) is not None
