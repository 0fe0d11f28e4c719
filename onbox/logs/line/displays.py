"""Bars and other displays made for progress, and the epoch in front of them. Pure."""

from __future__ import annotations

import re

from onbox.logs.line.numbers import ShownCount, is_exact, parse_clock, parse_count
from onbox.logs.line.shapes import FRACTION, INNER, SHAPES, SURE, Shape
from onbox.logs.line.sights import CounterSight
from onbox.logs.line.words import (
    ANY_WORD,
    AUXILIARY,
    BATCHES,
    EVALUATION,
    LAST_WORD,
    LOOK_BACK,
    NO_SHARE,
    NO_SHARE_AFTER,
    NOT_PROGRESS,
    TRAINING,
    UNITS,
)
from onbox.logs.loops import index_of_a_bar, repetition_of_a_bar
from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

STAGES = 12  # at most so many parts does a script have
_FRACTION = lazy(FRACTION, re.IGNORECASE)
_KERAS = next(shape.pattern for shape in SHAPES if shape.id == "keras")
_SCALED = lazy(r"[kMG][a-z]{2}")
_DESC_EPOCH = lazy(r"^\s*(\d{1,18})\|\d+\|")  # torchtune: epoch|step|loss
_DESC_TRAINING = lazy(r"(?i)\s*train(?:ing)?\s{1,12}#?(\d{1,6})\s?:\s*$")  # `Train     1:  47%|`
_BYTES_RATE = lazy(r"[\d?]\s?[kKMGT]?i?B/s")
_OF_SOMETHING = lazy(
    r"\s(?!done|complet|finish|of|eta|elapsed|left|remain|in|at|for|it)[a-z-]{3,20}[)\]]", re.IGNORECASE
)
_SIZED = lazy(r"\d\s?(?:[kKM]i?B|[GT](?:i?B)?)(?![a-zA-Z])")
_SIZE_AT_END = lazy(r"\s[kKMGT]i?B$")
_DESC_STEP = lazy(r"(?i)(?<![a-z])(?:step|iter|iteration|update)s?\W{0,3}(\d{1,18})\W{0,2}$")  # `step 6806:  71%|`
_DESC_FRACTION = lazy(
    r"^\s*(?:\[[^\[\]/]{1,20}\]\s{0,3}|train(?:ing)?\W{1,3}(?=\S+\s*$))?[\[(]?(\d{1,18})/(\d{1,18})[\])]?(?=[\s:])",
    re.IGNORECASE,
)
_LATER_STAGE = lazy(r"\[Stage (?!0\b)\d{1,6}:")  # of Spark
_NUMBERED = lazy(r"(?<![a-z])([a-z]{1,20})\W{0,16}\d", re.IGNORECASE)
_WORD_BEHIND = lazy(r"\s([a-z]{1,20})(?![a-z])", re.IGNORECASE)
_FRACTION_INSIDE = lazy(r"(?<![\w./-])\d{1,9} ?/ ?\d{1,9}(?![\w./-])")
# What was measured, in front of a bar: `loss: 0.28 test_accuracy: 91.4%: `
METRICS = lazy(r"(?<![\w@/])[A-Za-z][\w@/]{0,40}(?:\s?[:=]\s{0,4}|\s)[-+]?\d{1,9}(?:\.\d{1,9}%?|%)[:,;]?")
_OF_A_SELECTION = lazy(  # `146 of 220 lines kept`
    r"\s(?:were |are )?(?:kept|dropped|removed|discarded|retained|rejected|filtered|matched|unique|duplicated?"
    r"|missing|lost)\b"
)
# `[5/8] invoices OK`, `(5/9) train.ipynb  ok  2210 s`: of the work itself
_IS_DONE = lazy(
    r"\s(?:OK|ok|done|passed|\u2713|\u2714)\W{0,3}(?:\s(?:in )?\(?\d{1,9}(?:\.\d{1,6})? ?(?:m?s|sec|min|h)\)?)?$"
)
_LOGGER = lazy(r"^\s{0,4}(?:(?:DEBUG|INFO|WARNING)[\s:]{1,4})?\w{1,30}(?:\.\w{1,30}){1,6}:\s{1,4}")  # `INFO etl.load: `
_NAMES_PROGRESS = lazy(r"(?i)\|\s{0,4}progress\W{0,4}$")  # behind what a logger writes: `MainProcess|progress: 3/24`
_IS_SET = lazy(r"=\s{1,4}\d")
_MEASURE_AFTER = lazy(
    r"\s+[A-Za-z][A-Za-z_ ]{1,30}[:=]\s*[-+]?\d|\s.{1,60}(?<![a-z])loss[\s:=]{1,3}[-+]?\d"
    r"|(?:\s.{0,40}[A-Za-z]=\s{0,4}-?\d{1,9}\.\d\S{0,12}){2}"
)  # `[300/900] Accuracy so far: 0.82`, `[3/8] mlp-64  size=0.11M  elbo= 156.5`


