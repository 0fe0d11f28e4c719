"""The commented onbox.toml that `onbox init` writes. Every commented key is valid as it stands."""

from __future__ import annotations

_TEMPLATE = """\
# One run: its stages, in order, each behind its success gate. Every key has a default; unknown keys are errors.
[run]
name = "@NAME@"                    # names the state directory: <state_dir>/<name>/
# state_dir = ".onbox"             # put it on the disk that survives
# env = { WANDB_MODE = "offline", WANDB_API_KEY = "env:WANDB_API_KEY" }   # secrets only as env:NAME or file:PATH
# sample_every = "30s"             # heartbeat and samples
# grace = "30s"                    # between SIGTERM and SIGKILL

[stages.train]
cmd = "python train.py"            # a shell line (bash -eo pipefail), or a list of words
# cwd = "."                        # relative to this file
# artifacts = ["ckpt/best.pt", { glob = "ckpt/epoch_*.pt", min_count = 3, min_bytes = 1024 }]   # new, or no DONE
# timeout = "12h"
# stall_after = "30m"              # log, artifacts and CPU all quiet for so long: stalled
# min_duration = "60s"             # faster than that is suspicious: no DONE
# wait_for = { file = "data/READY", timeout = "6h" }      # or { log = "prep.log", regex = "finished", timeout = "6h" }
# retry = { max = 2, classes = ["preempted", "network_blip"], backoff = "60s" }   # same command, same configuration
# done_if_log = "Training completed"    # a line that the attempt's own log must hold
# env = { OMP_NUM_THREADS = "4" }
# gates = { disk_free = "20GB" }   # for this stage, besides [gates]

[stages.eval]
cmd = "python eval.py"
# artifacts = ["results.csv"]

# [gates]                          # checked before each stage; refusing starts nothing and loses nothing
# disk_free = "5GB"
# inodes_free = "5%"

# [notify]
# urls = ["env:ONBOX_WEBHOOK"]     # env:NAME or file:PATH, never the address itself
# on = ["stage_failed", "stalled", "chain_done", "chain_failed", "gate_refused"]

# [boxes.gpu1]                     # where runs live, seen from your own machine
# host = "gpu1"                    # an alias of ~/.ssh/config
# project = "/root/@NAME@"
# backend = "ssh"
"""


def render_template(run_name: str) -> str:
    """The text of a new onbox.toml for a run of this name."""
    return _TEMPLATE.replace("@NAME@", run_name)
