"""Rules about a box: whether it could be reached, and flags about its resources that every run on it shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen, observed
from onbox.contract.states import RunState
from onbox.model.units import format_size
from onbox.runs.acts import Act
from onbox.runs.removed import REMOVED_UNDER_IT, SHOWN_PIDS, way_on
from patrol.cost import cost_words
from patrol.decide.box_scene import BoxScene, LinkScene
from patrol.decide.phrases import ago, percent_text, quote, word
from patrol.decide.remote_command import here
from patrol.decide.rule import Condition, Rule
from patrol.ssh.unreachable_reasons import BY_KEY, UnreachableReason
from patrol.verdict import Severity

if TYPE_CHECKING:
    from patrol.decide.remote_command import Way
    from patrol.snapshot import FileCount

Flag = Rule[BoxScene]
If = Condition[BoxScene]
LinkRow = Rule[LinkScene]
IfLink = Condition[LinkScene]

MAY_STAY_UNSEEN = ("kernel", "pressure")  # sections that need rights or a kernel that not every box gives


def reason_of(scene: LinkScene) -> UnreachableReason:
    return BY_KEY.get(scene.reason) or BY_KEY["unknown"]


def _is_soft(scene: LinkScene) -> bool:
    return scene.failures < scene.limits.unreachable_looks and not reason_of(scene).lasting


def _say_unreachable(scene: LinkScene) -> str:
    detail = f" ({quote(scene.detail, 200)})" if scene.detail else ""
    since = scene.box_before.first_failure_at
    times = f"; {scene.failures} times in a row" if scene.failures > 1 else ""
    times += f" for {ago(max(0.0, scene.now - since))}" if scene.failures > 1 and since is not None else ""
    return f"{scene.reason}: {reason_of(scene).says}{detail}{times}"


def _remedy(scene: LinkScene) -> str:
    host = scene.way.host or scene.box
    remedy = reason_of(scene).remedy_for(host)
    return remedy[:1].upper() + remedy[1:] + "."


def _way_on(pids: tuple[int, ...]) -> str:
    told = way_on(pids)
    return f"{told[:1].upper()}{told[1:]}."


def _list_them(way: Way, pids: tuple[int, ...]) -> str:
    return way.there(("ps", "-o", "pid,etime,args", "-p", ",".join(map(str, pids[:SHOWN_PIDS]))))


LINK_RULES: tuple[LinkRow, ...] = (
    LinkRow(
        "runs-unseen", Severity.UNKNOWN, RunState.UNKNOWN,
        (IfLink("the box answered, but its runs could not be looked at", lambda s: s.reason == "runs-unseen"),),
        lambda s: f"the box answers, but its runs could not be looked at: {quote(s.detail)}",
        "a project on a hung mount is not an empty project",
        remedy=lambda s: "Look at the project's directory on the box: a hung mount, a changed path, missing rights.",
        command=lambda s: here("patrol", "check", s.box),
    ),
    LinkRow(
        "removed-alive", Severity.CRITICAL, RunState.UNKNOWN,
        (IfLink("the box answered, no longer has this run, and processes of it live", lambda s: s.reason == "run-absent" and bool(s.pids)),),
        lambda s: REMOVED_UNDER_IT,
        "nothing records what they do, and nothing would refuse a second copy",
        remedy=lambda s: _way_on(s.pids), command=lambda s: _list_them(s.way, s.pids),
    ),
    LinkRow(
        "vanished", Severity.WARNING, RunState.UNKNOWN,
        (IfLink("the box answered, and no longer has this run", lambda s: s.reason == "run-absent"),),
        lambda s: "its directory is gone",
        "somebody removed or moved it, or the disk is another one; what became of it is not known",
        remedy=lambda s: "If that was intended, acknowledge it; otherwise look for the volume.",
        command=lambda s: here("patrol", "check", s.box),
    ),
    LinkRow(
        "unreachable", Severity.UNKNOWN, RunState.UNKNOWN, (), _say_unreachable,
        "says why, and never infers the run's state; soft until it happened several times in a row",
        remedy=_remedy, command=lambda s: here("patrol", "check", s.box), soft=_is_soft,
    ),
)  # fmt: skip


def _used(scene: BoxScene) -> list[tuple[str, float]]:
    """What is in use of each file system: `(text, percent)`."""
    found = []
    if scene.fullest:
        disk, used = scene.fullest
        found.append(
            (
                f"{word(disk.mount, 40)} {percent_text(used)} of bytes ({format_size(max(0, disk.bytes_free))} left)",
                used,
            )
        )
    if scene.fullest_inodes:
        disk, used = scene.fullest_inodes
        found.append(
            (f"{word(disk.mount, 40)} {percent_text(used)} of inodes ({observed(disk.inodes_free)} left)", used)
        )
    return found


def _above(scene: BoxScene, percent: float) -> str:
    return ", ".join(text for text, used in _used(scene) if used > percent)


def _say_full(scene: BoxScene) -> str:
    full = scene.full_at_once or next(iter(scene.soon_full), None)
    if full is None:
        return ""
    rate = f"at the rate of the last {ago(full.seen_seconds)}"
    return f"{full.what} of {word(full.mount, 40)} full in {ago(full.seconds)} {rate}"


def _fills_within(scene: BoxScene, seconds: float) -> bool:
    return any(full.seconds <= seconds for full in scene.soon_full)


def _stalls(scene: BoxScene) -> str:
    pressure = observed(scene.box.pressure)
    if pressure is None:
        return ""
    named = (
        ("memory", observed(pressure.memory_percent), scene.limits.memory_stall_percent),
        ("disks", observed(pressure.io_percent), scene.limits.io_stall_percent),
    )
    whose = " (the whole box's, not the run's)" if pressure.of_host else ""
    words = [
        f"{percent:.0f}% of the time lost waiting for {what}"
        for what, percent, limit in named
        if percent is not None and percent > limit
    ]
    return ", ".join(words) + (whose if words else "")


def _gpu_faults(scene: BoxScene) -> str:
    words = [f"GPU {gpu.number}: {quote(gpu.trouble, 60)}" for gpu in observed(scene.box.gpus) or () if gpu.trouble]
    return "; ".join(words + ([] if scene.first_look else _xid_lines(scene)))


def _xid_lines(scene: BoxScene) -> list[str]:
    return [quote(fault.line, 80) for fault in scene.new_faults if fault.kind == "xid"]


def _earlier_xids(scene: BoxScene) -> str:
    """At the first look: lines of the last two cadences that nobody has seen come."""
    return "; ".join(_xid_lines(scene)[-2:]) if scene.first_look else ""


def _oom_lines(scene: BoxScene) -> list[str]:
    return [quote(fault.line, 80) for fault in scene.new_faults if fault.kind == "oom"]


def _whole_box_killed(scene: BoxScene) -> bool:
    """The kernel says since the last look that the whole box ran out of memory, and no count tells whose kill it was.

    A kill for a group's limit is some group's own; where ours has a limit, it has a count.
    """
    if scene.box_before.kernel_seconds is None or scene.oom_kills is not None:
        return False
    kills = (fault.line for fault in scene.new_faults if fault.kind == "oom")
    return any(not line.startswith("Memory cgroup") for line in kills)


def _unseen(scene: BoxScene, *, expected: bool) -> str:
    words = [
        f"{word(name, 20)} ({quote(why, 50)})"
        for name, why in scene.box.sections_unseen
        if (name in MAY_STAY_UNSEEN) is expected
    ]
    return ", ".join(words)


def _no_group_limit(scene: BoxScene) -> bool:
    memory = observed(scene.box.memory)
    return memory is not None and isinstance(memory.limit_bytes, Absent | Unseen)


_PRUNE = "Prune old checkpoints (`onbox prune`) and scratch, or pack small files where it is the inodes, before the next save."


def short_counts(counts: tuple[FileCount, ...]) -> tuple[FileCount, ...]:
    """Those of which too little is there; a missing directory holds nothing."""
    return tuple(count for count in counts if _is_short(count))


def _is_short(count: FileCount) -> bool:
    here, there = observed(count.local_count), count.remote_count
    if here is None or isinstance(there, Unseen):
        return False
    mine, theirs = observed(count.local_bytes), observed(count.remote_bytes)
    fewer_bytes = mine is not None and theirs is not None and theirs < mine
    return (observed(there) or 0) < here or fewer_bytes


def count_words(count: FileCount) -> str:
    """`data/train: 7 of 10 files, 3.1 GB of 4.4 GB`."""
    words = f"{word(count.remote, 40)}: {observed(count.remote_count) or 0} of {observed(count.local_count) or 0} files"
    mine, theirs = observed(count.local_bytes), observed(count.remote_bytes)
    return words + (
        f", {format_size(theirs)} of {format_size(mine)}" if mine is not None and theirs is not None else ""
    )


BOX_FLAGS: tuple[Flag, ...] = (
    Flag(
        "disk-critical", Severity.CRITICAL, None,
        (If("bytes or inodes in use above disk_critical_percent, or full within full_soon by a trend seen for a quarter of that time",
            lambda s: bool(_above(s, s.limits.disk_critical_percent)) or s.full_at_once is not None),),
        lambda s: "; ".join(filter(None, (_above(s, s.limits.disk_critical_percent), _say_full(s)))),
        "a full disk ends a run at its next save; inodes go first with many small files",
        remedy=lambda s: _PRUNE, command=lambda s: s.way.there(*Act.ROOM.commands("")),
    ),
    Flag(
        "disk-pressure", Severity.WARNING, None,
        (If("bytes or inodes in use above disk_percent", lambda s: bool(_above(s, s.limits.disk_percent))),
         If("not critical yet", lambda s: not _above(s, s.limits.disk_critical_percent) and s.full_at_once is None)),
        lambda s: _above(s, s.limits.disk_percent),
        "time to prune in peace",
        remedy=lambda s: _PRUNE, command=lambda s: s.way.there(*Act.ROOM.commands("")),
    ),
    Flag(
        "disk-trend", Severity.WARNING, None,
        (If("full within full_within by its trend", lambda s: _fills_within(s, s.limits.full_within_seconds)),
         If("not critical yet", lambda s: s.full_at_once is None)),
        _say_full,
        "a trend is seen before the limit",
        remedy=lambda s: _PRUNE, command=lambda s: s.way.there(*Act.ROOM.commands("")),
    ),
    Flag(
        "oom-kill", Severity.WARNING, None,
        (If("the group's oom_kill count grew, or without a count the kernel wrote that the whole box ran out of memory",
            lambda s: s.new_oom_kills > 0 or _whole_box_killed(s)),),
        lambda s: (f"{s.new_oom_kills} processes killed by the OOM killer since the last look" if s.new_oom_kills else "the OOM killer was at work") + "".join(f"; {line}" for line in _oom_lines(s)[:1]),
        "the counter is the authority, as a difference within one boot; the kernel's log is every neighbour's, too",
        remedy=lambda s: "Fewer workers or more memory (look at the cgroup's limit, not the host's).",
    ),
    Flag(
        "oom-elsewhere", Severity.OK, None,
        (If("the kernel reported a process killed for memory", lambda s: bool(_oom_lines(s))),
         If("nothing shows that it was in this group", lambda s: not s.new_oom_kills and not _whole_box_killed(s))),
        lambda s: f"an OOM kill, but nothing shows that it was here: {_oom_lines(s)[0]}",
        "another container's kill, or one from before the first look, is not news of this run",
    ),
    Flag(
        "memory-pressure", Severity.WARNING, None,
        (If("memory held above memory_percent of the group's limit", lambda s: (s.memory_percent or 0.0) > s.limits.memory_percent),),
        lambda s: f"{percent_text(s.memory_percent or 0)} of the group's memory limit is held",
        "held is what the kernel cannot drop; page cache does not count",
        remedy=lambda s: "Fewer workers, less prefetch, or more memory, before the OOM killer decides.",
    ),
    Flag(
        "host-memory", Severity.WARNING, None,
        (If("the group has no limit that was seen", _no_group_limit),
         If("memory in use of the whole box above host_memory_percent", lambda s: (s.host_memory_percent or 0.0) > s.limits.host_memory_percent)),
        lambda s: f"{percent_text(s.host_memory_percent or 0)} of the box's memory is in use, and no group limit protects the run",
        "a neighbour's load is not ours, but it may end us where nothing divides the memory",
        remedy=lambda s: "See who uses it.",
    ),
    Flag(
        "pressure", Severity.WARNING, None,
        (If("time lost for memory or disks above the limits", lambda s: bool(_stalls(s))),),
        _stalls,
        "pressure stall information says what is lost; load averages do not",
        remedy=lambda s: "See what waits: swapping, page faults, a slow or shared disk.",
    ),
    Flag(
        "gpu-fault", Severity.CRITICAL, None,
        (If("the driver reports a fault of a GPU, or the kernel a new Xid", lambda s: bool(_gpu_faults(s))),),
        _gpu_faults,
        "a sick GPU spoils results before it fails",
        remedy=lambda s: "Exclude the GPU or the node, report it, resume elsewhere.",
        command=lambda s: s.way.there(("nvidia-smi",)),
    ),
    Flag(
        "gpu-fault-before", Severity.WARNING, None,
        (If("at the first look the kernel's log holds an Xid of the last two cadences", lambda s: bool(_earlier_xids(s))),),
        lambda s: f"before the first look: {_earlier_xids(s)}",
        "nobody saw when it came, and the run may have begun later; a later look shows what is new",
        remedy=lambda s: "Compare with the run's start; nvidia-smi shows how the GPU is now.",
        command=lambda s: s.way.there(("nvidia-smi",)),
    ),
    Flag(
        "rebooted", Severity.WARNING, None, (If("its boot id differs from the last look", lambda s: s.rebooted),),
        lambda s: "the box was rebooted since the last look",
        "every process from before is gone, whatever status files say",
        remedy=lambda s: "Resume what was interrupted; see that volumes are mounted.",
    ),
    Flag(
        "files-missing", Severity.WARNING, None,
        (If("fewer files or bytes on the box than in the local source", lambda s: short_counts(s.box.counts) != ()),),
        lambda s: "; ".join(map(count_words, short_counts(s.box.counts))),
        "completeness is names and bytes, never the presence of a directory: three empty files are not a data set",
        remedy=lambda s: "Go on with the transfer: it names what is missing, and sends only that.",
        command=lambda s: here("patrol", "push", s.box.box),
    ),
    Flag(
        "idle-cost", Severity.WARNING, None,
        (If("all its runs have ended, and since then it cost idle_budget or more", lambda s: s.cost is not None and s.cost.idle_over_budget),),
        lambda s: f"nothing runs there: {cost_words(s.cost)}" if s.cost else "",
        "a rented box bills while nobody looks",
        remedy=lambda s: "Bring the results home and give it back, or start something.",
        command=lambda s: here("patrol", "teardown-check", s.box.box),
    ),
    Flag(
        "budget-spent", Severity.WARNING, None,
        (If("it cost budget or more since it was rented", lambda s: s.cost is not None and s.cost.over_budget),),
        lambda s: f"{cost_words(s.cost)}, and its budget is {s.cost.billing.budget:g} {s.cost.billing.price.currency}" if s.cost else "",
        "whoever set a budget wants to know when it is reached",
        remedy=lambda s: "Decide whether it should go on; if so, raise `budget`.",
        command=lambda s: here("patrol", "teardown-check", s.box.box),
    ),
    Flag(
        "clock-skew", Severity.WARNING, None,
        (If("the clocks differ by more than clock_skew", lambda s: abs(s.skew_seconds) > s.limits.clock_skew_seconds),),
        lambda s: f"the box's clock is {ago(abs(s.skew_seconds))} {'ahead of' if s.skew_seconds > 0 else 'behind'} this one",
        "ages are by the box's own clock, so no verdict depends on it; times in logs mislead",
        remedy=lambda s: "Fix the time synchronisation of the box (or of this machine).",
    ),
    Flag(
        "patrol-stale", Severity.WARNING, None,
        (If("the patrol itself was silent for more than two cadences", lambda s: s.silent_seconds > s.limits.cadences_count * s.limits.cadence_seconds),),
        lambda s: f"the patrol itself had not looked for {ago(s.silent_seconds)} (it should every {ago(s.limits.cadence_seconds)})",
        "a gap of the monitor is reported as its own, never as a run's",
        remedy=lambda s: "Was this machine asleep? See that its cron runs.",
        command=lambda s: here("patrol", "status"),
    ),
    Flag(
        "runs-left-out", Severity.WARNING, None,
        (If("the project holds more runs than one look takes", lambda s: s.box.runs_left_out > 0),
         If("all that were looked at are open", lambda s: all(observed(run.outcome) is None for run in observed(s.box.runs) or ()))),
        lambda s: f"{s.box.runs_left_out} further runs of the project were not looked at, and may be alive: only the newest are",
        "which of many runs are alive cannot be known without a look at each",
        remedy=lambda s: "Give them separate projects, or move the folders of old runs away.",
    ),
    Flag(
        "section-unseen", Severity.WARNING, None,
        (If("a part of the probe did not answer", lambda s: bool(_unseen(s, expected=False))),),
        lambda s: f"could not look at: {_unseen(s, expected=False)}",
        "silence must never be taken for health",
        remedy=lambda s: "A hung mount or a wedged tool is the usual cause.",
    ),
    Flag(
        "section-not-readable", Severity.OK, None,
        (If("a part that needs rights or hardware did not answer", lambda s: bool(_unseen(s, expected=True))),),
        lambda s: f"not known: {_unseen(s, expected=True)}",
        "the kernel's log often needs rights; told, never counted as none",
    ),
)  # fmt: skip

BOX_RULES: tuple[Flag, ...] = (
    Flag(
        "removed-alive", Severity.CRITICAL, RunState.DEGRADED,
        (If("the project holds no run, and processes of one live", lambda s: observed(s.box.runs) == () and bool(s.box.removed)),),
        lambda s: f"of run {word(s.box.removed[0].run, 60)}: {REMOVED_UNDER_IT}",
        "nothing records what they do, and nothing would refuse a second copy",
        remedy=lambda s: _way_on(s.box.removed[0].pids), command=lambda s: _list_them(s.way, s.box.removed[0].pids),
    ),
    Flag(
        "no-runs", Severity.OK, RunState.PENDING, (If("the project holds no run", lambda s: observed(s.box.runs) == ()),),
        lambda s: "reached; its project holds no run yet",
        "looked, and there is none",
    ),
    Flag(
        "reached", Severity.OK, RunState.RUNNING, (), lambda s: f"reached; {len(observed(s.box.runs) or ())} runs",
        "the box's own verdict; its runs have theirs",
    ),
)  # fmt: skip