class Display(NamedTuple):
    """A display found on a line. label: the text before it, from the end of the display before."""

    shape: Shape
    match: re.Match[str]
    label: str


def read_bars(text: str) -> tuple[list[CounterSight], str]:
    """The displays on a line, and the line without them."""
    fraction = _FRACTION.search(text)
    for shape in SHAPES:
        if shape.fraction and not fraction:
            continue
        if not _has_all(text, shape.needs):
            continue
        sights: list[CounterSight] = []
        rest: list[str] = []
        at = ended = 0
        for match in shape.pattern.finditer(text):
            own = _group(match, "label")
            display = Display(shape, match, own if own is not None else text[ended : match.start()])
            sight = _bar_sight(display)
            if sight is None:
                continue
            sights += [sight, *_outer_of(display)]
            rest.append(text[at : match.start()])
            ended = match.end()
            at = match.start("rate") if _group(match, "rate") else ended
        if sights:
            return sights, " ".join([*rest, text[at:]])
    return [], text


def _has_all(text: str, needs: tuple[str, ...]) -> bool:
    """As `all(...)`, which takes twice as long: this is asked twenty times a line."""
    for need in needs:  # noqa: SIM110 - as said
        if need not in text:
            return False
    return True


def _group(match: re.Match[str], name: str) -> str | None:
    return match[name] if name in match.re.groupindex else None


def _bar_sight(display: Display) -> CounterSight | None:
    shape, match, label = display
    most = _group(match, "max")
    current = ShownCount(0, False) if match["current"] == "-" else parse_count(match["current"])
    if shape.id == "tqdm-open" and "." in match["current"] and _SCALED.match(match["word"] or ""):
        current = parse_count(match["current"] + match["word"][0])  # `8.47kex`
    maximum = parse_count(most) if most and most[0].isdigit() else None
    if most and maximum and maximum.rounded and not current.rounded and _SIZE_AT_END.search(most):
        current = parse_count(match["current"] + _SIZE_AT_END.findall(most)[0])  # `80.0/300.0 MB`
    if not _plausible(display, current, maximum):
        return None
    label = METRICS.sub(" ", label)
    told = maximum is None or is_exact(match.string, *match.span("max"))
    exact = (
        int(maximum.value) if maximum and told and not maximum.rounded and float(maximum.value).is_integer() else None
    )
    desc_fraction = _DESC_FRACTION.match(label) or _DESC_EPOCH.match(label)
    own = _label_key(label)
    unit = _bar_unit(match, label)
    own = f"{own} bytes" if own and _SIZED.search(match[0]) else own
    named = "step" if shape.id == "leading-bracket" else unit  # `[3/8] items OK`: what stands behind may be a name
    key = f"bar:{own}" if own else f"bar:{named}/{exact if exact is not None else most}"
    if shape.id == "running-of" and _LATER_STAGE.search(label):
        key = f"{key}, later"  # this stage has an end of its own
    if shape.id == "files-of-files":
        key = "bar:files"  # of which more are found on the way
    if shape.id == "loggable" and not own:
        key = "bar:progress"  # its maximum is exact in the first line only
    rounded = current.rounded or not float(current.value).is_integer()
    return CounterSight(
        key,
        unit,
        _kind_of(display, label, exact),
        current.value,
        exact,
        rounded,
        shape.id,
        eta=_clock(_group(match, "eta")),
        elapsed=_clock(_group(match, "elapsed")),
        beside_epoch=bool(desc_fraction or _group(match, "epoch") or re.search(r"(?i)(?<![a-z])epoch\W*\d", label)),
        made=True,
        inner=INNER in shape.traits or bool(desc_fraction) or _is_of_step(label, exact),
    )


