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
        "disk_full", "Prune old snapshots and scratch, check that the newest checkpoint is whole, then resume.", True
    ),
    FailureClass("inode_exhausted", "Delete or pack small files (tar, shards), then resume.", True),
    FailureClass("quota_exceeded", "Free space under that quota or move outputs elsewhere, then resume.", True),
    FailureClass("host_oom", "Fewer workers, less prefetch, or a higher memory limit; then resume.", True),
    FailureClass("shm_too_small", "Raise the container's shared-memory size or use fewer workers, then resume.", True),
    FailureClass(
        "cuda_oom", "Change the configuration (batch, sequence, sharding) or free the card. Never unchanged.", False
    ),
    FailureClass("tpu_hbm_oom", "Change the configuration (batch, sharding, remat). Never retry unchanged.", False),
    FailureClass("code_error", "Stop; hand file and line to somebody who can mend them. Never retry.", False),
    FailureClass("config_error", "Stop; correct the configuration, then start anew.", False),
    FailureClass(
        "checkpoint_corrupt", "Fall back to the last whole checkpoint. Never retry with the same file.", False
    ),
    FailureClass("data_error", "Repair, fetch again or skip the named file, then resume.", False),
    FailureClass("divergence", "Go back to a checkpoint before the blow-up; one identical retry at most.", True),
    FailureClass("cuda_assert", "Run once with CUDA_LAUNCH_BLOCKING=1 to find the line; treat it as a bug.", False),
    FailureClass("cuda_env", "Mend the image, the driver or the allocation. Never on the same environment.", False),
    FailureClass("gpu_hardware", "Exclude the node, report it, resume on another one.", True),
    FailureClass("tpu_bad_node", "Recycle the node or end the stale holder of the device, then resume.", True),
    FailureClass("nccl_or_distributed", "Find the first failing rank; if there is none, resume once.", True),
    FailureClass("ray_node_died", "Wait for the node or replace it, then resume.", True),
    FailureClass("preempted", "Resume the same configuration.", True),
    FailureClass("time_limit", "Resume from the last checkpoint with a new limit.", True),
    FailureClass("network_blip", "Resume the same configuration after a back-off.", True),
    FailureClass("auth_error", "Stop; a person must give access. Never retry.", False),
    FailureClass("permission_error", "Mend owner, mode or path, then resume.", False),
    FailureClass("port_in_use", "Choose another port or end the stale process, then resume.", True),
    FailureClass("user_interrupt", "Do nothing by yourself; resume only on request.", False),
    FailureClass("hang_stall", "Check the age of log and checkpoint; if both are old, stop and resume.", True),
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
