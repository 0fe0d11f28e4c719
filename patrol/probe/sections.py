"""The table of sections: what can be asked of a box, by which shell functions, and how long each may take there.

A section's parser stands in its topic's file, beside its shell text.
"""

from __future__ import annotations

from onbox.named_tuple import NamedTuple
from patrol.probe.box import gpus as box_gpus
from patrol.probe.box import identity as box_identity
from patrol.probe.box import jobs as box_jobs
from patrol.probe.box import kernel as box_kernel
from patrol.probe.box import left as box_left
from patrol.probe.box import logs as box_logs
from patrol.probe.box import patrolled as box_patrolled
from patrol.probe.box import resources as box_resources
from patrol.probe.box import results as box_results
from patrol.probe.box import runs as box_runs
from patrol.probe.box import tracker as box_tracker
from patrol.probe.box import watch as box_watch


class Section(NamedTuple):
    """function: the shell function that is called with the section's values. texts: the shell functions it needs.

    seconds: its budget on the box. files: whether it touches the user's files, which may lie on a mount that hangs.
    reads: what it looks at, for people.
    """

    name: str
    function: str
    texts: tuple[str, ...]
    seconds: int
    reads: str
    files: bool = False


SECTIONS: tuple[Section, ...] = (
    Section("identity", "p_identity", (box_identity.SHELL,), 3, "host name, boot id, uptime, clock, `onbox` on the path"),
    Section("jobs", "p_jobs", box_jobs.TEXTS, 8, "the runs' journals and markers; squeue, scontrol, sacct or the like about their jobs (runs with such an engine only)"),
    Section("runs", "p_runs", (box_logs.SHELL, box_runs.SHELL), 4, "the state directory: run.json, status, markers, journal, log of each run; locks and processes; the run's records (at most 128 KiB) where its markers changed", files=True),
    Section("log", "p_log", (box_logs.SHELL,), 4, "a watched log: what is new since the last look", files=True),
    Section("processes", "p_processes", (box_watch.PROCESSES,), 4, "/proc: processes whose command line matches"),
    Section("session", "p_session", (box_watch.SESSION,), 4, "tmux and screen: the session of that name"),
    Section("artifacts", "p_artifacts", (box_watch.ARTIFACTS,), 4, "files that match: how many, bytes, newest", files=True),
    Section("queue", "p_queue", box_watch.QUEUE_TEXTS, 6, "squeue or the like: the account's own jobs by name (boxes of such an engine with watched runs only)"),
    Section("memory", "p_memory", (box_resources.SHELL,), 4, "control group of the run, pressure, the machine's memory", files=True),
    Section("disk", "p_disks", (box_resources.SHELL,), 4, "bytes and inodes of /, /tmp and /dev/shm alone, where another section was late"),
    Section("run_disk", "p_disks", (box_resources.SHELL,), 4, "bytes and inodes of the project's and the logs' file systems, of /, /tmp and /dev/shm", files=True),
    Section("kernel", "p_kernel", (box_kernel.SHELL,), 3, "dmesg: Xid errors and OOM kills since the last look"),
    Section("gpus", "p_gpus", (box_gpus.SHELL,), 8, "nvidia-smi: use, memory, temperature, faults"),
    Section("tracker", "p_tracker", (box_logs.SHELL, box_tracker.SHELL), 4, "W&B's run file or trackio's database: what is new since the last look (runs with a known tracker only)", files=True),
    Section("left", "p_left", (box_left.SHELL,), 4, "of finished runs: whether the files that their DONE markers vouch for are there with their bytes; once, at most 4 small results of at most 4 KiB each", files=True),
    Section("patrolled", "p_patrolled", (box_patrolled.SHELL,), 2, "nothing: it writes `.patrolled` into the state directory, by which the box knows that a patrol looks (looks by a timer only)", files=True),
    Section("results", "p_results", (box_results.SHELL,), 4, "declared files of results: at most 4 of at most 4 KiB each", files=True),
    Section("count", "p_count", (box_watch.COUNT,), 8, "how many files are below a declared directory", files=True),
)  # fmt: skip

BY_NAME = {section.name: section for section in SECTIONS}