def _kind_of(display: Display, label: str, most: int | None) -> str:
    shape, match, _ = display
    if shape.id == "files-of-files":
        return "train"  # the bytes beside them are another display of the same
    if _is_stage(display, most) or _SIZED.search(match[0]):
        return "aux"
    said = message(match.string[: match.start()]).text if shape.id == "done-of" else ""  # `Inference done 5/625`
    return "val" if said and EVALUATION.search(said) else bar_kind(_LOGGER.sub("", label), _group(match, "rate") or "")


def _is_of_step(label: str, most: int | None) -> bool:
    """Whether the label names a step of the run that is past the bar's end: the bar is about a part of it."""
    found = _DESC_STEP.search(label)
    return found is not None and most is not None and int(found[1]) > most


def _is_stage(display: Display, most: int | None) -> bool:
    """`[3/6] Loading the model`: the parts of a script, which are the progress only where nothing else is shown; unlike
    `(3/6) piqa: 500/1838 done` and `[3/6] auc=0.71`.
    """
    shape, match, _ = display
    stage = shape.id == "leading-bracket" and most is not None and most <= STAGES
    measured = _MEASURE_AFTER.match(match.string, match.end()) or _IS_DONE.search(match.string, match.end())
    return stage and not measured and _FRACTION_INSIDE.search(match.string, match.end()) is None


def _outer_of(display: Display) -> list[CounterSight]:
    """`35/60` or an epoch number in front of a bar: the epoch, outside the bar."""
    shape, match, label = display
    epoch = _group(match, "epoch")
    if epoch:
        kind = bar_kind(label)
        most = _group(match, "epochs")
        key = "epoch" if kind == "train" else f"{kind}:epoch"
        return [CounterSight(key, "epoch", kind, int(epoch), int(most) if most else None, False, shape.id)]
    found = _DESC_EPOCH.match(label) or _DESC_TRAINING.match(label)
    if found:
        return [CounterSight("epoch", "epoch", "train", int(found[1]), None, False, shape.id)]
    index = index_of_a_bar(label) if shape.id == "tqdm" else None
    if index is not None and index[0] not in BATCHES and not NOT_PROGRESS.search(index[0]):
        return [CounterSight(f"outer {index[0]}", index[0], "outer", index[1], index[2], False, "repeated")]
    named = repetition_of_a_bar(label)
    if named is not None:
        return [CounterSight(f"outer {named[0]}", named[0], "outer", named[1], None, False, "repeated")]
    found = _DESC_FRACTION.match(label)
    if found and int(found[1]) <= int(found[2]):
        return [CounterSight("epoch", "epoch", "train", int(found[1]), int(found[2]), False, shape.id)]
    return []


