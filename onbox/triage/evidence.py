"""The class of a failed attempt from how it ended: exit code, signal and what onbox itself did. Pure.

Only what these prove is claimed. An exit code of 137 says SIGKILL and not who sent it: without a counted OOM kill the
class is `unknown`.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.triage.classes import NONE_COUNTED, UNPROVEN

if TYPE_CHECKING:
    from collections.abc import Callable


class EvidenceEnd(NamedTuple):
    """The evidence: see `chain.checks.Ended`. `gates`: names of the success gates that refused. `oom_kills`: processes
    that the OOM killer took from the attempt; None: could not look.
    """

    exit_code: int | None
    signal: int | None
    cause: str
    gates: tuple[str, ...] = ()
    oom_kills: int | None = None


class Evidence(NamedTuple):
    """What is known beside the log; None in every field means that nobody could look.

    exit_code: the shell's. signal: number of the signal that ended the process. cause: as `chain.checks.Ended.cause`,
    or "cut_off": nothing of runner and stage is left, and nobody recorded how; or "end_missed": so, and the stage went
    on without its runner or says that it is done.
    gates: names of the success gates that refused. oom_kill_delta: how many kills for memory the cgroup counted during
    the run. disk_free_bytes, inodes_free: where the run writes. scheduler_state: Slurm's word or that of another
    scheduler ("TIMEOUT", "PREEMPTED", "OUT_OF_MEMORY", "NODE_FAIL", "CANCELLED", "FAILED", "COMPLETED", "RUNNING").
    log_age_seconds: since the log was last written. process_alive: whether the process lives.
    """

    exit_code: int | None = None
    signal: int | None = None
    cause: str | None = None
    gates: tuple[str, ...] | None = None
    oom_kill_delta: int | None = None
    disk_free_bytes: int | None = None
    inodes_free: int | None = None
    scheduler_state: str | None = None
    log_age_seconds: float | None = None
    process_alive: bool | None = None

    @property
    def end(self) -> EvidenceEnd:
        """How the process ended; a shell tells a signal by its exit code."""
        code, number = self.exit_code, self.signal
        if number is None and code is not None and (128 < code <= 192 or code < 0):
            number = code - 128 if code > 0 else -code
        none_counted = 0 if self.oom_kill_delta == 0 else None  # `proven` asks whom a counted one has met
        return EvidenceEnd(code, number, self.cause or "exit", self.gates or (), none_counted)

    @property
    def was_killed(self) -> bool:
        """Whether somebody sent SIGKILL."""
        return self.end.signal == signal.SIGKILL

    @property
    def is_dead(self) -> bool:
        """Whether it is known to have ended badly."""
        if self.process_alive is False and self.exit_code != 0:
            return True
        if (self.exit_code or 0) != 0 or self.signal is not None or self.gates:
            return True
        return (self.scheduler_state or "").upper().startswith(("FAILED", "CANCELLED"))

    @property
    def ended_well(self) -> bool:
        """Whether it is known to have ended well."""
        if self.exit_code is None:
            return (self.scheduler_state or "").upper().startswith("COMPLETED")
        return self.exit_code == 0 and not self.gates

    @property
    def tells_the_end(self) -> bool:
        """Whether anything beside the log tells whether and how it ended."""
        how_it_ended = self.end._replace(oom_kills=None)  # a count alone tells of no end
        return self.process_alive is not None or bool(self.scheduler_state) or how_it_ended != Evidence().end


class EvidenceRow(NamedTuple):
    """A rule with its source. First match wins."""

    rule: str
    holds: Callable[[EvidenceEnd], bool]
    failure_class: str
    source: str


_ASKED_TO_END = frozenset({signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU})


def _refused_by_loss(end: EvidenceEnd) -> bool:
    return end.exit_code == 0 and "finite_loss" in end.gates


# Rules that rest on how it ended alone: the log's last line stands beside them and proves nothing.
NO_PROOF_RULES = frozenset(
    (
        *(
            "timed-out",
            "stalled",
            "diverged",
            "detected",
            "stopped",
            "loss-not-finite",
            "exit-0-but-refused",
            "temporary",
            "timeout-tool",
            "usage",
        ),
        *("killed", NONE_COUNTED, "killed-cause-unknown", "asked-to-end", "interrupted", "bug-signal"),
        *(UNPROVEN, "no-room-left", "keeper-lost", "cut-off", "end-missed"),
    )
)

EVIDENCE: tuple[EvidenceRow, ...] = (
    EvidenceRow("timed-out", lambda e: e.cause == "timeout", "time_limit", "the stage's own `timeout`"),
    EvidenceRow("stalled", lambda e: e.cause == "stalled", "hang_stall", "the stage's own `stall_after`"),
    EvidenceRow("diverged", lambda e: e.cause == "diverged", "divergence", "the run's own `on_detect`"),
    EvidenceRow("detected", lambda e: e.cause == "detected", "unknown", "the run's own `on_detect`"),
    EvidenceRow("stopped", lambda e: e.cause == "stopped", "user_interrupt", "`onbox stop`, or Ctrl-C in the viewer"),
    EvidenceRow("not-started", lambda e: e.cause == "not_started", "not_started", "execve(2) or posix_spawn(3) failed"),
    EvidenceRow(
        "cut-off", lambda e: e.cause == "cut_off", "preempted", "no end record, and no process: `onbox status`"
    ),
    EvidenceRow(
        "end-missed", lambda e: e.cause == "end_missed", "unknown", "the log went on without its runner: `onbox status`"
    ),
    EvidenceRow("keeper-lost", lambda e: e.cause == "keeper_lost", "unknown", "the runner: its keeper died first"),
    EvidenceRow(
        "oom-killed",
        lambda e: bool(e.oom_kills) and e.exit_code != 0,
        "host_oom",
        "cgroup-v2.rst: oom_kill in memory.events; v1: memory.oom_control",
    ),
    EvidenceRow("loss-not-finite", _refused_by_loss, "divergence", "the stage's own `finite_loss`"),
    EvidenceRow("exit-0-but-refused", lambda e: e.exit_code == 0, "false_success", "the success gate"),
    EvidenceRow(
        "interrupted", lambda e: e.signal == signal.SIGINT, "user_interrupt", "signal(7): SIGINT comes from a person"
    ),
    EvidenceRow(
        "asked-to-end", lambda e: e.signal in _ASKED_TO_END, "preempted", "schedulers announce a reclaim by SIGTERM"
    ),
    EvidenceRow("temporary", lambda e: e.exit_code == 75, "network_blip", "sysexits.h EX_TEMPFAIL: try again later"),
    EvidenceRow("timeout-tool", lambda e: e.exit_code == 124, "time_limit", "timeout(1): 124 when the time is over"),
    EvidenceRow(
        "no-permission", lambda e: e.exit_code in (77, 126), "permission_error", "sysexits.h EX_NOPERM; sh(1): 126"
    ),
    EvidenceRow(
        "no-command", lambda e: e.exit_code in (66, 127), "config_error", "sh(1): 127; the keeper: cwd is missing"
    ),
    EvidenceRow(
        "usage", lambda e: e.exit_code in (2, 64, 78), "config_error", "argparse and sysexits.h EX_USAGE, EX_CONFIG"
    ),
    EvidenceRow("bug-signal", lambda e: e.signal in (4, 7, 8, 11), "code_error", "signal(7): ILL, BUS, FPE, SEGV"),
    EvidenceRow(
        NONE_COUNTED,
        lambda e: e.signal == signal.SIGKILL and e.oom_kills == 0,
        "unknown",
        "cgroup-v2.rst: oom_kill in memory.events stayed as it was",
    ),
    EvidenceRow(
        "killed-cause-unknown", lambda e: e.signal == signal.SIGKILL, "unknown", "signal(7): SIGKILL does not say who"
    ),
    EvidenceRow(UNPROVEN, lambda _: True, "unknown", "nothing seen proves a cause"),
)


def classify_end(end: EvidenceEnd) -> EvidenceRow:
    """The first row that holds; the last one always does."""
    return next(row for row in EVIDENCE if row.holds(end))
