"""Whether the last lines of a log say that nothing came of all the work, or that a result is not kept. Pure.

A loop may come to its end with each of its pieces lost, and the program takes leave as ever. What it says of the whole
then decides: that nothing was scored, that all samples were skipped, that what was made is not good enough to be used.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.logs.outcome import NOTHING_TO_DO
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

_FAILED = lazy(r"(?i)\bfail(?:ed|ure)?\b")
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
_LOST_PIECES = (
    r"(?:trials|runs|jobs|tasks|models|seeds|folds|requests|prompts|replicas|samples|examples|questions|images|files|records"
    r"|pairs|sequences|tokens|entries|points|answers|responses|lines|rows|parts|tiles|volumes|objects|vectors|embeddings|predictions"
    r"|documents|videos|clips|items|episodes|batches|shards|sequences|chunks|pages|urls|configs|candidates|workers|databases|e?mails|messages|completions)"
)
_LOST = r"(?:failed|skipped|dropped|rejected|errored|discarded|lost|unusable|unreadable|invalid|empty)"
# None of the pieces of a work brought anything. That none passed, is a result.
_NOTHING_CAME = lazy(
    r"(?i)(?:^|[,;:(|]\s?|\. )0 (?:(?:of|out of|/) ?\d{1,9} )?(?:\w{1,20} )?(?:with (?:a|any) \w+|judged|answered"
    r"|scored|succeeded|successful|completed|evaluated|finished|trained"
    r"|converted|rendered|exported|transcribed|embedded"
    r"|translated|delivered)\b"
    rf"|\bover 0 (?!h|min|sec|days?\b)\w{{3,}}|\ball \d{{1,9}} {_LOST_PIECES} (?:have |were )?(?:been )?{_LOST}\b"
    r"|\bno (?:trials?|runs?|models?|jobs?|seeds?) (?:(?:is|are|was|were|has|have) )?(?:been )?"
    r"(?:completed|finished|succeeded)\b"
    rf"|(?<![\w./,])(?P<whole>\d{{1,9}}) ?(?:of|/|out of) ?(?P=whole) {_LOST_PIECES} (?:have |were )?(?:been )?"
    rf"(?:{_LOST}|(?:could |can)not be \w{{4,}})\b"
    rf"|(?:^|[,;:(]\s?)0 {_LOST_PIECES} (?:were |was )?(?:written|embedded|saved|produced|indexed|exported)\b"
    r"(?!.{0,60}\b(?:unchanged|cached|already|up[- ]to[- ]date|skipp\w+)\b)"
    rf"|^\W*(?:\w+: )?(?:done|finished|complete[d]?)\W{{1,3}}0 {_LOST_PIECES}\b"
    r"|\b(?!skipp|fail|reject|dropp|miss|error|corrupt|lost|retri)[a-z]{3,12}(?:ed|t) 0 (?:of|out of|/) ?[1-9]\d{0,8}\b"
    rf"|\(0 (?:results?|scores?|samples?|{_LOST_PIECES})\)"
    rf"|(?:^\W*|: )(?:evaluated|scored|graded|judged|transcribed|rendered|embedded|trained (?:on )?) 0 {_LOST_PIECES}\b"
)
# What was made is not to be used, or was not even kept.
_NOT_TO_BE_USED = lazy(
    r"(?i)\b(?:rejected|blocked|refused|held back|stopped|failed) (?:by|at) (?:the )?(?:[\w-]{3,20} ){0,2}gate\b"
    r"|\bgate\b(?: \w+)?\W{1,3}(?:not passed|failed|rejected|blocked|fail\b)"
    r"|\bbest (?:model|checkpoint|weights)\W{1,3}none\W*$"
    r"|\bno (?:model|checkpoint|weights) (?:will be|was|were|has been|have been|could be) "
    r"(?:kept|saved|written|exported)\W*$"
    r"|\bstopp(?:ing|ed)\b.{0,40}\bwithout (?:any |a )?(?:sav\w+|results?)\b"
)


def counts_none(lines: Sequence[str]) -> str | None:
    """The newest of a log's last lines that counts none of what the work was for: `wrote 0 rows`, `exact match 0/500`.
    None where no line does, or where one says that there was nothing to do.
    """
    told = [message(line) for line in lines[-NONE_WITHIN:]]
    said = [one.text for one in told]
    if any(NOTHING_TO_DO.search(one.text) and not _FAILED.search(one.text) for one in told if one.level != "ERROR"):
        return None
    return next((text for text in reversed(said) if _COUNTS_NONE.search(text) or _NOTHING_CAME.search(text)), None)


def misses_result(lines: Sequence[str]) -> str | None:
    """The newest of a log's last lines that says that a result is not kept: `WARNING: final checkpoint not saved`. None
    where no line does, or where one behind it says that it is.
    """
    said = [message(line).text for line in lines[-NONE_WITHIN:]]
    for text in reversed(said):
        if _NOT_TO_BE_USED.search(text):
            return text
        if _RESULT_MISSING.search(text):
            return None if _NO_LOSS.search(text) else text
        if _KEPT_AFTER_ALL.search(text):
            return None
    return None
