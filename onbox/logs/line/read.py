"""One line of a log, read: the counters on it, the loss, the remaining time, maxima, and signs of start and end.
Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.line.displays import read_bars
from onbox.logs.line.done import done_count, fields_left, is_of_a_piece
from onbox.logs.line.fetched import read_bytes
from onbox.logs.line.labelled import read_labelled
from onbox.logs.line.maxima import read_announced, read_maxima
from onbox.logs.line.moving import (
    read_beside,
    read_closing_index,
    read_leading,
    read_leading_index,
    read_moving,
    read_timestep,
)
from onbox.logs.line.remarks import read_eta, read_loss
from onbox.logs.line.rows import read_row
from onbox.logs.line.settings import is_of_another_thing
from onbox.logs.line.sights import CounterSight, SeenOnLine
from onbox.logs.line.sized import read_sized
from onbox.logs.line.spelt import spelt_alike
from onbox.logs.line.states import read_states
from onbox.logs.line.words import LONE_UNITS, NO_SHARE_AFTER, UNITS
from onbox.logs.loops import LOOPS, headed_repetition, leads_with_repetition, named_repetition, repeated_indices
from onbox.regex import lazy

if TYPE_CHECKING:
    import re

TWO = 2  # of which one may be the count, and the other the whole: `step/total: 3/10`
LISTED = 3  # values of one counter on a line
_PER_ITEM = lazy(
    r"(?i)(?<![a-z_])(?:time|iter_time|batch_cost|step_time|batch_time)[\"']?\s{0,20}(?:[:=]\s{0,20})?(\d{1,18}\.\d{1,18})"
)
_NUMBERED_FIGURE = lazy(r"\[(\d{1,9})\]-?\d{1,12}\.\d{1,12}(?=,|\s*$)")  # `[1]5.95,[2]5.71,[3]6.42`: llama.cpp
# Of a test, whose name may hold any number.
_TEST_CASE = lazy(
    r"\s{0,12}[\u2713\u2714\u2716\u2717\u00d7] .{1,200} \([\d.]{1,12} ?m?s\)$|\s{4,12}[\u2713\u2714\u2716\u2717] \S"
)
_ANSWERED = lazy(  # a server's request
    r"\"(?:GET|POST|PUT|PATCH|DELETE|HEAD) \S{1,300} HTTP/[\d.]{1,3}\""
    r"|(?<!\d\] )\b(?:GET|POST|PUT|PATCH|DELETE|HEAD) /\S{0,300}(?: ->)? [1-5]\d\d\b"
)
_FRAME_OF_STACK = lazy(
    r"\(\w{0,200}\+0x[0-9a-f]{1,16}\) ?\[0x[0-9a-f]{4,16}\]"
)  # `2/9: ./a.out(main+0x32) [0x5c6c92b1]`
_HYDRA_JOB = lazy(r"\[HYDRA\]\s{1,8}#(\d{1,6}) : ")
_CANDIDATE = lazy(r"\[CV \d{1,4}/\d{1,4}; (\d{1,9})/(\d{1,9})\] (?:START|END)\b")
_PARALLEL_ETA = lazy(r"ETA: \d{1,9}s Left: (\d{1,9}) AVG: [\d.]{1,12}s\s{1,4}\S{1,60}:\d{1,6}/(\d{1,9})/")  # --eta
_PARALLEL = lazy(r"\s{0,4}\d{1,3}% (\d{1,9}):(\d{1,9})=\d{1,9}s \S")  # GNU parallel --bar: done, left, seconds
_CLOSING_COUNT = lazy(r"[\s.,;]\((\d{1,9})/(\d{1,9})\)$")
_CLOSING_WHOLE = lazy(r"\s\(of (\d{1,9})\)$")
_CLOSING_DONE = lazy(r"\s[(\[](\d{1,9})/(\d{1,9}) (?:completed?|done|finished)[)\]]$")
_TOTAL_BESIDE = lazy(
    r"(?i)(?:[,;|]\s{0,4}|\s)(?:total|target|goal)(?:\s?[:=]\s?|\s)(\d{1,15})(?=\s{0,4}(?:[,;|]|$)|\s[a-z_]{1,20}=)"
)
_OVERALL = lazy(  # `stage 2 step 40/90 | overall 130/240`
    r"(?i)(?<![a-z])(?:overall|global)(?:[ _](?:step|iter|iteration|batch|progress))?\s?[:=]?\s?[\[(]?"
    r"(\d{1,12}) ?/ ?(\d{1,12})(?![\w./%])"
)
_OF_EPOCH = lazy(r"\b(?:of|in) epoch \d")
_OF_THEM_DONE = lazy(r"(?<![\w])[a-z]{3,12}ed[:=]? \d{1,12} ?/ ?\d")  # `round 4: labelled 80/500`
_NUMBERED = lazy(
    r"\s*(?:[\[(]\s*\d{1,9}\s?/\s?\d{1,9}\s*[\])]|\d{1,9}/\d{1,9} [a-z]{3})"
)  # `[ 10/164] task 9: PASS, 2/10 = 0.200 so far`
_ONE_OF_ONE = lazy(r"(?<![\w./-])1 ?(?:/|of) ?1(?![\w./-])")  # `video 1/1 (5/300)`
_SIZES_OF_NAMES = lazy(  # `train/val/test = 800/100/100`: each number is that of one name
    r"(?<![\w/.])(?P<names>[A-Za-z_]{1,20}(?: ?/ ?[A-Za-z_]{1,20}){1,6})\s?[:=]\s?"
    r"(?P<sizes>\d[\d,.]{0,14}(?: ?/ ?\d[\d,.]{0,14}){1,6})(?![\w/])"
)
_SPLITS = frozenset({"train", "training", "val", "valid", "validation", "dev", "test", "eval", "holdout"})
_ARITHMETIC = lazy(r"[+*]\s?\(?\d{1,9}/\d|\d/\d{1,9}\)?\s?[+*]\s?\(?\d|\d/\d{1,9}\)?\s=\s\d{1,9}(?![\d.]*\s?%)")


def read_line(text: str) -> SeenOnLine:
    """Everything a line shows. `text` is printable: no escape sequences, no carriage returns."""
    whole = _whole_line(text)
    if whole is not None:
        return whole
    if "/" in text and _ARITHMETIC.search(text) and not _NUMBERED.match(text):
        return SeenOnLine(loss=read_loss(text))  # `3/5 + 1/4 = 17/20`
    if is_of_another_thing(text):
        return SeenOnLine()
    text = spelt_alike(text)
    if text.count("/") > 1:
        text = _SIZES_OF_NAMES.sub(_unless_alike, text)
    bars, rest = read_bars(text)
    labelled, maxima = read_labelled(rest)
    labelled = _without_lists(labelled)
    maxima += read_maxima(rest)
    sights = _together(_inside_epoch(bars, rest), _with_total_beside(_with_closing_count(labelled, rest), rest))
    if sights and all(sight.maximum == 1 and sight.unit not in LONE_UNITS for sight in sights):
        sights = read_moving(_ONE_OF_ONE.sub(" ", rest)) or sights  # which tells nothing
    sights = fields_left(rest) or sights or _done(rest)
    if sights and all(sight.rule == "done-of" for sight in sights):
        sights = sights + read_moving(rest)
    if all(unit not in LONE_UNITS for unit, _ in maxima) and all(sight.rule == "weak" for sight in sights):
        sights = read_moving(rest) or sights or read_leading(rest)
    sights = [*sights, *read_timestep(text), *_candidate(text), *_job_of_sweep(text)]
    if sights and not maxima and not any(sight.made or sight.maximum for sight in sights):
        sights += _beside(sights, rest)
    sights = read_leading_index(text, sights) + _overall(text, sights) + sights
    if not any(sight.made or (sight.unit in LONE_UNITS and sight.kind != "moving") for sight in sights):
        sights = read_closing_index(text) or sights
    sights = _repeated(text, in_a_bar=any(bar.made for bar in bars)) + sights
    sights = sights or _heading(text)
    loss = read_loss(text)
    eta = None if any(bar.eta is not None for bar in bars) else read_eta(text)
    if eta is not None and sights and (all(s.kind == "val" for s in sights) or _is_inner_eta(eta, sights, text)):
        eta = None
    return SeenOnLine(tuple(sights), tuple(maxima), loss, eta, announced=tuple(read_announced(text)))


def _unless_alike(found: re.Match[str]) -> str:
    """Nothing where each of several names has its number: three of them, or two parts of the data; else what it was."""
    names = [name.strip().lower() for name in found["names"].split("/")]
    pairs = len(names) == found["sizes"].count("/") + 1
    loops = any(UNITS.get(name) in LONE_UNITS for name in names)
    return " " if pairs and not loops and (len(names) > TWO or _SPLITS.issuperset(names)) else found[0]


def _done(text: str) -> list[CounterSight]:
    """How many things are done; `shard 12 of 12 done: 48444 docs` tells how many there were in one."""
    counted = done_count(text)
    return (read_moving(text) if counted and is_of_a_piece(text) else []) or counted


def _beside(sights: list[CounterSight], text: str) -> list[CounterSight]:
    """What else a line counts that shows no maximum: `batch 54: 5400 of 8123 users done`."""
    of_parts = bool(_OF_THEM_DONE.search(text)) or all(
        sight.kind == "moving" or sight.unit == "batch" for sight in sights
    )
    return [*read_beside(text), *(read_moving(text) if of_parts else [])]


def _whole_line(text: str) -> SeenOnLine | None:
    """What a line shows that has one form as a whole: a row, a scheduler's states, what was downloaded, a request."""
    if (not text.isascii() and _TEST_CASE.match(text)) or (" /" in text and _ANSWERED.search(text)):
        return SeenOnLine()
    if "+0x" in text and _FRAME_OF_STACK.search(text):
        return SeenOnLine()
    row = read_row(text)
    if row is not None:
        kind = "bare" if row.bare else "train"
        sight = CounterSight(row.key, row.unit, kind, row.current, None, False, row.rule, eta=row.eta)
        return SeenOnLine((sight,), loss=row.loss)
    figures = _NUMBERED_FIGURE.findall(text) if _NUMBERED_FIGURE.match(text) else []
    if len(figures) >= LISTED:
        return SeenOnLine((CounterSight("figure", "chunk", "train", int(figures[-1]), None, False, "figures"),))
    sized = read_sized(text) if "%" in text and "B" in text and "(xfr#" not in text else None
    if sized is not None:
        return sized
    moved = read_bytes(text)
    if moved is not None:
        return SeenOnLine((moved,))
    jobs = _PARALLEL.match(text) if "% " in text[:8] else None
    if jobs:
        done, left = int(jobs[1]), int(jobs[2])
        return SeenOnLine((CounterSight("jobs", "job", "train", done, done + left, False, "states"),))
    awaited = _PARALLEL_ETA.match(text) if "Left: " in text else None
    if awaited:
        done, most = int(awaited[2]), int(awaited[1]) + int(awaited[2])
        return SeenOnLine((CounterSight("jobs", "job", "train", done, most, False, "states"),))
    states = read_states(text)
    if states is None:
        return None
    if states.total == 1:
        return SeenOnLine()  # one alone tells nothing of how far it is
    return SeenOnLine((CounterSight(states.unit, states.unit, "train", states.done, states.total, False, "states"),))


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


