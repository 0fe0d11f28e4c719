"""What is put on record about one stage: its journal records and its markers, in that order."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from onbox.chain.state.slots import land_marker
from onbox.contract.events import Event, Unreadable, parse_events
from onbox.logs.metric import metric_in
from onbox.logs.tail import TAIL_BYTES, last_words
from onbox.outside import safe_line, safe_text
from onbox.system.clock import utc_text, wall
from onbox.system.files import read_tail
from onbox.system.journal import read_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.chain.artifacts.on_disk import FoundFile
    from onbox.chain.gates.ask_success_gate import GateAnswer
    from onbox.chain.gates.success_gate import Ended, GateFinding
    from onbox.chain.observe.post_mortem import Cause
    from onbox.chain.runner.context import Context
    from onbox.chain.state.replay import History, StageHistory
    from onbox.contract.runfile import FrozenStage

LISTED_ARTIFACTS = 200
WARNING_LIMIT = 300


class StageLedger:
    """One stage's entries. Keeps `history` in step with what it journals."""

    def __init__(self, ctx: Context, frozen: FrozenStage, history: History) -> None:
        self.ctx, self.frozen, self.stage, self.history = ctx, frozen, frozen.stage, history

    @property
    def known(self) -> StageHistory:
        return self.history.of(self.stage.name)

    @property
    def scripts(self) -> dict[str, Any]:
        """The script files of the newest attempt's command, as they were when it began."""
        code = (self.known.started or {}).get("code")
        return dict(code.get("scripts") or {}) if isinstance(code, dict) else {}

    def about(self, event: str, **fields: Any) -> dict[str, Any]:
        """A record of this stage, not yet journaled."""
        return {"event": event, "stage": self.stage.name, **fields}

    def note(self, *records: dict[str, Any], sync: bool = True) -> None:
        """Journal. Raises StateNotWritten."""
        self.ctx.recorder.note(*records, sync=sync)
        for record in records:
            self.history.apply(record)

    def note_interrupted(self, ended: Ended | None, reason: str) -> None:
        """The attempt is over without a verdict on the stage. ended: None if nobody asked for that, and its end was not
        seen: then it is told how far it came, so that a second end at the same step is known for what it is.
        """
        number = self.known.attempts
        if ended is None:
            progress = self.ctx.progress.look(moves=False) or {}
            self.note(self.about(Event.STAGE_INTERRUPTED, attempt=number, reason=reason, progress=progress))
            return
        self.note(self._ended(number, ended), self.about(Event.STAGE_INTERRUPTED, attempt=number, reason=reason))

    def note_retry(self, ended: Ended, cause: Cause, reason: str, delay_seconds: float) -> None:
        """The attempt failed and will be made again, unchanged."""
        number, retry = self.known.attempts, self.stage.retry
        self.note(
            self._ended(number, ended),
            self.about(
                Event.STAGE_RETRYING,
                attempt=number,
                failure_class=cause.failure_class,
                rule=cause.rule,
                signature=cause.signature,
                reason=reason,
                retry=self.known.retries + 1,
                retries=retry.max,
                delay_seconds=delay_seconds,
            ),
        )

    def succeed(self, ended: Ended, verdict: GateAnswer) -> None:
        """DONE: journal, then the marker, the last thing that a stage causes. Raises StateNotWritten."""
        number = self.known.attempts
        data = self._marker(number, ended)
        if self.ctx.progress.has_looked:
            data["progress"] = progress_of_success(self.ctx.progress.look(moves=False))
        data |= about_success(verdict)
        data |= last_metric({"last_line": self._last_line(number)})
        # Flushed together with what comes next (the next start or the chain's end), before any of it is announced: the
        # marker itself is flushed here, and the plan takes it as proof should the power fail in between.
        self.note(self._ended(number, ended), {"event": Event.STAGE_DONE, **data}, sync=False)
        land_marker(self.ctx.paths.slot(self.stage.name), self.ctx.paths.done(self.stage.name), data)

    def fail(self, number: int, ended: Ended, findings: tuple[GateFinding, ...], cause: Cause) -> None:
        """FAILED: journal, then the marker. Raises StateNotWritten."""
        data = self._marker(number, ended)
        data |= {
            "signal": ended.signal,
            "cause": ended.cause,
            **about_cause(cause),
            "reason": "; ".join(map(str, findings)),
            "findings": [finding._asdict() for finding in findings],
        }
        if ended.cause != "not_started":  # else a log there may be is of an earlier attempt
            data |= {
                "progress": self.ctx.progress.look(moves=False),
                "log": self.ctx.paths.log(self.stage.name, number),
                "last_line": self._last_line(number),
            }
        self.note(self._ended(number, ended), {"event": Event.STAGE_FAILED, **data})
        land_marker(self.ctx.paths.slot(self.stage.name), self.ctx.paths.failed(self.stage.name), data)

    def _last_line(self, number: int) -> str | None:
        """The end of the attempt's log, redacted; None if there is none or it cannot be read."""
        try:
            tail = read_tail(self.ctx.paths.log(self.stage.name, number), TAIL_BYTES)
        except OSError:
            return None
        return last_words(tail) if tail else None

    def land_again(self, event: str) -> dict[str, Any]:
        """Put the marker in place that a journaled verdict (`event`) lacks: the runner died in between. Its data."""
        found: dict[str, Any] = {}
        for record in parse_events(read_lines(self.ctx.paths.journal)):
            if isinstance(record, Unreadable):
                continue
            if record["event"] == event and record.get("stage") == self.stage.name:
                found = record
        data = {key: value for key, value in found.items() if key not in ("schema", "at", "event")}
        paths, name = self.ctx.paths, self.stage.name
        land_marker(paths.slot(name), paths.done(name) if event == Event.STAGE_DONE else paths.failed(name), data)
        return data

    def _ended(self, number: int, ended: Ended) -> dict[str, Any]:
        return self.about(
            Event.ATTEMPT_ENDED,
            attempt=number,
            exit_code=ended.exit_code,
            signal=ended.signal,
            cause=ended.cause,
            duration_seconds=_rounded(ended.duration_seconds),
            detail=ended.detail,
        )

    def _code(self) -> dict[str, Any]:
        """What is known of the code that the attempt ran with."""
        known = {"git": self.ctx.git.look(), "scripts": self.scripts}
        known = {key: value for key, value in known.items() if value and "absent" not in value}
        return {"code": known} if known else {}

    def _marker(self, number: int, ended: Ended) -> dict[str, Any]:
        return {
            "run_id": self.ctx.head.run_id,
            "stage": self.stage.name,
            "attempt": number,
            "fingerprint": self.frozen.fingerprint,
            "cmd": shown_command(self.stage.cmd),
            "cwd": self.stage.cwd,
            "env": {name: safe_text(value) for name, value in self.stage.env},
            "exit_code": ended.exit_code,
            **self._code(),
            "started_at": (self.known.started or {}).get("at"),
            "ended_at": utc_text(wall()),
            "duration_seconds": _rounded(ended.duration_seconds),
            "resources": {} if ended.cause == "not_started" else self.ctx.sampler.finish(ended),
            **({"tracker": self.ctx.tracker.link} if self.ctx.tracker.link else {}),
        }


