"""What the one line of a run says behind its state, in parts, the most important one first. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.contract.progress import words_of_progress
from onbox.contract.readings import observed
from onbox.contract.states import RunState
from onbox.logs import metric
from onbox.model.units import format_duration
from onbox.named_tuple import NamedTuple
from onbox.runs.journal import result_words
from patrol.decide.phrases import UNKNOWN, ago, clean, counts_of_cells, how_killed, quote, sound, word
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.progress import Progress
    from patrol.snapshot import Cells, Failure, RunLook
    from patrol.verdict import Finding, Verdict

QUIET_SECONDS = 120.0  # a log that is older is worth a word
SOON_SECONDS = 900.0  # of the time limit
CAUSE_LIMIT = 90
MOVING = (RunState.RUNNING, RunState.DEGRADED)
FAILED_RULES = frozenset(("failed", "crashed", "repeated-failure", "failed-on-engine", "upstream-failed"))
_EXCEPTION = re.compile(r"^[\w.]{0,60}(?:Error|Exception): ")  # the class says so already


class _Said(NamedTuple):
    """where: stage and progress; None: the parts say it. first, rest: what is said before and after the loss."""

    where: str | None
    first: tuple[str, ...]
    loss: str = ""
    rest: tuple[str, ...] = ()


def said(verdict: Verdict, look: RunLook | None) -> list[str]:
    """The parts; "" for those that there is nothing to say of."""
    parts = _parts(verdict, look)
    return [*([] if parts.where is None else [parts.where]), *parts.first, parts.loss, *parts.rest]


def remarks(verdict: Verdict, look: RunLook | None) -> list[str]:
    """What is said beside stage, progress and loss, for a table that has columns for those."""
    parts = _parts(verdict, look)
    return list(filter(None, (*parts.first, *parts.rest)))


def beside_columns(verdict: Verdict, look: RunLook) -> list[str]:
    """What the short line says and the columns of the wide one do not, the most important first."""
    person = _word_of_person(verdict) if verdict.acknowledged_by else ""  # else the rule's words say it
    if verdict.state is RunState.DONE:
        return list(filter(None, (*_results(look), person)))
    limit = _limit(look) if verdict.state in MOVING else ""
    return list(filter(None, (limit, _attempt(look), person)))


def _parts(verdict: Verdict, look: RunLook | None) -> _Said:
    word = _word_of_person(verdict)
    if look is None:
        return _Said(None, (clean(_clause(verdict.finding), CAUSE_LIMIT), word, verdict.last_known))
    if verdict.state is RunState.DONE:
        return _Said(None, (took(look), word, *_flags(verdict), *_results(look)))
    where = _where(look, moves=verdict.state in MOVING)
    if verdict.severity is not Severity.OK:
        worst = max((verdict.finding, *verdict.further), key=lambda finding: finding.severity.rank)
        cause = cause_in_short(worst, verdict, look)
        where = _where(look, moves=verdict.finding.severity is Severity.OK)
        loss = "" if cause == _loss(look) else _loss(look)
        return _Said(where, (word, clean(cause, CAUSE_LIMIT), _attempt(look)), loss)
    if verdict.state is not RunState.RUNNING or verdict.finding.rule in ("waiting", "unconfirmed"):
        return _Said(where, (clean(cause_in_short(verdict.finding, verdict, look), CAUSE_LIMIT), word))
    return _Said(where, (_limit(look), word, _attempt(look)), _loss(look), (_quiet(look),))


def _word_of_person(verdict: Verdict) -> str:
    if verdict.acknowledged:
        who, _, why = verdict.acknowledged_by.removeprefix("acknowledged by ").partition(": ")
        return " ".join(filter(None, ("acked", f"by {who}" if who else "", f"({why})" if why else "")))
    return "silenced" if verdict.silenced_until is not None else ""


def _flags(verdict: Verdict) -> list[str]:
    return [clean(_clause(one), CAUSE_LIMIT) for one in verdict.further if one.severity is not Severity.OK][:1]


def _where(look: RunLook, *, moves: bool) -> str:
    """`train ~4600/5155 (89%) eta 1h12m`; where it ended, `train ~2076/5000`; of a sweep, how its cells stand."""
    cells = observed(look.cells)
    progress = _progress(look)
    words = None if progress is None else words_of_progress(progress)
    if cells is not None:
        return words_of_cells(cells, words.eta if words is not None and moves else "")
    stage = word(observed(look.stage) or "", 20)
    if look.rolled_back_to is not None:  # what the log shows was given up
        return f"{stage} rolled back to step {look.rolled_back_to:.12g}"
    if words is None or not words.counter:
        return stage
    return " ".join(filter(None, (stage, words.counter, *((words.share, words.eta) if moves else ()))))


def words_of_cells(cells: Cells, eta: str) -> str:
    """`17/20, 2 running · eta 3h00m · best 0.967 cell lr=1e-3`: the time left stands before what a narrow line cuts."""
    counts, between, rest = clean(cells.text, CAUSE_LIMIT).partition(" · ")
    return " · ".join(filter(None, (counts, eta))) + between + rest


def _progress(look: RunLook) -> Progress | None:
    progress = observed(look.progress)
    return None if progress is None else sound(progress)


def _loss(look: RunLook) -> str:
    progress = observed(look.progress)
    if progress is None or progress.loss is None:
        return ""
    return f"loss {clean(progress.loss, 8) if isinstance(progress.loss, str) else f'{progress.loss:.4g}'}"


def _attempt(look: RunLook) -> str:
    number = observed(look.attempt) or 1
    return f"attempt {number}" if number > 1 else ""


def _quiet(look: RunLook) -> str:
    log = observed(look.log)
    old = log is not None and log.written_age_seconds > QUIET_SECONDS
    return f"log {ago(log.written_age_seconds)} old" if log is not None and old else ""


def _limit(look: RunLook) -> str:
    """The time limit of its stage, where it comes soon or before the end of the work."""
    limit, age = observed(look.timeout_seconds), observed(look.stage_began_age_seconds)
    if limit is None or age is None:
        return ""
    left, progress = limit - age, observed(look.progress)
    needs = progress.eta_seconds if progress is not None else None
    if left > SOON_SECONDS and (needs is None or needs <= left):
        return ""
    return f"timeout in {format_duration(max(0.0, left))}"


# -- done


def took(look: RunLook) -> str:
    """`2/2 in 10h12m`: since the chain was launched first. Of a sweep, `2/4, 2 skipped in 10h12m`."""
    count = f"{look.stages_done}/{look.stages_total}" if look.stages_total else ""
    cells = observed(look.cells)
    count = counts_of_cells(cells) if cells is not None else count
    seconds = look.took_seconds
    took = "" if seconds is None else f"in {format_duration(seconds)}"
    return " ".join(filter(None, (count, took))) or _where(look, moves=False)


def _results(look: RunLook) -> list[str]:
    """The longest stage's result first: it did the work. Then the last words, where they are a number with a name."""
    told = [(one.seconds or 0.0, f"{word(one.stage, 20)} {clean(result_words(one))}") for one in look.stage_results]
    told = sorted((one for one in told if not one[1].endswith(" ")), key=lambda one: -one[0])
    shown = [words for _, words in told]
    shown = shown or [_loss(look)]
    last = _last_words(look)
    return [*shown[:1], "" if any(words.endswith(last) for words in shown) else last, *shown[1:]]