def _without_lists(sights: list[CounterSight]) -> list[CounterSight]:
    """Without what one line names again and again: `[{'epoch': 0, 'lr': 0.1}, {'epoch': 81, ...}]` is a schedule."""
    listed = {
        key
        for key in {sight.key for sight in sights}
        if len({sight.current for sight in sights if sight.key == key and sight.maximum is None}) >= LISTED
    }
    return [sight for sight in sights if sight.key not in listed]


def _with_closing_count(sights: list[CounterSight], text: str) -> list[CounterSight]:
    """`Epoch 9 done in 131.1s ... (9/30)`, `Epoch 9 begins (of 30)`: of how many, at the end of the line. `trial 17
    (5/40 complete)`: how many of them, whichever this one is.
    """
    if not sights or not text.endswith((")", "]")):
        return sights
    done = _CLOSING_DONE.search(text)
    alone = len(sights) == 1 and sights[0].maximum is None and sights[0].unit not in LOOPS
    if done and alone and int(done[1]) <= int(done[2]):
        return [sights[0]._replace(kind="train", current=int(done[1]), maximum=int(done[2]))]
    found = _CLOSING_COUNT.search(text)
    of = None if found else _CLOSING_WHOLE.search(text)
    if of:
        return [
            one._replace(maximum=int(of[1])) if one.maximum is None and one.current <= int(of[1]) else one
            for one in sights
        ]
    if found is None:
        return sights
    current, most = int(found[1]), int(found[2])
    return [
        one._replace(maximum=most) if one.maximum is None and one.current == current <= most else one for one in sights
    ]