def _plausible(display: Display, current: ShownCount, maximum: ShownCount | None) -> bool:
    """Whether a fraction is one of progress: its percentage agrees, and no word before it speaks against it."""
    shape, match, label = display
    label = label.rstrip().rpartition("; ")[2]
    label = label.rpartition("|")[2] if _NAMES_PROGRESS.search(label) else label
    if SURE in shape.traits:
        return True
    if maximum is not None and not _has_such_an_end(match, current, maximum):
        return False
    if (
        NOT_PROGRESS.search(label[-LOOK_BACK:])
        or NO_SHARE.search(label[-LOOK_BACK:])
        or (
            shape.id not in ("keras", "bar")
            and not (shape.id == "leading-bracket" and _MEASURE_AFTER.match(match.string, match.end()))
            and (NO_SHARE.search(match[0]) or NO_SHARE_AFTER.match(match.string, match.end()))
        )
    ):
        return False
    if (
        shape.id in ("bar", "done-of", "fraction-unit")
        and match.string.lstrip()[:1] == "|" == match.string.rstrip()[-1:]
    ):
        return False  # a row of a table: `| train-7b   PENDING   0/8   -   3/11 |`
    if shape.id == "fraction-unit" and (label.endswith("=") or _OF_A_SELECTION.match(match.string, match.end())):
        return False  # `beta=1/4 ticks=500`
    if shape.id == "fraction-percent" and _OF_SOMETHING.match(match.string, match.end()):
        return False  # `11/25584 files (0.0% non-contiguous)`
    if shape.id in ("fraction-unit", "counter-bar", "bracket-step") and _last_unit(label):
        return False  # `epoch 3 / 200 Time taken: 9 s`: what is counted stands before it
    if shape.id == "counter-bar" and maximum is not None and maximum.rounded:
        return False  # `450G/1000G [====   ] 45%`, of a disk
    if shape.id != "bar" and _SIZED.search(match[0]) and not AUXILIARY.search(label):
        return False
    if shape.id == "bar" and _IS_SET.match(match[0]) and label.rstrip()[-1:].isalpha():
        return False  # `best fitness = 27/40`
    percent = _group(match, "percent")
    if percent and maximum and not maximum.rounded:
        return abs(100 * current.value / maximum.value - float(percent)) <= 1.01
    return shape.id != "leading-bracket" or not re.match(r"\s*\d+[:/]", match.string[match.end() :])


def _has_such_an_end(match: re.Match[str], current: ShownCount, maximum: ShownCount) -> bool:
    if maximum.value == 0 or (current.value > maximum.value and not _is_past_its_end(match)):
        return False
    return re.match(r"/\d", match.string[match.end("max") :]) is None  # a date


def _is_past_its_end(match: re.Match[str]) -> bool:
    """`100% ━━━━ 3,072/3,000 [ 0:01:09 < 0:00:00 ]`: nothing is left, and the last step was a large one."""
    return bool(_group(match, "elapsed")) and _clock(_group(match, "eta")) == 0


_TRAIN_SPLIT = lazy(r"(?i)^train(?:ing)?(?: (?:set|data|split))?\W{1,3}(?=[a-z]{3,12}ing(?![a-z]))")


def bar_kind(label: str, rate: str = "") -> str:
    """`val` and `aux` are not the training; an unnamed bar is taken as training, unless it moves bytes."""
    if EVALUATION.search(label):
        return "val"
    if AUXILIARY.match(_TRAIN_SPLIT.sub("", label.lstrip(" \t:|[(-"))):
        return "aux"  # `Tokenizing train`, `train: Scanning`: what is done with the training's data
    if TRAINING.search(label):
        return "train"
    return "aux" if _BYTES_RATE.search(rate) or AUXILIARY.search(label) else "train"


def _last_unit(label: str) -> bool:
    """Whether the word right before a fraction says what it counts."""
    found = LAST_WORD.search(label.rstrip(" :=[(#"))
    return found is not None and found[0].lower() in UNITS


def _label_key(label: str) -> str:
    """What names a bar: its words without numbers and metrics."""
    words = ANY_WORD.findall(re.split(r"(?i)[=,]|(?<![a-z])loss(?![a-z])", label)[0])
    return " ".join(words[:4]).lower()[:40]


def _bar_unit(match: re.Match[str], label: str) -> str:
    behind = _WORD_BEHIND.match(match.string, match.end()) if _group(match, "word") is None else None
    word = (behind[1] if behind else _group(match, "word") or "").lower()
    if word in UNITS and word != "it":
        return UNITS[word]
    words = [word.lower() for word in ANY_WORD.findall(label)]
    numbered = {found[1].lower() for found in _NUMBERED.finditer(label)}  # `Stage 2/3`: which, not how many
    for name in reversed(words[-4:]):
        if name in UNITS and name not in numbered:
            return UNITS[name]
    rate = re.search(r"[\d.?]\s*([a-z]+)/s|s/([a-z]+)", _group(match, "rate") or "")
    name = (rate[1] or rate[2]) if rate else ""
    if name in UNITS and name != "it":
        return UNITS[name]
    return "batch" if match.re is _KERAS else "step"


def _clock(text: str | None) -> float | None:
    return parse_clock(text) if text else None
