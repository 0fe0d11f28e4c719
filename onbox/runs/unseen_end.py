"""What is known of an attempt whose end nobody recorded: its runner and its keeper were gone by then. Pure."""

from __future__ import annotations

from onbox.named_tuple import NamedTuple
from onbox.system.clock import utc_text
from onbox.triage.evidence import Evidence

LATE_SECONDS = 10.0  # a heartbeat of a busy box may come so much too late


def late_after(every_seconds: float, beats: float = 1) -> float:
    """How old, in seconds, a heartbeat of each `every_seconds` has to be until so many have surely not come."""
    return max(beats * every_seconds, every_seconds + LATE_SECONDS)


class UnseenEnd(NamedTuple):
    """runner_seen_at, log_written_at: by the box's clock; None: not known. every_seconds: from heartbeat to heartbeat.
    says_done: whether the log says that the work is done. rebooted: the box, since the attempt began.
    """

    runner_seen_at: float | None = None
    log_written_at: float | None = None
    every_seconds: float = 30.0
    says_done: bool = False
    rebooted: bool = False

    @property
    def _went_on(self) -> bool:
        seen, written = self.runner_seen_at, self.log_written_at
        return seen is not None and written is not None and written - seen > late_after(self.every_seconds)

    @property
    def was_missed(self) -> bool:
        """Whether it ended by itself, as far as one can see: then it was not cut off together with its runner."""
        return self._went_on or (self.says_done and not self.rebooted)

    @property
    def words(self) -> str:
        """What was observed, one clause after the other."""
        seen = "" if self.runner_seen_at is None else f"its runner was last seen at {_time(self.runner_seen_at)}"
        goes = "went on" if self._went_on else "was written"
        done = " and says that the work is done" if self.says_done else ""
        log = "" if self.log_written_at is None else f"its log {goes} until {_time(self.log_written_at)}{done}"
        return "; ".join(filter(None, (seen, log, "its exit code is not known")))


def _time(seconds: float) -> str:
    return f"{utc_text(seconds)[:19]}Z"


def says_done(text: bytes, *, loop_is_over: bool | None) -> bool:
    """Whether a log's end says that the work is done, with nothing wrong in it. loop_is_over: by its progress."""
    from onbox.triage.classify import classify  # noqa: PLC0415 - its table takes 70 ms

    verdict = classify(text, Evidence(process_alive=False))
    return verdict.state == "done" or (verdict.rule == "unproven" and bool(loop_is_over))
