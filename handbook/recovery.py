"""From how a run stands to what to type: one ordered table. Pure.

No row starts anything that may be alive: what continues a run is always `onbox resume`, which takes the run's own lock,
attaches to a live runner, and takes over a live stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onbox.contract.readings import observed
from onbox.triage.classes import may_repeat
from patrol.decide.way import Untypeable
from patrol.decide.way import here as on_this_machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from handbook.facts import Facts, RunFacts

NO_ROOM = ("disk_full", "inode_exhausted", "quota_exceeded")
PRECONDITION = (
    "it refuses a second launch itself: under the run's lock it only watches a live runner, takes over a stage that "
    "lives without one, and skips what is done"
)


class Advice(NamedTuple):
    """What to do about one run. rule: the row. first: the complete command, "" where nothing is to be typed. then: what
    follows once it has answered. never: what must not be done meanwhile. resume, stop, foretell: complete commands, ""
    where the run is not onbox's own. withheld: what a command that is not offered would have looked like.
    """

    rule: str
    first: str
    then: str
    resume: str
    stop: str
    foretell: str
    never: str
    withheld: str = ""


class Row(NamedTuple):
    """name; when it holds; the first command; what comes after it; why it is so; what must not be done meanwhile."""

    name: str
    holds: Callable[[RunFacts], bool]
    first: Callable[[RunFacts], str]
    then: str
    reason: str
    never: str


def _there(*words: str) -> Callable[[RunFacts], str]:
    """A command of `onbox` on the box; RUN stands for the run's name."""

    def command(run: RunFacts) -> str:
        return run.way.there((*run.onbox, *(run.run if word == "RUN" else word for word in words)))

    return command


status = _there("status", "RUN")
logs = _there("logs", "--run", "RUN")
resume = _there("resume", "-d", "RUN")
foretell = _there("resume", "--dry-run", "RUN")
notices = _there("notify", "list", "RUN")
stop = _there("stop", "RUN")


def _room(run: RunFacts) -> str:
    return run.way.there(("df", "-h", "."), ("df", "-i", "."))


def _given(run: RunFacts) -> str:
    """What the patrol's verdict says to type."""
    return run.command


def _rule(*names: str) -> Callable[[RunFacts], bool]:
    return lambda run: run.rule in names


def _flagged(run: RunFacts, name: str) -> bool:
    """Whether a rule of that name is the verdict's own, or stands beside it."""
    return name in (run.rule, *(rule for rule, _ in run.further))


def _class(run: RunFacts) -> str:
    failure = observed(run.failure)
    return failure.failure_class if failure else ""


def _would(run: RunFacts) -> str:
    known = observed(run.resume)
    return known.would if known else ""


def _missing(run: RunFacts) -> bool:
    known = observed(run.resume)
    return bool(known and known.missing)


def _other_lineage(run: RunFacts) -> bool:
    known = observed(run.resume)
    return bool(known and known.refused)


def _must_not_repeat(run: RunFacts) -> bool:
    """A failure stands open whose class forbids the same configuration once more."""
    failure = observed(run.failure)
    if failure is None:
        return False
    return not may_repeat(failure.failure_class, own_word=failure.retry_allowed)


