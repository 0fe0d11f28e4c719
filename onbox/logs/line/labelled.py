"""A word for what is counted, then the number: `epoch 5 of 20`, `"current_steps": 1000`. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.line.labelled_east import read_labelled_of_east
from onbox.logs.line.labelled_shapes import (
    BATCHES,
    BEFORE_EPOCH,
    COUNTED,
    EPOCH_AND_STEP,
    EPOCH_OF,
    SHORT_EPOCH,
    SHORT_MEASURED,
    WORD,
)
from onbox.logs.line.numbers import COUNT, ShownCount, is_exact, parse_count
from onbox.logs.line.roles import is_measured, role_in_line
from onbox.logs.line.settings import (
    BESIDE_SETTINGS,
    CALLED_SETTINGS,
    CONSTANTS,
    HOW_MANY,
    OF_SETTINGS,
    is_in_list,
    is_of_a_model,
    is_quoted,
    is_setting,
    tells_a_setting,
)
from onbox.logs.line.sights import CounterSight
from onbox.logs.line.words import (
    ANY_WORD,
    AUXILIARY,
    EVALUATION,
    EVERYDAY,
    IN_FRACTIONS,
    LAST_WORD,
    LONE_UNITS,
    LOOK_BACK,
    MAXIMUM_WORDS,
    OF_AN_EVALUATOR,
    OF_EARLIER,
    SELDOM_UNITS,
    STEP_UNITS,
    UNIT_WORD,
    UNITS,
    WEAK_WORDS,
    counts_two_things,
)
from onbox.regex import lazy

if TYPE_CHECKING:
    import re

LONGEST_SHORT = 3  # letters of `it`, `ep`, `gen`
_BEGINNINGS = frozenset(
    "start starting started begin beginning began train training running run now current currently global finished"
    " finish completed complete done end ended ending info debug at in on after this the computing doing"
    " into entering entered".split()
)
_OF_WHAT_ENDED = lazy(r"(?i)\bfinished\W{1,4}#$")  # `optimization finished, #iter = 1378`, of LIBSVM
_FOR_EACH = lazy(r"(?i)(?<![a-z])(?!metrics|stats|params|logs|scalars|progress)[a-z]{3,12}s/$")  # `games/iter 20`
_OF_A_MEAN = lazy(
    r"(?i)(?<![a-z])(?:avg|average|mean)\.?\s(?:#\s|no\.? |number )?(?:of )?$"
)  # `avg # of iterations =  5.0`
_OF_A_CHECKPOINT = lazy(r"(?i)(?:ckpt|checkpoint)\S{0,40}\s{1,20}$")
_OF_A_METRIC = lazy(  # `train_loss_epoch=15.00`, as Lightning names what it took over an epoch
    r"(?i)(?<![a-z])(?:loss|acc|accuracy|auc|auroc|f1|iou|miou|dice|mse|mae|rmse|psnr|ssim|ppl|perplexity|error|score"
    r"|reward|return|lr|kl|elbo|norm|time)(?:_[a-z\d]{1,12}){0,2}_$"
)
# Ends of what makes a number that of an address, a group of clocks, a rate, a command (`-epoch 25`), a length.
_NO_COUNT = ("?", "&", "time/", "sec/", " -", "len(")
_OF_THE_WHOLE = lazy(r"(?i)(?<![a-z_])(?:(?:max(?:imum)?|total|n|num|number_of|train(?:ing)?|target)_)+$")
_OF_THE = lazy(r"\s*(?:of|in|from) (?:the|a|an|this|our|each)(?![a-z])")
_COUNT_IN_CELL = lazy(
    r"\|\s{1,20}(?P<count>\d{1,18})\s{1,8}(?P<word>updates|steps|iters|iterations|timesteps)\s{1,20}\|"
)
_CONNECTED = lazy(r"(?i)\b(?:every|each|per|after|for|of|in|from|last|next|best|until|total|max|first)\W{0,3}$|/\s?$")
_ORDINAL = lazy(
    r"(?i)(?<![\w./,:+-])(?P<current>\d{1,9})(?:st|nd|rd|th)? "
    r"(?P<word>epoch|step|iter|iteration|round|episode|generation|update)\s?[,:|](?![\s\[(]{0,8}\d{1,18}(?![.\d]))(?=.{0,80}\d\.\d)"
)
_THIRD = lazy(r"\s{0,3}/\s{0,3}\d")  # `iteration 280/300/303`: three counts, and none of them the end
_GLOBAL = lazy(r"(?i)global[_ ]?$|num_$|total_?$")
_LOSS_BEHIND = lazy(
    r"(?i).{0,24}(?<![a-z])(?:loss|acc(?:uracy)?|top-?[15]|prec@[15])(?![a-z])"
)  # `Test 20/79 Loss 0.81`
_VALIDATES = lazy("(?i)val|test|eval")
_DURATION = lazy(r"\s?(?:[mu]?s|sec\w*|min\w*|%)(?![a-z])")
_ID = lazy(r"(?i)[ _]id")
_NUMBERED_BY_ID = frozenset({"epoch", "iter", "batch"})  # `job id: 812` is a name
_TAKES_UP = lazy(r"(?i)(?:.{0,60}?[\]:|] )?\W{0,8}(?:resum(?:ed|ing)|restor(?:ed|ing)|load(?:ed|ing)) ")  # of a line
_OF_BATCHES = lazy(r"(?i)(?<![a-z])(?:mini[-_ ]?)?batch[ _-]$")
_LISTED = lazy(r"^\s*\d{1,9}\s{2,}$")  # ` 3   step   1000 non-null`: a row of a table of names
_OTHER_FIGURE = lazy(r"[:=] {0,4}\d[\d.,]*\s")  # `inference: 10000 fps total: 8000 epoch: 1/500`
_PLACE = lazy(r"\d{0,6}:\d{1,6}\]")  # in the code: `k_epoch0:9]`
_SHARE_BEHIND = lazy(r"[,:] {0,4}\d{1,3}(?:\.\d{1,4})? ?%")  # `Encoding: task 1 of 1, 34.80 %`
_DATE = lazy(r"\d{4}/\d\d/\d\d")
_TOTAL_BESIDE = lazy(rf"(?i)[\s,;|]{{0,4}}(?<![a-z])[\"']?(?:total|max|of|out_of)[\"']?\s?[:=]\s?({COUNT})(?![\w.])")


_SHORT_FORM = lazy(  # behind a time and a tag: `18:44:42 e002 i0156`, `[distill] e5 it  100`
    r"^\s{0,8}(?:[\d:.,T/-]{5,30}\s{1,4}){0,2}(?:\[[A-Za-z][\w .-]{0,24}\]\s{1,4})?(?P<short>[eE][pP]?\d)"
)
_COUNTED_BEFORE = lazy(
    r"(?:^|[^=:\w,.])\d[\d,]{0,15}\s$"
)  # `2 epochs | 1250 steps`: each number stands before its word
_COUNTED_IN_BRACKETS = lazy(r"[(\[]\s?\d[\d,]{0,15}\s$")  # `(2 rounds: 2 fast, 1 slow)`
_UNIT_BEHIND = lazy(rf"(?i)\s(?:[a-z]{{3,14}} ){{0,2}}(?:{UNIT_WORD}|[a-z]{{3,16}}s)(?![a-z])")


def read_labelled(text: str) -> tuple[list[CounterSight], list[tuple[str, int]]]:
    sights: list[CounterSight] = []
    maxima: list[tuple[str, int]] = []
    qualified: list[bool] = []  # of each maximum, whether its name says more than that
    short = _SHORT_FORM.search(text)
    if short and (sights := _epoch_and_step(text[short.start("short") :])):
        return sights, maxima
    sights, text = _led_by_epoch(text)
    ordinal = None if sights else _ordinal(text)
    if ordinal is not None:
        return [ordinal], maxima
    in_cell = _count_in_cell(text) if " |" in text else None
    sights += read_labelled_of_east(text)
    for word in WORD.finditer(text):
        unit = UNITS.get(word[0].lower()) or MAXIMUM_WORDS.get(word[0].lower())
        match = COUNTED.match(text, word.end()) if unit else None
        if unit is None or match is None or (unit not in _NUMBERED_BY_ID and _ID.match(text, word.end())):
            continue
        before = text[max(0, word.start() - LOOK_BACK) : word.start()]
        if unit in STEP_UNITS and _OF_BATCHES.search(before):
            unit = "batch"  # `epoch 3, batch step: 719`
        in_a_name = before.endswith(".") and before[-2:-1].isalnum() and not OF_SETTINGS.search(before)
        # `task score_batch[8690]`: which one of its kind
        in_a_name = in_a_name or (before.endswith("_") and text.startswith("[", word.end()))
        if in_a_name or _OF_A_METRIC.search(before) or _PLACE.match(text, word.end()):
            continue  # of a file's, of a metric's, or of a place in the code
        if before.endswith(_NO_COUNT) or (match["max"] is None and _OF_A_CHECKPOINT.search(before)):
            continue
        if before.lower().endswith(("_in_", "_this_")) or (match["max"] is None and _OF_WHAT_ENDED.search(before)):
            continue  # `step_in_epoch: 300`, `steps_this_iter: 32`: of the epoch, not which
        if before.endswith(("/", "grad_")) and match["max"] is None and not _is_named_metric(before, word[0]):
            continue  # `n/ep=1`, `s/it: 0.3`: how many for each; `grad_steps 9`
        role = role_in_line(text, word, match, before)
        count = parse_count(match["current"])
        told = is_exact(text, *match.span("current")) and not _stands_before_its_word(text, match, before)
        told = told and not (_OF_A_MEAN.search(before) or OF_AN_EVALUATOR.search(text, 0, word.start()))
        if role == "maximum" and told and not count.rounded and count.value > 0 and float(count.value).is_integer():
            maxima.append((unit, int(count.value)))
            qualified.append(before.endswith("_") and not _OF_THE_WHOLE.search(before))
        if role == "counter" and (in_cell is None or unit != in_cell.unit):
            sights.extend(_word_sights(text, match, unit, before, count))
    return ([*sights, in_cell] if in_cell else sights), _of_the_run(maxima, qualified)


def _of_the_run(maxima: list[tuple[str, int]], qualified: list[bool]) -> list[tuple[str, int]]:
    """`epochs=50, tune_epochs=140`: the plain name is the run's, where both stand on one line."""
    plain = {unit for (unit, _), more in zip(maxima, qualified, strict=True) if not more}
    return [told for told, more in zip(maxima, qualified, strict=True) if not more or told[0] not in plain]


