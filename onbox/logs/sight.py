"""One line of a log, read: the counters on it, the loss, the remaining time, maxima, and signs of start and end.
Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from onbox.logs.loops import repeated_indices
from onbox.logs.model.lines import message
from onbox.logs.numbers import COUNT, ShownCount, parse_clock, parse_count
from onbox.logs.remarks import read_eta, read_loss
from onbox.logs.rows import read_row
from onbox.logs.shapes import BEFORE_EPOCH, COUNTED, FRACTION, INNER, SHAPES, WORD, Shape
from onbox.logs.states import read_states
from onbox.logs.words import (
    AUXILIARY,
    COUNTER_LABELS,
    EVALUATION,
    EVERYDAY,
    INNER_UNITS,
    LONE_WORDS,
    MAXIMUM,
    NO_SHARE,
    NO_SHARE_AFTER,
    NOT_A_COUNTER,
    NOT_PROGRESS,
    SELDOM_UNITS,
    TRAINING,
    UNIT_WORD,
    UNITS,
)
from onbox.regex import lazy

LOOK_BACK = 40
LONGEST_SHORT = 3  # letters of `it`, `ep`, `gen`
STAGES = 12  # at most so many parts does a script have
_FRACTION = lazy(FRACTION, re.IGNORECASE)
_KERAS = next(shape.pattern for shape in SHAPES if shape.id == "keras")
_WORD = lazy(r"[a-z]+", re.IGNORECASE)
_BEFORE = lazy(r"(?:(?<![A-Za-z])[A-Za-z]+(?:[ _./*-]|$)){1,4}$")  # no word is split: that took most of a line's time
_DESC_EPOCH = lazy(r"^\s*(\d{1,18})\|\d+\|")  # torchtune: epoch|step|loss
_BYTES_RATE = lazy(r"\d\s?[kKMGT]?i?B/s")
_SIZED = lazy(r"\d\s?[kKMGT]i?B(?![a-zA-Z])")
_SIZE_AT_END = lazy(r"\s[kKMGT]i?B$")
_PER_ITEM = lazy(
    r"(?i)(?<![a-z_])(?:time|iter_time|batch_cost|step_time|batch_time)[\"']?\s{0,20}(?:[:=]\s{0,20})?(\d{1,18}\.\d{1,18})"
)
_DESC_STEP = lazy(r"(?i)(?<![a-z])(?:step|iter|iteration|update)s?\W{0,3}(\d{1,18})\W{0,2}$")  # `step 6806:  71%|`
_DESC_FRACTION = lazy(
    r"^\s*(?:train(?:ing)?\W{1,3}(?=\S+\s*$))?[\[(]?(\d{1,18})/(\d{1,18})[\])]?(?=[\s:])", re.IGNORECASE
)
_FOR_MAX = lazy(
    rf"(?i)(?:(?:train\w{{0,8}}|run\w{{0,8}}|fit\w{{0,8}}|start\w{{0,8}}|optimi\w{{0,8}}|for|sampling"
    rf"|max(?:imum)?|total(?: of)?)\W{{1,4}}(?:[a-z]{{1,20}}\W{{1,4}})?){{1,3}}({COUNT})\s{{1,8}}(?:[a-z]{{1,20}}\s)?"
    r"(epochs?|steps?|iterations?|iters?|updates?|rounds?|trials?|timesteps?|episodes?|generations?)(?![a-z])"
)


_EVERY = lazy(
    r"(?i)(?<![a-z])(?:every|each|per|improve\w*|patience|without|last|least|past|keep|interval)(?![a-z])"
)  # `an evaluation is run every 500 iterations`
_SO_MANY = lazy(
    rf"^\s*({COUNT})\s{{1,8}}(epochs|steps|iterations|iters|updates|rounds|trials|timesteps|episodes|generations),"
)
_RUN = lazy(r"^run\s{1,20}(\d{1,15})$")  # LAMMPS
_PASSES = lazy(r"(?<![\w.,])(\d{1,18}) passes over\b")

_DONE_COUNT = lazy(
    r"(?i)(?<![a-z])(?:done|processed|completed|finished|solved|handled|generated|fit|fitted|trained|built|simulated"
    rf"|evaluated|scored|converted|written|wrote|seen|consumed)[:=]?\s{{1,8}}({COUNT})\s{{1,8}}({UNIT_WORD})(?![a-z])(?!\s{{0,8}}(?:/|of\s))"
)
_COUNT_DONE = lazy(
    rf"(?i)(?<![\w.,/-])({COUNT})\s{{1,8}}({UNIT_WORD})\s{{1,8}}(?:done|processed|completed|finished|handled"
    rf"|generated|simulated|written"
    r"|converted|seen|consumed)(?![a-z])"
)


_ANY_FRACTION = lazy(
    r"(?<![\w.,/:-])(?P<current>\d{1,12})\s{0,3}(?:/|of|out of)\s{0,3}(?P<max>\d{1,12})(?![\w./:%-]|,\d|\s?[kKMGT]i?B)"
)
_PART_OF_DATA = lazy(r"(?i)(?<![a-z])(?:shard|part|partition|split|page|volume|file)s?\W{0,4}$")
_IS_DONE = lazy(
    r"(?i)[\s:,)\]-]{1,4}(?:is |was )?(?:done|ok|ready|complete[d]?|finished|processed|written|converted"
    r"|tokeni[sz]ed|uploaded"
    r"|downloaded|indexed|merged|saved)\b"
)
_BEGINNINGS = frozenset(
    "start starting started begin beginning began train training running run now current currently global finished"
    " finish completed complete done end ended ending info debug at in on after this the computing doing".split()
)
_OF_A_CHECKPOINT = lazy(r"(?i)(?:ckpt|checkpoint)\S{0,40}\s{1,20}$")
_OF_THE = lazy(r"\s*(?:of|in|from) (?:the|a|an|this|our|each)(?![a-z])")
_UNTIL = lazy(
    rf"(?i)(?<![a-z])(?:up to|until|till|through|stops? at|ends? at|target(?: is|:)?)\s{{1,4}}"
    rf"(epoch|step|iteration|iter|update|round|trial|episode|generation|timestep)\s{{1,4}}({COUNT})(?![\w.]*\d)"
)
_NUMBERED = lazy(r"(?<![a-z])([a-z]{1,20})\W{0,16}\d", re.IGNORECASE)
_WORD_BEHIND = lazy(r"\s([a-z]{1,20})(?![a-z])", re.IGNORECASE)
_ONE_SETTING = lazy(r"^[\s,{│├└─-]*[\"']?[\w.-]{1,60}[\"']?\s?[:=]\s?[\"']?[\d.]+[\"']?[\s,}]*$")
_SETTINGS = lazy(r"(?:Namespace|Config|Args|Arguments|Params|Options)\(|\{[^{}]{0,400}\{")
_ABOUT = lazy(
    r"(?i)(?:[~\u2248]|(?<![a-z])(?:about|approx\w*\.?|roughly|around|circa|ca\.?|almost|nearly|some|over|at least"
    r"|more than|less than|fewer than|estimated|est\.?))\W{0,3}$"
)
_LAST_WORD = lazy(r"(?<![A-Za-z])[A-Za-z]+$")
_MEASURED = lazy(r"[:=]\s*[-+]?\d|\d\.\d|\d\s?%|\bnan\b|\binf\b")
_MEASURE_AFTER = lazy(r"\s+[A-Za-z][A-Za-z ]{1,30}[:=]\s*[-+]?\d")  # `[300/900] Accuracy so far: 0.82`
_OR_MORE = lazy(r"\+|\s?(?:thousand|million|billion|mio|mrd|tsd)(?![a-z])|(?:\.\d+)?e\+?\d", re.IGNORECASE)


def _is_exact(text: str, start: int, end: int) -> bool:
    """Whether the number that stands there is told as an exact one: `~5000`, `about 5000`, `5000+` are not."""
    return not _ABOUT.search(text[max(0, start - 16) : start]) and not _OR_MORE.match(text, end)


class CounterSight(NamedTuple):
    """A counter on one line. kind: `train`, `val`, `aux`, or `done`: how many things are done, without a maximum.
    maximum: None if not shown, or shown rounded. beside_epoch:
    an epoch stands on the same line. made: a display made for progress (a bar), not words of a log line.
    eta, elapsed: seconds, of this counter, None if not shown.
    """

    key: str
    unit: str
    kind: str
    current: int | float
    maximum: int | None
    rounded: bool
    rule: str
    eta: float | None = None
    elapsed: float | None = None
    beside_epoch: bool = False
    made: bool = False
    inner: bool = False


class SeenOnLine(NamedTuple):
    """What one line shows. maxima: exact maxima by unit. loss: None if it shows no training loss. eta: in words of the
    line, not of a bar. percent: where only that is shown.
    """

    sights: tuple[CounterSight, ...] = ()
    maxima: tuple[tuple[str, int], ...] = ()
    loss: float | str | None = None
    eta: float | None = None
    percent: float | None = None


def read_line(text: str) -> SeenOnLine:
    """Everything a line shows. `text` is printable: no escape sequences, no carriage returns."""
    row = read_row(text)
    if row is not None:
        sight = CounterSight(
            row.key, row.unit, "bare" if row.bare else "train", row.current, None, False, row.rule, eta=row.eta
        )
        return SeenOnLine((sight,), loss=row.loss)
    states = read_states(text)
    if states is not None:
        return SeenOnLine(
            (CounterSight(states.unit, states.unit, "train", states.done, states.total, False, "states"),)
        )
    bars, rest = _bars(text)
    labelled, maxima = _labelled(rest)
    for found in _FOR_MAX.finditer(rest):
        count = parse_count(found[1])
        every = _EVERY.search(rest, max(0, found.start() - LOOK_BACK), found.end())
        if not every and not count.rounded and count.value > 0 and _is_exact(rest, *found.span(1)):
            maxima.append((UNITS[found[2].lower()], int(count.value)))
    until = _UNTIL.search(rest)
    if until and not parse_count(until[2]).rounded:
        maxima.append((UNITS[until[1].lower()], int(parse_count(until[2]).value)))
    so_many = _SO_MANY.match(rest)  # GROMACS: `20000 steps,     40.0 ps.`
    if so_many and not parse_count(so_many[1]).rounded:
        maxima.append((UNITS[so_many[2]], int(parse_count(so_many[1]).value)))
    command = _RUN.match(rest)
    if command:
        maxima.append(("step", int(command[1])))
    passes = _PASSES.search(rest) if " passes over" in rest else None
    if passes:
        maxima.append(("epoch", int(passes[1])))
    sights = _together(bars, labelled)
    if not sights:
        sights = _done_count(rest)
    if not sights and not maxima:
        sights = _moving(rest)
    sights = _repeated(text, in_a_bar=any(bar.made for bar in bars)) + sights
    loss = read_loss(text)
    eta = None if any(bar.eta is not None for bar in bars) else read_eta(text)
    if eta is not None and sights and (all(s.kind == "val" for s in sights) or _is_inner_eta(eta, sights, text)):
        eta = None
    return SeenOnLine(tuple(sights), tuple(maxima), loss, eta)


def _is_inner_eta(eta: float, sights: list[CounterSight], text: str) -> bool:
    """Whether a line's remaining time is that of the epoch: what is left of it, times the time that one takes."""
    inner = next((sight for sight in sights if sight.inner and sight.maximum), None)
    if inner is None:
        return False
    each = _PER_ITEM.search(text)
    if each is None or inner.maximum is None:
        return True
    left = (inner.maximum - inner.current) * float(each[1])
    return eta <= max(2.0 * left, 2.0)


