"""What a patrol tells people by itself: each change for the worse once, one word when it is over, one when all is done.

What was told of a run is compared with what is said of it now: not with the last tick. So a tick that is killed
anywhere, or a target that is set up later, loses nothing, and nothing is told twice. Once a day it says that it is
alive; what flaps is told a few times a day. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.notices import PATROL_DIGEST, PATROL_DONE, PATROL_RECOVERED, PATROL_TROUBLE, PATROL_WORD
from onbox.contract.readings import Absent, Unseen, observed
from onbox.contract.states import RunState
from onbox.model.boxes import DEFAULT_ALERTS_PER_DAY
from onbox.named_tuple import NamedTuple
from patrol.decide.box_scene import seen
from patrol.memory.update_history import attempt_id
from patrol.report.lines import name_of
from patrol.snapshot import BoxLook, RunLook, Unreachable
from patrol.tell import alert_limit
from patrol.tell.digest import is_due
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onbox.contract.notify_targets import NotifyTarget
    from patrol.judge import BoxJudged, Judged
    from patrol.tell.alert_limit import Subject
    from patrol.verdict import Finding, Verdict

BOXES_ALONE = 3  # the same of more boxes than this is one message: a network that is away, say
NEVER_TOLD = frozenset({"notifications-stuck"})  # what waits on a box is relayed to the same targets
CAUSES_KEPT = 16
OVER = (RunState.FAILED, RunState.INTERRUPTED)

# Of what the box itself tells: the words of `[notify] on` behind each rule of its own records.
TOLD_BY_THE_BOX: dict[str, frozenset[str]] = {
    "failed": frozenset({"stage_failed", "chain_failed"}),
    "repeated-failure": frozenset({"stage_failed", "chain_failed"}),
    "gate-refused": frozenset({"gate_refused"}),
    "interrupted-recorded": frozenset({"interrupted"}),
    "stalled": frozenset({"stalled"}),
    "detected": frozenset({"detected"}),
    "done": frozenset({"chain_done"}),
    "fast-finish": frozenset({"chain_done"}),  # as its warning, where the time was declared
}


# The rules of which the detectors on the box may tell first, and the name of each there.
FOUND_BY = {
    "throughput-collapse": "slow",
    "loss-lost": "loss-not-finite",
    "loss-risen": "loss-risen",
    "artifacts-late": "checkpoints-late",
}


class KnownNews(NamedTuple):
    """What people know of a run that is not well (run "": of a box). severity: the last that was told. causes: the
    rules that were told since it was last well. attempt: of what, "" where it was not seen. in_passing: it was only
    said of a run that recovered from something worse, so its end is no news.
    """

    severity: int
    causes: tuple[str, ...]
    attempt: str = ""
    in_passing: bool = False


class Known(NamedTuple):
    """What people know of all. done: the runs of which it was told that all are done. told_at: when each trouble of a
    run was told within the last day. digest_at: of the last daily message, or of the first look. withheld: hash of the
    keys of which it was told that nobody accepted them.
    """

    told: Mapping[tuple[str, str], KnownNews] = {}
    done: tuple[str, ...] = ()
    told_at: Mapping[Subject, tuple[float, ...]] = {}
    digest_at: float = 0.0
    withheld: str = ""


class News(NamedTuple):
    """What is told in one message. kind: the notice's event. cause: the rule. quiet_until: it was told so often that it
    is not told again before; 0.0: it may be.
    """

    kind: str
    cause: str
    runs: tuple[tuple[BoxJudged, Judged], ...]
    quiet_until: float = 0.0


class _Frame(NamedTuple):
    """What one tick tells with; `told` and `told_at` are brought up to date."""

    told: dict[tuple[str, str], KnownNews]
    told_at: dict[Subject, tuple[float, ...]]
    now: float
    per_day: int


def find_news(
    judged: Sequence[BoxJudged], known: Known, now: float, *, whole: bool, per_day: int = DEFAULT_ALERTS_PER_DAY
) -> tuple[list[News], Known]:
    """What is to be told, one entry per box and cause, and what people know after that. whole: every box of the
    configuration is in `judged`. per_day: how often one trouble of one run is told.
    """
    told = dict(known.told)
    frame = _Frame(told, alert_limit.of_today(known.told_at, now), now, per_day)
    found: list[News] = []
    for box in judged:
        if isinstance(box.snapshot, Unreachable) and box.snapshot.reason == "untrusted":
            continue  # that is said once, by itself
        _hand_down(box, told)
        found += [news for run in box.runs if (news := _one(box, run, frame)) is not None]
    if whole:
        names = {box.box.name for box in judged}
        told = {key: one for key, one in told.items() if key[0] in names}
    grouped = _grouped(found)
    done = known.done
    if whole and (now_done := _all_done(judged)) and now_done != done:
        done = now_done
        grouped = [one for one in grouped if not (one.kind == PATROL_RECOVERED and _is_done(one))]
        runs = tuple((box, run) for box in judged for run in box.runs if not run.verdict.acknowledged)
        grouped.append(News(PATROL_DONE, "done", runs))
    return grouped, known._replace(told=told, done=done, told_at=frame.told_at)


def daily_news(judged: Sequence[BoxJudged], known: Known, now: float, minute_of_day: int) -> tuple[News | None, Known]:
    """The daily message, if it is due. Its first one comes at the first such time after the first look."""
    if not 0 < known.digest_at <= now:  # none yet, or a clock was wrong
        return None, known._replace(digest_at=now)
    if not is_due(known.digest_at, now, minute_of_day):
        return None, known
    runs = tuple((box, run) for box in judged for run in box.runs)
    return News(PATROL_DIGEST, "daily", runs), known._replace(digest_at=now)


def _one(box: BoxJudged, run: Judged, frame: _Frame) -> News | None:
    """What is new of one run."""
    told, now = frame.told, frame.now
    verdict = run.verdict
    key = (verdict.box, verdict.run)
    if verdict.soft or (verdict.silenced_until or 0.0) > now:
        return None
    if verdict.acknowledged:
        told.pop(key, None)
        return None
    worst = worst_told(verdict)
    before, severity, cause = told.get(key, _WELL), worst.severity, worst.rule
    if severity is Severity.WARNING and not _seen_before(run, cause):
        return None  # the next look may know what it means: a run that is gone, or one that was moved
    attempt = attempt_id(run.look) if run.look is not None else before.attempt
    rises = severity.rank > Severity(before.severity).rank
    another = severity is Severity.CRITICAL and severity == before.severity and cause not in before.causes
    again = verdict.state in OVER and severity is Severity.CRITICAL and _differ(attempt, before.attempt)
    if severity is not Severity.OK and (rises or another or again):
        subject = (*key, cause)
        if len(alert_limit.times_today(frame.told_at, subject, now)) >= frame.per_day:
            return None
        quiet_until = alert_limit.note(frame.told_at, subject, now, frame.per_day)
        causes = (*(one for one in before.causes if one != cause), cause)[-CAUSES_KEPT:]
        told[key] = KnownNews(int(severity), causes, attempt)
        return News(PATROL_TROUBLE, cause, ((box, run),), quiet_until)
    falls = severity.rank < Severity(before.severity).rank
    if not falls or severity is Severity.UNKNOWN or verdict.state is RunState.UNKNOWN:
        return None
    told[key] = KnownNews(int(severity), (cause,), attempt, in_passing=True)
    if severity is Severity.OK:
        del told[key]
    return None if before.in_passing else News(PATROL_RECOVERED, before.causes[-1], ((box, run),))


def worst_told(verdict: Verdict) -> Finding:
    """Of what is told; the naming one between equals."""
    findings = (verdict.finding, *(one for one in verdict.further if one.rule not in NEVER_TOLD))
    return max(findings, key=lambda finding: finding.severity.rank)


def _seen_before(run: Judged, cause: str) -> bool:
    """Whether the tick before saw it, too."""
    return cause in (run.before.rule, run.before.flag)


def _differ(attempt: str, before: str) -> bool:
    """Whether two attempts are known to be two: what could not be looked at proves nothing."""
    return attempt != before and "?" not in attempt + before


_WELL = KnownNews(int(Severity.OK), ())


def _hand_down(box: BoxJudged, told: dict[tuple[str, str], KnownNews]) -> None:
    """Of a box that answers: what was told of the box alone is now of its runs, and what is gone is told no more. Of
    one that was away until its runs were forgotten, it is the other way round.
    """
    name = box.box.name
    runs = {run.verdict.run for run in box.runs}
    if not isinstance(box.snapshot, BoxLook) or isinstance(box.snapshot.runs, Unseen):
        of_runs = [one for key, one in told.items() if key[0] == name]
        if runs == {""} and of_runs:
            told.setdefault((name, ""), max(of_runs, key=lambda one: Severity(one.severity).rank))
        return
    for key in [key for key in told if key[0] == name and key[1] not in runs]:
        one = told.pop(key)
        for run in runs if not key[1] else ():
            told.setdefault((name, run), one)


def _grouped(found: Iterable[News]) -> list[News]:
    """One per kind, box and cause; one per kind and cause where that is so at many boxes."""
    by_box: dict[tuple[str, str, str], News] = {}
    for one in found:
        key = (one.kind, one.cause, one.runs[0][0].box.name)
        by_box[key] = _together((by_box[key], one)) if key in by_box else one
    by_cause: dict[tuple[str, str], list[News]] = {}
    for key3, one in by_box.items():
        by_cause.setdefault(key3[:2], []).append(one)
    grouped: list[News] = []
    for alike in by_cause.values():
        many = len(alike) > BOXES_ALONE
        grouped += [_together(alike)] if many else alike
    return grouped


def _together(alike: Sequence[News]) -> News:
    runs = tuple(run for one in alike for run in one.runs)
    return alike[0]._replace(runs=runs, quiet_until=max(one.quiet_until for one in alike))


def _all_done(judged: Sequence[BoxJudged]) -> tuple[str, ...]:
    """The runs, if all were seen and are done, and not all of them were acknowledged."""
    runs = [run for box in judged for run in box.runs]
    if not runs or not all(run.look is not None and run.verdict.state is RunState.DONE for run in runs):
        return ()
    if all(run.verdict.acknowledged for run in runs):
        return ()
    return tuple(sorted(f"{name_of(run.verdict)} {run.after.run_id or ''}" for run in runs))


def _is_done(news: News) -> bool:
    return all(run.verdict.state is RunState.DONE for _, run in news.runs)


# -- whom it is told


def wants(target: NotifyTarget) -> bool:
    return PATROL_WORD in target.on


def for_target(news: News, target: str) -> News | None:
    """The news without the runs whose box tells this target by itself; None where nothing is left."""
    left = tuple((box, run) for box, run in news.runs if not _box_tells(box, run, target, news.kind))
    return news._replace(runs=left) if left else None


def _box_tells(box: BoxJudged, run: Judged, target: str, kind: str) -> bool:
    """Whether the run's own records tell this target of it: then the box delivers it, or the patrol relays it."""
    if kind in (PATROL_RECOVERED, PATROL_DIGEST) or run.look is None or not run.look.managed or box.memories is None:
        return False
    rule = worst_told(run.verdict).rule if kind == PATROL_TROUBLE else "done"
    if rule == "stalled" and observed(run.look.claimed_state) != RunState.STALLED.value:
        return False  # the patrol's own judgement
    if rule in FOUND_BY and not isinstance(run.look.detected, Absent | Unseen):
        rule = rule if FOUND_BY[rule] not in {one.detector for one in run.look.detected} else "detected"
    if rule == "fast-finish" and not _knows_haste(run.look):
        return False
    if run.look.notify_trouble or observed(run.look.undelivered) is None or observed(run.look.given_up) != 0:
        return False
    known = box.memories.runs.get(run.verdict.run)
    words = known.manifest.news.get(target, ()) if known is not None and known.manifest is not None else ()
    return not TOLD_BY_THE_BOX.get(rule, frozenset()).isdisjoint(words)


def _knows_haste(look: RunLook) -> bool:
    """Whether the box has warned of it, when all was done: it knows what is declared, not what earlier runs took."""
    is_declared = any(one.expected_seconds for one in look.finished) or seen(look.whole_expected_seconds)
    return is_declared and seen(look.done)
