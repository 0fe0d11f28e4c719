"""Bring one stage to its end: by the plan, through its gates, attempt after attempt, to DONE or FAILED."""

from __future__ import annotations

import os
from enum import Enum
from typing import TYPE_CHECKING, Any

from onbox.chain.artifacts.on_disk import StopAsked, picture
from onbox.chain.command.command_files import SCRIPTS
from onbox.chain.command.environment import attempt_assignment
from onbox.chain.gates.ask_success_gate import GateAnswer, ask_gate, ended_from_record, picture_of_added
from onbox.chain.gates.doubt import doubt
from onbox.chain.gates.success_gate import Ended, GateFinding, haste_warning, judge, signal_of
from onbox.chain.observe.detect_watch import DetectedAttempt
from onbox.chain.observe.resume_pairs import ResumePairs
from onbox.chain.observe.tracker_watch import WatchedAttempt
from onbox.chain.runner.attempt_monitor import LEFTOVER_GRACE_SECONDS, watch_attempt
from onbox.chain.runner.early_start import call_off, start_early
from onbox.chain.runner.retry import backoff_seconds, may_retry
from onbox.chain.runner.start_attempt import Prepared, adopt_attempt, go, prepare_attempt
from onbox.chain.runner.wait_for import AskedToStop, Awaited, Never, Patience
from onbox.chain.state.plan import Action, StageEvidence, plan_stage
from onbox.chain.state.stage_code import (
    CHANGED,
    SCRIPT_GATE,
    SHELL_SCRIPTS,
    blame_changed_script,
    changed_scripts,
    look_at_scripts,
)
from onbox.chain.state.stage_evidence import look_at_stage
from onbox.chain.state.stage_records import StageLedger
from onbox.contract.events import Event
from onbox.contract.readings import observed
from onbox.model.manifest import Gates
from onbox.named_tuple import NamedTuple
from onbox.system.clock import parse_utc, utc_text, wall
from onbox.system.files import remove_file
from onbox.system.process import end_tree
from onbox.system.time_limit import TooLong

if TYPE_CHECKING:
    from onbox.chain.observe.post_mortem import Cause
    from onbox.chain.runner.context import Context
    from onbox.chain.state.replay import History, StageHistory
    from onbox.contract.runfile import FrozenStage
    from onbox.model.manifest import WaitFor
    from onbox.runs.unseen_end import UnseenEnd

TRACKED_SECONDS = 1.0  # no tracker is begun and told in less
_NO_GATES = Gates()