def _with_total_beside(sights: list[CounterSight], text: str) -> list[CounterSight]:
    """`global step 500, total 200000`: of how many, in a field of its own."""
    if len(sights) != 1 or sights[0].maximum is not None or sights[0].kind != "train":
        return sights
    found = _TOTAL_BESIDE.search(text)
    if found is None or int(found[1]) < max(sights[0].current, 2):
        return sights
    return [sights[0]._replace(maximum=int(found[1]))]


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


def _inside_epoch(bars: list[CounterSight], text: str) -> list[CounterSight]:
    """`[31/32] running loss of epoch 9`: the batches of that epoch."""
    if "epoch" not in text or not _OF_EPOCH.search(text):
        return bars
    return [bar._replace(inner=True) if bar.rule == "leading-bracket" else bar for bar in bars]


def _overall(text: str, sights: list[CounterSight]) -> list[CounterSight]:
    """How far the whole is, beside another counter."""
    found = _OVERALL.search(text) if sights and ("verall" in text or "lobal" in text) else None
    if found is None or NO_SHARE_AFTER.match(text, found.end()) or int(found[1]) > int(found[2]):
        return []
    current, most = int(found[1]), int(found[2])
    if any((sight.current, sight.maximum) == (current, most) for sight in sights):
        return []
    return [CounterSight("global overall", "step", "train", current, most, False, "moving")]


