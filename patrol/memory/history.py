"""What is known of a run (or of a box) from earlier ticks: small, bounded, JSON-able. Pure.

The store keeps it; `decide` reads it; `recall.fold` makes the next one from the last one and a new look.
"""

from __future__ import annotations

from onbox.named_tuple import NamedTuple


class Before(NamedTuple):
    """One run's past. Times are local, seconds since the epoch; None: never.

    known_rule, known_state, known_since: of the last verdict that rests on a look at the run itself, what it was then,
    and since when.
    attempt: id of the attempt that steps and rates are of. uptime_seconds: of the box at the newest step, in its boot:
    a clock that nobody sets. gpu_percents: of the busiest GPU at the newest looks, at most 16. artifact_at: when the
    newest artifact of the attempt was made (or the attempt began). artifact_gaps: seconds between those that were the
    newest at successive looks, at most 16. undelivered_ticks: how
    often in a row notices waited. was_flapping: whether it flapped at the last tick.
    flag: the rule that the last verdict told beside its own, and worse than it; "" for none.
    last_seen_at: of the last look that saw the run. run_id, boot_id, log_inode, oom_kills: as seen then; None: not
    seen. rule, since: of the last verdict. rule_ticks: how often in a row. gone_ticks: how often in a row neither
    process nor proof of an end was seen. steps: `(at, current)` of the newest progress, oldest first, at most 64.
    rates: steps per second between ticks, at most 64. losses: newest numbers, at most 16. signatures: of failures,
    newest last, at most 16, each with the id of the attempt it was of. rules: of the last 21 ticks, for flapping.
    acknowledged: id of what a person has acknowledged (run id and rule); acknowledged_by: who, and why, in words.
    silenced_until: local time.
    restarts: local times of resumes by this patrol, at most 64, each with the failure's signature.
    durations: seconds that runs took when they were done, as `(stage@run id, seconds)`, at most 32.
    origin: the entry of onbox.toml by which it was looked for (`patrol/config/run_entry.py`); None: not known.
    """

    last_seen_at: float | None = None
    run_id: str | None = None
    boot_id: str | None = None
    oom_kills: int | None = None
    rule: str | None = None
    since: float | None = None
    rule_ticks: int = 0
    gone_ticks: int = 0
    steps: tuple[tuple[float, float], ...] = ()
    rates: tuple[float, ...] = ()
    losses: tuple[float, ...] = ()
    signatures: tuple[tuple[str, str], ...] = ()
    rules: tuple[str, ...] = ()
    acknowledged: str | None = None
    acknowledged_by: str = ""
    silenced_until: float | None = None
    restarts: tuple[tuple[float, str], ...] = ()
    durations: tuple[tuple[str, float], ...] = ()
    known_rule: str | None = None
    known_state: str | None = None
    known_since: float | None = None
    attempt: str | None = None
    uptime_seconds: float | None = None
    gpu_percents: tuple[int, ...] = ()
    artifact_at: float | None = None
    artifact_gaps: tuple[float, ...] = ()
    undelivered_ticks: int = 0
    was_flapping: bool = False
    flag: str = ""
    origin: str | None = None


class BoxBefore(NamedTuple):
    """One box's past. failures: how often in a row it was not reached.

    disks: `(at, mount, bytes_free, inodes_free or None)` of the newest looks, at most 256, for trends. last_tick_at: of
    the last tick, whatever it brought. kernel_seconds: uptime up to which the kernel's log was read.
    rule, since: of the last verdict on the box itself.
    """

    last_reached_at: float | None = None
    failures: int = 0
    first_failure_at: float | None = None
    last_reason: str | None = None
    boot_id: str | None = None
    oom_kills: int | None = None
    kernel_seconds: float | None = None
    disks: tuple[tuple[float, str, int, int | None], ...] = ()
    last_tick_at: float | None = None
    rule: str | None = None
    since: float | None = None
