"""The runner: one small detached process that brings a chain to its end. Started by `launch.py` or by a keeper.

1. It holds the run's lock. 2. It replays the journal. 3. It takes the stages one at a time from run.json, which is
frozen: no edit of the configuration reaches a running chain. 4. Whatever happens is journaled before it is told.
"""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING, Any

from onbox import __version__
from onbox.chain.command.environment import JOB_VARIABLE
from onbox.chain.gates.success_gate import haste_warning
from onbox.chain.lock.lock_owner import Holder
from onbox.chain.observe.detect_watch import DetectWatch
from onbox.chain.observe.progress_watch import ProgressWatch
from onbox.chain.observe.sampling import Sampler
from onbox.chain.observe.series_watch import SeriesWatch
from onbox.chain.observe.tracker_watch import TrackerWatch
from onbox.chain.runner.context import Context
from onbox.chain.runner.handbook_hook import Renewal
from onbox.chain.runner.signals import Signals
from onbox.chain.runner.stage_run import StageLeaves, StageRun
from onbox.chain.state.plan import Action, plan_stage
from onbox.chain.state.recorder import Recorder
from onbox.chain.state.replay import History, replay
from onbox.chain.state.slots import land_marker, reserve_slot
from onbox.chain.state.stage_code import FrozenGit
from onbox.chain.state.stage_evidence import look_at_stage
from onbox.chain.state.stop_request import read_request
from onbox.contract.events import Event, parse_events
from onbox.contract.exits import Exit
from onbox.contract.notify_targets import notify_from_dict
from onbox.contract.paths import CHAIN, RunPaths
from onbox.contract.runfile import parse_head, parse_stages
from onbox.contract.states import RunState
from onbox.model.detect import detect_from_dict
from onbox.named_tuple import NamedTuple
from onbox.runs.journal import result_words, whole_seconds
from onbox.system.clock import monotonic, utc_text, wall
from onbox.system.files import LINE_LIMIT_BYTES, lines_of, open_plain, remove_file
from onbox.system.journal import Journal, read_lines
from onbox.system.process import Identity, boot_id, look_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onbox.chain.gates.success_gate import GateFinding
    from onbox.contract.events import Record
    from onbox.contract.runfile import FrozenStage, RunHead
    from onbox.notify.queue.enqueue import Courier


WARNINGS_KEPT = 20
SEE_OFF_SECONDS = 0.9
TIME_IS_OVER = "the job's time limit is near"


class ChainEnd(NamedTuple):
    """How a chain ended, as told by its last record, its marker and its exit code. told_late: its stage failed in an
    earlier launch, whose runner did not live to record the end of the chain.
    """

    exit: Exit
    event: str
    state: RunState
    stage: str | None = None
    reason: str = ""
    failure_class: str | None = None
    findings: tuple[GateFinding, ...] = ()
    told_late: bool = False


_ENDS: dict[StageLeaves, tuple[Exit, str, RunState]] = {
    StageLeaves.FAILED: (Exit.FAILED, Event.CHAIN_FAILED, RunState.FAILED),
    StageLeaves.REFUSED: (Exit.GATE_REFUSED, Event.GATE_REFUSED, RunState.FAILED),
    StageLeaves.CONFLICT: (Exit.CONFIG, Event.CHAIN_FAILED, RunState.FAILED),
}


