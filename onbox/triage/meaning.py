"""What a sentence says that no rule knows: what it is about, and what is wrong with that. Pure.

Programs name their own exceptions and word their own last sentences ("BrokerUnavailable: giving up after 5 attempts").
A class is about certain things (a broker, an address) that have certain troubles (unavailable, giving up). The class
of which a sentence names the most is meant; where two are named alike, both are told.
"""

from __future__ import annotations

import re

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.rules.demands import asks_for_setting
from onbox.triage.rules.rows import ASKED, CAUSE, DIVERGED, PEER, RuleRow, compiled
from onbox.triage.rules.themes import THEMES, Theme

TEXT_LIMIT = 400
ENOUGH = 2  # words: one thing and one trouble
CLEAR = 4  # words that need no other sign
SURE = 3  # words of a sentence that is not an exception of the program's own
# Words of Python itself for a slip in the code, whatever they name.
_SLIP = lazy(
    r"too many values to unpack|not enough values to unpack"
    r"|index (?:[\w.]{1,12} )?(?:is )?out of (?:range|bounds)|object is not"
    r"|unsupported operand|has no attribute|positional argument|keyword argument|not defined"
    r"|not subscriptable|not callable"
    r"|not iterable|but got shape|input arrays must have|could not be broadcast"
    r"|referenced before|division by zero|binary incompatib|maximum recursion"
    r"|dictionary changed size"
    r"|is not in list|bad operand|object cannot be|can only concatenate|cannot unpack|not supported between"
    r"|event loop is closed|generator|coroutine|must be str|must be (?:an? )?\w+, not \w+"
    r"|object '[\w.]+' not found|object method|undefined (?:variable|symbol|function|reference|control|method)"
    r"|undeclared|syntax error in .{0,60}, line \d|not declared in this scope|syntax error:? (?:near )?unexpected"
    r"|\w\.(?:c|cc|cpp|h|hpp):\d{1,6}: .{0,200}assertion|nonconformant|sanitizer|buffer overflow"
    r"|no registered .{0,60}opkernel|unsupported operations"
    r"|not (?:currently |yet )?implemented(?! for (?:cuda|rocm|driver))"
    r"|parse error near line|near \".{1,40}\": syntax error|arithmetic|rangeerror|no such variable|too many open files"
    r"|cannot be cast to class|\berror ts\d{4}\b|unable to compile|\bundefined method\b|on an undefined value"
    r"|\binvalid '\w{1,40}' (?:argument|\(\w{1,20}\) of argument)|conflicting option strings?"
    r"|^key not found: |must be of type \\?\w{1,40}, \w{1,40} given"
    r"|\((?:key|nomethod|name|argument|type|index|zerodivision|range)error\)\W*$"  # of Ruby
    r"|in your sql syntax|no such column|column .{1,80} does not exist|null ?pointer|segmentation|stack trace",
    re.IGNORECASE,
)
# Names that tell nothing: any failure may be raised as one of them.
ANY_NAME = frozenset(
    "Exception RuntimeError ValueError OSError IOError SystemError EnvironmentError AssertionError TypeError KeyError"
    " InvalidArgumentError InternalError FailedPreconditionError OutOfRangeError UnknownError"  # of gRPC and TensorFlow
    " Error SystemExit NotImplementedError ImportError".split()
)
_CONTRACTIONS = lazy(r"\b(ca|could|do|does|did|is|was|were|has|wo)n['\u2019]t\b", re.IGNORECASE)
_CAMEL = lazy(r"(?<=[a-z0-9])(?<!Na)(?=[A-Z])|(?<=NaN)(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINTS = lazy(r"(?<!\bh)[_-](?=[A-Za-z])")  # but not in h_rt, h_vmem
# Ways to say the same, which the themes have in one form only.
_SAME_SAID = (
    (
        lazy(
            r"\b(?:(?:(?:was|were|is|are|am|been) )?(?:not able|unable)|impossible|did not manage) to\b",
            re.IGNORECASE,
        ),
        "could not",
    ),
    (lazy(r"\bcan not\b", re.IGNORECASE), "cannot"),
    (lazy(r"\b(?:cannot|could not) be (?:found|located)\b", re.IGNORECASE), "not found"),
    (lazy(r"\b(cannot|could not) be (load|open|read|reach)(?:ed)?\b", re.IGNORECASE), r"\1 \2"),
    (lazy(r"\b(cannot|could not) be (pars|decod|resolv|restor|creat)ed\b", re.IGNORECASE), r"\1 \2e"),
)
# Of two classes that are named alike, the one whose words are rarer: a checkpoint is a file too.
_GOES_BEFORE = (("checkpoint_corrupt", "data_error"), ("config_error", "data_error"))
_BLANKS = lazy(r"\s+")
_ADDRESS = lazy(r"\b(https?|ftp|s3|gs)://[^\s'\")>]+")  # what it is made of tells nothing

# Where a check of a C++ library stands, and its condition: `x.cc(74) [(a) == (b)] `, `x.cc:74: Check failed: a > b : `
_CHECK = lazy(
    r"(?:[A-Z_]{4,24}: )?\S{1,120}\.(?:cc|cpp|cxx|cu|h|hpp|c)[(:]\d{1,7}\)?:?\s(?:\[[^\]]{1,200}\]\s"
    r"|Check failed: .{1,200}? : )"
)

_EXAMPLES = lazy(r"\((?:e\.g\.|for example|such as)[^()]{0,200}\)", re.IGNORECASE)  # name no trouble of this run
_UNIT = lazy(r"\b[\w@.-]{1,80}\.(?:service|timer|socket|scope|slice)\b")  # of systemd: its name tells nothing
_DIRECTORIES = lazy(r"(?<![\w.])/(?:[\w.+-]+/)+(?=[\w.+-])")  # of a path: what they are called tells nothing either

# What is counted as none, or denied: "18 passed, 0 errored", "exited without errors".
_NONE_OF_THEM = lazy(
    r"(?<=ing )(?:[\w-]{1,40} ){0,5}for (?:\w{3,12} )?(?:corrupt\w*|damaged?|errors?|faults?|leaks?|missing|broken"
    r"|duplicates?|failures?|problems?)\b|"
    r"\b0 (?:[a-z-]{3,20} ){1,3}(?:problems?|objects?|issues?|faults?|violations?|conflicts?|alerts?)\b|\bxid none\b"
    r"|\b(?:[a-z_]{2,30}=(?:False|false)|(?:terminated|truncated|done)=(?:True|true))\b"  # of an episode, too
    r"|(?<!=)\b(?:0|no|zero|without(?: any)?) (?:(?:targets|steps|tasks|jobs|files|items|shards|stages|checks"
    r"|tests) )?(?:errors?|errored|broken|failures?|failed|crash(?:es|ed)|aborted"
    r"|problems?|corrupt\w*|bad|lost|invalid|rejected|damaged|mismatch\w*|oom[ -]?kill\w*|segfaults?|kill(?:s|ed))\b"
    r"(?! (?:handler|message|code))"
    r"|(?<!=)\bno (?:\w{3,12} ){1,2}(?:aborted|crashed|died|(?:was|were) (?:lost|killed|aborted))\b"
    r"|\b(?:aborted|killed|lost|dead|crashed) \w{3,12}\b[^:=\d]{0,24}[ :=]\s?0$"
    r"|\b(?:\w{1,20} )?(?:errors?|fail\w*|problems?|mismatch\w*|rejected|crash\w*)(?: to \w+)?"
    r"(?:\"?\s?[:=]\s?0| 0 times)\b(?![.\d])"
    r"|\b(?:corrupt(?:ed)?|missing|broken|damaged|lost|bad|invalid)(?: [a-z]{3,12})? 0\b(?![.\d])"
    r"|(?<![\d.,/])0 (?:of|/|out of) [1-9]\d{0,8} (?:[a-z]{3,16} )?(?:fail\w*|could not|rejected|corrupt\w*|damaged"
    r"|lost|missing)\b.{0,40}$"
    r"|\bfail(?:ures?|ed)? counts?\b[ :=]{1,3}0(?![.\d])"
    r"|\b(?:aborted|killed|failed|crashed|diverged|interrupted|errored|cancell?ed|oom|error)(?: [a-z]{3,12})?"
    r"\"?\s?[:=]\s?"
    r"(?:false|none)\b(?! [a-z])",
    re.IGNORECASE,
)


class Meaning(NamedTuple):
    """failure_class: what the sentence means. rivals: other classes of which it names as much. score: words named."""

    failure_class: str
    rivals: tuple[str, ...]
    score: int


_EXPLAINS = {
    "divergence": DIVERGED,
    "nccl_or_distributed": PEER + 1,
    "user_interrupt": ASKED + 3,
}
ROWS = {
    theme.failure_class: RuleRow(
        f"says-{theme.failure_class.replace('_', '-')}",
        theme.failure_class,
        _EXPLAINS.get(theme.failure_class, CAUSE - 6),
        "",
        "(?!)",
        "a sentence that names the thing and its trouble",
        "",
    )
    for theme in THEMES
}
TWO_THINGS = "says-two-things"


def _words(words: str) -> re.Pattern[str]:
    return compiled(rf"(?<!\w)(?:{words})(?!\w)")


def row_of(found: Meaning) -> RuleRow:
    """The rule that a meaning stands for. Where it has rivals, the class is unknown, with all of them beside it."""
    if not found.rivals:
        return ROWS[found.failure_class]
    rivals = (found.failure_class, *found.rivals)
    source = "a sentence that names two things alike"
    return RuleRow(TWO_THINGS, "unknown", CAUSE - 20, "", "(?!)", source, "", rivals=rivals)


def is_slip(sentence: str) -> bool:
    """Whether it is what Python, or another language, says of a slip in the code."""
    return bool(_SLIP.search(sentence))


def speaks_of_setting(sentence: str) -> bool:
    """Whether an error tells its reader what to choose."""
    if _SLIP.search(sentence):
        return False
    return asks_for_setting(_plain(without_check(sentence[:TEXT_LIMIT])))


def meaning_of(sentence: str, name: str = "", *, enough: int = SURE) -> Meaning | None:
    """What a sentence says, None if it names no thing with its trouble. name: of the exception it is the message of.
    enough: so many words it has to name.
    """
    if _SLIP.search(sentence):
        return None
    last = name.rsplit(".", 1)[-1]
    own_name = "" if last in ANY_NAME else _CAMEL.sub(" ", last)
    sentence = _EXAMPLES.sub("", without_none(sentence[:TEXT_LIMIT]))
    sentence = _plain(_DIRECTORIES.sub("", _UNIT.sub("", _ADDRESS.sub(r"\1 url", sentence))))
    text = _BLANKS.sub(" ", _JOINTS.sub(" ", f"{own_name}: {sentence}" if own_name else sentence))
    scores = {theme.failure_class: _score(theme, text, sentence) for theme in THEMES}
    best = max(scores.values())
    if best < (ENOUGH if own_name else enough):
        return None
    leaders = [failure_class for failure_class, score in scores.items() if score == best]
    leaders = [one for one in leaders if not any(loser == one and winner in leaders for winner, loser in _GOES_BEFORE)]
    return Meaning(leaders[0], tuple(leaders[1:]), best)


def without_check(sentence: str) -> str:
    """What a check of a C++ library says, without its place and the condition that did not hold."""
    found = _CHECK.match(sentence)
    return sentence[found.end() :] if found and sentence[found.end() :].strip() else sentence


def without_none(text: str) -> str:
    """A line without the troubles of which it counts none."""
    return _NONE_OF_THEM.sub("", text)


def _plain(sentence: str) -> str:
    sentence = _CONTRACTIONS.sub(_full_form, sentence)
    for said, same in _SAME_SAID:
        sentence = said.sub(same, sentence)
    return sentence


def _full_form(found: re.Match[str]) -> str:
    """`can't` as `cannot`, `doesn't` as `does not`."""
    return {"ca": "cannot", "wo": "will not"}.get(found[1].lower(), f"{found[1]} not")


# What could not be saved has damaged nothing that is loaded.
_NOT_SAVED = lazy(
    r"\b(?:sav(?:e|ing)|writ(?:e|ing)|stor(?:e|ing))\b.{0,60}\bfail|\bfail\w* to (?:save|write|store)\b|\bfor saving\b",
    re.IGNORECASE,
)


def _score(theme: Theme, text: str, raw: str) -> int:
    if theme.failure_class == "checkpoint_corrupt" and _NOT_SAVED.search(raw):
        return 0
    said = CLEAR if _words(theme.sayings).search(text) else 0
    things = _distinct(theme.things, text, raw)
    troubles = _distinct(theme.troubles, text, raw) if things else set()
    if not things or not troubles or things == troubles:
        return said
    return max(said, min(len(things), 3) + min(len(troubles), 3) + theme.weight)


def _distinct(words: str, text: str, raw: str) -> set[str]:
    pattern = _words(words)
    return {hit[0].lower() for shown in (text, raw) for hit in pattern.finditer(shown)}
