"""From the memory of the last tick and a new look to the memory of this one: bounded, whatever the clocks do. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from onbox.contract.readings import observed
from onbox.contract.states import RunState
from patrol.liveness import Presence, presence_of
from patrol.memory.history import Before, BoxBefore
from patrol.snapshot import NOT_ASKED, Unreachable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patrol.snapshot import BoxLook, RunLook, Snapshot
    from patrol.verdict import Verdict

SAME_SECONDS = 5.0  # ages are rounded, and two clocks never agree
RATE_SECONDS = 30.0  # looks of cron are at least a minute apart
MANY, SOME, RULES, DISK_POINTS, RUNS = 64, 16, 21, 256, 32
T = TypeVar("T")


def attempt_id(look: RunLook) -> str:
    """Which attempt of which run: equal only for the same one."""
    words = (observed(look.run_id), observed(look.stage), observed(look.attempt))
    return "/".join("?" if word is None else str(word) for word in words)


def acknowledgement(run_id: str | None, rule: str) -> str:
    """What a person acknowledges: this finding of this very run. A new run of the same name needs a new word."""
    return f"{run_id or '?'}:{rule}"


def applicable(before: Before, look: RunLook) -> Before:
    """The memory that is this run's own. Of another run of the same name only what holds for the name is left."""
    run_id = observed(look.run_id)
    if run_id is None or before.run_id is None or run_id == before.run_id:
        return before
    return Before(
        run_id=run_id, silenced_until=before.silenced_until, restarts=before.restarts, durations=before.durations
    )


def rate_now(before: Before, look: RunLook, box: BoxLook | None, now: float) -> float | None:
    """Steps per second since the newest step in memory; None: cannot be said.

    Where the counter stands still, the most that can have been made: its smallest step over the time, if even that is
    below the last rate. Time is the box's uptime within one boot: no clock that somebody sets. Looks that follow each
    other within RATE_SECONDS say nothing: a log grows in pieces. Nor does one at a run that is gone.
    """
    if presence_of(look) is Presence.GONE or 0 <= now - (before.last_seen_at or 0.0) < RATE_SECONDS:
        return None
    progress = observed(look.progress)
    current = progress.current if progress else None
    if current is None or not math.isfinite(current) or not before.steps or before.attempt != attempt_id(look):
        return None
    at, last = before.steps[-1]
    seconds = _elapsed(before, box, now - at)
    if seconds < RATE_SECONDS or current < last:
        return None
    if current > last:
        return (current - last) / seconds
    moves = [later[1] - earlier[1] for earlier, later in zip(before.steps, before.steps[1:], strict=False)]
    most = min((move for move in moves if move > 0), default=0.0) / seconds
    return most if before.rates and 0 < most < before.rates[-1] else None


def losses_now(before: Before, look: RunLook, now: float) -> tuple[float, ...]:
    """The losses that this run showed at the ticks, the newest last: this look's among them if its step is a new one.

    Looks that follow each other within RATE_SECONDS add nothing.
    """
    progress = observed(look.progress)
    loss = progress.loss if progress else None
    if not isinstance(loss, int | float) or not math.isfinite(loss):
        return before.losses
    stands = bool(before.steps) and progress is not None and before.steps[-1][1] == progress.current
    soon = 0 <= now - (before.last_seen_at or 0.0) < RATE_SECONDS
    return before.losses if stands or soon else (*before.losses, float(loss))


def _elapsed(before: Before, box: BoxLook | None, by_local_clock: float) -> float:
    boot_id, uptime = _boot_and_uptime(box)
    if None not in (boot_id, uptime, before.uptime_seconds) and boot_id == before.boot_id:
        return uptime - before.uptime_seconds  # type: ignore[operator]
    return by_local_clock


def _boot_and_uptime(box: BoxLook | None) -> tuple[str | None, float | None]:
    identity = observed(box.identity) if box else None
    return (observed(identity.boot_id), observed(identity.uptime_seconds)) if identity else (None, None)