def _stands_before_its_word(text: str, match: re.Match[str], before: str) -> bool:
    """Whether the number of a word is the one in front of it, and what is behind belongs to the next."""
    if _COUNTED_IN_BRACKETS.search(before):
        return True
    return bool(_COUNTED_BEFORE.search(before) and _UNIT_BEHIND.match(text, match.end("current")))


def _led_by_epoch(text: str) -> tuple[list[CounterSight], str]:
    """An epoch whose number stands before its word, with what is inside it; and the rest of the line."""
    found = BEFORE_EPOCH.search(text) or EPOCH_OF.search(text)
    if found is None:
        return [], text
    return [_numbered_epoch(found), *_inside_epoch(text, found, "train")], text[found.end() :]


def _epoch_and_step(text: str) -> list[CounterSight]:
    """`e3 s1000 | G 1.7`: an epoch, and the step inside it; or the epoch alone."""
    found = EPOCH_AND_STEP.match(text)
    if found is None:
        known = SHORT_EPOCH.match(text)
        short = known or SHORT_MEASURED.match(text)
        if short is None:
            return []
        kind = "train" if known else "bare"
        return [CounterSight("epoch", "epoch", kind, int(short["epoch"]), None, False, "labelled")]
    epoch = CounterSight("epoch", "epoch", "train", int(found["epoch"]), None, False, "labelled")
    return [epoch, CounterSight("step", "step", "train", int(found["current"]), None, False, "labelled", inner=True)]


