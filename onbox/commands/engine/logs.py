"""`onbox logs --job`: what a stage's job printed itself: its onbox's narration, its engine's last words."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from onbox.chain.state.frozen_run import read_head
from onbox.commands.engine.view import open_engine
from onbox.commands.shared.log_end import read_end
from onbox.contract.exits import Exit
from onbox.contract.readings import Absent, Unseen
from onbox.errors import Trouble
from onbox.outside import safe_line, safe_text
from onbox.runs.jobs import WHOLE

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths
    from onbox.runs.jobs import KnownJob


def show_job_log(paths: RunPaths, stage: str | None, lines: int) -> int:
    """Print the end of it: from the run directory, or from the engine where it keeps that."""
    head = read_head(paths)
    engine = open_engine(paths, head) if head is not None else None
    known = engine.jobs.of if engine is not None else {}
    job = _choose(list(known.values()), stage)
    if engine is None or job is None or job.job_id is None:
        raise Trouble(Exit.USAGE, f"no job of {stage or 'this run'} is known; there are: {', '.join(known) or 'none'}")
    text = _from_disk(paths, job, lines)
    if text is None:
        answer = engine.backend.logs(job.job_id, lines=lines)
        if isinstance(answer, Unseen):
            raise Trouble(Exit.UNAVAILABLE, f"{job.backend} job {job.job_id}: could not look: {safe_line(answer.why)}")
        text = f"{job.backend} job {job.job_id} has printed nothing yet" if isinstance(answer, Absent) else answer
    sys.stdout.write(safe_text("\n".join(text.splitlines()[-lines:])) + "\n")
    return int(Exit.DONE)


def _choose(jobs: list[KnownJob], stage: str | None) -> KnownJob | None:
    """The job of the stage, or that of the whole chain; without a stage the newest."""
    named = [job for job in jobs if stage is None or job.stage in (stage, WHOLE)]
    begun = [job for job in named if job.began]
    chosen = begun or named
    return chosen[-1] if chosen else None


def _from_disk(paths: RunPaths, job: KnownJob, lines: int) -> str | None:
    """The end of the file that the engine was told to write; None if there is none (yet)."""
    path = os.path.join(paths.jobs, f"{job.stage}-{job.job_id}.out")
    return read_end(path, lines).decode("utf-8", "replace") if os.path.isfile(path) else None