def _together(bars: list[CounterSight], labelled: list[CounterSight]) -> list[CounterSight]:
    """Counters of one line know whether an epoch stands beside them."""
    epoch = next((sight for sight in labelled if sight.unit == "epoch"), None)
    if epoch is None:
        return bars + labelled
    whole = isinstance(epoch.current, int) and not epoch.inner  # 3.0 is how far, not which
    inside = labelled[labelled.index(epoch) :] if epoch in labelled else labelled  # `step=360/10000, epoch=0` is not
    return [
        s._replace(beside_epoch=whole) if s.unit != "epoch" and not s.made and s in inside else s
        for s in bars + labelled
    ]


def _moving(text: str) -> list[CounterSight]:
    """A count of a count after any words, such as `Simulation rep 37 of 200`: a counter if it goes on as one."""
    found = _ANY_FRACTION.search(text)
    if not found:
        return []
    label, current, most = text[: found.start()], int(found["current"]), int(found["max"])
    if current > most or most < 2 or NO_SHARE.search(label[-LOOK_BACK:]):
        return []
    if NOT_PROGRESS.search(label[-LOOK_BACK:]) and not (
        _PART_OF_DATA.search(label) and _IS_DONE.match(text, found.end())
    ):
        return []
    if NO_SHARE_AFTER.match(text, found.end()) or EVALUATION.search(label):
        return []
    words = " ".join(word.lower() for word in _WORD.findall(label)[-2:])
    return [CounterSight(f"moving {words}/{most}", "step", "moving", current, most, False, "moving")]


