"""Which loop of a log runs inside which: a fold around its epochs, a bar of seeds around bars of steps. Pure.

What is inside begins again each time that what is around it goes on. Where that has not happened yet, the names tell.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.regex import lazy

if TYPE_CHECKING:
    from onbox.logs.counter import Counter

# What is done again and again, the whole work each time. A count of it alone is a remark (`fold 3 of 5: 0.91`).
_REPEATED = (
    "fold|chain|seed|run|repeat|repetition|split|experiment|replicate|replication|restart|candidate|config|configuration"
    "|bootstrap|subject|member|variant|setting|combo|combination|scenario|replica|rung|bracket"
)
_IN_A_BAR = f"{_REPEATED}|stage|phase|part|dataset|model|task"  # of these, only a bar's own description tells
_IN_A_BAR = f"{_IN_A_BAR}|episode|round|generation|cycle"
REPEATED_UNITS = frozenset({"trial", "task", "round", "job", "pass", "cycle", "stage", "generation", "game", "fit"})

LOOPS = frozenset({"epoch", "step", "iter", "update"})
COUNTED_UNITS = frozenset({"iter", "round", "trial", "generation", "episode", "cycle", "task"})

NEARLY = 0.995  # of a bar that was not drawn again at its end
BEGUN = 3  # times that a counter without a maximum went back to its beginning
BARS_AROUND = 2  # times that a bar went on, and another one began again
BARS_TO_A_STAGE = 5  # so often a loop goes on for each time that the one inside it had begun again before
IN_TURN = 3  # times that two bars were drawn one after the other
LOOPS_IN_EACH = (2, 3)  # of one name, one after the other: the generator's steps, then the critic's
RANK_LETTERS = 24
_BESIDE_A_RANK = lazy(r"(?i)rank\W{0,3}\d{1,6}\W{0,4}$")  # `GLOBAL_RANK: 3, MEMBER: 4/8`
_OF_A_SUPERVISOR = lazy(
    r"(?i)\b(?:auto(?:matic)?|pid \d{1,9}|fail\w*|exit\w*|died|dead|crash\w*|killed|terminated|lost|unhealthy"
    r"|back-?off)\b"
)
TRIED_AGAIN = lazy(r"(?i)\)? (?:in|after) \d")  # `restart 1/5 in 10s`
_INDEX = (
    r"s?(?: \d{1,6}(?= [(\[]))?(?:[ _]?(?:no\.?|number|idx|index|id))?[\s:=#_\[(-]{0,4}(?P<current>\d{1,9})[\])]?"
    r"\s{0,3}\(?(?:/|of|out of)\s{0,3}(?P<max>\d{1,9})(?![\w./%-])"
)
_REPEATED_INDEX = lazy(rf"(?i)(?<![a-z_-])(?P<word>{_REPEATED}){_INDEX}")
_INDEX_IN_A_BAR = lazy(rf"(?i)(?<![a-z_-])(?P<word>{_IN_A_BAR}){_INDEX}")

_NAMED_FIRST = lazy(  # `Run: 01, Epoch: 475, Loss: 0.9`
    r"(?i)\W{0,3}(?P<word>run|fold|repeat|repetition|split|replicate|seed|member|model|net|network|learner|variant"
    r"|candidate|config|subject|patient)s?(?:\s?[:#=\[]\s?|\s)#?(?P<current>\d{1,4})"
    r"(?:\]?\s?[,|:;\])]\s?|\]?\s{1,4})(?=(?:epoch|step|iter|iteration|round)\W{1,3}\d)"
)
_HEADING = lazy(  # `seed 2`, `== task 3 classes 4,5 ==`: alone in its line
    rf"(?i)[\W_]{{0,12}}(?!chain)(?P<word>{_IN_A_BAR}|task|experience|start|iteration|outer)[ _#:=\[]{{1,3}}"
    r"(?P<current>\d{1,4})(?![\w.%/])(?!\s{0,3}(?:/|of )|.{0,60}(?P=word))"
)
_FIGURE = lazy(r"(?i)(?:loss|acc\w*|score|auc|error|err|mse|took|time|done|finished|complete)")
HEADING_LETTERS = 60
_NAMED_IN_A_BAR = lazy(rf"(?i)\W{{0,4}}({_REPEATED})\W{{0,3}}(\d{{1,4}})\W{{0,3}}$")
_INDEX_OF_A_BAR = lazy(
    r"(?i)\W{0,4}(?:[a-z]{3,14}ing )?(?P<word>[a-z]{3,20}) ?#?\[?(?P<current>\d{1,6}) ?(?:/|of) ?(?P<max>\d{1,6})"
    r"\]?\W{0,4}$"
)
_NUMBERED_REPETITION = lazy(rf"(?i)(?<![a-z_-])(?:{_REPEATED})\W{{0,3}}#?\d{{1,6}}(?![\w.%/-])")


def leads_with_repetition(text: str) -> bool:
    """`--- run 6 of 10 ---`: it stands first in its line, and heads what comes below."""
    found = _REPEATED_INDEX.search(text)
    return found is not None and not any(map(str.isalnum, text[: found.start()]))


def repeated_indices(text: str, *, in_a_bar: bool) -> list[tuple[str, int, int]]:
    """`fold 2/5`, `Run 3 of 10`: of which unit, which one, and of how many; nothing in most lines."""
    if "/" not in text and "of " not in text:
        return []
    found = (_INDEX_IN_A_BAR if in_a_bar else _REPEATED_INDEX).finditer(text)
    told = [
        (one["word"].lower(), int(one["current"]), int(one["max"]))
        for one in found
        if not _BESIDE_A_RANK.search(text, max(0, one.start() - RANK_LETTERS), one.start())
        and not TRIED_AGAIN.match(text, one.end())
        and not (one["word"].lower() == "restart" and _OF_A_SUPERVISOR.search(text, 0, one.start()))
    ]
    return [one for one in told if 0 < one[2] >= one[1]]


def index_of_a_bar(label: str) -> tuple[str, int, int] | None:
    """`prompt 3/8:` right before a bar: which of several things the bar is about, and of how many."""
    found = _INDEX_OF_A_BAR.match(label)
    if found is None or found["word"].lower() in LOOPS:
        return None
    told = found["word"].lower(), int(found["current"]), int(found["max"])
    return told if told[1] <= told[2] and told[2] > 1 else None


def repetition_of_a_bar(label: str) -> tuple[str, int] | None:
    """`fold 2:` before a bar: of which unit, and which one; None where it names none."""
    found = _NAMED_IN_A_BAR.match(label)
    return None if found is None else (found[1].lower(), int(found[2]))


def named_repetition(text: str) -> tuple[str, int] | None:
    """`Run: 01, Epoch: 475`: which one the epochs of a line are of; None where none leads it."""
    found = _NAMED_FIRST.match(text)
    return None if found is None else (found["word"].lower(), int(found["current"]))


def headed_repetition(text: str) -> tuple[str, int] | None:
    """`== task 3 ==`: which repetition a heading begins, with nothing measured in it; None for other lines."""
    found = _HEADING.match(text) if len(text) <= HEADING_LETTERS else None
    if found is None or _FIGURE.search(text):
        return None
    return found["word"].lower(), int(found["current"])


def names_repetition(text: str) -> bool:
    """`Chain 3: Iteration: 1200 / 2000`: which one it is, so that what begins again is told of the next one."""
    return _NUMBERED_REPETITION.search(text) is not None


def outermost(counters: list[Counter]) -> tuple[Counter, Counter] | None:
    """The counter around all others, and the newest one inside it; None where nothing is known to be inside another.

    counters: as they were seen last, those of one line from left to right.
    """
    pairs = [
        (outer, inner)
        for at, outer in enumerate(counters)
        for place, inner in enumerate(counters)
        if is_around(outer, inner, left=outer.last == inner.last and at < place)
    ]
    if all(inner.kind == "outer" for _, inner in pairs):
        return None
    outers = {outer.key: outer for outer, _ in pairs}
    first = min(outers.values(), key=lambda counter: (counter.advances, counter.first))
    inside = [inner for _, inner in pairs if inner.kind != "outer" and inner is not first]
    return first, max(inside, key=lambda counter: (counter.last, counter.maximum is not None))


def is_around(outer: Counter, inner: Counter, *, left: bool) -> bool:
    """Whether each value of `outer` stands for one whole pass of `inner`. left: both stand on one line, it before."""
    if outer is inner or outer.resets or inner.kind in ("bare", "done", "moving"):
        return False
    repeats = outer.kind == "outer" or outer.unit in REPEATED_UNITS
    headed = outer.rule == "heading"
    if outer.maximum is None and left and outer.unit in COUNTED_UNITS and _stands_beside(outer, inner):
        return True
    if outer.maximum is None and (_names_each_pass(outer, inner, left=left) or _is_begun_in(outer, inner)):
        return True
    if outer.maximum is None:
        return (
            (inner.made or inner.maximum is not None or inner.begun >= (BARS_AROUND if headed else BEGUN))
            and inner.resets > 0
            and (outer.unit in COUNTED_UNITS or outer.kind == "outer" or outer.unit == inner.unit == "epoch")
            and _go_together(outer, inner)
        )
    if outer.inner or outer.kind in ("bare", "done", "moving", "aux", "val"):
        return False
    if _is_drawn_around(outer, inner):
        return True
    if outer.advances and inner.resets:
        if outer.changed < inner.first:
            return False  # it was over, or stood, before this one began
        told_behind = (
            outer.made or outer.rule == "moving"
        ) and inner.repeats >= IN_TURN  # `[11/23] done`, below its epochs
        return _go_together(outer, inner) and (repeats or outer.first < inner.first or left or told_behind)
    if not repeats or inner.resets or inner.kind not in ("train", "outer"):
        return False
    if inner.unit in REPEATED_UNITS and (inner.unit != "round" or outer.kind != "outer"):
        return False  # but each candidate may have rounds of boosting
    if left and not outer.advances:
        return True
    went_on = inner.first < outer.changed < inner.changed  # through a step of the outer one, without beginning again
    return outer.first + (outer.kind != "outer") <= inner.first and not went_on


def _names_each_pass(outer: Counter, inner: Counter, *, left: bool) -> bool:
    """`Run: 02, Epoch: 25`, on each line: the epochs began again each time that the run went on."""
    beside = left and outer.kind == "outer" and (outer.first, outer.seen) == (inner.first, inner.seen)
    return beside and inner.unit in LOOPS and outer.advances == inner.resets > 0


def _is_begun_in(outer: Counter, inner: Counter) -> bool:
    """`Running Trial #4`, and the first epochs behind it, in a log that begins there."""
    heads = outer.unit == "trial" and outer.current > 1 and not outer.advances and not outer.measured
    return heads and outer.last < inner.first and inner.unit == "epoch" and inner.minimum <= 1 and not inner.resets


def is_heading_around(heading: Counter, others: list[Counter]) -> bool:
    """`--- T[4/6] = 2.27 ---`: any words that count on each time that another counter has come to its end."""
    if heading.kind == "val" and heading.rule == "moving":
        return any(_comes_behind_each(heading, other) for other in others)
    if heading.kind != "moving" or heading.resets or heading.maximum is None:
        return False
    if any(
        _is_one_pass(other, heading) or _was_left_open(heading, other) or _closes_each(heading, other)
        for other in others
    ):
        return True
    if heading.advances < BARS_AROUND:
        return False
    inside = [
        other
        for other in others
        if heading.first <= other.first
        and (other.repeats >= BARS_AROUND or (other.maximum is None and other.begun >= BARS_AROUND))
    ]
    return any(_go_together(heading, other) for other in inside)


def _closes_each(heading: Counter, inner: Counter) -> bool:
    """`  sweep 60 of 60`, `temperature 4 of 15: 0.95`: told behind each pass of the loop inside, one by one."""
    one_by_one = heading.minimum == 1 and heading.current - 1 == heading.advances
    from_its_end = inner.kind == "train" and inner.repeats == inner.resets > 0
    return one_by_one and from_its_end and inner.first < heading.first and heading.current - inner.repeats in (0, 1)


def _comes_behind_each(told: Counter, bar: Counter) -> bool:
    """`[ Valid | 12/40 ] loss = 0.1`: it goes on behind each pass of the training's bar, so that it counts these."""
    one_by_one = told.maximum is not None and told.minimum == 1 and told.current - 1 == told.advances >= IN_TURN
    between = bar.made and bar.kind == "train" and bar.first < told.first < bar.last and bar.seen >= told.seen
    return one_by_one and not told.resets and between and bar.resets >= BARS_AROUND and bar.maximum != told.maximum


