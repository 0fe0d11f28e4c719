"""A number after any words, which is a counter only if later lines go on from it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.line.displays import METRICS
from onbox.logs.line.numbers import parse_count
from onbox.logs.line.sights import CounterSight
from onbox.logs.line.words import (
    A_PIECE,
    ANY_WORD,
    AUXILIARY,
    EVALUATION,
    GATHERS,
    LOOK_BACK,
    NO_SHARE,
    NO_SHARE_AFTER,
    NOT_PROGRESS,
    UNITS,
    WEAK_WORDS,
    counts_two_things,
)
from onbox.logs.loops import TRIED_AGAIN
from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    import re

_WHOLE = r"(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,12})(?!\d)"
_ANY_FRACTION = lazy(
    rf"(?<![\w.,/:-])[A-Z]?(?P<current>{_WHOLE})\]?\s{{0,3}}(?:/|of|out of|von|sur|из)\s{{0,12}}\[?(?P<max>{_WHOLE})"
    r"(?![\w/%-]|\.(?!\.)|:\S|,\d|\s?[kKMGT]i?B)"  # but `Quantizing layer 3/32...`
)
_FIELD = lazy(r"(?<!\w)[A-Za-z]\w{0,30}=[\d.]{1,24}(?=[\s,;|])")  # `hits=26`
_SIZE = lazy(r"(?<![\w.])\d[\d.]{0,12} ?[kKMGT]i?B(?!\w)")  # `901 KiB -> 301 KiB (1/96)`
_VALUE_BEHIND = lazy(r"\s{1,8}(?:[a-z]{1,12}[ _-])?[a-zA-Z]{2,12}(?:\s?[:=]\s?|\s)(\d{1,3}\.\d{1,9})(\s?%)?(?![\w.])")
NOT_ITS_SHARE = 0.02
_VALUE_BEFORE = lazy(r"(?<![\w.])(\d{1,2}\.\d{1,6}) ?%?\s{1,8}[(\[]? ?$")
_NAMES_PROGRESS = lazy(r"(?i)(?<![a-z])(?:progress|done|complete[d]?|finished|processed)(?![a-z])")
_CLOSING_INDEX = lazy(
    r"(?<=\S)\s{2,12}(?P<open>[\[(])(?P<current>\d{1,9}) ?(?:/|of) ?(?P<max>\d{1,9})"
    r"(?: [a-z]{3,12}(?:, \d[\w ,.]{0,40})?)?[\])]$"
)
_TWO_SCORES = lazy(r"(?<=\s)\d{1,9}/\d{1,9}\s{2,20}\d{1,9}/\d{1,9}(?=\s|$)")  # `llama-7b  349/1319  36/164`: of a table
_CLOCK = lazy(r"\s\d\d:\d\d:\d\d(?![\d:])")
_INDEX_FIRST = lazy(r"(?i)\W{0,8}([a-z]{1,20})(?: #?|\[)(\d{1,6})/(\d{1,6})(?:: |\]\s?[:=|,-]?\s{0,4}(?=[\w(]))")
_SHARD_OF = lazy(
    r"(?<![\w.])(?<!\d-)(?P<current>\d{3,6})-of-(?P<max>\d{3,6})(?![\w-])(?!\.\w(?!\w{0,14}(?:\s|$)))"
)  # `shard 00127-of-00256`
_LISTED_FILE = lazy(  # `data/train-00003-of-00008.parquet  120 MB`: a name and its size, and no word of what is done
    r"\s{0,8}(?:[-dl][rwx-]{9}\S? .{0,80}\s|[0-9a-f]{32,128} [ *]|\d[\d.,]{0,14}[kKMGT]?\s{1,8})?"
    r"[\w./-]{1,120}\d-of-\d{3,6}\.\w{1,12}"
    r"(?:\s{1,20}[\d.,]{1,16} ?[kKMGT]?i?B?(?:\s{1,20}[0-9a-f]{32,128})?"
    r"| (?:to|->|=>|\u2192) \S{1,200}\d-of-\d{3,6}\.\S{1,24})?\s*$"
)
_RANGE_OF = lazy(  # `rows 9,001-9,500 of 31,000`: the last one of them
    rf"(?<![\w.,/:-])\d[\d,]{{0,14}} ?(?:-|\u2013|\.\.) ?(?P<current>{_WHOLE}) (?:of|/) (?P<max>{_WHOLE})"
    r"(?![\w/%-]|[.,]\d)"
)
_FIELDS_OF = lazy(r"(?<![\w.])[a-z_]{1,12}=(?P<current>\d{1,12}),?\s{1,4}(?:of|total|max)=(?P<max>\d{1,12})(?![\w.])")
# `20/1319  accuracy: 55%`, `29/50 acc 0.29`
_MEASURED = lazy(r"(?i)\s{1,8}(?:[a-z]{1,20} ){0,2}[a-z]{1,20}(?:\s?[:=]\s?\d|\s\d{1,9}\.\d)")
# of a difference that a test shows; of a table with a frame
_NOT_OF_THE_WORK = lazy(r"[-+] ?$|\s*(?:[│┃║]|\| [a-z]{3,12} $)")
_PART_OF_DATA = lazy(r"(?i)(?<![a-z])(?:shard|part|partition|split|page|volume|file)s?\W{0,4}$")
_WORKS_ON = lazy(r"(?i)(?:^|[-:|\]]\s{1,4})\s{0,4}[a-z]{3,14}ing [a-z]{3,12} ?#?$")  # `Processing volume 12 of 233`
# What a piece is called, which differs from line to line: a file, a commit.
_OWN_NAME = lazy(r"(?<!\S)(?:\S{0,200}/\S{1,200}|[0-9a-f]{7,64}|[\w-]{1,80}\.[a-z]\w{1,4})(?!\S)")
_DONE_SO_FAR = lazy(r"(?i)(?<![a-z])(?:completed?|done|finished|processed)[ :=]{1,3}$")  # `completed 41/90 (passed 15)`
_ONE_THING = lazy(  # `level 3 of 5 solved`: which one, and what became of it
    r"(?i)\W{0,8}(?!(?:got|only|now|with|have|has|had|are|was|is|just|about|still|so|far|total|and|after|over|all)\b)"
    r"[a-z]{3,20}(?<!s)(?<!ed)(?<!ing) #?"
)
_BEGUN_ANEW = lazy(r"(?i)(?<![a-z])restarts?\W{0,3}$")  # of a service: `restart 1/3`
_IS_DONE = lazy(
    r"(?i)[\s:,.)\]-]{1,8}(?:is |was )?(?:done|ok|ready|complete[d]?|finished|processed|written|converted"
    r"|tokeni[sz]ed|uploaded"
    r"|downloaded|indexed|merged|saved)\b"
)


def read_moving(text: str) -> list[CounterSight]:
    """A count of a count after any words, such as `Simulation rep 37 of 200`: a counter if it goes on as one."""
    found = _ANY_FRACTION.search(text) or _FIELDS_OF.search(text) or _RANGE_OF.search(text)
    if not found and "-of-" in text:
        found = _SHARD_OF.search(text)
        found = None if found and _LISTED_FILE.match(text) else found
    if not found or _CLOCK.match(text, found.end()):  # `11/28 22:42:23`
        return []
    if counts_two_things(text) or _TWO_SCORES.search(text) or GATHERS.search(text):
        return []
    label = _label_of(text, found)
    if _NOT_OF_THE_WORK.match(label):
        return []
    current, most = (int(found[name].replace(",", "")) for name in ("current", "max"))
    if current > most or most < 2 or NO_SHARE.search(label[-LOOK_BACK:]):
        return []
    if _is_its_own_quotient(text[: found.start()], current, most):
        return []
    rule = "moving"
    if NOT_PROGRESS.search(label[-LOOK_BACK:]) and not (
        _PART_OF_DATA.search(label) and (_IS_DONE.match(text, found.end()) or _WORKS_ON.search(label))
    ):
        if not A_PIECE.search(label):
            return []
        rule = "piece"
    if TRIED_AGAIN.match(text, found.end()) or _BEGUN_ANEW.search(label):
        return []
    if NO_SHARE_AFTER.match(text, found.end()) and not (
        _DONE_SO_FAR.search(label)
        or (found.start() == 0 and _MEASURED.match(text, found.end()))
        or _is_measured_apart(text, found)
        or (_ONE_THING.fullmatch(label) and rule == "moving")
    ):
        return []
    kind = "aux" if AUXILIARY.search(_OWN_NAME.sub(" ", label)) else "moving"  # `scan_001.pdf (1/40)`
    if EVALUATION.search(label) and not _IS_DONE.match(text, found.end()):
        kind = "val"
    named = ANY_WORD.findall(_OWN_NAME.sub(" ", label))
    closes = label.endswith("(") and text[found.end() :].strip() == ")"  # `Processing category bottle (1/8)`
    words = " ".join(word.lower() for word in (named[:1] if closes else named[-2:]))
    return [CounterSight(f"moving {words}/{most}", "step", kind, current, most, False, rule)]


def _label_of(text: str, fraction: re.Match[str]) -> str:
    """What stands before a fraction and is of it, without other figures; `item 9 failed | 3 of 50 completed`."""
    label = _SIZE.sub(" ", _FIELD.sub(" ", METRICS.sub(" ", text[: fraction.start()].rpartition("; ")[2])))
    bare = _NOT_OF_THE_WORK.match(label) is None and _IS_DONE.match(text, fraction.end()) is not None
    return label.rpartition("|")[2] if bare else label


def _is_measured_apart(text: str, fraction: re.Match[str]) -> bool:
    """Whether the accuracy behind a fraction is another one than its own: `production: 620/2000   acc 0.27`."""
    value = _VALUE_BEHIND.match(text, fraction.end())
    if value is None:
        return False
    share = float(value[1]) / (100 if value[2] or float(value[1]) > 1 else 1)
    current, most = (int(fraction[name].replace(",", "")) for name in ("current", "max"))
    return abs(share - current / most) > NOT_ITS_SHARE


def _is_its_own_quotient(label: str, current: int, most: int) -> bool:
    """`anatomy: 0.311 (42/135)`, `WER 6.41 [337 / 5258]`: the number before a fraction is what it comes to, so it is a
    result.
    """
    value = _VALUE_BEFORE.search(label)
    if value is None or _NAMES_PROGRESS.search(label):
        return False
    off = 0.6 / 10 ** len(value[1].partition(".")[2])
    return any(abs(float(value[1]) - times * current / most) <= off for times in (1, 100))


def read_closing_index(text: str) -> list[CounterSight]:
    """`anatomy: 135/135  acc 0.578   [2/57]`: which piece a line was about, in brackets of its own behind all else."""
    found = _CLOSING_INDEX.search(text) if text.endswith((")", "]")) else None
    if found is None or int(found["current"]) > int(found["max"]) or NOT_PROGRESS.search(text, 0, found.start("open")):
        return []
    if _is_its_own_quotient(text[: found.start("open")], int(found["current"]), int(found["max"])):
        return []
    return [CounterSight("moving closing", "step", "moving", int(found["current"]), int(found["max"]), False, "moving")]


def read_leading_index(text: str, sights: list[CounterSight]) -> list[CounterSight]:
    """`model 4/5: batch 60/96`: which of several things a line tells another counter of."""
    found = _INDEX_FIRST.match(text) if any(sight.maximum is not None for sight in sights) else None
    if found is None:
        return []
    word, most = found[1].lower(), int(found[3])
    if (NOT_PROGRESS.search(word) and not A_PIECE.search(word)) or any(
        sight.unit == UNITS.get(word) for sight in sights
    ):
        return []
    return [CounterSight(f"moving {word}/{most}", "step", "moving", int(found[2]), most, False, "moving")]


class _Form(NamedTuple):
    """A number that leads a line, behind a logger's prefix; `word` says what is counted, if the form has that group.
    key: of the counter, by its word. unit: None: that of its word. holds: what the line must hold, "" for nothing.
    of_the_work: neither a word of something else nor a line of an evaluation.
    """

    pattern: re.Pattern[str]
    key: str
    unit: str | None
    example: str
    holds: str = ""
    rule: str = "weak"
    of_the_work: bool = False


_MODULE = lazy(r"(?:\w{1,40}\.){1,6}\w{1,40}: {1,4}(?=[A-Z])")  # `trackpy.linking.link_iter:  Frame 27: ...`
_THINGS = "|".join(WEAK_WORDS)
# The first that a line has, where it shows no other counter.
_LEADING = (
    _Form(
        lazy(r"(?i)(?P<word>[a-z]{3,20})[ #]{1,6}(?P<current>\d{1,12})(?![\w./%-])(?=.{0,80}loss\W{1,4}\d{1,12}\.\d)"),
        "moving {}",
        "step",
        "Snapshot 4000 saved, average loss: 90.7",
        holds="loss",
        of_the_work=True,
    ),
    _Form(
        lazy(r"\s{0,8}(?P<word>[A-Za-z]{3,12})\s{1,12}(?P<current>\d{1,12})\s{2,12}[A-Z]\w{1,20} {0,4}= {0,12}-?\d"),
        "moving {}",
        "step",
        "DAY    146  TMEAN =  287.2880  PREC =   2.9952",
        of_the_work=True,
    ),
    _Form(
        lazy(r"After (?P<current>\d{1,9}), [a-z]"),
        "moving after",
        "iter",
        "After 99, recommendation is Array{(3,)}:[0.29 0.29 0.29]",
        holds="After ",
    ),
    _Form(
        lazy(r"\W{0,8}(?P<current>\d{1,9})(?:st|nd|rd|th) (?P<word>[A-Za-z]{3,20})\W{0,8}$"),
        "moving nth {}",
        "step",
        "382th run",
        of_the_work=True,
    ),
    _Form(
        lazy(
            rf"(?i)\W{{0,8}}(?P<word>{_THINGS}) #?(?P<current>\d{{1,9}})"
            r"(?=$|[,:|]| -| (?:[a-z]{2,12}ed|starts|begins|done|ready)\b)"
        ),
        "moving {}",
        None,
        "Sample 12, accuracy: 0.9",
    ),
    _Form(lazy(r"(?i)\W{0,4}(?P<word>run) ?\[(?P<current>\d{1,9})\]:?$"), "moving {}", None, "run [250]:"),
    _Form(
        lazy(r"(?:[Tt]ime =|(?i:increment)[ =:]{1,3}) ?(?P<current>(?!0s?$)\d{1,9}(?:\.\d{1,18})?)s?$"),
        "moving time",
        "step",
        "Time = 341",
        rule="solver-time",
    ),
    _Form(
        lazy(r"[a-z]{1,3}[:=]\s?(?P<current>\d{1,12})(?=[\s,;|].{0,80}loss)"),
        "moving short",
        "step",
        "s:3120 tok:0.818B loss:3.0887",
        holds="loss",
    ),
    _Form(
        lazy(
            r"(?i)(?:.{0,60}?(?<![a-z]))(?:at|after) (?P<current>\d{1,12})"
            r" (?P<word>steps|iterations|updates|epochs|episodes|rounds)(?![a-z])"
        ),
        "moving at {}",
        None,
        "Saving checkpoint at 5000 steps",
    ),
)
_TIMESTEP = _Form(
    lazy(r"\s{0,8}t=\s{0,12}(?P<current>\d{1,12})(?=[\s,;|].*=)"),
    "moving t",
    "timestep",
    "t=5000 ep=33 loss=0.86",
    holds="t=",
)
_BESIDE = _Form(
    lazy(rf"(?i)\W{{0,8}}(?P<word>{_THINGS}) #?(?P<current>\d{{1,9}}) [a-z]{{3,12}} \d"),
    "moving {}",
    None,
    "frame 14685 episode 260",
)


def read_leading(text: str) -> list[CounterSight]:
    """The number that leads a line which shows no other counter."""
    said = _MODULE.sub("", message(text).text)
    return next(filter(None, (_read(form, said) for form in _LEADING)), [])


def read_timestep(text: str) -> list[CounterSight]:
    """`t=5000 ep=33 loss=0.86`: the timestep, beside whatever else is counted."""
    return _read(_TIMESTEP, text)


def read_beside(text: str) -> list[CounterSight]:
    """`frame 14685 episode 260`: what leads the line, beside another counter."""
    return _read(_BESIDE, message(text).text)


def _read(form: _Form, said: str) -> list[CounterSight]:
    found = form.pattern.match(said) if form.holds in said else None
    if found is None:
        return []
    word = (found.groupdict().get("word") or "").lower()
    if form.of_the_work and (NOT_PROGRESS.search(word) or EVALUATION.search(said)):
        return []
    unit = form.unit or UNITS.get(word, "iter")
    current = parse_count(found["current"]).value
    return [CounterSight(form.key.format(word), unit, "moving", current, None, False, form.rule)]
