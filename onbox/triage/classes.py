"""Failure classes, each with its one fixed remedy. A class is a promise about what to do next, not a wording."""

from __future__ import annotations

from typing import NamedTuple


class FailureClass(NamedTuple):
    """key: stable name, used in `retry.classes` and in markers. retryable: whether the same configuration may run
    again at all; False means that a retry can only repeat the failure.
    """

    key: str
    remedy: str
    retryable: bool


CLASSES: tuple[FailureClass, ...] = (
    FailureClass(
        "disk_full",
        "Prune old snapshots and scratch, check that the newest checkpoint is whole, resume from the last whole one.",
        True,
    ),
    FailureClass(
        "inode_exhausted",
        "Delete or pack small files (tar, shards), then resume. Pruning big checkpoints does not help.",
        True,
    ),
    FailureClass(
        "quota_exceeded", "Free space under that quota or move caches and outputs elsewhere, then resume.", True
    ),
    FailureClass(
        "host_oom",
        "Fewer workers, less prefetch or pinning, or more memory (look at the cgroup's limit, not the host's); resume.",
        True,
    ),
    FailureClass(
        "shm_too_small",
        "Raise the container's shared-memory size, use fewer workers, or share through files; then resume.",
        True,
    ),
    FailureClass(
        "cuda_oom",
        "Change the configuration (batch, sequence, sharding) or free the card if another holds it. Never unchanged.",
        False,
    ),
    FailureClass("tpu_hbm_oom", "Change the configuration (batch, sharding, remat). Never retry unchanged.", False),
    FailureClass("code_error", "Stop; hand file and line to somebody who can mend them. Never retry.", False),
    FailureClass("config_error", "Stop; correct the configuration, then start anew.", False),
    FailureClass(
        "checkpoint_corrupt",
        "Fall back to the last whole checkpoint; if keys differ, see whether code and checkpoint belong together.",
        False,
    ),
    FailureClass(
        "data_error", "Repair, fetch again or skip the named file, then resume: a plain retry meets it again.", False
    ),
    FailureClass(
        "divergence",
        "Stop; go back to a checkpoint before the blow-up. One identical retry with another seed at most.",
        True,
    ),
    FailureClass("cuda_assert", "Run once with CUDA_LAUNCH_BLOCKING=1 to find the line; treat it as a bug.", False),
    FailureClass(
        "cuda_env", "Mend the image, the driver or the allocation. Never retry on the same environment.", False
    ),
    FailureClass("gpu_hardware", "Exclude the node, report it, resume on another one.", True),
    FailureClass("tpu_bad_node", "Recycle the node or end the stale holder of the device, then resume.", True),
    FailureClass(
        "nccl_or_distributed",
        "Find the first failing rank; if there is none, resume once, then suspect the fabric or a node.",
        True,
    ),
    FailureClass("ray_node_died", "Wait for the node or replace it, then resume.", True),
    FailureClass("preempted", "Resume the same configuration.", True),
    FailureClass(
        "time_limit", "Resume from the last checkpoint with a new limit; save more often if work was lost.", True
    ),
    FailureClass(
        "network_blip", "Resume the same configuration after a back-off; work offline if it happens again.", True
    ),
    FailureClass("auth_error", "Stop; a person must give access. Never retry.", False),
    FailureClass("permission_error", "Mend owner, mode or path, then resume.", False),
    FailureClass("port_in_use", "Choose another port or end the stale process, then resume.", True),
    FailureClass("user_interrupt", "Do nothing by yourself; resume only on request.", False),
    FailureClass(
        "hang_stall",
        "Look at the age of log and checkpoint; if both are old, take a stack dump, then stop and resume.",
        True,
    ),
    FailureClass("success_healthy", "Leave it alone.", False),
    FailureClass(
        "false_success", "It exited with 0 but did not leave what it must: look at its log before resuming.", False
    ),
    FailureClass(
        "not_started", "What the stage needs to start is missing: provide it, then start the chain again.", False
    ),
    FailureClass("unknown", "Read the end of the attempt's log; resume only when the cause is understood.", False),
)

REMEDIES = {row.key: row.remedy for row in CLASSES}
CLASS_KEYS = frozenset(REMEDIES)
RETRYABLE = frozenset(row.key for row in CLASSES if row.retryable)