def _was_left_open(heading: Counter, other: Counter) -> bool:
    """`section 9/12`, and then sentences of it: below its end, it stands since another counter began behind it."""
    one_by_one = heading.advances >= BARS_AROUND and heading.current - heading.minimum == heading.advances
    goes_on = one_by_one and heading.current < (heading.maximum or 0)
    inside = other.kind == "moving" and other.maximum not in (None, heading.maximum) and other.advances > 0
    return goes_on and inside and heading.changed < other.first and not other.resets


def _is_one_pass(inner: Counter, heading: Counter) -> bool:
    """`experience 1/6`, then epochs up to their end, `experience 2/6`, and the epochs from the beginning on."""
    begun = heading.first < inner.first and heading.advances == inner.resets == 1 and inner.maximum is not None
    return begun and inner.kind == "train" and inner.unit in LOOPS and inner.last > heading.changed


def is_told_around(counter: Counter, others: list[Counter]) -> bool:
    """`Executing cell 7 of 28`: any words that count on before, between and behind all that other counters tell."""
    if counter.kind != "moving" or counter.resets or counter.maximum is None:
        return False
    others = [other for other in others if other.kind == "train"]
    within = all(counter.first < other.first and other.last < counter.last for other in others)
    return bool(others) and within and counter.advances >= BARS_TO_A_STAGE and counter.seen > counter.advances