class StageLeaves(Enum):
    """How a stage leaves the chain."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "gate refused"
    STOPPED = "stopped"
    CONFLICT = "conflict"


class Again(NamedTuple):
    """The stage needs another attempt: its number, and what ONBOX_RESUME will say."""

    number: int
    resume: bool


class StageRun:
    """One stage on its way. `reason` and `failure_class` tell why it did not get to DONE; `findings` what its gates
    refused; `warnings` what is to be told beside its DONE.
    """

    def __init__(self, ctx: Context, frozen: FrozenStage, history: History, *, chain_was_open: bool) -> None:
        self.ctx, self.frozen, self.stage, self.history = ctx, frozen, frozen.stage, history
        self.folder = ctx.folder(frozen.stage)
        self.ledger = StageLedger(ctx, frozen, history)
        self.chain_was_open = chain_was_open
        self.reason = ""
        self.findings: tuple[GateFinding, ...] = ()
        self.failure_class: str | None = None
        self.told_late = False
        self.warnings: tuple[str, ...] = ()
        self._patience = Patience(ctx, frozen)
        self._early: Prepared | None = None
        self._success: tuple[Ended, GateAnswer] | None = None

    @property
    def known(self) -> StageHistory:
        return self.ledger.known

    def run(self) -> StageLeaves:
        """From where the stage is to its end; a DONE is put on record by `land`. Raises StateNotWritten."""
        step = self._begin() if self._early is None else Again(1, resume=False)
        while isinstance(step, Again):
            step = self._attempt(step)
        return step

    def land(self) -> None:
        """Put the success that `run` has seen on record. Raises StateNotWritten."""
        if self._success is not None:
            self.ledger.succeed(*self._success)

    def start_early(self) -> None:
        """Let the keeper start up already; it waits for `run` or `call_off`. Raises StateNotWritten."""
        self._early = start_early(self.ctx, self.frozen, self.known)

    def call_off(self) -> None:
        """The stage is not run after all."""
        if self._early is not None:
            call_off(self.ctx, self._early)
            self._early = None

    def _begin(self) -> StageLeaves | Again:
        """The first step, by the plan."""
        evidence = look_at_stage(self.ctx.paths, self.frozen, self.history, chain_open=self.chain_was_open)
        action = plan_stage(evidence).action
        if action is Action.SKIP:
            return StageLeaves.DONE
        if action in (Action.REFUSE_LIVE, Action.REFUSE_STALE, Action.REFUSE_INVALID):
            self.reason = f"stage {self.stage.name}: {action.value}"
            return StageLeaves.CONFLICT
        if action is Action.LAND:
            self.ledger.land_again(Event.STAGE_DONE)
            return StageLeaves.DONE
        if action is Action.FINISH_FAILURE:
            return self._finish_failure()
        if action is Action.JUDGE:
            self._begin_sampling()
            self.ctx.sampler.recall()
            ended = self._end_seen_by_nobody(evidence)
            self._end_leftovers()
            return self._after(ended)
        if action is Action.ADOPT:
            return self._adopt(evidence)
        if evidence.slot_locked:
            # Its command has ended, or this would not be the way: what it left must not meet the next attempt.
            self._end_leftovers()
        if action is Action.START_AGAIN:
            return Again(self.known.attempts, bool((self.known.started or {}).get("resume")))
        if action is Action.RESTART:
            return self._restart()
        if action is Action.RETRY:
            return self._back_off()
        return Again(self.known.attempts + 1, self.known.has_earlier_work)

    def _restart(self) -> StageLeaves | Again:
        if self.known.last == Event.ATTEMPT_STARTED:
            why = self._how_it_was_cut_off()  # first: what waits shows itself in the status
            if not self._patience.outwait_survivors(self.known.attempts):
                return StageLeaves.STOPPED
            self.ctx.progress.begin(self.ctx.paths.log(self.stage.name, self.known.attempts))
            self.ledger.note_interrupted(None, why)
        return Again(self.known.attempts + 1, resume=True)

    def _look_at_unseen_end(self) -> UnseenEnd | None:
        from onbox.chain.missed_end import look_at_unseen_end  # noqa: PLC0415 - only after such an end

        return look_at_unseen_end(self.ctx.paths, self.ctx.head, self.history.facts)

    def _came_to_its_end(self) -> bool:
        """By its log: then a person decides whether its work is to be repeated."""
        unseen = self._look_at_unseen_end()
        return unseen is not None and unseen.says_done

    def _how_it_was_cut_off(self) -> str:
        unseen = self._look_at_unseen_end()
        if unseen is not None and unseen.was_missed:
            return unseen.words
        rebooted = (self.known.started or {}).get("boot_id") != self.ctx.boot_id
        return "the machine was rebooted" if rebooted else "runner and stage were gone, and nobody recorded how"

    def _end_leftovers(self) -> None:
        """End what the newest attempt's command left behind when it ended while no runner watched."""
        number = self.known.attempts
        end_tree(None, attempt_assignment(self.ctx.head.run_id, self.stage.name, number), LEFTOVER_GRACE_SECONDS)

    def _finish_failure(self) -> StageLeaves:
        data, self.told_late = self.ledger.land_again(Event.STAGE_FAILED), True
        self.reason, self.failure_class = str(data.get("reason", "")), data.get("failure_class")
        return StageLeaves.FAILED

    # -- attempts

    def _attempt(self, again: Again) -> StageLeaves | Again:
        """What it waits for, gates, then one attempt."""
        blocked = self._wait_for() or self._gates()
        if blocked is not None:
            return blocked
        prepared = self._prepare(again)
        if isinstance(prepared, Ended):
            self.call_off()
            stopped = prepared.cause == "stopped"
            return StageLeaves.STOPPED if stopped else self._refuse_start(again.number, prepared.detail)
        self._early = None
        return self._go(prepared)

    def _prepare(self, again: Again) -> Prepared | Ended:
        if not os.path.isdir(self.folder):
            return Ended(None, None, "not_started", 0.0, f"its cwd {self.folder} is not a folder")
        remove_file(self.ctx.paths.failed(self.stage.name))
        record = self.ledger.about(
            Event.ATTEMPT_STARTED,
            attempt=again.number,
            fingerprint=self.frozen.fingerprint,
            resume=again.resume,
            boot_id=self.ctx.boot_id,
            log=f"logs/{self.stage.name}.{again.number}.log",
            oom_kills=self.ctx.sampler.baseline(),
        )
        scripts = look_at_scripts(self.stage, self.folder)
        record |= {"code": {"scripts": scripts}} if scripts else {}
        try:
            record |= self._picture()
            record |= self._checkpoint() if again.resume else {}
        except OSError as error:
            cause = "stopped" if isinstance(error, StopAsked) else "not_started"
            detail = f"cannot look at its artifacts: {error.filename}: {error.strerror}"
            return Ended(None, None, cause, 0.0, detail)
        if self._early is not None:
            return self._early._replace(record=record)
        return prepare_attempt(self.ctx, self.frozen, record)

    def _picture(self) -> dict[str, Any]:
        """What the start record tells of the artifacts: all when a series begins; later only those that were configured
        since and are from before it, so that such a file is not taken for new because nobody had looked at it.
        """
        artifacts, known = self.stage.artifacts, self.known
        patterns = [artifact.pattern for artifact in artifacts]
        if not known.continued_by(self.frozen.fingerprint):
            return {"before": picture(artifacts, self.folder, urged=self._is_asked_to_stop), "pictured": patterns}
        if known.pictured is None or set(patterns) <= set(known.pictured):
            return {}
        return {
            "before_more": picture_of_added(self.stage, self.folder, known),
            "pictured": [*known.pictured, *(pattern for pattern in patterns if pattern not in known.pictured)],
        }

    def _checkpoint(self) -> dict[str, Any]:
        """What a resumed attempt is told to go on from. Raises OSError."""
        from onbox.chain.resume_source import find_to_resume_from  # noqa: PLC0415 - only for a resumed attempt

        found = find_to_resume_from(self.ctx.paths, self.ctx.head, self.stage, self._is_asked_to_stop)
        if found is None:
            return {}
        is_own = self.known.has_written(found.at, self.frozen.fingerprint)
        return {"checkpoint": found.path, **({} if is_own else {"checkpoint_of_another_command": True})}

    def _is_asked_to_stop(self) -> bool:
        return self.ctx.signals.stops > 0

    def _go(self, prepared: Prepared) -> StageLeaves | Again:
        prepared.record["at"] = utc_text(wall())
        live = go(self.ctx, prepared)
        self.history.apply(prepared.record)
        self._begin_sampling()
        return self._after(watch_attempt(self.ctx, live))

    def _begin_sampling(self, *, adopted: bool = False) -> None:
        baseline = (self.known.started or {}).get("oom_kills")
        began = parse_utc(str((self.known.started or {}).get("at", "")))
        age = None if began is None else max(0.0, wall() - began)
        self.ctx.progress.begin(self.ctx.paths.log(self.stage.name, self.known.attempts), age_seconds=age)
        self._begin_series(adopted=adopted)
        wandb_dir = dict(self.stage.env).get("WANDB_DIR", self.ctx.environ.get("WANDB_DIR"))
        watched = WatchedAttempt(self.stage.name, self.known.attempts, self.folder, wandb_dir, began or wall())
        self.ctx.tracker.begin(watched, self.history.facts.tracker_runs, self.ledger.note)
        self.ctx.sampler.begin(
            self.stage, self.folder, self.known.attempts, baseline if isinstance(baseline, dict) else None
        )

    def _begin_series(self, *, adopted: bool) -> None:
        """The points of the attempt, and what is looked for in them."""
        name, number = self.stage.name, self.known.attempts
        resumed = bool((self.known.started or {}).get("resume")) and number > 1
        pairs = ResumePairs(self.ctx.paths.log(name, number - 1), self.ctx.paths.log(name, number)) if resumed else None
        self.ctx.detect.begin(DetectedAttempt(name, number, resumed, adopted, pairs))
        self.ctx.series.begin(self.stage, self.ctx.head.project, number, self.ctx.detect.points)

    def _adopt(self, evidence: StageEvidence) -> StageLeaves | Again:
        assert evidence.slot is not None
        live = adopt_attempt(self.ctx, self.frozen, evidence.slot, self.known)
        self._begin_sampling(adopted=True)
        self.ctx.sampler.recall()
        pid = live.keeper.pid if live.keeper else None
        self.ledger.note(self.ledger.about(Event.ATTEMPT_ADOPTED, attempt=live.number, pid=pid))
        return self._after(watch_attempt(self.ctx, live))

    def _refuse_start(self, number: int, detail: str) -> StageLeaves | Again:
        ended = Ended(None, None, "not_started", 0.0, detail)
        return self._fail(number, ended, judge(self.stage, ended, (), log_matches=None))

    # -- after an attempt

    def _end_seen_by_nobody(self, evidence: StageEvidence) -> Ended:
        """How an attempt ended while no runner lived: from the journal if it got that far, else from its slot."""
        recorded = self.known.ended
        if recorded is not None:
            return ended_from_record(recorded)
        code = evidence.slot.exit_code if evidence.slot else None
        began = parse_utc(str((self.known.started or {}).get("at", "")))
        duration = None
        if began is not None:  # the keeper's last write is the moment of the end
            duration = max(0.0, os.stat(self.ctx.paths.slot(self.stage.name)).st_mtime - began)
        return Ended(code, signal_of(code), "exit", duration)

    def _after(self, ended: Ended) -> StageLeaves | Again:
        number = self.known.attempts
        self._conclude_tracker(ended)
        if ended.cause == "stopped":
            self.ledger.note_interrupted(ended, ended.detail)
            return StageLeaves.STOPPED
        if ended.cause == "unobserved" and self._came_to_its_end():
            ended = ended._replace(cause="keeper_lost", detail=f"{ended.detail}; its log says that the work is done")
        if ended.cause == "unobserved":
            self.ledger.note_interrupted(None, ended.detail)
            return Again(number + 1, resume=True)
        log, urged = self.ctx.paths.log(self.stage.name, number), self._is_asked_to_stop
        try:
            verdict = ask_gate(self.stage, self.folder, log, self.known, ended, self.ctx.progress, urged)
        except StopAsked:
            return StageLeaves.STOPPED  # its slot tells how it ended: whoever resumes judges it
        if verdict.findings:
            return self._fail(number, ended, (*verdict.findings, *self._changed_scripts()))
        doubted = doubt(self.stage, log, self.folder, ended, self.ctx.progress, loss_is_told=bool(verdict.loss))
        self.warnings = (*verdict.warnings, *self._told_of_scripts(), *self._told_of_haste(ended), *doubted)
        self._success = ended, verdict._replace(warnings=self.warnings)
        return StageLeaves.DONE

    def _told_of_scripts(self) -> tuple[str, ...]:
        """A shell reads its script as it goes: of one that was changed meanwhile it may have run parts of both."""
        changed = [finding.gate.removeprefix(SCRIPT_GATE) for finding in self._changed_scripts()]
        return tuple(f"{name} {CHANGED}" for name in changed if name.endswith(SHELL_SCRIPTS))

    def _told_of_haste(self, ended: Ended) -> tuple[str, ...]:
        """A stage that is done far sooner than expected may have done nothing."""
        spent = self.history.facts.spent_seconds(self.stage.name)
        took = None if spent is None or ended.duration_seconds is None else spent + ended.duration_seconds
        return haste_warning("it", took, self.stage.expected_seconds)

    def _conclude_tracker(self, ended: Ended) -> None:
        """Read the log's last lines for the tracker's run. A stage too short for that is not made longer by it."""
        progress = self.ctx.progress
        if progress.has_looked or (ended.duration_seconds or 0.0) > TRACKED_SECONDS:
            progress.look()
            self.ctx.series.take(progress, log_path=self.ctx.paths.log(self.stage.name, self.known.attempts))
            self.ctx.tracker.conclude(progress.links)

    def _fail(self, number: int, ended: Ended, findings: tuple[GateFinding, ...]) -> StageLeaves | Again:
        """Retry if class and budget allow, else FAILED."""
        cause = self._find_cause(number, ended, tuple(finding.gate for finding in findings))
        cause = blame_changed_script(cause, findings)
        self.failure_class = cause.failure_class
        self.reason = "; ".join(map(str, findings))
        retry, retries = self.stage.retry, self.known.retries
        if may_retry(retry, cause.failure_class, ended.cause, retries, cause.rule):
            self.ledger.note_retry(ended, cause, self.reason, backoff_seconds(retry, retries))
            return self._back_off()
        self.ledger.fail(number, ended, findings, cause)
        return StageLeaves.FAILED

    def _changed_scripts(self) -> tuple[GateFinding, ...]:
        """Script files of the command that are not what they were when the attempt began."""
        scripts = {name: seen for name, seen in self.ledger.scripts.items() if name.endswith(SCRIPTS)}
        changed = changed_scripts(scripts, self.stage, self.folder)
        return tuple(GateFinding(f"{SCRIPT_GATE}{name}", CHANGED, "the same to its end") for name in changed)

    def _find_cause(self, number: int, ended: Ended, gates: tuple[str, ...]) -> Cause:
        from onbox.chain.observe.post_mortem import examine  # noqa: PLC0415 - only after a failure

        kills = None if ended.cause == "not_started" else observed(self.ctx.sampler.oom_kills())
        log, rows = self.ctx.paths.log(self.stage.name, number), self.ctx.head.data.get("triage") or ()
        return examine(log, ended, gates, kills, rows, self.folder)

    def _back_off(self) -> StageLeaves | Again:
        delay = backoff_seconds(self.stage.retry, self.known.retries - 1)
        what = f"retry {self.known.retries} of {self.stage.retry.max} in {delay:g} s"
        if not self._patience.pause(delay, what, self.known.attempts):
            return StageLeaves.STOPPED
        return Again(self.known.attempts + 1, resume=True)

    # -- what comes before an attempt

    def _gates(self) -> StageLeaves | None:
        """None: they hold (or there is none)."""
        if self.stage.gates == _NO_GATES:
            return None
        from onbox.chain.gates.resource_probe import sight_of  # noqa: PLC0415
        from onbox.chain.gates.start_gates import check_gates  # noqa: PLC0415 - only where there are gates

        sight = sight_of({**self.ctx.environ, **dict(self.stage.env)})
        self.findings = tuple(check_gates(self.stage.gates, self.ctx.paths.root, self.folder, sight))
        if not self.findings:
            return None
        self.reason, self.failure_class = "; ".join(map(str, self.findings)), None
        return StageLeaves.REFUSED

    def _wait_for(self) -> StageLeaves | Again | None:
        """Wait for what the stage needs. None: it is there."""
        wait = self.stage.wait_for
        if wait is None:
            return None
        try:
            return self._await(wait)
        except TooLong:
            reason = f"wait_for: /{wait.regex}/ takes too long on {wait.log}; simplify the regular expression"
            return self._refuse_start(self.known.attempts, reason)

    def _await(self, wait: WaitFor) -> StageLeaves | Again | None:
        awaited = Awaited(wait, self.folder)
        found = awaited.look()
        if not found:
            about = {"waiting_for": str(awaited), "timeout_seconds": wait.timeout_seconds}
            self.ledger.note(self.ledger.about(Event.STAGE_WAITING, **about))
            try:
                found = self._patience.wait_for(awaited, wait.timeout_seconds, self.known.attempts) or True
            except AskedToStop:
                return StageLeaves.STOPPED
        if isinstance(found, Never):
            return self._refuse_start(self.known.attempts, found.why)
        return None
