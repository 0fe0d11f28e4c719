"""Failure classes, each with its one fixed remedy. A class is a promise about what to do next, not a wording."""

from __future__ import annotations

from onbox.named_tuple import NamedTuple


class FailureClass(NamedTuple):
    """key: stable name, used in `retry.classes` and in markers. never: why the same configuration must not be retried
    or resumed by itself; "" where it may be. The chain's retry, the patrol's `recover`, the handbook and every JSON
    read this one column.
    """

    key: str
    remedy: str
    never: str = ""


_NO_ROOM = "without room its next save fails in the same way"
_NO_MEMORY = "the same configuration needs the same memory again"
_SAME_DEFECT = "the same code and settings fail in the same way"
_SAME_DEVICE = "the same node has the same broken device"

CLASSES: tuple[FailureClass, ...] = (
    FailureClass(
        "disk_full",
        "Make room, never with the best or the newest whole checkpoint: `onbox prune --dry-run` lists old ones that "
        "may go, `onbox stats --hogs` what else is big. Then resume.",
        _NO_ROOM,
    ),
    FailureClass(
        "inode_exhausted",
        "Delete or pack small files (tar, shards), then resume. Pruning big checkpoints does not help.",
        _NO_ROOM,
    ),
    FailureClass(
        "quota_exceeded",
        "Free space under that quota or move caches and outputs elsewhere, then resume.",
        _NO_ROOM,
    ),
    FailureClass(
        "host_oom",
        "Fewer workers, less prefetch or pinning, or more memory (look at the cgroup's limit, not the host's); then "
        "resume.",
        _NO_MEMORY,
    ),
    FailureClass(
        "shm_too_small",
        "Raise the container's shared-memory size, use fewer workers, or share through files; then resume.",
        _NO_MEMORY,
    ),
    FailureClass(
        "cuda_oom",
        "Change the configuration (batch, sequence, sharding) or free the card if another holds it. Never unchanged.",
        _NO_MEMORY,
    ),
    FailureClass(
        "tpu_hbm_oom", "Change the configuration (batch, sharding, remat). Never retry unchanged.", _NO_MEMORY
    ),
    FailureClass("code_error", "Stop; fix the code. Never retry unchanged.", _SAME_DEFECT),
    FailureClass("config_error", "Stop; correct the configuration, then start anew.", _SAME_DEFECT),
    FailureClass(
        "checkpoint_corrupt",
        "Fall back to the last whole checkpoint; if keys differ, see whether code and checkpoint belong together.",
        "it would load the same damaged checkpoint",
    ),
    FailureClass(
        "data_error",
        "Repair, fetch again or skip the named file, then resume: a plain retry meets it again.",
        "it meets the same data again",
    ),
    FailureClass(
        "divergence",
        "Stop; a person decides. Go back to a checkpoint before the blow-up and change what caused it (learning rate, "
        "data, precision).",
        "the same configuration diverges again, and its newest checkpoints hold the blow-up",
    ),
    FailureClass(
        "cuda_assert", "Run once with CUDA_LAUNCH_BLOCKING=1 to find the line; treat it as a bug.", _SAME_DEFECT
    ),
    FailureClass(
        "cuda_env",
        "Fix the image, the driver or the allocation. Never retry on the same environment.",
        "the same environment fails in the same way",
    ),
    FailureClass("gpu_hardware", "Exclude the node, report it, resume on another one.", _SAME_DEVICE),
    FailureClass("tpu_bad_node", "Recycle the node or end the stale holder of the device, then resume.", _SAME_DEVICE),
    FailureClass(
        "nccl_or_distributed",
        "Find the first failing rank; if there is none, resume once, then suspect the fabric or a node.",
    ),
    FailureClass("ray_node_died", "Wait for the node or replace it, then resume."),
    FailureClass("preempted", "Resume the same configuration."),
    FailureClass("time_limit", "Resume from the last checkpoint with a new limit; save more often if work was lost."),
    FailureClass("network_blip", "Resume the same configuration after a back-off; work offline if it happens again."),
    FailureClass("auth_error", "Stop; a person must give access. Never retry.", "access does not come by itself"),
    FailureClass(
        "permission_error", "Correct owner, mode or path, then resume.", "permissions do not change by themselves"
    ),
    FailureClass("port_in_use", "Choose another port or end the stale process, then resume."),
    FailureClass(
        "user_interrupt", "Do nothing by yourself; resume only on request.", "a person ended it, so a person resumes it"
    ),
    FailureClass(
        "hang_stall",
        "Look at the age of log and checkpoint; if both are old, take a stack dump, then stop and resume.",
    ),
    FailureClass("success_healthy", "Leave it alone.", "it has not failed"),
    FailureClass(
        "false_success",
        "It exited with 0 but did not leave what it must: look at its log before resuming.",
        "it would exit with 0 and leave too little again",
    ),
    FailureClass(
        "not_started",
        "What the stage needs to start is missing: provide it, then start the chain again.",
        "what it needs does not come by itself",
    ),
    FailureClass(
        "unknown",
        "Read the end of the attempt's log; resume only when the cause is understood.",
        "its cause is not known yet",
    ),
)