RULES: tuple[Row, ...] = (
    Row(
        "box-not-there", _rule("unreachable", "not-tried", "section-cut"), _given,
        "when the box answers again: `handbook resume`; nothing is known against the run meanwhile",
        "a link that is down says nothing of a run; what it was last known to be stands here",
        "start it elsewhere or call it dead: a link that is down says nothing of the run",
    ),
    Row(
        "run-gone", _rule("vanished"), _given, "if that was not meant, look for the volume",
        "its directory is not there any more",
        "start it anew in its place before the volume was looked for",
    ),
    Row(
        "no-run-seen", lambda run: not run.run, _given,
        "no run was seen there, so none is continued; `onbox chain` starts one in its project, `patrol add HOST` adds a box",
        "it speaks of the box, and of no run",
        "take it for proof that none runs: what nobody declared nobody sees",
    ),
    Row(
        "not-onboxs-own", lambda run: not run.managed, _given,
        "onbox did not start it, so it cannot resume it: the way is the one it was started with",
        "only a run with a lock of its own can be resumed without a second launch",
        "start it a second time while a process of it may live: here nothing refuses that",
    ),
    Row(
        "results-missing", lambda run: run.state == "done" and _missing(run), foretell,
        "find the files, or make them again: `onbox chain --redo STAGE` (that costs time: ask first)",
        "a marker vouches for files that were there; they are not there now",
        "pull, acknowledge or tear down as if it were done",
    ),
    Row(
        "sealed", lambda run: run.state == "done" and run.record.sealed_at is not None, status,
        "it is sealed: pull what is not pulled yet and `patrol ack RUN`; nothing else is to be done",
        "its end was checked and entered into its record",
        "change or delete anything of it; no teardown without a word for that very action",
    ),
    Row(
        "done", lambda run: run.state == "done", status,
        "pull the results, load each of them once, then `handbook seal` and `patrol ack RUN`",
        "done is the marker of this very run and no process",
        "stop, release or delete anything before the results were loaded once and a person agreed",
    ),
    Row(
        "no-room", lambda run: run.state in ("failed", "interrupted") and _class(run) in NO_ROOM, _room,
        "make room (old checkpoints and scratch, never the best or the newest whole one), then resume",
        "a resume without room fails at its next save",
        "resume before there is room; delete the best or the newest whole checkpoint",
    ),
    Row(
        "cause-not-known", lambda run: run.state in ("failed", "interrupted") and _class(run) == "unknown", logs,
        "resume only when the cause is understood: its log does not tell it",
        "how it ended is known, why is not: no class says whether another attempt can help",
        "resume it before somebody has read its log",
    ),
    Row(
        "do-not-repeat", lambda run: run.state in ("failed", "interrupted") and _must_not_repeat(run), logs,
        "do not resume unchanged: the same configuration can only fail again; fix the cause first",
        "the proving line stands in the log",
        "resume it unchanged",
    ),
    Row(
        "same-failure-again", _rule("repeated-failure", "interrupted-again"), logs, "a person must change something before it is resumed",
        "what failed twice in the same way fails a third time",
        "resume it unchanged, a third time",
    ),
    Row(
        "loss-lost", lambda run: _flagged(run, "loss-lost") and run.managed, logs,
        "find the last step with a good loss; with a person's word: stop, `[contract] rejected` the checkpoints after it, resume",
        "every further step is lost, and every further checkpoint is of what was lost",
        "go on from the newest checkpoint: it may hold the blow-up",
    ),
    Row(
        "other-lineage", lambda run: run.state in ("failed", "interrupted", "stopped") and _other_lineage(run), foretell,
        "the newest checkpoint is not of this run: a person moves it away, or says that it is to be taken; then resume",
        "newer by number is not newer of this training; a wrong start is found days later",
        "say --any-checkpoint without a person's word",
    ),
    Row(
        "gate-refused", _rule("gate-refused"), status,
        "make room for what the gate names, then resume: every gate is asked again",
        "nothing was started and nothing is lost",
        "lower the gate to get past it",
    ),
    Row(
        "stopped", lambda run: run.state == "stopped", foretell, "resume only if whoever stopped it wants that",
        "what a person stopped is left alone",
        "resume it by yourself",
    ),
    Row(
        "results-do-not-fit", lambda run: run.state in ("failed", "interrupted") and _would(run) == "refuse", foretell,
        "choose for each stage: `--accept-done STAGE` or `--redo STAGE`; ask first",
        "earlier results are of another command: nothing is skipped or run again on a guess",
        "choose by guess",
    ),
    Row(
        "failed", lambda run: run.state == "failed", logs, "apply the remedy, then resume",
        "the log's own line says why",
        "resume before the remedy was applied",
    ),
    Row(
        "runner-gone", lambda run: _flagged(run, "runner-gone"), resume, "the resume takes the living stage over; look again in a minute",
        "the stage is well, but nobody would continue the chain after it",
        "start its command by hand: the stage lives",
    ),
    Row(
        "interrupted", lambda run: run.state == "interrupted", resume,
        "the stage starts again with ONBOX_RESUME=1; look again in a minute",
        "no process, no verdict: it ended without being asked",
        "start its command by hand: only the resume refuses a second copy",
    ),
    Row(
        "seen-once", _rule("gone"), foretell, "look again: `handbook resume`; one look does not prove a death",
        "a run that ends right now looks the same for a moment",
        "relaunch it",
    ),
    Row(
        "stalled", lambda run: run.state == "stalled", logs,
        "take a stack dump of it before it is stopped; then stop and resume",
        "alive is not progress, and a stall is not a death: no relaunch",
        "start it beside itself: it lives, and holds its GPUs",
    ),
    Row(
        "notices-stuck", lambda run: _flagged(run, "notifications-stuck"), notices,
        "mend the target; what waits is kept and sent later",
        "what the box cannot deliver nobody hears of",
        "relaunch anything: the run is not ill",
    ),
    Row(
        "ill", lambda run: run.severity in ("warning", "critical") and bool(run.command), _given,
        "follow the remedy", "the patrol's own advice", "relaunch it: it may be alive",
    ),
    Row(
        "well", lambda run: run.state in ("running", "pending"), status,
        "nothing: it goes on by itself", "nothing is to be done", "start it a second time",
    ),
    Row(
        "unknown", lambda _: True, status, "look yourself: what was not seen is no evidence", "an honest no",
        "act on what was not seen",
    ),
)  # fmt: skip


