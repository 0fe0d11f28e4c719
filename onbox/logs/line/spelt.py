"""A line's counts, spelt as most programs spell them, so that one form is enough for each. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.line.words import SHARE_IN_PERCENT
from onbox.regex import lazy

if TYPE_CHECKING:
    import re

WIDE = 21 * " "
_OF_NAMED = lazy(r"(?<=\d)(\s{1,4})of [A-Za-z_]{1,12} ?= {0,12}(?=\d)")  # `istep =  750  of nstep =  5000`
# `pass 3 of at most 50`, `EM iteration 4 (max 500)`
_OF_AT_MOST = lazy(r"(?<=\d) of (?:at most|up to|a max(?:imum)? of|max(?:imum)?\.?) (?=\d)")
_MAX_IN_BRACKETS = lazy(
    r"(?i)(?<![a-z])(epoch|step|iter|iteration|round|pass|sweep|generation|cycle|update)( {1,4}\d{1,9})"
    r" \((?:max(?:imum)?\.?|at most|limit|up to)[ =:] {0,2}(\d{1,12})\)"
)
_SECONDS_OF = lazy(r"^(\W{0,8}\[ {0,4})(\d{1,9})s ?/ ?(\d{1,9})s\]")  # `[2466s/3600s] errors=0`
_UNIT_TWICE = lazy(r"(?<=\d)(\s?)([a-z]{1,4}) of \s{0,8}(\d{1,12}) ?\2(?![a-z])")  # `t= 3594 h of 8760 h`
_PERCENT_BEFORE_OF = lazy(r"(?<=\d) \( {0,3}\d{1,3}(?:\.\d{1,3})? ?%\)(?= of \d)")  # `tile 119 (46%) of 256`
_WIDE_GAP = lazy(r"(?<=[A-Za-z=]) {21,100}(?=\d{1,12}$)")  # `Step number <...> 66`, in columns of a report
_POINTS = lazy(  # `1.015 von 2.400 Dateien`: of thousands, in these languages
    r"(?<![\w.,/-])\d{1,3}(?:\.\d{3}){0,3} (?:von|sur|de|di) \d{1,3}(?:\.\d{3}){1,3}(?![\w.,]{0,12}\d)"
)
_FIELDS = lazy(r"([\"'])(\w{2,24})\1: ?(\d{1,12}), ?[\"'](?:of|out_of)[\"']: ?(\d{1,12})(?![\d.])")  # of JSON
_POINTS_BEHIND_SLASH = lazy(  # `1.500 / 23.114 producten`: no measure has three digits behind its point and a plural
    r"(?:^|[\])|] )\d{1,3}(?:\.\d{3}){0,3} / [1-9]\d{0,2}(?:\.\d{3}){1,3}(?= (?!loss|second|minute|hour|byte)[a-z]{4})"
)
_TARGET_BEHIND = lazy(  # `inserted 20000 rows (target 1000000)`
    r"(?<=\d)( [a-z]{3,14}s) \((?:target|goal|total|planned|expected)(?: of|:|=)? ?(\d[\d,]{0,14})\)"
)
_SHARE_OF_WHOLE = lazy(  # `ids 801..1000 (10.6% of 9400)`
    r"(?<=[\s.-])(\d{1,12})((?: [a-z]{3,20})?) \((\d{1,3}(?:\.\d{1,4})?) ?% of (?:the )?(\d{1,12})\)"
)

_OF_IN_BRACKETS = lazy(r"(?<=\d) \((of \d{1,12})\) ")  # `tile 57 (of 90) blended`

_OF_IN_FRONT = lazy(r"^(\s{0,8}\[ {0,8}\d{1,9}) of (\d{1,9}\])(?= +\S)")  # `[12 of 65] Compiling Main`
_ROUNDED_CELL = lazy(r"(?<=\| )\d\.\d{1,4}e\+0\d(?=\s{0,40}\|\s{0,8}$)")  # `| step | 1.72e+03 |`, of baselines' logger
_PASS_OF_BATCHES = lazy(  # `Pass=3 Batch=900 cost=0.7`: what others call an epoch
    r"(?i)(?<![a-z])pass([ =:]{1,3}\d{1,9}[,;]?\s{1,4}batch[ =:]{1,3}\d)"
)


def spelt_alike(text: str) -> str:
    """The line without what stands between a count and its whole: units, gaps, names, points of thousands."""
    text = _with_thousands(_with_epochs(text))
    if "%" in text and ")" in text:
        text = SHARE_IN_PERCENT.sub("", text)
    if "s/" in text:
        text = _SECONDS_OF.sub(r"\1\2/\3]", text)
    if WIDE in text:
        text = _WIDE_GAP.sub(" ", text)
    if " von " in text or " sur " in text or " de " in text or " di " in text:
        text = _POINTS.sub(lambda found: found[0].replace(".", ""), text)
    if " / " in text and "." in text:
        text = _POINTS_BEHIND_SLASH.sub(lambda found: found[0].replace(".", ""), text)
    if 'of"' in text or "of'" in text:
        text = _FIELDS.sub(r"\1\2\1: \3/\4", text)
    if "s (" in text:
        text = _TARGET_BEHIND.sub(r" of \2\1", text)
    if "% of " in text:
        text = _SHARE_OF_WHOLE.sub(_of_whole, text)
    if "m" in text and " (" in text:
        text = _MAX_IN_BRACKETS.sub(r"\1\2 of \3", text)
    if " (of " in text:
        text = _OF_IN_BRACKETS.sub(r" \1 ", text)
    if " of " in text:
        text = _OF_IN_FRONT.sub(r"\1/\2", text)
        text = _OF_AT_MOST.sub(" of ", text)
        text = _UNIT_TWICE.sub(r" of \3", text)
        text = _OF_NAMED.sub(r"\1of ", text) if "=" in text else _PERCENT_BEFORE_OF.sub("", text)
    return text


def _with_epochs(text: str) -> str:
    return _PASS_OF_BATCHES.sub(r"epoch\1", text) if "atch" in text and "ass" in text else text


def _with_thousands(text: str) -> str:
    """`1.72k` for `1.72e+03`, as other rounded counts are spelt."""
    if "e+0" not in text or "|" not in text:
        return text
    return _ROUNDED_CELL.sub(lambda found: f"{float(found[0]) / 1000:.6g}k", text)


def _of_whole(found: re.Match[str]) -> str:
    """`4600 of 9400`, where the percentage is that of the number before it."""
    current, share, most = int(found[1]), float(found[3]), int(found[4])
    near = most > 1 and abs(100 * current / most - share) < 1
    return f"{found[1]} of {found[4]}{found[2]}" if near else found[0]