def _repeated(text: str, *, in_a_bar: bool) -> list[CounterSight]:
    """Which repetition of the whole work this is."""
    return [
        CounterSight(f"outer {unit}", unit, "outer", current, most, False, "repeated")
        for unit, current, most in repeated_indices(text, in_a_bar=in_a_bar)
    ]


def _done_count(text: str) -> list[CounterSight]:
    """`Done 196 tasks`: how many, without a maximum."""
    found = _DONE_COUNT.search(text) or _COUNT_DONE.search(text)
    if not found:
        return []
    count, unit = parse_count(found[1]), UNITS[found[2].lower()]
    return [CounterSight(f"done {unit}", unit, "done", count.value, None, count.rounded, "done-count")]


# -- bars and other displays made for progress


class Display(NamedTuple):
    """A display found on a line. label: the text before it, from the end of the display before."""

    shape: Shape
    match: re.Match[str]
    label: str


def _bars(text: str) -> tuple[list[CounterSight], str]:
    """The displays on a line, and the line without them."""
    fraction = _FRACTION.search(text)
    for shape in SHAPES:
        if shape.fraction and not fraction:
            continue
        if not _has_all(text, shape.needs):
            continue
        sights: list[CounterSight] = []
        rest: list[str] = []
        at = 0
        for match in shape.pattern.finditer(text):
            own = _group(match, "label")
            display = Display(shape, match, own if own is not None else text[at : match.start()])
            sight = _bar_sight(display)
            if sight is None:
                continue
            sights += [sight, *_outer_of(display)]
            rest.append(text[at : match.start()])
            at = match.start("rate") if _group(match, "rate") else match.end()
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
    maximum = parse_count(most) if most and most[0].isdigit() else None
    if most and maximum and maximum.rounded and not current.rounded and _SIZE_AT_END.search(most):
        current = parse_count(match["current"] + _SIZE_AT_END.findall(most)[0])  # `80.0/300.0 MB`
    if not _plausible(display, current, maximum):
        return None
    told = maximum is None or _is_exact(match.string, *match.span("max"))
    exact = (
        int(maximum.value) if maximum and told and not maximum.rounded and float(maximum.value).is_integer() else None
    )
    desc_fraction = _DESC_FRACTION.match(label) or _DESC_EPOCH.match(label)
    own = _label_key(label)
    unit = _bar_unit(match, label)
    key = f"bar:{own}" if own else f"bar:{unit}/{exact if exact is not None else most}"
    if shape.id == "loggable" and not own:
        key = "bar:progress"  # its maximum is exact in the first line only
    rounded = current.rounded or not float(current.value).is_integer()
    return CounterSight(
        key,
        unit,
        "aux" if _is_stage(shape, exact) else bar_kind(label, _group(match, "rate") or ""),
        current.value,
        exact,
        rounded,
        shape.id,
        eta=_clock(_group(match, "eta")),
        elapsed=_clock(_group(match, "elapsed")),
        beside_epoch=bool(desc_fraction or _group(match, "epoch") or re.search(r"(?i)(?<![a-z])epoch\W*\d", label)),
        made=True,
        inner=shape.id in ("keras", "train-bracket", "two-brackets", "loss-bracket", "pass-document")
        or bool(desc_fraction)
        or _is_of_step(label, exact),
    )