def progress_of_success(progress: dict[str, Any] | None) -> dict[str, Any] | None:
    """How far a stage came that is done. An attempt that was resumed with nothing left to do shows its counter at the
    beginning: that is not how far the stage is.
    """
    if progress is None or progress.get("current") != 0 or not progress.get("exact_max"):
        return progress
    return {key: value for key, value in progress.items() if key not in ("text", "current", "exact_max")}


def last_metric(ended: Mapping[str, Any]) -> dict[str, str]:
    """The result that an attempt's last line tells, for its DONE; ended: has that line, as a FAILED marker does."""
    metric = metric_in(str(ended.get("last_line") or ""))
    return {"metric": metric} if metric else {}


def shown_command(cmd: str | Sequence[str]) -> str | list[str]:
    """A stage's command for journal and marker, its secrets masked: run.json alone keeps it whole, and the fingerprint
    tells which it was. A list in which something is masked becomes a line, as a secret may stand behind its name.
    """
    if isinstance(cmd, str):
        return safe_text(cmd)
    line = shlex.join(cmd)
    shown = safe_text(line)
    return list(cmd) if shown == line else shown


def about_success(verdict: GateAnswer) -> dict[str, Any]:
    """What a DONE says of the stage's files, and its warnings, for journal and marker."""
    warnings = [safe_line(text, WARNING_LIMIT) for text in verdict.warnings]
    files = about_files([found for look in verdict.looks for found in look.new])
    return {**files, **({"warnings": warnings} if warnings else {})}


def about_files(files: Sequence[FoundFile]) -> dict[str, Any]:
    """Which files and folders a DONE stands for. What several artifacts match is one."""
    files = list({found.path: found for found in files}.values())
    return {
        "artifacts": [
            {"path": found.path, "bytes": found.size_bytes, "mtime": found.mtime_ns // 10**9}
            for found in files[:LISTED_ARTIFACTS]
        ],
        "artifact_count": len(files),
        "artifact_bytes_total": sum(found.size_bytes for found in files),
    }


def about_cause(cause: Cause) -> dict[str, Any]:
    """What triage found, for journal and marker."""
    found = {
        "failure_class": cause.failure_class,
        "rule": cause.rule,
        "remedy": cause.remedy,
        "confidence": cause.confidence,
        "proof": cause.line,
        "proof_line_number": cause.line_number,
        "signature": cause.signature,
        "where": cause.where,
        "traceback": list(cause.traceback) or None,
        "secondary_classes": list(cause.secondary) or None,
        "triage_trouble": cause.trouble or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