def _numbered_epoch(found: re.Match[str]) -> CounterSight:
    """`12epoch:`, `12/40epoch started`, `0-epoch (99/44660)`."""
    most = int(found["epochs"]) if found["epochs"] else None
    return CounterSight("epoch", "epoch", "train", int(found["epoch"] or found["short"]), most, False, "labelled")


def _count_in_cell(text: str) -> CounterSight | None:
    """`| 0020028 updates |`: the number before its word, in a column of its own."""
    found = _COUNT_IN_CELL.search(text)
    if found is None:
        return None
    unit = UNITS[found["word"].lower()]
    return CounterSight(unit, unit, "train", int(found["count"]), None, False, "labelled", measured=True)


def _ordinal(text: str) -> CounterSight | None:
    """`12 epoch, loss: 0.0094`: the number before its word."""
    found = _ORDINAL.search(text)
    if found is None or _CONNECTED.search(text, 0, found.start()):
        return None
    unit = UNITS[found["word"].lower()]
    kind = "val" if EVALUATION.search(text, 0, found.start()) else "train"
    key = unit if kind == "train" else f"{kind}:{unit}"
    return CounterSight(key, unit, kind, int(found["current"]), None, False, "labelled", measured=True)


def _is_named_metric(before: str, word: str) -> bool:
    """`Train/Epoch`: in a group of metrics, unlike `s/it` and `?step=3`."""
    if _FOR_EACH.search(before):
        return False
    return len(word) > LONGEST_SHORT and before.endswith("/") and before[-2:-1].isalpha() and before[-4:-3].isalpha()


