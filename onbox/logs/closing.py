"""Whether a log's last lines sum up what was done: what was saved, how long it took, what came out. Pure.

Such words are no sign of an end where they stand between two steps, so they count only behind the last counter, and
only if the lines before it do not say the same.
"""

from __future__ import annotations

import re

from onbox.logs.model.lines import message, readable
from onbox.logs.remarks import CRASHED
from onbox.logs.sight import read_line
from onbox.regex import lazy

TAIL_BYTES = 4096
_LINES = lazy(rb"[\r\n]+")
_DURATION = r"\d+(?:\.\d+)?\s?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|ms)\b|\d+:\d\d"
_CLOSING = lazy(
    r"(?i)^\W*(?:done|finished|completed?|terminat\w+|exiting|goodbye|bye|converged|summary|results?)\b"
    r"|^\W*(?:saved|wrote|written|exported|dumped|uploaded|stored)\b"
    r"(?!.{0,80}(?:checkpoint|ckpt|snapshot|\bstep|\bepoch|\biter|\bbest\b))"
    r"|\b(?:model|weights|results?|predictions?|report|metrics|output|pipeline|embeddings|samples?|trace|file|archive)\b.{0,40}"
    r"\b(?:saved|written|exported|stored|uploaded)\b(?!.{0,80}(?:checkpoint|ckpt|\bstep|\bepoch))"
    r"|\bsuccessfully (?:installed|built|downloaded|saved|completed|finished|exported|uploaded|converted|processed|wrote|ran)"
    rf"|\b(?:took|elapsed|total time|wall[- ]?(?:clock )?time|runtime|run time|finished in|in total)\b.{{0,20}}?(?:{_DURATION})"
    rf"|^real\s+\d+m[\d.]+s|\b(?:added|audited|changed) \d+ packages?\b|\brecords out$|\bsaved \[\d+(?:/\d+)?\]|^total size is \d"
    r"|\b(?:best|final|overall|test|number of|mean|average)\b[\w .-]{0,30}\s?[:=]\s?\S|^\W*test(?:ing)? (?:accuracy|loss|score|results?)\b"
    r"|\b(?:final|overall) (?:\w+ ){0,2}(?:loss|accuracy|acc|score|reward|energy|error|perplexity|bleu|f1|auc|result)\b"
    r"|^\W*(?:performance|throughput):|\b0 errors?\b|\bkb/s:\d|\blifecycle event\b|\bbuild (?:succeeded|successful)"
)
_PART = lazy(r"(?<![\w./])(\d{1,9})/(\d{1,9})(?![\w./])")
_MIDWAY = lazy(r"(?i)\b(?:best|mean|average|current)\b.{0,20}\b(?:so far|yet|is trial)\b|^\W*(?:resum|start|load|restor)")


def sums_up(tail: bytes, *, counted: bool) -> bool:
    """Whether the log that ends with `tail` ends with a summary. counted: a counter was seen in it."""
    lines = [readable(line[:500]) for line in _LINES.split(tail[tail.find(b"\n") + 1 :])]
    lines = [line.rstrip() for line in lines if line.strip()]
    after, before = _behind_the_counter(lines) if counted else (lines[-3:], lines[:-3])
    if any(CRASHED.search(line) for line in after):
        return False
    known = {_form(line) for line in before}
    return any(_closes(line) and _form(line) not in known for line in after)


def _behind_the_counter(lines: list[str]) -> tuple[list[str], list[str]]:
    for at in range(len(lines) - 1, -1, -1):
        if any(sight.kind != "val" for sight in read_line(lines[at]).sights):
            return lines[at + 1 :], lines[: at + 1]
    return lines, []


def _closes(line: str) -> bool:
    text = message(line).text
    part = _PART.search(text)
    return bool(_CLOSING.search(text)) and not _MIDWAY.search(text) and not (part and int(part[1]) < int(part[2]))


def _form(line: str) -> str:
    return re.sub(r"[^A-Za-z]+", " ", line)[:60]