def fold(before: Before, look: RunLook | None, verdict: Verdict, now: float, box: BoxLook | None = None) -> Before:
    """The memory after this tick. look: None where nothing was seen of the run. box: of the same look."""
    if look is None:
        return _judged(before, verdict)
    mine = applicable(before, look)
    mine = _judged(mine, verdict)
    mine = mine._replace(
        run_id=observed(look.run_id) or mine.run_id,
        gone_ticks=_gone_ticks(mine, look),
        known_rule=verdict.finding.rule if verdict.state is not RunState.UNKNOWN else mine.known_rule,
        known_state=verdict.state.value if verdict.state is not RunState.UNKNOWN else mine.known_state,
        known_since=verdict.since if verdict.state is not RunState.UNKNOWN else mine.known_since,
        signatures=_signatures(mine, look),
        durations=_durations(mine, look),
        was_flapping=any(finding.rule == "flapping" for finding in (verdict.finding, *verdict.further)),
    )
    mine = _with_artifacts(mine, look, now)  # asks which attempt was seen last
    mine = _with_progress(_with_notices(mine, look), look, box, now)  # asks when the run was seen last
    return _with_box(mine._replace(last_seen_at=now), box)


def _judged(before: Before, verdict: Verdict) -> Before:
    same = before.rule == verdict.finding.rule
    return before._replace(
        rule=verdict.finding.rule,
        flag=verdict.flag.rule if verdict.flag else "",
        since=verdict.since,
        rule_ticks=before.rule_ticks + 1 if same else 1,
        rules=_newest((*before.rules, verdict.finding.rule), RULES),
    )


def artifact_age(look: RunLook) -> float | None:
    """Seconds since the newest artifact of this attempt, or since it began, for there is none yet; None: not known."""
    artifacts, began = observed(look.artifacts), observed(look.stage_began_age_seconds)
    age = observed(artifacts.newest_age_seconds) if artifacts else None
    ages = [seconds for seconds in (age, began) if seconds is not None and math.isfinite(seconds)]
    return None if age is None or not ages else max(0.0, min(ages))


def _with_artifacts(before: Before, look: RunLook, now: float) -> Before:
    """A gap ends with the next artifact: one that is still open says nothing of how long they usually take."""
    age = artifact_age(look)
    if age is None or presence_of(look) is not Presence.ALIVE:
        return before
    made_at, last_at = now - age, before.artifact_at
    if last_at is None or before.attempt != attempt_id(look):
        return before._replace(artifact_at=made_at)
    gap = made_at - last_at
    if gap < SAME_SECONDS:
        return before
    return before._replace(artifact_at=made_at, artifact_gaps=_newest((*before.artifact_gaps, gap), SOME))


def _gone_ticks(before: Before, look: RunLook) -> int:
    """Another look that saw neither process nor proof of an end; one that could not look leaves the count as it is."""
    presence = presence_of(look)
    if observed(look.outcome) is not None or observed(look.done) is not None:
        return 0
    if presence is Presence.GONE:
        return before.gone_ticks + 1
    return before.gone_ticks if presence is Presence.UNSEEN else 0


def _signatures(before: Before, look: RunLook) -> tuple[tuple[str, str], ...]:
    failure = observed(look.failure)
    if failure is None or not failure.signature or look.stage_alive is True:
        return before.signatures
    entry = (failure.signature, attempt_id(look))
    return before.signatures if entry in before.signatures else _newest((*before.signatures, entry), SOME)


def _durations(before: Before, look: RunLook) -> tuple[tuple[str, float], ...]:
    """Of each stage that is done, and of a watched run: under its stage's name, or none."""
    began, ended = observed(look.stage_began_age_seconds), observed(look.ended_age_seconds)
    took = [(one.stage, one.seconds) for one in look.finished]
    if not look.managed and observed(look.done) is not None and None not in (began, ended) and began >= ended:  # type: ignore[operator]
        took.append(("", began - ended))  # type: ignore[operator]
    known = {name for name, _ in before.durations}
    named = [(f"{stage}@{observed(look.run_id) or ''}", seconds) for stage, seconds in took]
    new = [one for one in named if one[0] not in known]
    return _newest((*before.durations, *new), RUNS) if new else before.durations


