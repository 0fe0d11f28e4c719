"""What speaks for or against a number of the head being the end of what is counted. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onbox.logs.line.words import (
    AUXILIARY,
    EVALUATION,
    LONE_UNITS,
    MAXIMUM,
    MAXIMUM_WORDS,
    NOT_A_COUNTER,
    SELDOM_UNITS,
    STEP_UNITS,
    TRAINING_WORDS,
    UNITS,
)
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onbox.logs.totals.head_numbers import HeadNumber

NOTHING = "=nothing"
STEM = 3  # letters of a noun, from which on a longer word may be meant by it
YEARS = range(1970, 2100)
BOOSTED = frozenset({"round", "iter"})
DONE = lazy(r"(?:done|completed?|finished|processed|handled|merged|hashed|ok)")
ONE = ("=noun", "=unit")  # a word for one of what is counted
OF_A_PART = lazy(
    r"(?:every|each|per|after|first|warm\w*|burn\w*|skip\w*|sav\w*|keep|log|min\w*|bad|invalid|dropp\w*|patience"
    r"|improv\w*|without|batch\w*|micro\w*|remain\w*|resum\w*|restor\w*|early|window|accum\w*|horizon|seed|port|pid)"
)
THINGS = frozenset(word for word, unit in UNITS.items() if unit not in LONE_UNITS | SELDOM_UNITS)
KINDS = (("=a setting", NOT_A_COUNTER), ("=a maximum", MAXIMUM - TRAINING_WORDS))
KINDS_BY_FORM = (("=a part", OF_A_PART), ("=an evaluation", EVALUATION), ("=a preparation", AUXILIARY))
ABOUT = ("~", "\u2248")
OF_ELSE = lazy(
    r"(?:every|each|per|mean|averag\w*|avg|smooth\w*|window|taken|took|improv\w*|patience|without|interval|freq\w*"
    r"|accum\w*|horizon|rollouts?|unroll\w*|diffusion|denois\w*|warm\w*|burn\w*|val|valid\w*|eval\w*|inner|micro"
    r"|delay\w*|cool\w*|freez\w*|frozen|keep\w*|kept|previous|history|buffer\w*|refresh\w*|pretrain\w*|trained|ema"
    r"|switch\w*"
    r"|resum\w*|restor\w*|ramp\w*|rises?|anneal\w*|decay\w*|skip\w*|sav\w*|checkpoint\w*|ckpt|remain\w*"
    r"|threads?|workers?|ranks?|gpus?|cores?|seed|port|pid|than|least|about|approx\w*|roughly|around)"
)
POSITION = lazy(r"[a-z]|offset|pos|position|idx|index|cursor|seq|no|nr|num|number|count|total")  # of any things
LEADS_TO = (("to",), ("until",), ("till",), ("through",), ("at",))  # `continuing to epoch 60`
FAR = 6  # powers of two between a count and its end, from which on all are alike


class Counted(NamedTuple):
    """What is counted. noun: the word that the lines call it by; "" if none. unit: of that word. others: the units
    that are counted beside it. stride: how far it went between the last two lines, 0 if unknown. from_zero: whether
    its first one was 0. over: whether the log tells of its end.
    """

    value: float
    noun: str
    unit: str
    others: frozenset[str] = frozenset()
    stride: float = 0
    from_zero: bool = False
    over: bool = False


def features_of(number: HeadNumber, counted: Counted, numbers: Sequence[HeadNumber]) -> list[str]:
    """The names of what holds for it, as the table of weights knows them."""
    return list(dict.fromkeys([*_wording(number, counted), *_relation(number, counted, numbers)]))


def is_count_itself(number: HeadNumber, counted: Counted) -> bool:
    """`Start epoch 40`, of a line that tells no more than where the count is."""
    if number.value != counted.value or number.before not in ("", "#", "["):
        return False
    return number.left[:1] != () and _role(number.left[0], counted) in ONE and number.left[1:2] not in LEADS_TO


def is_of_something_else(number: HeadNumber, counted: Counted) -> bool:
    """`50/round`, `~5000 steps`, `16 threads`, `a mean over 20 epochs`, `120 tokens` where steps are counted."""
    if number.before in ABOUT or (number.after == "/" and number.right):
        return True
    if counted.unit in LONE_UNITS and not THINGS.isdisjoint(number.left[:1] + number.right[:1]):
        return True
    named = bool(number.left) and _role(number.left[0], counted)[:1] == "="
    if not named and not counted.unit and any(_is_other_things(word, counted) for word in number.right[:1]):
        return True
    words = number.left if named else number.left + number.right
    words = number.clause if number.left[:1] == ("over",) else words
    return any(OF_ELSE.fullmatch(word) and _role(word, counted)[:1] != "=" for word in words)


def _is_other_things(word: str, counted: Counted) -> bool:
    """`11 forecasts`, where combos are counted; but `60 stumps` where `t` is."""
    return (
        word.endswith("s")
        and bool(counted.noun)
        and not POSITION.fullmatch(counted.noun)
        and _role(word, counted)[:1] != "="
    )


def _wording(number: HeadNumber, counted: Counted) -> Iterator[str]:
    left = [_role(word, counted) for word in number.left]
    right = [_role(word, counted) for word in number.right]
    nearest = left[0] if left else ""
    yield f"before {number.before or NOTHING}"
    yield f"after {number.after or NOTHING}"
    yield f"left1 {nearest or NOTHING}"
    following = right[0] if right else ""
    yield f"right1 {following or NOTHING}"
    if nearest[:1] == "=":
        yield f"left1 {nearest} {number.before or NOTHING}"
    if following[:1] == "=":
        yield f"right1 {following} {number.after or NOTHING}"
    yield from (f"left {word}" for word in left)
    yield from (f"right {word}" for word in right)
    yield from (f"left {kind}" for kind in _kinds(number.left))
    yield from (f"right {kind}" for kind in _kinds(number.right))
    if nearest and nearest[:1] != "=" and nearest not in MAXIMUM and not MAXIMUM.isdisjoint(number.left[1:]):
        yield "a maximum of something else"
    roles = [word for word in (*left, *right) if word[:1] == "="]
    yield f"named by {roles[0] if roles else NOTHING}"
    if not number.left and not number.right:
        yield "alone"


def _role(word: str, counted: Counted) -> str:
    """What a word is to the counter; itself, where it is nothing to it."""
    many = "s" if word.endswith("s") else ""
    if counted.noun and (word.rstrip("s") == counted.noun.rstrip("s") or _may_mean(word, counted.noun)):
        return f"=noun{many}"
    unit = UNITS.get(word)
    if unit is None:
        unit = MAXIMUM_WORDS.get(word)
        many = "max" if unit else many
    if unit is None:
        return f"=thing{many}" if many and DONE.fullmatch(counted.noun) else word
    if unit == counted.unit:
        return f"=unit{many}"
    if {unit, counted.unit} <= STEP_UNITS or {unit, counted.unit} <= BOOSTED:
        return f"=kin{many}"
    return f"=beside{many}" if unit in counted.others else f"=other{many}"


def _kinds(words: Sequence[str]) -> Iterator[str]:
    """What kinds of words there are among them."""
    yield from (kind for kind, known in KINDS if not known.isdisjoint(words))
    yield from (kind for kind, form in KINDS_BY_FORM if any(map(form.fullmatch, words)))


def _may_mean(word: str, noun: str) -> bool:
    return len(noun) >= STEM and word.startswith(noun)


def _relation(number: HeadNumber, counted: Counted, numbers: Sequence[HeadNumber]) -> Iterator[str]:
    value, count = number.value, counted.value
    end = "over" if counted.over else "open"
    if value == count:
        yield f"{end} equal"
        yield f"equal digits {len(str(value))}"
    elif value == count + 1 and counted.from_zero:
        yield f"{end} last from zero"
    else:
        yield f"{end} beyond"
        yield f"times {min(FAR, int(math.log2(value / max(1, count))))}"
    if counted.stride > 1:
        yield "multiple" if value % counted.stride == 0 else "no multiple"
    larger = {one.value for one in numbers if one.value >= count}
    yield f"of {min(4, len(larger))} larger"
    if value == max(larger):
        yield "largest"
    yield f"digits {len(str(value))} round" if value % 10 == 0 else f"digits {len(str(value))}"
    if value & (value - 1) == 0:
        yield "power of two"
    if value in YEARS:
        yield "year"
    if sum(one.value == value for one in numbers) > 1:
        yield "told twice"
    yield f"line {min(number.line, 3)}"
