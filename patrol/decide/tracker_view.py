"""A run's experiment tracker as a second opinion, for the rules. Pure.

It can confirm that a run moves, and it can say that something is odd at the tracker. It never makes a run stalled or
failed, and a tracker that could not be looked at says nothing of the run.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen, observed
from onbox.trackers.compare import FrozenIntent, TrackerPoints, compare
from patrol.snapshot import NOT_ASKED

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe
    from onbox.trackers.compare import Opinion
    from onbox.trackers.reading import TrackerRun
    from onbox.trackers.trackio_db import Alert
    from patrol.decide.run_scene import RunScene
    from patrol.snapshot import TrackerLook

AHEAD_SECONDS = 120.0  # a point of the future is of a clock that is wrong
LOUD = ("warn", "warning", "error")
UNANNOUNCED = Absent("this attempt has not told of a run yet")


def current(scene: RunScene) -> TrackerLook | None:
    """The run at a tracker of the stage at work; None: none is known."""
    stage = observed(scene.look.stage) or ""
    return next((one for one in reversed(scene.look.trackers) if one.stage in (stage, "")), None)


def best(tracker: TrackerLook) -> tuple[Maybe[TrackerRun], bool]:
    """What is believed of it, and whether that is the server's word: the files where they were seen."""
    if not tracker.of_this_attempt:
        return UNANNOUNCED, False
    if observed(tracker.disk) is not None or tracker.server == NOT_ASKED:
        return tracker.disk, False
    if observed(tracker.server) is None and tracker.disk != NOT_ASKED:
        return tracker.disk, False
    return tracker.server, True


def clock_of(scene: RunScene, *, of_server: bool) -> float | None:
    """The clock that the points' times are compared with: the box's for its own files."""
    if of_server:
        return scene.now
    identity = observed(scene.box.identity)
    return identity.clock_seconds if identity is not None else None


def fresh_age(scene: RunScene) -> float | None:
    """Age of the newest point where it is younger than `stall_after`: a sign of progress. None: no such sign."""
    tracker = current(scene)
    if tracker is None:
        return None
    seen, of_server = best(tracker)
    run, clock = observed(seen), clock_of(scene, of_server=of_server)
    at = run.last_at_seconds if run is not None else None
    if at is None or clock is None or not math.isfinite(at) or at > clock + AHEAD_SECONDS:
        return None
    age = max(0.0, clock - at)
    return age if age <= scene.stall_seconds else None


def opinion(scene: RunScene) -> Opinion | None:
    """What the tracker says of the run's life; None: it has no say (none is known, or it was not asked)."""
    tracker = current(scene)
    if tracker is None:
        return None
    seen, of_server = best(tracker)
    clock = clock_of(scene, of_server=of_server)
    if seen == NOT_ASKED or clock is None:
        return None
    log = observed(scene.look.log)
    run = observed(seen)
    if run is not None and not all(math.isfinite(one) for one in (run.step or 0.0, run.last_at_seconds or 0.0)):
        return None
    return compare(
        TrackerPoints(
            FrozenIntent(tracker.identity.run_id, None, None),
            seen,
            tracker.disk_before if not of_server else None,
            clock,
            scene.attempt_age_seconds or 0.0,
            (observed(scene.look.attempt) or 1) > 1,
            None if log is None else log.written_age_seconds <= scene.stall_seconds,
            scene.stall_seconds,
        )
    )


def says(scene: RunScene, *rules: str) -> bool:
    """Whether the opinion is that of one of these rows of `onbox.trackers.compare.TABLE`."""
    found = opinion(scene)
    return found is not None and found.rule in rules


def drifts(scene: RunScene) -> tuple[str, ...]:
    """How the run at the tracker is not the one that is meant, in words."""
    found = [text for one in scene.look.trackers for text in one.drift]
    said = opinion(scene)
    if said is not None and said.rule == "identity-drift":
        found.append(said.text)
    return tuple(dict.fromkeys(found))


def loud_alerts(scene: RunScene) -> tuple[Alert, ...]:
    """What the program told its tracker as a warning or worse within the last two cadences, newest first."""
    clock = clock_of(scene, of_server=False)
    limit = scene.limits.cadences_count * scene.limits.cadence_seconds
    return tuple(
        alert
        for one in scene.look.trackers
        for alert in one.alerts
        if clock is not None
        and alert.level in LOUD
        and alert.at_seconds is not None
        and -AHEAD_SECONDS <= clock - alert.at_seconds <= limit
    )


def unfinished(scene: RunScene) -> tuple[TrackerLook, ...]:
    """Runs of W&B that lack their end or their summary, by their files, or by the server where these were not seen."""
    found = []
    for one in scene.look.trackers:
        run = observed(one.disk) or observed(one.server)
        if one.identity.tracker == "wandb" and run is not None and not (run.state == "finished" and run.has_summary):
            found.append(one)
    return tuple(found)


def unsynced(scene: RunScene) -> tuple[TrackerLook, ...]:
    """Offline runs of W&B whose metrics lie on the box only."""
    return tuple(
        one
        for one in scene.look.trackers
        if one.synced is False and "/offline-run-" in (one.identity.place or "") and one not in unfinished(scene)
    )


def lost_loss(scene: RunScene) -> str | None:
    """The newest loss at the tracker where it is not a number (`nan`, `inf`); None: it is one, or is not known."""
    tracker = current(scene)
    run = observed(best(tracker)[0]) if tracker is not None else None
    return run.loss if run is not None and isinstance(run.loss, str) else None


def unasked(scene: RunScene) -> str | None:
    """Why a tracker that was to be asked could not be; None: it could, or was not to be."""
    for one in scene.look.trackers:
        for seen in (one.disk, one.server):
            if isinstance(seen, Unseen):
                return seen.why
    return None
