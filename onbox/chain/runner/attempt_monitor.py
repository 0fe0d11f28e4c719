"""Watch one attempt of a stage to its end: heartbeat, stall rule, time limit, stop; then say how it ended."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from onbox.chain.command.environment import attempt_assignment
from onbox.chain.gates.success_gate import Ended, signal_of
from onbox.chain.observe.liveness import has_busy_gpu, is_active, read_signs
from onbox.chain.observe.patrol_watch import PatrolWatch
from onbox.chain.state.slots import read_slot
from onbox.chain.state.stop_request import read_request
from onbox.contract.events import Event
from onbox.contract.states import RunState, StageState
from onbox.logs.tail import look_at_log
from onbox.model.manifest import DEFAULT_STALL_SECONDS
from onbox.system.clock import monotonic, utc_text, wall
from onbox.system.files import StateNotWritten
from onbox.system.lock import is_locked
from onbox.system.process import end_tree, find_tree, is_alive, look_up, open_pidfd

if TYPE_CHECKING:
    import resource

    from onbox.chain.observe.liveness import Signs
    from onbox.chain.runner.context import Context
    from onbox.chain.runner.start_attempt import Live
    from onbox.system.process import Identity

LEFTOVER_GRACE_SECONDS = 5.0
DEFAULT_LOOK_SECONDS = 120.0  # for signs of life, where nobody has set a limit: artifacts may be many
GPU_PATIENCE_SECONDS = 5.0  # the heartbeat waits no longer for the GPUs than this
SHARED_SIGNAL_SECONDS = 1.0  # within so long an engine's SIGTERM reaches every process of a job
QUIET_SECONDS = 10.0
PAUSE_SECONDS = 1.0  # a busy machine wakes a sleeper up sooner
FIRST_BEAT_SECONDS = 0.02  # a stage that is over sooner leaves its traces in the journal only
SPACING_SECONDS = 1.0  # from one sample to the next: a look at all processes of the box costs more than a short stage


def watch_attempt(ctx: Context, live: Live) -> Ended:
    """Wait until the attempt is over; meanwhile heartbeat, stall rule, time limit, and requests to stop."""
    watch = _Watch(ctx, live)
    while not watch.is_over():
        if ctx.signals.stops:
            return watch.end("stopped", ctx.head.settings.grace_seconds, "asked to stop")
        cause = watch.overdue()
        if cause:
            return watch.end(*cause)
        watch.sleep()
    ended = watch.conclude()
    if ended.signal == signal.SIGTERM and ctx.job is not None and _is_asked_too(ctx):
        return ended._replace(cause="stopped", detail="asked to stop together with its runner")
    return ended


def _is_asked_too(ctx: Context) -> bool:
    """Whether this runner gets the SIGTERM that ended its stage: an engine signals all processes of a job at once."""
    deadline = monotonic() + SHARED_SIGNAL_SECONDS
    while not ctx.signals.stops and monotonic() < deadline:
        ctx.signals.wait(deadline)
    return ctx.signals.stops > 0


class _Watch:
    """One attempt under watch. `live` changes when the keeper dies before its command."""

    def __init__(self, ctx: Context, live: Live) -> None:
        self.ctx, self.live, self.stage = ctx, live, live.frozen.stage
        self.slot_path = ctx.paths.slot(self.stage.name)
        self.log_path = ctx.paths.log(self.stage.name, live.number)
        self.assignment = attempt_assignment(ctx.head.run_id, self.stage.name, live.number)
        self.wait_status: int | None = None
        self.usage: resource.struct_rusage | None = None
        self.signs: Signs | None = None
        self.quiet_since = monotonic()
        self.stalled = False
        self.resources: dict[str, Any] | None = None
        self.progress: dict[str, Any] | None = None
        self.sample_by: float | None = None  # when the sample is taken at the latest, with the GPUs' answer or without
        self.patrol = PatrolWatch(ctx.paths)
        now = monotonic()
        spacing = min(SPACING_SECONDS, ctx.head.settings.sample_every_seconds)
        self.next_beat = max(now + FIRST_BEAT_SECONDS, ctx.sampler.taken_at + spacing)
        declared = self.stage.stall_after_seconds
        self.stalls_by_default = declared is None
        self.stall_seconds = DEFAULT_STALL_SECONDS if declared is None else declared
        self.next_look = now + self._look_every()

    def _look_every(self) -> float:
        every = DEFAULT_LOOK_SECONDS if self.stalls_by_default else self.ctx.head.settings.sample_every_seconds
        return max(0.2, min(every, self.stall_seconds / 4))

    @cached_property
    def keeper(self) -> Identity | None:
        """None if it was never recorded. When our child started is asked of the kernel only where it matters: the pid
        is its own until it is reaped, and a stage of a moment has no use for more.
        """
        known = self.live.keeper
        entry = look_up(known.pid) if known is not None and self.live.is_child else None
        return entry.identity if entry else known

    # -- is it over?

    def is_over(self) -> bool:
        if self.live.is_child:
            return self._reap()
        if self.live.keeper_lives and self.live.keeper is not None and is_alive(self.live.keeper):
            return False
        self.live = self.live._replace(keeper_lives=False)
        return not is_locked(self.slot_path) or self._exit_code() is not None

    def _reap(self) -> bool:
        """Take the keeper's exit status. A keeper that died without recording its command's end hands over to it."""
        assert self.live.keeper is not None
        pid, status, usage = os.wait4(self.live.keeper.pid, os.WNOHANG)
        if not pid:
            return False
        self.wait_status, self.usage = status, usage
        self.live = self.live._replace(is_child=False, keeper_lives=False)
        if os.WIFEXITED(status):
            return True
        return not is_locked(self.slot_path)

    def sleep(self) -> None:
        """Until something happens, the next heartbeat, the next look, or the time limit."""
        deadlines = [self.next_beat, self.next_look]
        if self.stage.timeout_seconds is not None:
            deadlines.append(self.live.began + self.stage.timeout_seconds)
        if self.sample_by is not None:
            deadlines.append(self.sample_by)
        fds, others = self._event_fds()
        if others:  # nothing to wait on but the lock itself: look again soon
            deadlines.append(monotonic() + others)
        try:
            gpus = self.ctx.sampler.fd if self.sample_by is not None else None
            due = max(monotonic(), min(deadlines))
            self.ctx.signals.wait(due, fds if gpus is None else [*fds, gpus])
            self._leave_out(monotonic() - due)
        finally:
            for fd in fds:
                os.close(fd)

    def _leave_out(self, overslept_seconds: float) -> None:
        """Whoever sleeps far beyond the time was held with the whole box (a frozen container, a job that its engine
        suspended, a machine that was moved): the stage had none of that time, so its silence in it is no stall.
        """
        if overslept_seconds < PAUSE_SECONDS:
            return
        self.quiet_since += overslept_seconds
        if self.signs is not None:
            self.signs = self.signs._replace(at_seconds=self.signs.at_seconds + overslept_seconds)

    def _event_fds(self) -> tuple[list[int], float]:
        """Descriptors that tell the end, and how soon to look again without any (0: they suffice)."""
        if self.live.is_child:
            return [], 0.0
        if self.live.keeper_lives and self.live.keeper is not None:
            watched = [self.live.keeper]
        else:
            watched = [entry.identity for entry in find_tree(self.keeper, self.assignment)]
        fds = [fd for fd in map(open_pidfd, watched) if fd is not None]
        return fds, 0.0 if fds else 0.2

    # -- what is due?

    def overdue(self) -> tuple[str, float, str] | None:
        """What is to end the attempt now: (cause, grace, detail). Does the heartbeat and the stall look on the way."""
        now, grace = monotonic(), self.ctx.head.settings.grace_seconds
        limit = self.stage.timeout_seconds
        if limit is not None and now >= self.live.began + limit:
            if self.stalled:
                return (
                    "stalled",
                    grace,
                    f"no sign of life for {now - self.quiet_since:.0f} s before its timeout of {limit:g} s",
                )
            return "timeout", grace, f"still running after its timeout of {limit:g} s{self._quiet_before(now)}"
        if now >= self.next_look:
            self.next_look = now + self._look_every()
            self._look(now)
            if self.stalled and not self.stalls_by_default and "hang_stall" in self.stage.retry.classes:
                return "stalled", grace, f"no sign of life for {now - self.quiet_since:.0f} s"
        self._beat(now)
        found = self.ctx.detect.must_stop()
        return None if found is None else (found.cause, grace, f'on_detect = "stop": {found.why}')

    def _beat(self, now: float) -> None:
        """The heartbeat, in two steps: ask the GPUs; when they have answered, or not in time, sample and show."""
        if now >= self.next_beat:
            self.next_beat = now + self.ctx.head.settings.sample_every_seconds
            self.ctx.sampler.ask()
            self.sample_by = now if self.ctx.sampler.fd is None else now + GPU_PATIENCE_SECONDS
        if self.sample_by is not None and (now >= self.sample_by or self.ctx.sampler.has_answer()):
            self.sample_by = None
            self.resources = self.ctx.sampler.take(self.keeper)
            self.progress = self.ctx.progress.look()
            self._take_point()
            self.ctx.tracker.look(self.ctx.progress.links)
            self._look_for_patrol(now)
            self._show()

    def _take_point(self) -> None:
        """One more point of the series, and what the detectors find with it."""
        artifacts = () if self.signs is None else self.signs.artifacts
        newest_ns = max((mtime_ns for _, _, mtime_ns in artifacts), default=None)
        point = self.ctx.series.take(
            self.ctx.progress, log_path=self.log_path, resources=self.resources, artifact_ns=newest_ns
        )
        self.ctx.progress.usual_pace = self.ctx.series.pace
        records = self.ctx.detect.look(point)
        if records:
            progress = {"progress": self.progress} if self.progress else {}
            with suppress(StateNotWritten):  # the status says it, too
                self.ctx.recorder.note(*(self._about(record.pop("event"), **record, **progress) for record in records))

    def _look_for_patrol(self, now: float) -> None:
        told = self.patrol.look(now, wall())
        if told is not None:
            with suppress(StateNotWritten):  # the run needs no patrol, and its own records tell of the disk
                self.ctx.recorder.note(told)

    def _is_asked_to_stop(self) -> bool:
        return self.ctx.signals.stops > 0

    def _look(self, now: float) -> None:
        stage, folder = self.stage, self.ctx.folder(self.stage)
        urged = self._is_asked_to_stop
        signs = read_signs(self.log_path, stage.artifacts, folder, self.keeper, self.assignment, now, urged)
        signs = signs._replace(gpu_is_busy=self.stalls_by_default and has_busy_gpu(self.resources))
        if self.signs is None or is_active(self.signs, signs):
            self.quiet_since = now
        self.signs = signs
        quiet = now - self.quiet_since
        stalled = quiet >= self.stall_seconds
        if stalled != self.stalled:
            self.stalled = stalled
            event = Event.STAGE_STALLED if stalled else Event.STAGE_MOVING
            more = self._about_stall() if stalled else {}
            self.ctx.recorder.note(self._about(event, quiet_seconds=round(quiet, 1), **more))
            self._show()

    def _about_stall(self) -> dict[str, Any]:
        """What to do about it, and where the stacks of its Python processes will lie."""
        from onbox.chain.observe.stack_dump import start_dump  # noqa: PLC0415 - only when something hangs
        from onbox.triage.classes import about_stall  # noqa: PLC0415

        path = self.ctx.paths.stacks(self.stage.name, self.live.number)
        stacks = start_dump(path, self.keeper, self.assignment, self.ctx.environ)
        return about_stall(path if stacks else None)

    def _quiet_before(self, now: float) -> str:
        """For how long it had shown no sign of life, where that was looked at and is worth a word."""
        quiet = now - self.quiet_since
        return f", quiet for {quiet:.0f} s before it" if self.signs is not None and quiet >= QUIET_SECONDS else ""

    def _show(self) -> None:
        log = look_at_log(self.log_path)
        state = RunState.STALLED if self.stalled else RunState.RUNNING
        keeper = self.keeper
        self.ctx.recorder.show(
            state=state.value,
            stage=self.stage.name,
            stage_state=(StageState.STALLED if self.stalled else StageState.RUNNING).value,
            position=self.live.frozen.position,
            attempt=self.live.number,
            attempt_began_at=utc_text(self.live.began_wall),
            keeper={"pid": keeper.pid, "start_ticks": keeper.start_ticks} if keeper else None,
            log=self.log_path,
            log_bytes=log.size_bytes if log else None,
            last_line=log.last_line if log else None,
            last_output_at=utc_text(log.mtime_seconds) if log else None,
            progress=self.progress,
            resources=self.resources,
            stall_limit_seconds=self.stall_seconds,
            stalls_by_default=self.stalls_by_default,
            artifacts=self._artifacts(),
            detected=self.ctx.detect.as_data(),
            points_missed=self.ctx.series.missed or None,
        )

    def _artifacts(self) -> dict[str, Any] | None:
        """How many there are and when the newest was written, as of the last look; None: the stage declares none."""
        if self.signs is None or not self.stage.artifacts:
            return None
        newest = max((mtime_ns for _, _, mtime_ns in self.signs.artifacts), default=None)
        size = sum(size_bytes for _, size_bytes, _ in self.signs.artifacts)
        at = None if newest is None else utc_text(newest / 1e9)
        return {"count": len(self.signs.artifacts), "bytes": size, "newest_at": at}

    def _about(self, event: str, **fields: Any) -> dict[str, Any]:
        return {"event": event, "stage": self.stage.name, "attempt": self.live.number, **fields}

    # -- the end

    def end(self, cause: str, grace_seconds: float, detail: str) -> Ended:
        """End every process of the attempt, then say how it ended."""
        signals = self.ctx.signals
        if cause == "stopped":
            grace_seconds = requested_grace(self.ctx, grace_seconds)
        survivors = end_tree(self.keeper, self.assignment, grace_seconds, wake_fd=signals.wake_fd, urged=signals.urged)
        if self.live.is_child and self.live.keeper is not None:
            with suppress(ChildProcessError):
                _, _, self.usage = os.wait4(self.live.keeper.pid, os.WNOHANG if survivors else 0)
        if survivors:
            detail += "; not ended by SIGKILL (held by the kernel): pid " + ", ".join(
                f"{entry.identity.pid} ({entry.state})" for entry in survivors
            )
        code = self._exit_code()
        return Ended(code, signal_of(code), cause, monotonic() - self.live.began, detail, *self._used())

    def conclude(self) -> Ended:
        """The attempt ended by itself: its exit code, and no process left behind."""
        slot, _, locked = read_slot(self.slot_path)
        code = slot.exit_code if slot is not None and slot.attempt == self.live.number else None
        if locked or self._left_group():
            end_tree(self.keeper, self.assignment, LEFTOVER_GRACE_SECONDS)
        duration = monotonic() - self.live.began
        if code is not None:
            return Ended(code, signal_of(code), "exit", duration, "", *self._used())
        number = os.WTERMSIG(self.wait_status) if self.wait_status and os.WIFSIGNALED(self.wait_status) else None
        name = f" by {signal.Signals(number).name}" if number else ""
        if self.wait_status is None:  # not a child of this runner: runner and keeper were killed, the command lived on
            return Ended(None, None, "unobserved", duration, "its keeper was killed too: how it ended is not known")
        return Ended(None, None, "keeper_lost", duration, f"its keeper was killed{name}: the exit code is unknown")

    def _used(self) -> tuple[int | None, float | None]:
        """Memory of the biggest process and CPU time of all, of the keeper and the children it waited for."""
        if self.usage is None:
            return None, None
        return self.usage.ru_maxrss * 1024, round(self.usage.ru_utime + self.usage.ru_stime, 3)

    def _exit_code(self) -> int | None:
        slot, _, _ = read_slot(self.slot_path)
        return slot.exit_code if slot is not None and slot.attempt == self.live.number else None

    def _left_group(self) -> bool:
        """Whether processes of the stage's group outlived its command. Together with the lock on the slot a cheap look
        that misses only what took care to leave both.
        """
        if self.live.keeper is None:
            return False
        try:
            os.killpg(self.live.keeper.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


def requested_grace(ctx: Context, default_seconds: float) -> float:
    """The grace that whoever asked to stop wants (`onbox stop --now` writes 0)."""
    request = read_request(ctx.paths.stop_request)
    return default_seconds if request is None else request.grace_seconds
