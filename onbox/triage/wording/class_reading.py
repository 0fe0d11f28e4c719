"""Which class of fault the words of a log speak of, where no rule is sure of it.

A rule that knows a message knows its class better than any words do. But much of what ends a run is worded in a way of
its own: then a rule tells only that something failed, or guesses by a few words. How strongly each word speaks for each
class was learned from labelled logs (`class_weights.txt`, written by `scripts/learn_wording.py`). Where a rule knows
next to nothing, two sentences count beside the words of all last lines (`sentence.py`): the one that proves the answer,
and of those that plainly speak of a failure the one that speaks most for a class. The rule's own class is given a lead,
by how sure such a rule is.
"""

from __future__ import annotations

import math
import os
from functools import cache
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.classes import OF_A_CARD, OF_SPACE, ONE_LINE, READS_BADLY, SAYS
from onbox.triage.parting import takes_leave
from onbox.triage.reading.success import is_success
from onbox.triage.stacks import THROWN
from onbox.triage.wording.lettered import LetteredTable
from onbox.triage.wording.second_reading import forms_in
from onbox.triage.wording.sentence import UNKNOWN, classes_of, leaning_of
from onbox.triage.wording.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onbox.triage.reading.record import SeenLine


class Reading(NamedTuple):
    """failure_class: that the words speak for. line: that tells most of it; None where no sentence was asked."""

    failure_class: str
    line: SeenLine | None


CLASS_WEIGHTS = os.path.join(os.path.dirname(__file__), "class_weights.txt")
LEAST_FORMS = 6  # lines that differ in more than digits: of fewer, no rule that knows a class is asked again
_OF_A_SOURCE = lazy(r"\s{0,12}(?:\d{1,6}\s{1,4})?\|")  # a compiler shows the line that it cannot read
_OF_TPUS = lazy(r"(?i)\btpu|\bxla\b|/dev/(?:accel|vfio)|\bhbm\b|\bslices?\b|\bv\d[ep]?-\d{1,4}\b|\bchips?\b|\bjax\b")
_OF_CARDS = lazy(
    r"(?i)(?<![a-z])(?:cuda|cublas|cudnn|nvidia|[ghnx]pus?|rocm|hip|vram|habana|gaudi|ascend|accelerators?|cards?"
    r"|devices?)(?![a-z])"
)
_OF_MEMORY = lazy(r"(?i)\bmemory\b|\boom\b|\bv?ram\b|alloc")
# Classes of rules that know a driver's or a runtime's own message, and which ones words may make of it.
_WITHIN = (
    (OF_SPACE, OF_SPACE),
    (OF_A_CARD, OF_A_CARD),
    (("host_oom",), ("host_oom", "cuda_oom", *OF_SPACE)),
    (("nccl_or_distributed",), ("nccl_or_distributed", *OF_A_CARD, "shm_too_small", "host_oom", "network_blip")),
)
_NAMED_BY = (("tpu_", _OF_TPUS), ("cuda_oom", _OF_MEMORY), ("cuda_", _OF_CARDS), ("gpu_", _OF_CARDS))
NEAR = 6  # lines from the end
PLAINLY = 1.0  # log-odds for a failure
ABOUT_NOTHING = 3.0  # log-odds by which it is likelier that a sentence tells of no class, and it is not asked
LEAD_OF_A_GUESS, LEAD = 3.0, 6.0  # log-odds
# How far ahead the class of a rule is that says only that something failed. An exception and an abort speak of the code
# already. Fitted to failures that the sentences were not learned from.
LEADS = {
    "error-line": 1.0,
    "said-error": 1.0,
    "launcher": 1.0,
    "fatal-level": 1.0,
    "says-it-failed": 1.0,
    READS_BADLY: 1.0,
    ONE_LINE: 1.0,
    "exception": 5.0,
    "aborted": 6.0,
}
_ADVISES = lazy(r"(?i)\W{0,4}(?:specify|try|run|use) ['\"`]?(?:\S{1,80} )?--help\b|\W{0,4}for (?:more|usage|help)\b")
LEAD_OF_THROWN = 1.0  # log-odds
HANGS = "hang_stall"  # what is over does not hang


