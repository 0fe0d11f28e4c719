"""Bring one stage to its end: by the plan, through its gates, attempt after attempt, to DONE or FAILED."""

from __future__ import annotations

import os
from enum import Enum
from typing import TYPE_CHECKING, Any

from onbox.chain.artifacts import Look, look_at, picture
from onbox.chain.attempt import adopt_attempt, start_attempt, watch_attempt
from onbox.chain.checks import Ended, Finding, judge, signal_of
from onbox.chain.gates import check_gates
from onbox.chain.plan import Action, Evidence, plan_stage
from onbox.chain.slots import land_marker, read_marker, read_slot
from onbox.contract.events import Event, Unreadable, parse_events
from onbox.contract.states import RunState, StageState
from onbox.logs.tail import find_in_log
from onbox.system.clock import monotonic, parse_utc, utc_text, wall
from onbox.system.files import remove_file
from onbox.system.journal import read_lines
from onbox.triage.classes import REMEDIES
from onbox.triage.evidence import End, classify_end

if TYPE_CHECKING:
    from onbox.chain.attempt import Live
    from onbox.chain.context import Context
    from onbox.chain.replay import History, StageHistory
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import FrozenStage

BACKOFF_LIMIT_SECONDS = 3600.0
WAIT_LOOK_SECONDS = 0.5


