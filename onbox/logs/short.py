"""Whether a log that is over stops short of its work, by its own numbers: a part of it, or none. Pure.

It is no proof of a failure: a loop may be meant to stop there, and there may be nothing to do. It is told, as nobody
looks at a run that ended well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message, readable
from onbox.logs.outcome import NOTHING_TO_DO, Outcome, outcome_in
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.progress import Progress

NEARLY = 0.9  # of the maximum: the last display of a loop may be that of a step before its end
PERCENT_NEARLY = 100 * NEARLY
LINES = 40  # among which a loop's lines are told from one that is said once
_BREAKS = lazy(rb"[\r\n]+")
_PART = lazy(r"(?<![\w.,/:-])(\d{1,9}) ?(?:/|of|out of) ?(\d{1,9})(?![\w./:%-]|,\d)", re.IGNORECASE)
_BEFORE = lazy(r"(?:^|[:;,(])\W{0,3}(?:only )?$|\b(?:\w{2,14}ed|wrote|built|sent|made)\b(?: only)? $", re.IGNORECASE)
_BEHIND = lazy(r" (?:[a-z][\w-]{0,24} ){0,3}[a-z][\w-]{1,24}\b", re.IGNORECASE)
_NUMBERS = lazy(r"\d+")
NONE_WITHIN = 6  # last lines
_PIECES = (
    r"(?:\w{1,30} ){0,2}(?:rows?|records?|lines|files?|clips?|images?|videos?|samples?|examples?|items?|documents?|docs"
    r"|pages?|urls?|sequences|pairs|chunks?|shards?|frames?|tiles?|batches|entries|points|reads|variants|sites|tokens"
    r"|messages|events|objects|tables|users|orders|questions|answers|responses|prompts|predictions|embeddings"
    r"|segments|models?|checkpoints?)\b"
)
_GOOD_NONE = (  # that there are none of these is good, or no surprise
    r"(?!(?:\w{1,30} )?(?:new|changed|modified|bad|invalid|broken|corrupt|missing|failed|orphan|stale|old|unused|empty"
    r"|skipped)\b)"
)
_NONE = rf"0 {_GOOD_NONE}"
_WORKED = (
    r"\b(?:wrote|written|matched|read|loaded|processed|exported|imported|converted|collected|selected|kept|generated"
    r"|produced|uploaded|saved|indexed|inserted|trained on|evaluated|scored|outputs?|extracted|parsed|encoded|rendered"
    r"|tokenized|embedded|found)\b"
)
_COUNTS_NONE = lazy(
    rf"{_WORKED}\s?[:=]?\s?{_NONE}{_PIECES}"
    rf"|^\W{{0,4}}(?:evaluating|testing|scoring|training) on {_NONE}{_PIECES}"
    rf"|(?:^|[,;:(]\s?){_NONE}{_PIECES} (?:were |was )?{_WORKED}"
    rf"|\b(?:num(?:ber of)?|total)[ _](?:[a-z]{{1,30}}_)?{_PIECES}\s{{0,20}}[:=]\s{{0,8}}0\s{{0,8}}$"
    rf"|\b(?:complete[d]?|done|finished|ended)[,:;] {_NONE}{_PIECES}"
    rf"|^\W{{0,4}}{_GOOD_NONE}{_PIECES} (?:in|of|on) (?:the )?[\w-]{{1,30}}\s?[:=] ?0\s{{0,8}}$"
    rf"|\b(?:empty|unparse?able|unreadable|unanswered) {_PIECES}\W{{1,3}}"
    r"(?P<all>[1-9]\d{0,8}) ?(?:/|of|out of) ?(?P=all)\b"
    r"|\b(?:exact[ _]match|accuracy|pass(?:@1|[ _]rate)|solved|correct|success[ _]rate)\W{1,3}"
    r"0(?:/[1-9]\d{1,8}|(?:\.0{1,6})? ?%)\s{0,8}$",
    re.IGNORECASE,
)
# What a run is for, and that it is not kept. Of a tracker's log, or of a worse epoch's weights, nobody asks for that.
_RESULT = (
    r"\b(?:final|last|best|trained|whole)? ?(?:checkpoints?|ckpt|models?|weights|predictions?|results?|outputs?"
    r"|reports?|submission|adapters?|embeddings?|artifacts?|dataset|archive|index|tables?|figures?)\b"
)
_KEEP, _KEPT = (
    r"(?:save|write|upload|store|publish|export|push|persist|copy)",
    r"(?:saved|written|uploaded|stored|published|exported|pushed|persisted|copied|kept)",
)
_RESULT_MISSING = lazy(
    rf"{_RESULT} (?:(?:was|were|is|are|has|have|could|will|can)(?: be)? ?)?(?:not|never)(?: be| been)? {_KEPT}\b"
    rf"|\b(?:could not|cannot|can't|couldn't|unable to|failed to|did not) {_KEEP} (?:[\w-]{{1,20}} ){{0,2}}?{_RESULT}"
    rf"|\b(?:no|none of the) (?:[\w-]{{1,20}} )?{_RESULT} (?:was |were )?{_KEPT}\b",
    re.IGNORECASE,
)
_KEPT_AFTER_ALL = lazy(rf"\b{_KEPT}\b", re.IGNORECASE)
_NO_LOSS = lazy(
    r"\b(?:improv\w*|better|best|wors\w*|every|disabled|optional|expected|requested|asked|retry\w*|again|because"
    r"|offline|dry|wandb|mlflow|tensorboard|instead|(?:will|to) be)\b|--\w",
    re.IGNORECASE,
)


def stops_short(progress: Progress) -> bool:
    """Whether the counter stands clearly before its exact maximum, and the log tells of no end of its own."""
    current, most = progress.current, progress.exact_max
    if not progress.finished and current is None and progress.percent is not None:
        return progress.percent < PERCENT_NEARLY
    if progress.finished or current is None or most is None:
        return False
    return current < NEARLY * most and current + 1 < most  # 5 is the last of 6 from 0 on


def last_lines(tail: bytes) -> list[str]:
    """What the last lines of a log say. tail: its last bytes."""
    return [line for raw in _BREAKS.split(tail)[-LINES:] if (line := message(readable(raw[:500]).strip()).text)]


def counts_a_part(lines: Sequence[str]) -> str | None:
    """The last line, where it says once that only a part was done: `merged 3 of 6 parts`. lines: as of `last_lines`."""
    last = lines[-1] if lines else ""
    found = _PART.search(last)
    if found is None or int(found[1]) >= NEARLY * int(found[2]) or not _tells_of_done(last, found):
        return None
    return None if _NUMBERS.sub("0", last) in {_NUMBERS.sub("0", line) for line in lines[:-1]} else last


def counts_none(lines: Sequence[str]) -> str | None:
    """The newest of a log's last lines that counts none of what the work was for: `wrote 0 rows`, `exact match 0/500`.
    None where no line does, or where one says that there was nothing to do.
    """
    told = [message(line) for line in lines[-NONE_WITHIN:]]
    said = [one.text for one in told]
    if any(NOTHING_TO_DO.search(one.text) for one in told if one.level != "ERROR"):
        return None
    return next((text for text in reversed(said) if _COUNTS_NONE.search(text)), None)


def misses_result(lines: Sequence[str]) -> str | None:
    """The newest of a log's last lines that says that a result is not kept: `WARNING: final checkpoint not saved`. None
    where no line does, or where one behind it says that it is.
    """
    said = [message(line).text for line in lines[-NONE_WITHIN:]]
    for text in reversed(said):
        if _RESULT_MISSING.search(text):
            return None if _NO_LOSS.search(text) else text
        if _KEPT_AFTER_ALL.search(text):
            return None
    return None


def _tells_of_done(line: str, found: re.Match[str]) -> bool:
    """Whether the count is that of what was done: by the word right before it, or by one of the few behind it."""
    before, behind = line[: found.start()], _BEHIND.match(line[found.end() :])
    led = _BEFORE.search(before)
    if led is None:
        return False
    own = led[0] + (behind[0] if behind else "")  # without the count: of a part, nobody says that it is made
    return outcome_in(own.strip(" :;,(")) is Outcome.MADE