def _is_of_step(label: str, most: int | None) -> bool:
    """Whether the label names a step of the run that is past the bar's end: the bar is about a part of it."""
    found = _DESC_STEP.search(label)
    return found is not None and most is not None and int(found[1]) > most


def _is_stage(shape: Shape, most: int | None) -> bool:
    """`[3/6] Loading the model`: the parts of a script, which are the progress only where nothing else is shown."""
    return shape.id == "leading-bracket" and most is not None and most <= STAGES


def _outer_of(display: Display) -> list[CounterSight]:
    """`35/60` or an epoch number in front of a bar: the epoch, outside the bar."""
    shape, match, label = display
    epoch = _group(match, "epoch")
    if epoch:
        kind = bar_kind(label)
        most = _group(match, "epochs")
        key = "epoch" if kind == "train" else f"{kind}:epoch"
        return [CounterSight(key, "epoch", kind, int(epoch), int(most) if most else None, False, shape.id)]
    found = _DESC_EPOCH.match(label)
    if found:
        return [CounterSight("epoch", "epoch", "train", int(found[1]), None, False, shape.id)]
    found = _DESC_FRACTION.match(label)
    if found and int(found[1]) <= int(found[2]):
        return [CounterSight("epoch", "epoch", "train", int(found[1]), int(found[2]), False, shape.id)]
    return []