def _candidate(text: str) -> list[CounterSight]:
    """`[CV 3/4; 5/8] END ...`: which candidate of scikit-learn's search."""
    found = _CANDIDATE.match(text) if text[:4] == "[CV " else None
    if found is None:
        return []
    return [CounterSight("candidate", "item", "train", int(found[1]), int(found[2]), False, "fraction-unit")]


def _job_of_sweep(text: str) -> list[CounterSight]:
    """`[HYDRA]  #3 : +lr=0.1`: which job of a sweep begins."""
    found = _HYDRA_JOB.search(text) if "[HYDRA]" in text else None
    return [] if found is None else [CounterSight("outer job", "task", "outer", int(found[1]), None, False, "repeated")]


def _heading(text: str) -> list[CounterSight]:
    """Which repetition begins, on a line that shows nothing else: a counter only if a loop begins again below each."""
    told = headed_repetition(text)
    if told is None:
        return []
    return [CounterSight(f"heading {told[0]}", told[0], "heading", told[1], None, False, "heading")]


def _repeated(text: str, *, in_a_bar: bool) -> list[CounterSight]:
    """Which repetition of the whole work this is."""
    named = named_repetition(text)
    if named:
        return [CounterSight(f"outer {named[0]}", named[0], "outer", named[1], None, False, "repeated")]
    told = repeated_indices(text, in_a_bar=in_a_bar)
    rule = "repeated-first" if told and leads_with_repetition(text) else "repeated"
    return [CounterSight(f"outer {unit}", unit, "outer", current, most, False, rule) for unit, current, most in told]