def _word_sights(text: str, match: re.Match[str], unit: str, before: str, count: ShownCount) -> list[CounterSight]:
    bounded = match["max"] and not _THIRD.match(text, match.end("max")) and is_exact(text, *match.span("max"))
    most = parse_count(match["max"]) if bounded else _total_beside(text, match)
    if match["max"] and (_DATE.match(text, match.start("current")) or counts_two_things(text)):
        return []
    if match["max"] and most is not None and (count.value > most.value or most.value == 0):
        return []
    if most is not None and most.value == 1 and _SHARE_BEHIND.match(text, match.end()):
        return []
    if most is None and (_is_measure(text, match, unit, count) or _is_left_open(text, match)):
        return []
    exact = int(most.value) if most and not most.rounded and float(most.value).is_integer() else None
    mode = match["mode"] or ""
    validates = EVALUATION.search(_OTHER_FIGURE.split(before)[-1]) or _VALIDATES.search(mode)
    if unit == "test":
        validates = validates or _LOSS_BEHIND.match(text, match.end())
    prepares = most is not None and unit not in LONE_UNITS and AUXILIARY.search(before)
    kind = (
        "val"
        if validates
        else "aux"
        if prepares
        else _kind_of_word(text, match, unit, before, bounded=most is not None)
    )
    key = unit if kind == "train" else f"{kind}:{unit}"
    if _GLOBAL.search(before):
        key = f"global {key}"
    measured = is_measured(text, match, before)
    rule = "labelled-max" if most else "labelled" if measured else "labelled-alone"
    if kind == "moving" and _is_weak(text, match):
        if count.rounded:
            return []
        rule = "weak"
    plural = text[match.start() - 1 : match.start()].lower() == "s"
    plural = plural or text[: match.start()].lower().endswith("nstep")
    if plural and (kind == "declared" or (kind == "setting" and tells_a_setting(text, match, before))):
        rule = "settings"  # `steps: 5000`
    sights = [CounterSight(key, unit, kind, count.value, exact, count.rounded, rule, measured=measured)]
    if unit == "epoch" and float(count.value).is_integer():
        sights.extend(_inside_epoch(text, match, kind))
    return sights