def _plausible(display: Display, current: ShownCount, maximum: ShownCount | None) -> bool:
    """Whether a fraction is one of progress: its percentage agrees, and no word before it speaks against it."""
    shape, match, label = display
    label = label.rstrip()
    if shape.id in ("tqdm", "loggable", "tqdm-open"):
        return True
    if maximum is not None and (current.value > maximum.value or maximum.value == 0):
        return False
    if maximum is not None and re.match(r"/\d", match.string[match.end("max") :]):
        return False  # a date
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
    if shape.id == "fraction-unit" and _last_unit(label):
        return False  # `epoch 3 / 200 Time taken: 9 s`: what is counted stands before it
    if shape.id != "bar" and _SIZED.search(match[0]) and not AUXILIARY.search(label):
        return False
    percent = _group(match, "percent")
    if percent and maximum and not maximum.rounded:
        return abs(100 * current.value / maximum.value - float(percent)) <= 1.01
    return shape.id != "leading-bracket" or not re.match(r"\s*\d+[:/]", match.string[match.end() :])


def bar_kind(label: str, rate: str = "") -> str:
    """`val` and `aux` are not the training; an unnamed bar is taken as training, unless it moves bytes."""
    if EVALUATION.search(label):
        return "val"
    if AUXILIARY.match(label.lstrip(" \t:|[(-")):
        return "aux"  # `Tokenizing train`: what is done with the training's data
    if TRAINING.search(label):
        return "train"
    return "aux" if _BYTES_RATE.search(rate) or AUXILIARY.search(label) else "train"


def _last_unit(label: str) -> bool:
    """Whether the word right before a fraction says what it counts."""
    found = _LAST_WORD.search(label.rstrip(" :=[(#"))
    return found is not None and found[0].lower() in UNITS


def _label_key(label: str) -> str:
    """What names a bar: its words without numbers and metrics."""
    words = _WORD.findall(re.split(r"(?i)[=,]|(?<![a-z])loss(?![a-z])", label)[0])
    return " ".join(words[:4]).lower()[:40]


def _bar_unit(match: re.Match[str], label: str) -> str:
    behind = _WORD_BEHIND.match(match.string, match.end()) if _group(match, "word") is None else None
    word = (behind[1] if behind else _group(match, "word") or "").lower()
    if word in UNITS and word != "it":
        return UNITS[word]
    words = [word.lower() for word in _WORD.findall(label)]
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