def read_class(tail: Sequence[SeenLine], at: SeenLine | None, *, known: str, rule: str, confidence: str) -> Reading:
    """The class that the words of a log's last lines speak for, or the rule's own.

    at: the line that proves the answer so far. known, rule, confidence: of that answer.
    """
    knows_little = rule in LEADS or (rule.startswith(SAYS) and confidence == "low")
    if confidence == "high" or not (knows_little or forms_in(tail) >= LEAST_FORMS):
        return Reading(known, None)
    odds = odds_of(plain(words_of(tail)), weights())
    thrown = _thrown(tail) if rule == "aborted" else None
    told = [thrown] if thrown is not None else _sentences(tail, at) if knows_little else []
    if knows_little and not told and forms_in(tail) < LEAST_FORMS:
        return Reading(known, None)
    for line in told:
        said = classes_of(line.text)
        odds = {name: one + said.get(name, 0.0) for name, one in odds.items() if name != HANGS}
    if known in odds:
        odds[known] += LEAD_OF_THROWN if thrown is not None else _lead_of(rule, confidence)
    sure_of = "" if rule.startswith(SAYS) else known
    found = max(sorted(name for name in odds if _may_be(name, tail, sure_of)), key=odds.__getitem__)
    shown = told if found != known else [at] if at in told and leaning_of(at.text) > 0 else told
    return Reading(found, max(shown, key=lambda line: _lead_in(line, found), default=None))


def _may_be(name: str, tail: Sequence[SeenLine], sure_of: str) -> bool:
    """Whether a class fits what is sure: one errno is told of a lack of space, a driver tells of its card, and a TPU or
    a card is named where it is one. sure_of: the class of a rule that is no guess.
    """
    for known, fitting in _WITHIN:
        if sure_of in known:
            return name in fitting
    named = next((words for start, words in _NAMED_BY if name.startswith(start)), None)
    return named is None or any(named.search(line.text) for line in tail)


def _sentences(tail: Sequence[SeenLine], at: SeenLine | None) -> list[SeenLine]:
    """The sentences that are asked: the one that proves the answer, and the one of the last that tells most. It counts
    twice where it is both.
    """
    telling = plain_complaint(tail) or plain_complaint(tail, least=0.0)
    return [line for line in (at, telling) if line is not None and _tells(line)]


def _tells(line: SeenLine) -> bool:
    """Whether a sentence may speak for a class."""
    return _most_for_a_class(line) > classes_of(line.text)[UNKNOWN] - ABOUT_NOTHING


def plain_complaint(tail: Sequence[SeenLine], least: float = PLAINLY) -> SeenLine | None:
    """Of the last lines that plainly speak of a failure, the one that speaks most for a class; None: no line does.
    least: log-odds for a failure.
    """
    told = [line for line in _near(tail) if leaning_of(line.text) > least]
    return max(told, key=_most_for_a_class, default=None)


def _near(tail: Sequence[SeenLine]) -> list[SeenLine]:
    """The last lines that may be sentences: more than a word, no farewell, no line of a source."""
    near = [line for line in tail[-NEAR:] if " " in line.text.strip()]
    told = [line for line in near if not (takes_leave(line.text) or _OF_A_SOURCE.match(line.text))]
    return [line for line in told if not (is_success(message(line.text).text) or _ADVISES.match(line.text))]


def _most_for_a_class(line: SeenLine) -> float:
    return max(odds for name, odds in classes_of(line.text).items() if name not in (UNKNOWN, HANGS))


def _lead_in(line: SeenLine, name: str) -> float:
    """By how much a sentence speaks for a class rather than for any other."""
    said = classes_of(line.text)
    return said[name] - max(odds for other, odds in said.items() if other != name)


def _thrown(tail: Sequence[SeenLine]) -> SeenLine | None:
    """The message of the exception that a program in C++ aborted for; None if it shows none."""
    return next((line for line in reversed(tail[-NEAR:]) if THROWN.match(line.text)), None)


def _lead_of(rule: str, confidence: str) -> float:
    least = LEAD_OF_A_GUESS if rule.startswith(SAYS) or confidence == "low" else LEAD
    return LEADS.get(rule, least)


def plain(words: Iterable[str]) -> frozenset[str]:
    """The words wherever they stand."""
    return frozenset(word.partition(":")[2] for word in words if not word.startswith("behind:"))


def odds_of(words: Iterable[str], table: LetteredTable) -> dict[str, float]:
    """How strongly words speak for each class, in log-odds."""
    known = [word for word in words if word in table]
    return table.odds_of(known, math.sqrt(max(1, len(known))))


@cache
def weights() -> LetteredTable:
    """Each word with its weight for each class that it speaks for or against."""
    return LetteredTable(CLASS_WEIGHTS)