# Of a lack of one and the same: one errno tells of all of them.
OF_SPACE = ("disk_full", "inode_exhausted", "quota_exceeded", "shm_too_small")
OF_A_CARD = ("cuda_oom", "cuda_assert", "gpu_hardware")  # a driver's own words
SAYS = "says-"  # what begins the names of rules that are read from a sentence
# What to do where the rule knows more than its class.
UNPROVEN = "unproven"  # the rule of an end of which nothing that was seen proves the cause
IN_DOUBT = "exit-0-beside-a-fault"  # the rule of an end with 0 whose log tells of a failure
READS_WELL = "reads-well"  # the rule of a log whose last lines read like those of runs that went well, beside a fault
READS_BADLY = "reads-badly"  # and of one whose last lines read like a failure, of which no line names the kind
COUNTS_NONE = "counts-none"  # the rule of a log without a fault whose last lines count none of what the work was for
RESULT_MISSING = "result-missing"  # and of one whose last lines say that a result is not kept
PROCESS_RUNS = "process-runs"  # the rule of a log that names a fault while its process runs
NONE_COUNTED = "killed-none-counted"  # the rule of a SIGKILL while its cgroup counted no kill for memory
ONE_LINE = "one-line"  # and of a run known to have failed, of which one line tells why in words of its own
READS_AS = "reads-as"  # and of one whose class no rule is sure of, by its words

GUESSES = frozenset({READS_BADLY, ONE_LINE, READS_AS})  # rules of a class that is read from words alone

_FROM_ONE_LINE = "The class is a guess from one line: read what stands around it before anything is changed."
RULE_REMEDIES = {
    "stalled": "It stood still until it was ended: the end of its log and its stacks (beside the log, where py-spy is "
    "installed) say where. See that it cannot hang there again, then resume.",
    NONE_COUNTED: "Something sent SIGKILL, and no kill for memory was counted. Find out who did, then resume: the "
    "scheduler's word, the kernel's log, other people on the box. If memory is near the cgroup's limit, size the "
    "workers by memory.max, not by the number of CPUs.",
    "killed-cause-unknown": "Something sent SIGKILL, and nothing here tells what. Find out, then resume: oom_kill in "
    "the cgroup's memory.events (memory), the scheduler's word, the kernel's log, other people on the box.",
    "keeper-lost": "Its keeper (the process that records the exit code) was killed; the stage went on, and how it "
    "ended is not known. Look at the end of its log and at its results; then resume: the stage runs again.",
    "end-missed": "Nobody recorded how it ended. Look at the end of its log and at its results; if it has to run "
    "again, resume: the stage starts once more.",
    "cut-off": "Its runner and its processes are gone, and nobody recorded how: a reboot, an eviction or a kill "
    "from outside. Resume it; if it ends again at the same step, look there first.",
    "bare-killed": "Killed without a traceback is most often the cgroup's OOM killer: look at oom_kill in "
    "memory.events. Size the workers by memory.max, not by the number of CPUs; then resume.",
    "nothing-written": "The log is empty, or holds no text: see whether the program runs, and where its output goes.",
    "says-it-failed": "The program says itself that it has not brought what it was for: look in its log for the part "
    "that failed and why, then run that part again.",
    IN_DOUBT: "It ended with exit code 0, yet its log tells of a failure: see whether the code was lost "
    "on the way (`|| true`, a pipe without `set -o pipefail`), and look at its results before they are used.",
    COUNTS_NONE: "It came to its end, yet its last lines count none of what the work was for: see whether that was "
    "meant.",
    RESULT_MISSING: "It came to its end, yet one of its last lines says that a result was not kept: see whether it is "
    "there before the box is given back.",
    PROCESS_RUNS: "Its process runs, beside a line that names a fault: see below whether it works on; nothing is to be "
    "started a second time.",
    READS_WELL: "One line names a fault, but the last lines read like those of a run that went well: if it has "
    "ended, look at its results before they are used.",
    READS_BADLY: "No line names a fault, but the last lines read like those of a run that went wrong: read them, and "
    "look at its results before they are used.",
    "error-line": _FROM_ONE_LINE,
    ONE_LINE: _FROM_ONE_LINE,
    "start-values": "Nothing was sampled: the model gives no number where it begins. Look for NaN in the data, for "
    "values outside the support of a likelihood or prior, and set other start values; then start anew.",
    "all-metrics-zero": "Stop and look at the data, the labels and the metric: a run whose loss and score stay at 0 "
    "computes nothing.",
    "early-spike": "Run the identical configuration once more before judging the number: a spike of the gradient in "
    "the first epochs can decide how a run ends. Change nothing for it.",
}
REMEDIES = {row.key: row.remedy for row in CLASSES}
NEVER = {row.key: row.never for row in CLASSES}


def about_stall(stacks: str | None) -> dict[str, str]:
    """What to do about a stage that stands still. stacks: the file with the stacks of its processes."""
    if stacks is None:
        return {"remedy": REMEDIES["hang_stall"]}
    name = stacks.rpartition("/")[2]
    remedy = f"See in {name}, beside its log, where it stands; if that does not move, stop and resume."
    return {"remedy": remedy, "stacks": stacks}


def may_repeat(failure_class: str, *, own_word: bool | None = None, rule: str = "") -> bool:
    """Whether the same configuration may run again by itself after such a failure.

    own_word: of a [[triage]] row of the user's own, which decides for a class that the table does not know; None: there
    is none, and then the answer is no. rule: that the class is from; "" where it is not known. What is no more than a
    guess makes nothing run again.
    """
    if rule in GUESSES:
        return False
    never = NEVER.get(failure_class)
    return bool(own_word) if never is None else not never
