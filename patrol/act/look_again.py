"""One more look two minutes after a start: what dies, dies early, and the next tick may be half an hour away.

A process of its own waits for it, so that the tick ends, and so that no second line in a crontab is needed. One waits
at a time. It tells people as a tick does; it resumes nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.backends.cadence import FIRST_LOOK_SECONDS, next_look_seconds
from onbox.contract.readings import observed
from onbox.contract.states import RunState
from onbox.local.locks import take
from onbox.system.files import StateNotWritten
from onbox.system.lock import LockUnsupported
from onbox.system.process import Files, start_detached
from onbox.system.self_exec import program_words
from patrol.report.output import log_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from filelock import FileLock

    from patrol.config.settings import Settings
    from patrol.judge import BoxJudged

LOCK = "look-again.lock"
ENDED = (RunState.DONE, RunState.FAILED, RunState.STOPPED, RunState.INTERRUPTED)


def look_again_in(judged: Sequence[BoxJudged], now: float, *, submitted: bool) -> dict[str, float]:
    """Of each box where this patrol started something within two minutes: in how many seconds to look again. submitted:
    also where somebody else has submitted a job. Pure.
    """
    found = {box.box.name: _ages_of_starts(box, now, submitted=submitted) for box in judged}
    return {name: next_look_seconds(min(ages), FIRST_LOOK_SECONDS) for name, ages in found.items() if ages}


def _ages_of_starts(box: BoxJudged, now: float, *, submitted: bool) -> list[float]:
    """Seconds since this patrol resumed a run or submitted its job anew; since a job that is not over was submitted."""
    ages = [now - run.after.restarts[-1][0] for run in box.runs if run.after.restarts]
    ages += [
        age
        for run in box.runs
        if submitted and run.look is not None and run.verdict.state not in ENDED
        if (age := observed(run.look.submitted_age_seconds)) is not None
    ]
    jobs = [run.job for run in box.memories.runs.values()] if box.memories is not None else []
    ages += [now - job.submitted_at for job in jobs if job is not None and job.submitted_at is not None]
    return [age for age in ages if 0 <= age < FIRST_LOOK_SECONDS]


def start_look_again(settings: Settings, due: Mapping[str, float], environ: Mapping[str, str]) -> str:
    """Start the process that waits and looks. Why it could not be started, in words; "" if it was."""
    where = ("-c", settings.config_path) if settings.config_path else ("--folder", settings.folder)
    seconds = f"{max(due.values()):.0f}"
    words = (*program_words("patrol"), "tick", "--unattended", "--after", seconds, *where, "--", *due)
    try:
        start_detached(words, environ, Files(output=log_path(settings.state)))
    except OSError as error:
        return f"the look two minutes after a start could not be begun: {error.strerror}"
    return ""


def take_turn(settings: Settings) -> FileLock | None:
    """What says that this process waits for its look; None where another one does, or that cannot be seen."""
    try:
        return take(os.path.join(settings.state, LOCK))
    except (StateNotWritten, LockUnsupported):
        return None