def advise(run: RunFacts, *, here: bool = False) -> Advice:
    """The first row that holds. here: the handbook is read on the box, where no patrol is."""
    row = next(row for row in RULES if row.holds(run))
    try:
        return _advice(row, run, here=here)
    except Untypeable as shown:
        then = "somebody who knows the box types it by hand: what it would name is not shown as it is"
        return Advice(row.name, "", then, "", "", "", row.never, str(shown))


def _advice(row: Row, run: RunFacts, *, here: bool) -> Advice:
    first = row.first(run)
    if not run.managed or not run.run:
        return Advice(row.name, first, row.then, "", "", "", row.never)
    if here and first.startswith("patrol "):
        first = status(run)
    acknowledge = "" if here else f" and `{on_this_machine('patrol', 'ack', run.name)}`"
    then = row.then.replace(" and `patrol ack RUN`", acknowledge)
    return Advice(row.name, first, then, resume(run), stop(run), foretell(run), row.never)


def remedy_of(run: RunFacts) -> str:
    """The patrol's remedy, where it can be followed: nothing resumes what onbox did not start."""
    return "" if not run.managed and run.remedy.startswith("Resume") else run.remedy


# Rows after which a resume is right only once something else was done.
NOT_YET = frozenset(
    ("no-room", "cause-not-known", "do-not-repeat", "same-failure-again", "loss-lost", "other-lineage", "gate-refused", "stopped",
     "results-do-not-fit", "failed", "seen-once", "stalled", "box-not-there")
)  # fmt: skip
_RANK = {"critical": 0, "unknown": 1, "warning": 2, "ok": 3}


def by_need(facts: Facts) -> list[RunFacts]:
    """The runs, those that need somebody first; among equals by name."""
    return sorted(facts.runs, key=lambda run: (run.acknowledged, _rank(run), run.name))


def _rank(run: RunFacts) -> int:
    lost = run.state == "done" and _missing(run)
    return 0 if lost else _RANK.get(run.severity, 1)