def is_bar_around(bar: Counter, others: list[Counter]) -> bool:
    """Whether other bars are drawn anew each time that a bar goes on: it is around them, whatever its name says. Around
    what no bar shows is `(3/12) lr=0.01`, too.
    """
    if bar.rule not in ("tqdm", "leading-bracket") or bar.resets or bar.maximum is None:
        return False
    if bar.advances < BARS_AROUND:
        return False
    headed = bar.rule == "leading-bracket"
    others = [other for other in others if other is not bar]
    if headed and all(other.kind in ("moving", "done") for other in others):  # what little a script tells of each stage
        behind = bar.current == bar.maximum and all(other.last < bar.last for other in others)
        return bool(others) and (behind or all(bar.first < other.first for other in others))
    return any(
        (other.made or (headed and other.begun >= BEGUN)) and bar.first <= other.first and _go_together(bar, other)
        for other in others
    )


def taking_turns(counters: list[Counter]) -> list[Counter]:
    """Those of which each came when the one before was full, where a stage goes on with them: `users: 5210/5210 rows`,
    `[1/8] users OK`, `accounts: 880/880 rows`; none elsewhere.
    """
    stages = [one for one in counters if one.rule == "leading-bracket" and one.advances >= BARS_AROUND]
    told = sorted((one for one in counters if one.kind == "train" and one not in stages), key=lambda one: one.first)
    in_turn = all(one.maximum == one.current and one.last < next_.first for one, next_ in pairwise(told))
    alike = len(told) > 1 and in_turn and all(one.rule in ("fraction-unit", "labelled-max") for one in told)
    return told if alike and len(stages) == 1 and not stages[0].resets else []