# -- a word for what is counted, then the number


def _labelled(text: str) -> tuple[list[CounterSight], list[tuple[str, int]]]:
    sights: list[CounterSight] = []
    maxima: list[tuple[str, int]] = []
    before_epoch = BEFORE_EPOCH.search(text)
    if before_epoch:
        sights.append(
            CounterSight(
                "epoch",
                "epoch",
                "train",
                int(before_epoch["epoch"] or before_epoch["short"]),
                int(before_epoch["epochs"]) if before_epoch["epochs"] else None,
                False,
                "labelled",
            )
        )
    for word in WORD.finditer(text):
        unit = UNITS.get(word[0].lower())
        match = COUNTED.match(text, word.end()) if unit else None
        if unit is None or match is None:
            continue
        before = text[max(0, word.start() - LOOK_BACK) : word.start()]
        if before.endswith(("?", "&")) or (match["max"] is None and _OF_A_CHECKPOINT.search(before)):
            continue  # of an address, of a file
        if before.endswith(("/", "grad_")) and match["max"] is None and not _is_named_metric(before, word[0]):
            continue  # `n/ep=1`, `s/it: 0.3`: how many for each; `grad_steps 9`
        role = _role(_label_words(before), word[0].lower(), match, leads=not before.strip())
        count = parse_count(match["current"])
        told = _is_exact(text, *match.span("current"))
        if role == "maximum" and told and not count.rounded and count.value > 0 and float(count.value).is_integer():
            maxima.append((unit, int(count.value)))
        if role == "counter":
            sights.extend(_word_sights(text, match, unit, before, count))
    return sights, maxima


def _is_named_metric(before: str, word: str) -> bool:
    """`Train/Epoch`: in a group of metrics, unlike `s/it` and `?step=3`."""
    return len(word) > LONGEST_SHORT and before.endswith("/") and before[-2:-1].isalpha() and before[-4:-3].isalpha()


def _label_words(before: str) -> list[str]:
    found = _BEFORE.search(before)
    return [word.lower() for word in _WORD.findall(found[0])] if found else []


def _role(words: list[str], unit: str, match: re.Match[str], *, leads: bool) -> str:
    """counter, maximum, or nothing. unit: the word as it stands there. leads: it begins the line."""
    label = "_".join([*words[-1:], unit])
    near = words[-3:]
    if near[-1:] == ["global"] and near[-2:-1] in (["train"], ["training"]):
        near = near[-1:]  # `training/global_step`: the counter in a group of metrics
    if match["max"] is not None:
        refused = any(
            word in NOT_A_COUNTER and word not in ("val", "validation", "eval", "start") for word in near[-2:]
        )
        return "" if refused or match["max"] == "?" else "counter"
    if label in COUNTER_LABELS:
        return "counter"
    if any(word in NOT_A_COUNTER for word in near):
        return ""
    if any(word in MAXIMUM for word in near):
        return "counter" if "|" in match["sep"] else "maximum"
    if unit in ("epochs", "iters", "rounds", "trials", "episodes") or (unit.endswith("s") and "=" in match["sep"]):
        return "maximum" if match["sep"].strip() or near[-1:] == ["for"] else ""
    if unit in ("it", "up", "ep", "gen") and not match["sep"].strip() and not match[0].startswith(".") and not leads:
        return ""
    if unit in SELDOM_UNITS and "=" not in match["sep"] and words[-1:] != ["time"]:
        return "counter"
    return "counter" if unit in LONE_WORDS or (unit == "batch" and INNER_UNITS) else ""