def _last_words(look: RunLook) -> str:
    """The last line of its log, where that is a number with its name."""
    log = observed(look.log)
    return metric.metric_in(clean(log.last_line)) if log is not None else ""


# -- what is wrong


def cause_in_short(worst: Finding, verdict: Verdict, look: RunLook | None) -> str:
    """What is wrong, in a few words: `disk_full: No space left on device`."""
    if look is None:
        return _clause(worst)
    failure = observed(look.failure)
    if worst is verdict.finding and worst.rule in FAILED_RULES:
        return failure_in_short(failure, look.reason) if failure or look.reason else _clause(worst)
    if worst is verdict.finding and worst.rule in ("interrupted", "interrupted-again"):
        unexplained = "its end was not seen" if look.unseen_end else "gone without a word"
        return failure_in_short(failure, look.reason) if failure or look.reason else unexplained
    return _OF_RULE[worst.rule](look) if worst.rule in _OF_RULE else _clause(worst)


def _quietest(look: RunLook) -> str:
    """For how long the last sign of it is over."""
    log, artifacts = observed(look.log), observed(look.artifacts)
    ages = [log.written_age_seconds if log else None, observed(artifacts.newest_age_seconds) if artifacts else None]
    return f"quiet for {ago(min((age for age in ages if age is not None), default=None))}"


_OF_RULE: dict[str, Callable[[RunLook], str]] = {
    "stalled": _quietest,
    "quiet": _quietest,
    "loss-lost": _loss,
    "gone": lambda _: "gone? the next look decides",
    "gate-refused": lambda look: quote(look.reason) or "a gate refused",
    "ended-unproven": lambda _: "ended, success unproven",
    "put-right": lambda _: "dealt with; a resume goes on",
    "could-not-look": lambda _: "could not look",
    "stopped": lambda look: quote(look.reason) or "stopped on request",
}


def failure_in_short(failure: Failure | None, reason: str) -> str:
    """`disk_full: No space left on device`; `killed by SIGKILL, no OOM counted`."""
    if failure is None:
        return quote(reason) or "why is not known"
    if failure.failure_class == UNKNOWN and how_killed(failure):
        return how_killed(failure)
    if failure.failure_class in (UNKNOWN, "false_success"):
        return quote(reason or failure.proof)
    if failure.failure_class == "code_error":
        place = failure.where.rpartition("/")[2]
        return f"{quote(failure.proof) or word(failure.failure_class, 40)}{f' ({word(place)})' if place else ''}"
    kind, words = word(failure.failure_class, 40), _EXCEPTION.sub("", failure.proof)
    return f"{kind}: {quote(words)}" if words else kind


def _clause(finding: Finding) -> str:
    """The first clause: what is seen, without its details and what follows from it."""
    return finding.say.partition("; ")[0].partition(" (")[0]