def _total_beside(text: str, match: re.Match[str]) -> ShownCount | None:
    """`step=25 total=2000`: how many there are, in the field behind the counter; None if there is none."""
    found = None if match["max"] else _TOTAL_BESIDE.match(text, match.end())
    most = parse_count(found[1]) if found else None
    current = parse_count(match["current"]).value
    return most if most is not None and most.value >= current and most.value > 1 else None


def _kind_of_word(text: str, match: re.Match[str], unit: str, before: str, *, bounded: bool) -> str:
    """`train`; of less sure ones, `bare`, `moving` and `setting`: a counter only if it goes on. `declared`: none."""
    if CALLED_SETTINGS.search(text, 0, match.start()):
        return "declared"
    if match["max"] is None and BESIDE_SETTINGS.search(text) and "oss" not in text:
        return "declared"
    sized = unit == "batch" and HOW_MANY.search(text) is not None and is_in_list(text, match)
    if match["max"] is None and before.strip() and (sized or is_of_a_model(text)):
        return "declared"
    if match["max"] is None and text[match.start() - 1] in "sS" and is_in_list(text, match):
        return "setting"
    if match["max"] is None and _is_remark(text, match, before):
        return "bare"
    if match["max"] is None and (OF_EARLIER.search(before) or _TAKES_UP.match(text)):
        return "bare"
    if _OF_THE.match(text, match.end()) or _is_aside(text, match, before) or _LISTED.match(before):
        return "bare"
    if not bounded and (
        unit in SELDOM_UNITS or _is_weak(text, match) or (unit == "batch" and not is_measured(text, match, before))
    ):
        return "moving"
    if match["max"] is not None:
        return "train"
    if match["max"] is None and CONSTANTS.search(text):
        return "setting"
    result = ":" in match["sep"] and text[match.start() - 1] in "sS"
    result = result and (is_quoted(text, before) or not is_measured(text, match, before))
    return "setting" if result or is_setting(text) else "train"


def _is_weak(text: str, match: re.Match[str]) -> bool:
    word = LAST_WORD.search(text[: match.start()])
    return word is not None and word[0].lower() in WEAK_WORDS


def _is_remark(text: str, match: re.Match[str], before: str) -> bool:
    """`ep 1 of enp0s3`, `update 3 packages`: an everyday word and a number, and nothing measured beside them. Such a
    counter is one only if it goes on.
    """
    if match["sep"].strip() or text[match.start() : match.start("current")].strip():
        return False
    word = LAST_WORD.search(text[: match.start()])
    if word is None or word[0].lower() not in EVERYDAY:
        return False
    return not is_measured(text, match, before)


def _is_aside(text: str, match: re.Match[str], before: str) -> bool:
    """`srun: Step 0 on node 1/4`, `checkpoint-500  step 500`: told of in passing, with nothing measured."""
    if match["max"] is not None or match["sep"].strip() or is_measured(text, match, before):
        return False
    words = ANY_WORD.findall(before)
    return bool(words) and words[-1].lower() not in _BEGINNINGS


def _is_left_open(text: str, match: re.Match[str]) -> bool:
    """`iterations (400 + 600 draws in total)`: a sum in brackets."""
    return text[: match.start("current")].rstrip().endswith("(") and ")" not in match["close"]


def _is_measure(text: str, match: re.Match[str], unit: str, count: ShownCount) -> bool:
    """`step 0.3 s`, `epoch 1714550000`: a duration or a time, no counter."""
    if unit == "epoch":
        timed = not float(count.value).is_integer() and _DURATION.match(text, match.end())
        return count.value >= 1e8 or bool(timed)  # `Time taken for 1 epoch: 19.29 secs`
    if unit in IN_FRACTIONS:
        return False
    return not float(count.value).is_integer() or bool(_DURATION.match(text, match.end()))


def _inside_epoch(text: str, match: re.Match[str], kind: str) -> list[CounterSight]:
    """`[12] [ 600/7392]`, `3 [1280/60000`, `003:  100 / 1500`: the batches inside the epoch."""
    found = BATCHES.match(text, match.end())
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
