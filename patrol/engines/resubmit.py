"""Submit a job of a cluster anew, where the user has allowed it and said how. One job; never anything of the cluster.

1. Ask the engine once more: only a job that it says is over is replaced, never one that lives, waits, is lost or could
not be seen. 2. Run the user's command, bounded in time. 3. Read the new id; without one nobody tries again, as the job
may be there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.backends.base import SUBMIT_SECONDS
from onbox.backends.cluster import NoLook, look
from onbox.backends.table import cluster_of
from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.clock import wall
from onbox.system.command import NotRun, run_command
from patrol.engines.endpoint import of_cluster
from patrol.engines.evidence import OVER
from patrol.engines.watched import current_job
from patrol.memory.run_memory import WatchedJob

if TYPE_CHECKING:
    from onbox.model.boxes import BoxSettings, Watch
    from patrol.config.settings import Settings
    from patrol.memory.run_memory import RunMemory

ASK_SECONDS = 8.0
SAID_LIMIT = 300


class Resubmitted(NamedTuple):
    """As in `patrol.act.resume.Done`. kept: what to remember of the job: it then names the new one."""

    outcome: str
    says: str
    kept: RunMemory


def resubmit(settings: Settings, box: BoxSettings, watch: Watch, known: RunMemory) -> Resubmitted:
    job = current_job(watch, known)
    outcome, says, new = _submit(settings, box, watch, job.job_id)
    if new is None:
        return Resubmitted(outcome, says, known)
    again = WatchedJob(job.configured, new, restarts=job.restarts + 1, submitted_at=wall())
    says = f"submitted again as {new} (restart {again.restarts})"
    return Resubmitted("resumed", says, known._replace(job=again))


def _submit(settings: Settings, box: BoxSettings, watch: Watch, old: str) -> tuple[str, str, str | None]:
    """Outcome, words, and the new job's id; None where there is none, or nobody knows it."""
    endpoint = of_cluster(settings, box)
    if endpoint is None or watch.resubmit is None:
        return "failed", "the configuration does not say where the engine is, or how to submit", None
    found = look(endpoint, (old,), ASK_SECONDS, brief=True)
    word = found if isinstance(found, NoLook) else found.jobs[old].word
    if isinstance(word, NoLook | Unseen | Absent):
        why = word.detail if isinstance(word, NoLook) else word.why
        return "failed", f"nothing was submitted: that {old} is over could not be seen ({safe_line(why, 150)})", None
    if word.state not in OVER:
        return "running", f"nothing was submitted: {old} is {word.native_state}", None
    answer = run_command(watch.resubmit, timeout_seconds=SUBMIT_SECONDS, folder=settings.folder)
    if isinstance(answer, NotRun):
        return ("unknown" if answer.started else "failed"), safe_line(answer.why, SAID_LIMIT), None
    new = cluster_of(box.backend).read_new_id(*answer)
    if new is None:
        said = safe_line(f"exit code {answer.code}: {answer.err.strip()[-200:] or answer.out.strip()[-200:]}")
        return ("unknown" if answer.code == 0 else "failed"), f"no id was printed; {said}"[:SAID_LIMIT], None
    return "resumed", "", new
