"""What an engine says of a run's jobs, weighed with the stages' markers: text of the box to one word. Pure.

`sentinels/engine_sh.py` prints the text. The rules are those of `onbox status` (onbox/backends/judge.py).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from onbox.backends.base import Job
from onbox.backends.judge import Seen, Verdict, judge_run, judge_stage
from onbox.backends.probe_slurm import parse_probe, parse_sections
from onbox.chain.job_view import word_of as job_word
from onbox.chain.jobs import replay_jobs
from onbox.contract.events import parse_events
from onbox.contract.readings import Unseen
from onbox.contract.states import RunState, StageState
from onbox.outside import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping


ASKED = frozenset({"slurm"})  # the engines that are asked on the box; of a run with another one its records speak
SAYS_LIMIT = 300
NO_COMMAND = 127


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
        return self.state is RunState.UNKNOWN and self.rule == "forgotten" and not self.live


def word_of(answer: str, at: float) -> EngineWord:
    """The engine's word. answer: what `onbox_engine` printed; an answer that is cut off is no word on any job."""
    jobs = replay_jobs(parse_events(_block(answer, "journal").encode("utf-8", "replace").splitlines(keepends=True)))
    if not jobs.of:
        return EngineWord(RunState.UNKNOWN, "no-jobs", at=at, no_jobs=True)
    answers = parse_probe(answer, [job.job_id for job in jobs.open if job.job_id is not None])
    markers = frozenset(_block(answer, "markers").splitlines())
    whole = "</markers>" in answer
    verdicts = {}
    live = False
    for stage, known in jobs.of.items():
        word = job_word(known, answers) if whole else Unseen("the answer is cut off")
        live = live or (isinstance(word, Job) and word.is_live)
        verdicts[stage] = judge_stage(Seen(known.backend, known.job_id or known.name, _disk(stage, markers), word))
    state, stage = _deciding(verdicts, live=live)
    queue = parse_sections(answer).get("squeue")
    return EngineWord(
        state,
        verdicts[stage].rule,
        safe_line(stage, 80),
        safe_line(verdicts[stage].text, SAYS_LIMIT),
        verdicts[stage].failure_class,
        at,
        live=live,
        no_commands=queue is not None and queue.code == NO_COMMAND,
    )


def _block(answer: str, name: str) -> str:
    match = re.search(rf"^<{name}>\n(.*?)^</{name}>$", answer, re.DOTALL | re.MULTILINE)
    return match[1] if match else ""


def _disk(stage: str, markers: frozenset[str]) -> StageState:
    """What the markers alone say of a stage; whether anybody lives is not asked here."""
    if f"{stage}_DONE" in markers:
        return StageState.DONE
    return StageState.FAILED if f"{stage}_FAILED" in markers else StageState.PENDING


def _deciding(verdicts: Mapping[str, Verdict], *, live: bool) -> tuple[RunState, str]:
    """The run's state by its jobs, and the stage that makes it: the first of that state, of a run that is done the
    last. Where all that is left can never run, the run is over.
    """
    state = judge_run([one.state for one in verdicts.values()], RunState.RUNNING)
    same = [stage for stage, one in verdicts.items() if judge_run([one.state], RunState.RUNNING) is state]
    stage = same[-1] if state is RunState.DONE else same[0]
    return (RunState.INTERRUPTED if state is RunState.PENDING and not live else state), stage