def _with_notices(before: Before, look: RunLook) -> Before:
    waiting = observed(look.undelivered)
    if waiting is None:
        return before if look.undelivered != NOT_ASKED else before._replace(undelivered_ticks=0)
    return before._replace(undelivered_ticks=before.undelivered_ticks + 1 if waiting else 0)


def _with_progress(before: Before, look: RunLook, box: BoxLook | None, now: float) -> Before:
    progress = observed(look.progress)
    current = progress.current if progress else None
    if progress is None or current is None or not math.isfinite(current):
        return before
    attempt = attempt_id(look)
    if before.attempt is not None and before.attempt.rpartition("/")[0] != attempt.rpartition("/")[0]:
        before = before._replace(steps=(), rates=(), losses=())
    elif before.attempt != attempt:
        before = before._replace(steps=())
    if presence_of(look) is Presence.GONE:  # what it makes after a restart is not measured from before
        return before._replace(steps=(), attempt=attempt)
    rate = rate_now(before._replace(attempt=attempt), look, box, now)
    rates = before.rates if rate is None else _newest((*before.rates, rate), MANY)
    losses = _newest(losses_now(before, look, now), SOME)
    before = before._replace(rates=rates, losses=losses, attempt=attempt)
    if before.steps and before.steps[-1][1] == current:
        return before
    steps = tuple(step for step in before.steps if step[0] < now and step[1] < current)
    boot_id, uptime = _boot_and_uptime(box)
    return before._replace(
        steps=_newest((*steps, (now, float(current))), MANY),
        uptime_seconds=uptime,
        boot_id=boot_id,
    )


def _with_box(before: Before, box: BoxLook | None) -> Before:
    if box is None:
        return before
    memory = observed(box.memory)
    kills = observed(memory.oom_kills_total) if memory else None
    seen = [observed(gpu.utilization_percent) for gpu in observed(box.gpus) or ()]
    percents = [percent for percent in seen if percent is not None]
    if percents:
        before = before._replace(gpu_percents=_newest((*before.gpu_percents, max(percents)), SOME))
    return before if kills is None else before._replace(oom_kills=kills)


def fold_box(before: BoxBefore, snapshot: Snapshot, now: float) -> BoxBefore:
    """The box's memory after this tick. A failed look changes nothing of what was seen before."""
    before = before._replace(last_tick_at=now)
    if isinstance(snapshot, Unreachable):
        first = before.first_failure_at if before.failures and before.first_failure_at is not None else now
        return before._replace(failures=before.failures + 1, first_failure_at=first, last_reason=snapshot.reason)
    boot_id, uptime = _boot_and_uptime(snapshot)
    memory = observed(snapshot.memory)
    kills = observed(memory.oom_kills_total) if memory else None
    same_boot = boot_id is None or boot_id == before.boot_id
    kernel_seconds = before.kernel_seconds if same_boot else None
    if observed(snapshot.kernel_faults) is not None and uptime is not None:
        kernel_seconds = uptime
    return before._replace(
        last_reached_at=now,
        failures=0,
        first_failure_at=None,
        last_reason=None,
        boot_id=boot_id or before.boot_id,
        oom_kills=kills if kills is not None else (before.oom_kills if same_boot else None),
        kernel_seconds=kernel_seconds,
        disks=_disks(before, snapshot, now),
    )


def _disks(before: BoxBefore, box: BoxLook, now: float) -> tuple[tuple[float, str, int, int | None], ...]:
    """Points of the future are of a clock that was wrong; they would spoil every trend."""
    past = tuple(point for point in before.disks if point[0] < now)
    new = tuple((now, disk.mount, disk.bytes_free, observed(disk.inodes_free)) for disk in observed(box.disks) or ())
    return _newest((*past, *new), DISK_POINTS)


def _newest(values: Sequence[T], limit: int) -> tuple[T, ...]:
    return tuple(values[-limit:])