def _word_sights(text: str, match: re.Match[str], unit: str, before: str, count: ShownCount) -> list[CounterSight]:
    most = parse_count(match["max"]) if match["max"] and _is_exact(text, *match.span("max")) else None
    if most is not None and (count.value > most.value or most.value == 0):
        return []
    if most is None and (_is_measure(text, match, unit, count) or _is_left_open(text, match)):
        return []
    exact = int(most.value) if most and not most.rounded and float(most.value).is_integer() else None
    mode = match["mode"] or ""
    validates = EVALUATION.search(before) or re.search("(?i)val|test|eval", mode)
    kind = "val" if validates else _kind_of_word(text, match, unit, before, bounded=most is not None)
    key = unit if kind == "train" else f"{kind}:{unit}"
    if re.search(r"(?i)global[_ ]?$|num_$|total_?$", before):
        key = f"global {key}"
    rule = "labelled-max" if most else "labelled" if _is_measured(text, match, before) else "labelled-alone"
    if kind == "setting" and text[match.start() - 1 : match.start()].lower() == "s":
        rule = "settings"  # `steps: 5000`
    sights = [CounterSight(key, unit, kind, count.value, exact, count.rounded, rule)]
    if unit == "epoch" and float(count.value).is_integer():
        sights.extend(_inside_epoch(text, match, kind))
    return sights


def _kind_of_word(text: str, match: re.Match[str], unit: str, before: str, *, bounded: bool) -> str:
    """`train`; of less sure ones, `bare`, `moving` and `setting`: a counter only if it goes on."""
    if match["max"] is None and _is_remark(text, match, before):
        return "bare"
    if _OF_THE.match(text, match.end()) or _is_aside(text, match, before):
        return "bare"
    if not bounded and (unit in SELDOM_UNITS or (unit == "batch" and not _is_measured(text, match, before))):
        return "moving"
    return "setting" if match["max"] is None and _is_setting(text) else "train"


def _is_remark(text: str, match: re.Match[str], before: str) -> bool:
    """`ep 1 of enp0s3`, `update 3 packages`: an everyday word and a number, and nothing measured beside them. Such a
    counter is one only if it goes on.
    """
    if match["sep"].strip() or text[match.start() : match.start("current")].strip():
        return False
    word = _LAST_WORD.search(text[: match.start()])
    if word is None or word[0].lower() not in EVERYDAY:
        return False
    return not _is_measured(text, match, before)


def _is_measured(text: str, match: re.Match[str], before: str) -> bool:
    """Whether other numbers with a meaning stand beside a counter: a loss, a rate."""
    return bool(_MEASURED.search(f"{before} {text[match.end() :]}"))


def _is_aside(text: str, match: re.Match[str], before: str) -> bool:
    """`srun: Step 0 on node 1/4`, `checkpoint-500  step 500`: told of in passing, with nothing measured."""
    if match["max"] is not None or match["sep"].strip() or _is_measured(text, match, before):
        return False
    words = _WORD.findall(before)
    return bool(words) and words[-1].lower() not in _BEGINNINGS


def _is_left_open(text: str, match: re.Match[str]) -> bool:
    """`iterations (400 + 600 draws in total)`: a sum in brackets."""
    return text[: match.start("current")].rstrip().endswith("(") and ")" not in match["close"]


def _is_setting(text: str) -> bool:
    """`  step: 30`, `{"train": {"step": 0, ...}}`: of a configuration, unless it goes on."""
    return bool(_ONE_SETTING.match(message(text).text) or (_SETTINGS.search(text) and "loss" not in text.lower()))


def _is_measure(text: str, match: re.Match[str], unit: str, count: ShownCount) -> bool:
    """`step 0.3 s`, `epoch 1714550000`: a duration or a time, no counter."""
    if unit == "epoch":
        return count.value >= 1e8
    return not float(count.value).is_integer() or bool(
        re.match(r"\s?(?:[mu]?s|sec\w*|min\w*|%)(?![a-z])", text[match.end() :])
    )


def _inside_epoch(text: str, match: re.Match[str], kind: str) -> list[CounterSight]:
    """`[12] [ 600/7392]`, `3 [1280/60000`, `003:  100 / 1500`: the batches inside the epoch."""
    found = INNER.match(text, match.end())
    if not found:
        return []
    current = parse_count(found["current"] or found["current2"])
    most = parse_count(found["max"] or found["max2"])
    if current.value > most.value or most.rounded:
        return []
    key = "inner batch" if kind == "train" else f"{kind}:inner batch"
    return [
        CounterSight(key, "batch", kind, current.value, int(most.value), current.rounded, "epoch-inner", inner=True)
    ]
