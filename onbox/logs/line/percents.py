"""Displays that show a percentage and no counter. Pure."""

from __future__ import annotations

import re

from onbox.regex import lazy

_PERCENT = r"(?P<percent>\d{1,3}(?:\.\d{1,18})?)\s?%"
_FORMS = (
    rf"^\s*\[\s*{_PERCENT}\]",
    rf"[\[|][#=>█━. -]{{3,}}[\]|]\s*{_PERCENT}",
    rf"{_PERCENT}\s*[\[|][#=>█━. -]{{3,}}[\]|]?",
    rf"[#█━]{{2}}[\s.-]*{_PERCENT}",
    rf"(?i)\bprogress\w{{0,12}}[\s:=(\[]{{1,5}}{_PERCENT}",
    rf"(?i){_PERCENT}\s*(?:done|complete|completed|finished|tests? passed)(?![a-z])",
    (
        r"^(?!.{0,120}\b(?:drop\w*|filter\w*|agree\w*|match\w*|memory|mem|ram|disk|[cg]pu|limit|quota|budget|kept"
        r"|reject\w*|cover\w*|correct|at|on|in|for|with|is|was|are|were)\b)"
        rf"[^%]{{0,120}}?{_PERCENT}\s*of the(?![a-z])"
    ),
    rf"^\s*[\d,]+\s+{_PERCENT}\s+[\d.]+[kMG]?B/s",
    rf"\.{{10}} [. ]{{1,80}} {_PERCENT}",
    (
        rf"(?i)\b(?:downloading|installing|uploading|extracting|copying|encoding|training|processing)\b"
        rf"(?![^%\d]{{0,40}}\b(?:acc|err|loss|score|precision|recall|rate))[^%\d]{{0,40}}{_PERCENT}"
    ),
    (
        rf"^\W*(?!us|util|occup|satur|charg|mask|prun|dropp|fail|pass|cach|skipp|match|reduc|improv|increas|decreas|solv|load|allocat|correlat)"
        rf"[a-z]{{3,14}}ed:?\s{{1,4}}{_PERCENT}\s{{0,4}}$"
    ),
    rf"\b1 of 1, {_PERCENT}",
    rf"\s\[\s*{_PERCENT}\]$",
    rf"^\W*[a-z]{{3,18}}ing(?: [a-z]{{1,20}}){{0,3}}\s?(?:\.{{2,5}}|…)\s{{0,4}}{_PERCENT}",
    (
        rf"^\W*(?!(?:remain|us|learn)ing\b)[a-z]{{3,18}}ing(?: (?!acc|err|loss|scor|prec|recall|rate|effic|us|util"
        rf"|mem|cap|ratio|overlap|simil|conf)[a-z]{{1,20}}){{1,3}}: {{0,4}}{_PERCENT}\s{{0,4}}$"
    ),
)
_CURL = lazy(
    r"^\s*(?P<percent>\d{1,3})\s+[\d.]+[kMGT]?\s+\d{1,3}\s+[\d.]+[kMGT]?\s+\d+\s+[\d.]+[kMGT]?\s+[\d.]+[kMGT]?"
    r"\s+[\d.]+[kMGT]?\s+[-\d:]{7,}"
)
CURL_COLUMN = 3  # letters of its first column
_ANY = lazy(
    "|".join(f"(?:{form.replace('<percent', f'<p{at}_')})" for at, form in enumerate(_FORMS)).replace("(?i)", ""), re.I
)


def read_percent(text: str) -> float | None:
    """The percentage of a display that has nothing else; None if the line is no such display."""
    if "%" in text:
        found = _ANY.search(text)
    elif text[:CURL_COLUMN].lstrip()[:1].isdigit() and ":" in text:
        found = _CURL.match(text)
    else:
        return None
    if not found:
        return None
    value = next(float(told) for told in found.groups() if told is not None)
    return value if value <= 100 else None