def _stands_beside(outer: Counter, inner: Counter) -> bool:
    """`iteration: 1 step: 300/23196`: on each line, and the one stands while the other goes on."""
    together = outer.seen == inner.seen and outer.first == inner.first
    return together and inner.maximum is not None and not inner.made and inner.advances > outer.advances + inner.resets


def _is_drawn_around(outer: Counter, inner: Counter) -> bool:
    """Whether a bar was begun while another one stood open: a bar that is over is full."""
    bars = outer.rule == inner.rule == "tqdm" and outer.kind == inner.kind == "train"
    if not bars or outer.maximum is None or outer.maximum == inner.maximum:
        return False
    in_turn = outer.seen >= IN_TURN and outer.seen - inner.seen in (0, 1)  # training, then testing, in each epoch
    stands_open = outer.current < NEARLY * outer.maximum
    return not in_turn and not outer.advances and stands_open and outer.first < inner.first


def _go_together(outer: Counter, inner: Counter) -> bool:
    """Whether the one went on about as often as the other began again, of which an earlier stage may have had some."""
    if inner.repeats == inner.resets >= outer.advances + 2 >= 2 * BARS_AROUND and not inner.made:
        return any(inner.resets // loops == outer.advances for loops in LOOPS_IN_EACH)
    if (outer.first, outer.seen, outer.last) == (inner.first, inner.seen, inner.last):  # not every line was looked at
        return 0 < inner.resets <= outer.advances <= 2 * inner.resets
    return outer.advances > 0 and abs(outer.advances - inner.resets) <= max(1, outer.advances // BARS_TO_A_STAGE)