class Runner:
    """One chain, from here to its end. Needs the run's lock held by this process, and the main thread."""

    def __init__(
        self,
        paths: RunPaths,
        resume_words: tuple[str, ...],
        *,
        listen: Callable[[Record], None] | None = None,
        bell_fd: int | None = None,
        beat: Callable[[dict[str, Any]], None] | None = None,
        only: str | None = None,
    ) -> None:
        """Read the frozen definition and the journal. Raises StateNotWritten, OSError, ValueError.

        only: the one stage to bring to its end, the others being jobs of their own; None: all.
        """
        self.only = only
        file = open_plain(paths.manifest)  # kept open: this run's stages come from this very file
        head = parse_head(file.readline(LINE_LIMIT_BYTES))
        self.stages: Iterator[FrozenStage] = parse_stages(lines_of(file), head.stage_count)
        self._taken = False
        self._warnings: list[str] = []
        self._is_cell_once_more = False
        self.history: History = replay(parse_events(read_lines(paths.journal)))
        self.boot = boot_id()
        entry = look_up(os.getpid())
        self.me = entry.identity if entry else Identity(os.getpid(), 0)
        environ = dict(os.environ)
        job = environ.pop(JOB_VARIABLE, None)
        self.courier = courier_of(paths, head, environ)
        recorder = Recorder(
            paths,
            Journal(paths.journal),
            self._about(head),
            listen=listen,
            bell_fd=bell_fd,
            courier=self.courier,
            renewal=Renewal(head.project, paths.root, environ),
        )
        recorder.beat = beat
        signals = Signals()
        if job is not None:
            signals.warned_by_signal()
        self.ctx = Context(
            paths,
            head,
            recorder,
            signals,
            self.boot,
            resume_words,
            environ,
            signals.life_fd,
            Sampler(paths),
            ProgressWatch(head.data.get("progress") or {}),
            SeriesWatch(paths),
            DetectWatch(paths, detect_from_dict(head.data.get("detect"))),
            TrackerWatch(head.data.get("tracker")),
            FrozenGit(paths.manifest),
            job,
        )

    def _about(self, head: RunHead) -> dict[str, Any]:
        """What every status.json says of the run and of who brings it to its end."""
        me = {**self.me._asdict(), "boot_id": self.boot, "host": os.uname().nodename}
        return {"run": head.run, "run_id": head.run_id, "stages_total": head.stage_count, "runner": me}

    def holder(self) -> Holder:
        """Who holds the lock, for those who find it taken."""
        head = self.ctx.head
        return Holder(
            self.me.pid, self.me.start_ticks, self.boot, os.uname().nodename, head.run_id, head.chain_fingerprint
        )

    def run(self) -> Exit:
        """The chain, to its end. Raises StateNotWritten when the end of a step cannot be recorded."""
        was_open, began = self.history.open, monotonic()
        self._open_chain()
        end = self._blocked() or ChainEnd(Exit.DONE, Event.CHAIN_DONE, RunState.DONE)
        work = None if end.reason else self.next_stage(chain_was_open=was_open)
        while work is not None:
            if self.ctx.signals.stops:
                work.call_off()
                end = self._stopped(work.stage.name)
                break
            result = work.run()
            if result is not StageLeaves.DONE:
                stopped = result is StageLeaves.STOPPED
                end = self._stopped(work.stage.name) if stopped else self._not_done(work, result)
                break
            self._warnings += [f"{work.stage.name}: {text}" for text in work.warnings]
            try:  # first of all: a keeper that starts just ahead of the marker's flushes slows them
                following = self.next_stage(chain_was_open=was_open)
                if following is not None:
                    following.start_early()
            finally:  # whatever there is about the next stage, this one is done
                work.land()
            work = following
        if end.event == Event.CHAIN_DONE and self._is_more_to_come():
            end = ChainEnd(Exit.DONE, Event.CHAIN_HANDED_ON, RunState.PENDING, self.only)
        self._close_chain(end, monotonic() - began)
        self.ctx.sampler.close()
        return end.exit

    def see_off(self) -> None:
        """Where the whole container ends with this process: give the deliverer a moment, and no more."""
        if self.courier is not None:
            self.courier.wait(SEE_OFF_SECONDS)

    def _blocked(self) -> ChainEnd | None:
        """Passes over the stages before the only one; what stands in its way, if one of them is not done."""
        if self.only is None:
            return None
        seen = []
        for frozen in self.stages:
            if frozen.stage.name == self.only:
                self.stages = chain([frozen], self.stages)
                return None
            if not self._is_done(frozen):
                return self._conflict(f"stage {frozen.stage.name}, which comes before {self.only}, is not done")
            seen.append(frozen.stage.name)
        return self._conflict(f"no stage {self.only} in this run; there are: {', '.join(seen[:20])}")

    def _conflict(self, reason: str) -> ChainEnd:
        return ChainEnd(Exit.CONFIG, Event.CHAIN_FAILED, RunState.FAILED, self.only, reason)

    def _is_done(self, frozen: FrozenStage) -> bool:
        evidence = look_at_stage(self.ctx.paths, frozen, self.history, chain_open=False)
        return plan_stage(evidence).action is Action.SKIP

    def _is_more_to_come(self) -> bool:
        return self.only is not None and not all(map(self._is_done, self.stages))

    def next_stage(self, *, chain_was_open: bool) -> StageRun | None:
        if self.only is not None and self._taken:
            return None  # what follows is another job's
        frozen, self._taken = next(self.stages, None), True
        return None if frozen is None else StageRun(self.ctx, frozen, self.history, chain_was_open=chain_was_open)

    def _took_seconds(self, own_seconds: float) -> float:
        """All its launches together; of a sweep's cell that had failed only this one: by it the others are foretold."""
        if self._is_cell_once_more:
            return own_seconds
        return self.history.facts.took_seconds(own_seconds, wall())

    def _open_chain(self) -> None:
        paths, head = self.ctx.paths, self.ctx.head
        ended = self.history.facts.end or {}
        self._is_cell_once_more = "cell_of" in head.data and ended.get("event") == Event.CHAIN_FAILED
        launch = self.history.launches + 1
        for path in (paths.done(CHAIN), paths.failed(CHAIN)):
            remove_file(path)
        os.close(reserve_slot(paths, head.run_id, CHAIN, launch))
        record = {
            "at": utc_text(wall()),
            "event": Event.CHAIN_STARTED,
            "launch": launch,
            "run_id": head.run_id,
            "stages": head.stage_count,
            **launch_facts(head, self.boot),
            **_changes(head, launch),
            "notify": [target.name for target in self.courier.targets] if self.courier else [],
            **({} if self.ctx.job is None else {"job": self.ctx.job}),
        }
        # Not flushed by itself: the first attempt's start, or the chain's end, is flushed right after it.
        self.ctx.recorder.note(record, sync=False)
        self.history.apply(record)

    def _stopped(self, stage: str) -> ChainEnd:
        if read_request(self.ctx.paths.stop_request) is not None:
            return ChainEnd(Exit.STOPPED, Event.CHAIN_STOPPED, RunState.STOPPED, stage, "stopped on request")
        reason = "the runner was asked to end by a signal (shutdown, reclaim, kill)"
        if self.ctx.signals.time_is_over:
            reason = TIME_IS_OVER
        return ChainEnd(Exit.STOPPED, Event.CHAIN_INTERRUPTED, RunState.INTERRUPTED, stage, reason)

    def _not_done(self, work: StageRun, result: StageLeaves) -> ChainEnd:
        code, event, state = _ENDS[result]
        return ChainEnd(
            code, event, state, work.stage.name, work.reason, work.failure_class, work.findings, work.told_late
        )

    def _close_chain(self, end: ChainEnd, duration_seconds: float) -> None:
        """Journal the end, land its marker (a stop leaves none: the chain is not over), show it."""
        paths, head = self.ctx.paths, self.ctx.head
        took_seconds = self._took_seconds(duration_seconds)
        data: dict[str, Any] = {
            "run_id": head.run_id,
            "stage": CHAIN,
            "attempt": self.history.launches,
            "fingerprint": head.chain_fingerprint,
            "stages": head.stage_count,
            "ended_at": utc_text(wall()),
            "duration_seconds": round(took_seconds, 3),
            "exit_code": int(end.exit),
        }
        told = [f"{one.stage} {words}" for one in self.history.facts.results.values() if (words := result_words(one))]
        if end.event == Event.CHAIN_DONE and told:
            data["progress"] = {"text": " · ".join(told)}
        if end.event != Event.CHAIN_DONE:
            data |= {"outcome": end.event, "stopped_at": end.stage, "reason": end.reason}
            data["failure_class"] = end.failure_class
        if end.event == Event.CHAIN_DONE:
            whole = whole_seconds(self.history.facts.results.values(), head.stage_count, took_seconds)
            self._warnings += haste_warning("the whole run", whole, head.settings.expected_seconds)
        if end.told_late:
            data["told_late"] = True
        if self._warnings:
            data["warnings"] = self._warnings[:WARNINGS_KEPT]
        if end.findings:
            data["findings"] = [finding._asdict() for finding in end.findings]
        self.ctx.recorder.note({"event": end.event, **data})
        if end.event == Event.CHAIN_DONE:
            land_marker(paths.slot(CHAIN), paths.done(CHAIN), data)
        elif end.state is RunState.FAILED:
            land_marker(paths.slot(CHAIN), paths.failed(CHAIN), data)
        self.ctx.recorder.show(state=end.state.value, stage=end.stage, reason=end.reason or None, outcome=end.event)
        remove_file(paths.stop_request)


def _changes(head: RunHead, launch: int) -> dict[str, Any]:
    """What this launch changed; nothing where a keeper starts the same launch's runner anew."""
    changed = head.data.get("changed")
    of_this = isinstance(changed, dict) and changed.get("launch") == launch
    return {"changed": changed.get("differences")} if isinstance(changed, dict) and of_this else {}


def launch_facts(head: RunHead, boot: str | None) -> Record:
    """What the journal tells of each launch: what is run, and which process runs it."""
    return {
        "fingerprint": head.chain_fingerprint,
        "pid": os.getpid(),
        "boot_id": boot,
        "host": os.uname().nodename,
        "onbox": __version__,
        "git": head.data.get("git"),
    }


def courier_of(paths: RunPaths, head: RunHead, environ: dict[str, str]) -> Courier | None:
    """Who tells people; None when nobody is to be told."""
    if not notify_from_dict(head.data.get("notify")).targets:
        return None
    from onbox.notify.queue.enqueue import Courier  # noqa: PLC0415 - half a megabyte

    return Courier(paths, head, environ)
