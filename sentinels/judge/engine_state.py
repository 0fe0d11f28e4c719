"""What an engine says of a run's jobs, weighed with the stages' markers: text of the box to one word. Pure.

`sentinels/box/engine_sh.py` prints the text. The rules are those of `onbox status` (onbox/runs/engine_word.py).
"""

from __future__ import annotations

import re

from onbox.backends.base import Job
from onbox.backends.table import probe_of
from onbox.contract.events import parse_events
from onbox.contract.readings import Unseen
from onbox.contract.states import RunState
from onbox.model.engines import ON_BOX
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.runs.engine_word import FORGOTTEN, judge_jobs, state_on_disk, weigh
from onbox.runs.engine_word import word_of as job_word
from onbox.runs.jobs import replay_jobs

SAYS_LIMIT = 300


class EngineWord(NamedTuple):
    """What the run's jobs make of it.

    state: RUNNING and PENDING: a job lives; DONE: every job succeeded and left its marker; UNKNOWN: it could not be
    told, or the engine does not know the job any more. stage, says, failure_class: of the job that decides. live: some
    job lives or may live. at: when the engine was asked, by the box's clock. no_jobs: no job of the run is on record.
    no_commands: the engine's commands are not there, so that nobody there can ever ask it.
    """

    state: RunState
    rule: str
    stage: str = ""
    says: str = ""
    failure_class: str | None = None
    at: float = 0.0
    live: bool = False
    no_jobs: bool = False
    no_commands: bool = False

    @property
    def is_forgotten(self) -> bool:
        """Whether the engine answered, and neither knows the job that decides nor has another that lives."""
        return self.state is RunState.UNKNOWN and self.rule == FORGOTTEN and not self.live


def word_of(answer: str, at: float) -> EngineWord:
    """The engine's word. answer: what `onbox_engine` printed; an answer that is cut off is not a word on any job."""
    jobs = replay_jobs(parse_events(_block(answer, "journal").encode("utf-8", "replace").splitlines(keepends=True)))
    if not jobs.of:
        return EngineWord(RunState.UNKNOWN, "no-jobs", at=at, no_jobs=True)
    engines = [name for name in ON_BOX if any(job.backend == name for job in jobs.of.values())]
    ids = [job.job_id for job in jobs.open if job.job_id is not None]
    answers = {job_id: word for name in engines for job_id, word in probe_of(name).parse_probe(answer, ids).items()}
    markers = frozenset(_block(answer, "markers").splitlines())
    whole = "</markers>" in answer
    verdicts = {}
    live = False
    for stage, known in jobs.of.items():
        word = job_word(known, answers) if whole else Unseen("the answer is cut off")
        live = live or (isinstance(word, Job) and word.is_live)
        disk = state_on_disk(  # whether anybody lives is not asked here
            done=f"{stage}_DONE" in markers, alive=False, failed=f"{stage}_FAILED" in markers
        )
        verdicts[stage] = weigh(known, word, disk)
    state, stage, verdict = judge_jobs(verdicts, RunState.RUNNING)
    if state is RunState.PENDING and not live:
        state = RunState.INTERRUPTED  # all that is left can never run
    return EngineWord(
        state,
        verdict.rule,
        safe_line(stage, 80),
        safe_line(verdict.text, SAYS_LIMIT),
        verdict.failure_class,
        at,
        live=live,
        no_commands=any(probe_of(name).has_no_commands(answer) for name in engines),
    )


def _block(answer: str, name: str) -> str:
    match = re.search(rf"^<{name}>\n(.*?)^</{name}>$", answer, re.DOTALL | re.MULTILINE)
    return match[1] if match else ""
