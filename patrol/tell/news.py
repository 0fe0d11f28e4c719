"""What a patrol tells people by itself: each change for the worse once, one word when it is over, one when all is done.

What was told of a run is compared with what is said of it now: not with the last tick. So a tick that is killed
anywhere, or a target that is set up later, loses nothing, and nothing is told twice. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onbox.contract.notices import PATROL_DONE, PATROL_RECOVERED, PATROL_TROUBLE, PATROL_WORD, Notice
from onbox.contract.readings import Unseen, observed
from onbox.contract.states import RunState
from onbox.model.units import format_duration
from onbox.outside import safe_line
from onbox.system.clock import utc_text
from patrol.memory.update_history import attempt_id
from patrol.report.lines import name_of
from patrol.snapshot import BoxLook, Unreachable
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onbox.contract.notify_targets import Target
    from patrol.judge import BoxJudged, Judged
    from patrol.verdict import Finding, Verdict

BOXES_ALONE = 3  # the same of more boxes than this is one message: a network that is away, say
NEVER_TOLD = frozenset({"notifications-stuck"})  # what waits on a box is relayed to the same targets
RUNS_NAMED = 6
TEXT_LIMIT = 300
CAUSES_KEPT = 16
OVER = (RunState.FAILED, RunState.INTERRUPTED)

# Of what the box itself tells: the words of `[notify] on` behind each rule of its own records.
TOLD_BY_THE_BOX: dict[str, frozenset[str]] = {
    "failed": frozenset({"stage_failed", "chain_failed"}),
    "repeated-failure": frozenset({"stage_failed", "chain_failed"}),
    "gate-refused": frozenset({"gate_refused"}),
    "interrupted-recorded": frozenset({"interrupted"}),
    "stalled": frozenset({"stalled"}),
    "done": frozenset({"chain_done"}),
}


class Told(NamedTuple):
    """What people know of a run that is not well (run "": of a box). severity: the last that was told. causes: the
    rules that were told since it was last well. attempt: of what, "" where it was not seen.
    """

    severity: int
    causes: tuple[str, ...]
    attempt: str = ""


class Known(NamedTuple):
    """What people know of all. done: the runs of which it was told that all are done."""

    told: Mapping[tuple[str, str], Told] = {}
    done: tuple[str, ...] = ()


class News(NamedTuple):
    """What is told in one message. kind: the notice's event. cause: the rule."""

    kind: str
    cause: str
    runs: tuple[tuple[BoxJudged, Judged], ...]


def find_news(judged: Sequence[BoxJudged], known: Known, now: float, *, whole: bool) -> tuple[list[News], Known]:
    """What is to be told, one entry per box and cause, and what people know after that. whole: every box of the
    configuration is in `judged`.
    """
    told = dict(known.told)
    found: list[News] = []
    for box in judged:
        if isinstance(box.snapshot, Unreachable) and box.snapshot.reason == "untrusted":
            continue  # that is said once, by itself
        _hand_down(box, told)
        found += [news for run in box.runs if (news := _one(box, run, told, now)) is not None]
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
    return grouped, Known(told, done)


def _one(box: BoxJudged, run: Judged, told: dict[tuple[str, str], Told], now: float) -> News | None:
    """What is new of one run; `told` is brought up to date."""
    verdict = run.verdict
    key = (verdict.box, verdict.run)
    if verdict.soft or (verdict.silenced_until or 0.0) > now:
        return None
    if verdict.acknowledged:
        told.pop(key, None)
        return None
    worst = _worst(verdict)
    before, severity, cause = told.get(key, _WELL), worst.severity, worst.rule
    if severity is Severity.WARNING and not _seen_before(run, cause):
        return None  # the next look may know what it means: a run that is gone, or one that was moved
    attempt = attempt_id(run.look) if run.look is not None else before.attempt
    rises = severity.rank > Severity(before.severity).rank
    another = severity is Severity.CRITICAL and severity == before.severity and cause not in before.causes
    again = verdict.state in OVER and severity is Severity.CRITICAL and _differ(attempt, before.attempt)
    if severity is not Severity.OK and (rises or another or again):
        causes = (*(one for one in before.causes if one != cause), cause)[-CAUSES_KEPT:]
        told[key] = Told(int(severity), causes, attempt)
        return News(PATROL_TROUBLE, cause, ((box, run),))
    falls = severity.rank < Severity(before.severity).rank
    if not falls or severity is Severity.UNKNOWN or verdict.state is RunState.UNKNOWN:
        return None
    told[key] = Told(int(severity), (cause,), attempt)
    if severity is Severity.OK:
        del told[key]
    return News(PATROL_RECOVERED, before.causes[-1], ((box, run),))


def _worst(verdict: Verdict) -> Finding:
    """Of what is told; the naming one between equals."""
    findings = (verdict.finding, *(one for one in verdict.further if one.rule not in NEVER_TOLD))
    return max(findings, key=lambda finding: finding.severity.rank)


def _seen_before(run: Judged, cause: str) -> bool:
    """Whether the tick before saw it, too."""
    return cause in (run.before.rule, run.before.flag)


def _differ(attempt: str, before: str) -> bool:
    """Whether two attempts are known to be two: what could not be looked at proves nothing."""
    return attempt != before and "?" not in attempt + before


_WELL = Told(int(Severity.OK), ())