class StageEnd(Enum):
    """How a stage leaves the chain."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "gate refused"
    STOPPED = "stopped"
    CONFLICT = "conflict"


def look_at_stage(paths: RunPaths, frozen: FrozenStage, history: History, *, chain_open: bool) -> Evidence:
    """Everything the plan wants to know of a stage."""
    name = frozen.stage.name
    slot, slot_exists, slot_locked = read_slot(paths.slot(name))
    marker = read_marker(paths.done(name))
    return Evidence(frozen.fingerprint, history.of(name), marker, slot, slot_exists, slot_locked, chain_open)


class StageRun:
    """One stage on its way. `reason` tells why it did not get to DONE."""

    def __init__(self, ctx: Context, frozen: FrozenStage, history: History, *, chain_was_open: bool) -> None:
        self.ctx, self.frozen, self.stage = ctx, frozen, frozen.stage
        self.history = history
        self.chain_was_open = chain_was_open
        self.reason = ""
        self.failure_class: str | None = None

    @property
    def known(self) -> StageHistory:
        return self.history.of(self.stage.name)

    def note(self, *records: dict[str, Any], sync: bool = True) -> None:
        """Journal, and keep the history in step."""
        self.ctx.recorder.note(*records, sync=sync)
        for record in records:
            self.history.apply(record)

    def _about(self, event: str, **fields: Any) -> dict[str, Any]:
        return {"event": event, "stage": self.stage.name, **fields}

    # -- the plan's row decides where to begin

    def run(self) -> StageEnd:
        evidence = look_at_stage(self.ctx.paths, self.frozen, self.history, chain_open=self.chain_was_open)
        row = plan_stage(evidence)
        action = row.action
        if action is Action.SKIP:
            return StageEnd.DONE
        if action in (Action.REFUSE_LIVE, Action.REFUSE_STALE, Action.REFUSE_INVALID):
            self.reason = f"stage {self.stage.name}: {action.value}"
            return StageEnd.CONFLICT
        if action is Action.LAND:
            return self._land_again()
        if action is Action.FINISH_FAILURE:
            return self._finish_failure()
        if action is Action.JUDGE:
            return self._after(self._ended_unwatched(evidence))
        if action is Action.ADOPT:
            assert evidence.slot is not None
            return self._adopt(adopt_attempt(self.ctx, self.frozen, evidence.slot, self.known))
        if action is Action.START_AGAIN:
            return self._attempts(self.known.attempts, resume=bool((self.known.started or {}).get("resume")))
        if action is Action.RESTART:
            return self._restart()
        if action is Action.RETRY:
            return self._retry_after_backoff()
        return self._attempts(self.known.attempts + 1, resume=self._has_earlier_work())

    def _has_earlier_work(self) -> bool:
        return self.known.attempts > 0 and self.known.last not in (Event.STAGE_DONE, Event.STAGE_REDO)

    def _restart(self) -> StageEnd:
        if self.known.last == Event.ATTEMPT_STARTED:
            started = self.known.started or {}
            rebooted = started.get("boot_id") != self.ctx.boot_id
            why = "the machine was rebooted" if rebooted else "runner and stage were ended together"
            self.note(self._about(Event.STAGE_INTERRUPTED, attempt=self.known.attempts, reason=why))
        return self._attempts(self.known.attempts + 1, resume=True)

    # -- attempts

    def _attempts(self, number: int, *, resume: bool) -> StageEnd:
        """Gates, wait_for, then one attempt."""
        remove_file(self.ctx.paths.failed(self.stage.name))
        blocked = self._wait_for() or self._gates()
        if blocked is not None:
            return blocked
        record = self._about(
            Event.ATTEMPT_STARTED,
            at=utc_text(wall()),
            attempt=number,
            fingerprint=self.frozen.fingerprint,
            resume=resume,
            boot_id=self.ctx.boot_id,
            log=os.path.relpath(self.ctx.paths.log(self.stage.name, number), self.ctx.paths.root),
        )
        if self.known.before is None:
            try:
                record["before"] = picture(self.stage.artifacts, self.ctx.folder(self.stage))
            except OSError as error:
                return self._refuse_start(number, f"cannot look at its artifacts: {error.filename}: {error.strerror}")
        live = start_attempt(self.ctx, self.frozen, number, record)
        if isinstance(live, Ended):
            return self._refuse_start(number, live.detail)
        self.history.apply(record)
        return self._after(watch_attempt(self.ctx, live))

    def _adopt(self, live: Live) -> StageEnd:
        self.note(self._about(Event.ATTEMPT_ADOPTED, attempt=live.number, pid=live.keeper.pid if live.keeper else None))
        return self._after(watch_attempt(self.ctx, live))

    def _refuse_start(self, number: int, detail: str) -> StageEnd:
        ended = Ended(None, None, "not_started", 0.0, detail)
        return self._fail(number, ended, judge(self.stage, ended, (), log_matches=None))

    def _ended_unwatched(self, evidence: Evidence) -> Ended:
        """The end of an attempt that nobody watched, from its slot, or from the journal if it got that far."""
        recorded = self.known.ended
        if recorded is not None:
            return Ended(
                recorded.get("exit_code"),
                recorded.get("signal"),
                str(recorded.get("cause", "exit")),
                recorded.get("duration_seconds"),
                str(recorded.get("detail", "")),
            )
        code = evidence.slot.exit_code if evidence.slot else None
        began = parse_utc(str((self.known.started or {}).get("at", "")))
        duration = None
        if began is not None:
            duration = max(0.0, os.stat(self.ctx.paths.slot(self.stage.name)).st_mtime - began)
        return Ended(code, signal_of(code), "exit", duration)

    # -- after an attempt

    def _after(self, ended: Ended) -> StageEnd:
        number = self.known.attempts
        if ended.cause == "stopped":
            self.note(
                self._ended_record(number, ended),
                self._about(Event.STAGE_INTERRUPTED, attempt=number, reason=ended.detail),
            )
            return StageEnd.STOPPED
        if ended.cause == "keeper_lost" and ended.signal is None:
            # Runner and keeper were killed, only the command lived on: how it ended is not known, so it runs again.
            self.note(self._about(Event.STAGE_INTERRUPTED, attempt=number, reason=ended.detail))
            return self._attempts(number + 1, resume=True)
        looks = self._look_at_artifacts(ended)
        findings = judge(self.stage, ended, looks, log_matches=self._log_matches(number, ended))
        if findings:
            return self._fail(number, ended, findings)
        return self._succeed(number, ended, looks)

    def _look_at_artifacts(self, ended: Ended) -> tuple[Look, ...]:
        if ended.exit_code != 0 or not self.stage.artifacts:
            return ()
        folder, before = self.ctx.folder(self.stage), self.known.before or {}
        return tuple(look_at(artifact, folder, before) for artifact in self.stage.artifacts)

    def _log_matches(self, number: int, ended: Ended) -> bool | None:
        if self.stage.done_if_log is None or ended.exit_code != 0:
            return None
        try:
            return find_in_log(self.ctx.paths.log(self.stage.name, number), self.stage.done_if_log) is not None
        except OSError:
            return False

    def _ended_record(self, number: int, ended: Ended) -> dict[str, Any]:
        return self._about(
            Event.ATTEMPT_ENDED,
            attempt=number,
            exit_code=ended.exit_code,
            signal=ended.signal,
            cause=ended.cause,
            duration_seconds=None if ended.duration_seconds is None else round(ended.duration_seconds, 3),
            detail=ended.detail,
        )

    def _marker_data(self, number: int, ended: Ended) -> dict[str, Any]:
        cmd = self.stage.cmd
        return {
            "run_id": self.ctx.head.run_id,
            "stage": self.stage.name,
            "attempt": number,
            "fingerprint": self.frozen.fingerprint,
            "cmd": list(cmd) if isinstance(cmd, tuple) else cmd,
            "cwd": self.stage.cwd,
            "env": dict(self.stage.env),
            "exit_code": ended.exit_code,
            "started_at": (self.known.started or {}).get("at"),
            "ended_at": utc_text(wall()),
            "duration_seconds": None if ended.duration_seconds is None else round(ended.duration_seconds, 3),
        }

    def _succeed(self, number: int, ended: Ended, looks: tuple[Look, ...]) -> StageEnd:
        files = [found for look in looks for found in look.new]
        data = self._marker_data(number, ended)
        data["artifacts"] = [{"path": found.path, "bytes": found.size_bytes} for found in files[:200]]
        data["artifact_count"] = len(files)
        data["artifact_bytes_total"] = sum(found.size_bytes for found in files)
        # Flushed together with what comes next (the next start or the chain's end), before any of it is announced: the
        # marker itself is flushed here, and the plan takes it as proof should the power fail in between.
        self.note(self._ended_record(number, ended), {"event": Event.STAGE_DONE, **data}, sync=False)
        land_marker(self.ctx.paths.slot(self.stage.name), self.ctx.paths.done(self.stage.name), data)
        return StageEnd.DONE

    def _land_again(self) -> StageEnd:
        """The journal says DONE, the marker is missing, its slot is there: the runner died in between."""
        land_marker(
            self.ctx.paths.slot(self.stage.name),
            self.ctx.paths.done(self.stage.name),
            _without_stamp(self._last_record(Event.STAGE_DONE)),
        )
        return StageEnd.DONE

    def _last_record(self, event: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for record in parse_events(read_lines(self.ctx.paths.journal)):
            if isinstance(record, Unreadable):
                continue
            if record["event"] == event and record.get("stage") == self.stage.name:
                found = record
        return found

    # -- failure, retry

    def _fail(self, number: int, ended: Ended, findings: tuple[Finding, ...]) -> StageEnd:
        end = End(ended.exit_code, ended.signal, ended.cause, tuple(finding.gate for finding in findings))
        row = classify_end(end)
        self.failure_class = row.failure_class
        self.reason = "; ".join(map(str, findings))
        retry = self.stage.retry
        if row.failure_class in retry.classes and self.known.retries < retry.max:
            self.note(
                self._ended_record(number, ended),
                self._about(
                    Event.STAGE_RETRYING,
                    attempt=number,
                    failure_class=row.failure_class,
                    rule=row.rule,
                    reason=self.reason,
                    retry=self.known.retries + 1,
                    retries=retry.max,
                    delay_seconds=self._backoff(self.known.retries),
                ),
            )
            return self._retry_after_backoff()
        data = self._marker_data(number, ended)
        data |= {
            "signal": ended.signal,
            "cause": ended.cause,
            "failure_class": row.failure_class,
            "rule": row.rule,
            "remedy": REMEDIES[row.failure_class],
            "reason": self.reason,
            "findings": [finding._asdict() for finding in findings],
            "log": self.ctx.paths.log(self.stage.name, number),
        }
        self.note(self._ended_record(number, ended), {"event": Event.STAGE_FAILED, **data})
        land_marker(self.ctx.paths.slot(self.stage.name), self.ctx.paths.failed(self.stage.name), data)
        return StageEnd.FAILED

    def _backoff(self, retries: int) -> float:
        return min(self.stage.retry.backoff_seconds * 2.0**retries, BACKOFF_LIMIT_SECONDS)

    def _retry_after_backoff(self) -> StageEnd:
        delay = self._backoff(self.known.retries - 1)
        self._show_waiting(f"retry {self.known.retries} of {self.stage.retry.max} in {delay:g} s")
        if not self._pause(monotonic() + delay):
            return StageEnd.STOPPED
        return self._attempts(self.known.attempts + 1, resume=True)

    def _finish_failure(self) -> StageEnd:
        record = self._last_record(Event.STAGE_FAILED)
        self.reason = str(record.get("reason", ""))
        self.failure_class = record.get("failure_class")
        land_marker(
            self.ctx.paths.slot(self.stage.name), self.ctx.paths.failed(self.stage.name), _without_stamp(record)
        )
        return StageEnd.FAILED

    # -- what comes before an attempt

    def _gates(self) -> StageEnd | None:
        paths = (self.ctx.paths.root, self.ctx.folder(self.stage))
        findings = check_gates(self.stage.gates, paths)
        if not findings:
            return None
        self.reason = "; ".join(map(str, findings))
        self.failure_class = None
        return StageEnd.REFUSED

    def _wait_for(self) -> StageEnd | None:
        """Wait for the file or log line that the stage needs. None: it is there."""
        wait = self.stage.wait_for
        if wait is None:
            return None
        what, ready = self._awaited()
        if ready():
            return None
        self.note(self._about(Event.STAGE_WAITING, waiting_for=what, timeout_seconds=wait.timeout_seconds))
        self._show_waiting(f"waiting for {what}")
        limit = monotonic() + wait.timeout_seconds
        while monotonic() < limit:
            if not self._pause(min(limit, monotonic() + WAIT_LOOK_SECONDS)):
                return StageEnd.STOPPED
            if ready():
                return None
        ended = Ended(None, None, "not_started", None, f"{what} did not appear within {wait.timeout_seconds:g} s")
        return self._fail(self.known.attempts, ended, judge(self.stage, ended, (), log_matches=None))

    def _awaited(self) -> tuple[str, Any]:
        wait, folder = self.stage.wait_for, self.ctx.folder(self.stage)
        assert wait is not None
        if wait.file is not None:
            path = os.path.join(folder, wait.file)
            return f"the file {path}", lambda: os.path.exists(path)
        path = os.path.join(folder, wait.log or "")
        return f"/{wait.regex}/ in {path}", _NewLines(path, wait.regex or "").found

    def _pause(self, deadline: float) -> bool:
        """Sleep until the deadline; False if somebody asked to stop."""
        beat = self.ctx.head.settings.sample_every_seconds
        while (now := monotonic()) < deadline:
            if self.ctx.signals.stops:
                return False
            self.ctx.signals.wait(min(deadline, now + beat))
            if deadline - now > beat:
                self.ctx.recorder.refresh()
        return not self.ctx.signals.stops

    def _show_waiting(self, what: str) -> None:
        self.ctx.recorder.show(
            state=RunState.RUNNING.value,
            stage=self.stage.name,
            stage_state=StageState.WAITING.value,
            position=self.frozen.position,
            attempt=self.known.attempts,
            waiting_for=what,
        )


class _NewLines:
    """Search a growing log for a regex, each byte once (but the last 64 KiB, where a match may be cut)."""

    def __init__(self, path: str, regex: str) -> None:
        self.path, self.regex, self.searched = path, regex, 0

    def found(self) -> bool:
        try:
            size = os.path.getsize(self.path)
        except OSError:
            return False
        if size < self.searched:
            self.searched = 0  # rotated or cut: a new file
        if find_in_log(self.path, self.regex, max(0, self.searched - 65536)) is not None:
            return True
        self.searched = size
        return False


def _without_stamp(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in ("schema", "at", "event")}