def _hand_down(box: BoxJudged, told: dict[tuple[str, str], Told]) -> None:
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
        by_box[key] = by_box[key]._replace(runs=by_box[key].runs + one.runs) if key in by_box else one
    by_cause: dict[tuple[str, str], list[News]] = {}
    for key3, one in by_box.items():
        by_cause.setdefault(key3[:2], []).append(one)
    grouped: list[News] = []
    for alike in by_cause.values():
        many = len(alike) > BOXES_ALONE
        grouped += [alike[0]._replace(runs=tuple(run for one in alike for run in one.runs))] if many else alike
    return grouped


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


# -- whom it is told, and in which words


def wants(target: Target) -> bool:
    return PATROL_WORD in target.on


def for_target(news: News, target: str) -> News | None:
    """The news without the runs whose box tells this target by itself; None where nothing is left."""
    left = tuple((box, run) for box, run in news.runs if not _box_tells(box, run, target, news.kind))
    return news._replace(runs=left) if left else None


def _box_tells(box: BoxJudged, run: Judged, target: str, kind: str) -> bool:
    """Whether the run's own records tell this target of it: then the box delivers it, or the patrol relays it."""
    if kind == PATROL_RECOVERED or run.look is None or not run.look.managed or box.memories is None:
        return False
    rule = _worst(run.verdict).rule if kind == PATROL_TROUBLE else "done"
    if rule == "stalled" and observed(run.look.claimed_state) != RunState.STALLED.value:
        return False  # the patrol's own judgement
    if run.look.notify_trouble or observed(run.look.undelivered) is None or observed(run.look.given_up) != 0:
        return False
    known = box.memories.runs.get(run.verdict.run)
    words = known.manifest.news.get(target, ()) if known is not None and known.manifest is not None else ()
    return not TOLD_BY_THE_BOX.get(rule, frozenset()).isdisjoint(words)


def notice_of(news: News, id_: str, *, folder: str, host: str, now: float) -> Notice:
    """The message. Every text is bounded, and masked by who puts it in the outbox."""
    first = news.runs[0][1]
    verdict, alone = first.verdict, len(news.runs) == 1
    worst = _worst(verdict)
    state = {PATROL_RECOVERED: "recovered", PATROL_DONE: "done"}.get(news.kind) or _state(first, news.cause)
    return Notice(
        id=id_,
        at=utc_text(now),
        event=news.kind,
        state=state,
        run=_label(news),
        run_id=(first.after.run_id or "") if alone else "",
        project=folder,
        host=host,
        reason=_text(_reason(news, first)),
        proof=_text(_proof(first)) if alone else None,
        remedy=_text(worst.remedy) if news.kind == PATROL_TROUBLE else None,
        progress=_text(_progress(first) if alone else _names(news)),
        next_command=_command(news, first),
    )


def _state(run: Judged, cause: str) -> str:
    if cause == "unreachable":
        return "UNREACHABLE"
    return run.verdict.state.value.upper() if run.verdict.run else run.verdict.severity.name


def _label(news: News) -> str:
    """`box/run`, `box (20 runs)`, or `24 runs on 5 boxes`."""
    if len(news.runs) == 1:
        return name_of(news.runs[0][1].verdict)
    boxes = {box.box.name for box, _ in news.runs}
    runs = [run for _, run in news.runs if run.verdict.run]
    if len(boxes) == 1:
        return f"{safe_line(next(iter(boxes)), 48)} ({len(runs)} runs)"
    return f"{len(runs)} runs on {len(boxes)} boxes" if runs else f"{len(boxes)} boxes"


def _reason(news: News, first: Judged) -> str:
    worst = _worst(first.verdict)
    if news.kind == PATROL_RECOVERED:
        now = f"{first.verdict.state.value.upper()} again" if len(news.runs) == 1 else "well again"
        now += f", {worst.say}" if worst.severity is not Severity.OK else ""
        return f"{now} (was {news.cause})"
    if news.kind == PATROL_DONE:
        return worst.say if len(news.runs) == 1 else "all runs are done"
    return worst.say + (f"; {first.verdict.last_known}" if first.verdict.last_known and len(news.runs) == 1 else "")


def _names(news: News) -> str:
    names = [name_of(run.verdict) for _, run in news.runs]
    more = len(names) - RUNS_NAMED
    return ", ".join(names[:RUNS_NAMED]) + (f" and {more} more" if more > 0 else "")


def _proof(run: Judged) -> str:
    failure = observed(run.look.failure) if run.look is not None else None
    return failure.proof or "" if failure is not None else ""


def _progress(run: Judged) -> str:
    """How far it was, and how old that is."""
    look = run.look
    progress = observed(look.progress) if look is not None else None
    if look is None or progress is None or progress.current is None:
        return ""
    total = f"/{progress.exact_max}" if progress.exact_max is not None else ""
    stage = observed(look.stage)
    log = observed(look.log)
    age = log.written_age_seconds if log is not None else None
    words = f"{stage or ''} at {progress.current:.12g}{total}".strip()
    return words + (f", log written {format_duration(age)} ago" if age is not None else "")


def _command(news: News, first: Judged) -> str | None:
    """What to type in the project's directory here. Of a recovery nothing; of many runs, the look at all."""
    if news.kind == PATROL_RECOVERED:
        return None
    one = first.verdict.finding.command if news.cause == first.verdict.finding.rule or news.kind == PATROL_DONE else ""
    one = one or _worst(first.verdict).command or first.verdict.finding.command
    boxes = {box.box.name for box, _ in news.runs}
    return one if one and len(boxes) == 1 else "patrol tick"


def _text(words: str) -> str | None:
    return safe_line(words, TEXT_LIMIT) or None
