"""The commented onbox.toml that `onbox init` writes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.boxes import BACKENDS
from onbox.contract.config_backends import PARTS
from onbox.contract.engines import NAMES
from onbox.contract.names import run_name_from

if TYPE_CHECKING:
    from collections.abc import Iterable

_MARK = "@NAME@"

# "#key" is a setting that can be switched on by removing the "#"; "# text" is an explanation. Removing the "#" of every
# setting gives a valid file, too: a test does it.
_TEMPLATE = """\
# onbox.toml: what runs, and what must hold before it counts as done.
#
# A line that begins with "#" and no space is a setting that is switched off; remove the "#" to switch it on. Most show
# the default. Durations: "90s", "30m", "12h", "1h30m", or a number of seconds. Sizes: "5GB" (10^9), "5GiB" (2^30), or a
# number of bytes. Relative paths begin at this file's directory; those of a stage at the stage's cwd.

[run]
# The run's name: its state lies in <state_dir>/<name>/. Default: the directory's name.
name = "@NAME@"
# Where state, logs and markers are kept. Put it on the disk that survives. Default: ".onbox"
#state_dir = ".onbox"
# How often the run is looked at and its status is renewed. Default: "30s"
#sample_every = "30s"
# How long a stage that is stopped may take to end (SIGTERM) before it is killed (SIGKILL). Default: "30s"
#grace = "30s"
# Code that has changed (commit, script files of the commands) since a stage ran that would be skipped or resumed:
# "tell", or "refuse" until --accept-code is said. Default: "tell"
#code_changed = "refuse"
# Where `onbox chain` runs the stages: "local" (this machine), or an engine: @ENGINES@. Default: "local"
#backend = "local"
# Added to the environment of every stage. A secret must not lie in this file: write "env:NAME" (a variable of the shell
# that starts the chain) or "file:PATH". Default: nothing is added
#env = { WANDB_MODE = "offline", HF_TOKEN = "file:~/.config/hf_token" }

# The stages run in the order of this file. A name: letters, digits, ".", "_", "-".
[stages.train]
# The command: a shell line (for bash -eo pipefail), or a list of words that no shell touches, such as
# ["python", "train.py"]. Required.
cmd = "python train.py"
# Where it runs. Default: "."
#cwd = "."
# Added to the environment of this stage; overrides [run] env. Default: nothing is added
#env = { OMP_NUM_THREADS = 4 }
# Files or folders that must be there, new since the stage began, before the stage counts as done: a path, or a table
# with path or glob, min_count (default 1; with glob) and min_bytes (of each, default 1; of a folder all its files).
# One whose weights cannot be read to their end does not count. Default: none
#artifacts = ["best.npz", { path = "last.npz", min_bytes = "1KB" }, { glob = "epoch_*.npz", min_count = 3 }]
# How its checkpoints are laid out: "hf", "lightning", "orbax" or "torch"; path: where they lie (default: as artifacts
# or gates.checkpoints say), and min_count whole ones (default 1) must be there. Default: what lies there tells
#checkpoints = { kind = "hf", path = "ckpt", min_count = 1 }
# Longer than this, and the stage is stopped and has failed. Default: no limit
#timeout = "12h"
# Log, artifacts and CPU all quiet for so long: stalled. It is told, and nothing is stopped unless retry.classes has
# "hang_stall". Default: never
#stall_after = "30m"
# Done faster than this is suspicious and counts as failed. Default: any duration will do
#min_duration = "60s"
# What must appear before the stage starts: { file = … }, or { log = …, regex = … } for a line in a log, or the end of
# the process { pid = … }; after timeout (default "7d") the stage has failed. Default: nothing is waited for
#wait_for = { file = "data/READY", timeout = "7d" }
# Start it again unchanged: at most max times (default 1), only after failures of these classes, after backoff (default
# "60s", twice as long each time). What can only fail again (host_oom, divergence, ...) is refused. Default: never
#retry = { max = 2, classes = ["preempted", "network_blip"], backoff = "60s" }
# A regular expression that a line of the attempt's own log must match before the stage counts as done. Default: ""
#done_if_log = "saved .*best"
# One that no line may match, whatever the exit code is. Default: ""
#fail_if_log = "CHECKSUM MISMATCH"
# Whether a last loss of nan or inf is told as a warning beside DONE; "refuse": the stage has failed. Default: true
#finite_loss = "refuse"
# Gates of this stage alone: each overrides the one of [gates], and false switches it off. Default: those of [gates]
#gates = { disk_free = "20GB", gpu = false }
@STAGE@
[stages.eval]
cmd = "python eval.py"
#artifacts = ["results.csv"]
# It will never appear: a line that matches fail_regex, a log that is quiet for so long, a process that has gone
#wait_for = { log = "up.log", regex = "^listening", fail_regex = "^Traceback", stall_after = "30m", pid = 4711 }

# Checked before each stage; a gate that refuses starts nothing and loses nothing. Default: no gate
#[gates]
# Free space where the run works: a size, or a share such as "5%"
#disk_free = "5GB"
# Free inodes there: a count such as 200000 or "200k", or a share. A disk can be full of files at a third of its bytes.
#inodes_free = "5%"
# Free memory, within the limit of the container: a size, or a share of that limit
#memory_free = "2GB"
# At least count GPUs (default 1) with at most max_used_mib MiB in use each (default: any use)
#gpu = { count = 1, max_used_mib = 500 }
# Room for what will be written where path (default ".") lies: keep checkpoints of size, files (default 1) each,
# and scratch beside them. What lies below path already counts as a part of the checkpoints.
#checkpoints = { path = "ckpt", size = "4GB", keep = 3, scratch = "10GB", files = 1 }

# Who is told, and of what. Messages that cannot be delivered are kept and tried again.
#[notify]
# Where to: each "env:NAME" or "file:PATH", which hold the URL; the format is known by the URL. Default: nowhere
#urls = ["env:ONBOX_WEBHOOK"]
# Of which events. Default: these; there are "interrupted" and "stopped", too
#on = ["stage_done", "stage_failed", "stalled", "chain_done", "chain_failed", "gate_refused", "tracker_drift", "patrol"]
# How long one try may take, whatever the other side does. Default: "20s"
#attempt_timeout = "20s"
# How long to wait before the second try; twice as long each time, up to the limit. Defaults: "2s" and "60s"
#backoff = "2s"
#backoff_limit = "60s"
# What could not be delivered for so long is put aside as dead. Default: "7d"
#give_up = "7d"

# A target with settings of its own, under a name of your choice. secret: signs the message. format: "generic", "slack",
# "discord", "teams", "feishu", "lark", "dingtalk", "wecom", "telegram", "ntfy", "healthchecks", "email" or "apprise".
# on: default as in [notify]. attach_log: so much of the end of the stage's log goes along, without secrets. Default: 0
#[notify.targets.team]
#url = "env:TEAM_WEBHOOK"
#format = "feishu"
#on = ["stage_failed", "chain_done"]
#secret = "env:TEAM_SECRET"
#attach_log = "4KB"

# The run's record, logbook/<run>.md. git: what is done by itself with new entries: "never", "commit" (that file
# alone, never what you staged), or "push" as well. remind: a live run without an entry by hand for so long is told as
# due.
#[logbook]
#git = "never"
#remind = "24h"

# What a run that must be accounted for promises before its launch; it heads the record. `handbook contract` says what
# is missing. initialize_from: where it was started from, if not from nothing; rollback: how many checkpoints back.
# rejected: checkpoints that nobody may go on from; a resume that would take one refuses.
#[contract]
#dri = "ann"
#goal = "a loss below 2.1 at step 100000"
#stop = "loss above 4 for an hour; a second loss of the same node"
#issue = "https://example.com/issues/1"
#tracker = "wandb lab/digits/run-1, resume=allow"
#output_root = "/mnt/shared/digits"
#initialize_from = "/mnt/shared/base/step-4000"
#final_step = 100000
#retention = "permanent every 100000 steps, temporary every 15 min"
#rollback = "10 checkpoints back"
#rejected = ["ckpt/step-2*"]
#runtime = "image lab/train:2.3"
#babysitter = "patrol on ann's machine"

# How far a run is, where its log does not say it in a common form.
#[progress]
# The line that tells it; the named groups `current` and `max` are the numbers. Default: the common forms
#regex = "step (?P<current>[0-9]+) of (?P<max>[0-9]+)"
# The exact end, where the log shows none or a rounded one. Default: what the log says in full
#max = 5155

# The run at an experiment tracker that is meant: whatever differs is told at once. Default: nothing is expected
#[tracker]
# "wandb" or "trackio"; W&B's user or team; the project; the run's id (as in its URL) and its name
#kind = "wandb"
#entity = "lab"
#project = "@NAME@"
#run_id = "@NAME@-7"
#name = "try-7"
# A stage's later attempts: "must" go on in the same run, "never" may, or both will do. Default: "allow"
#resume = "must"
# Whose runs are meant. Default: every stage's
#stages = ["train"]
# The local side asks W&B's server, too, where this names a key: "env:NAME" or "file:PATH". Default: nobody is asked
#key = "env:WANDB_API_KEY"
#api = "https://api.wandb.ai"

# `onbox sweep`: these stages for each cell, with {lr}, {seed} and {cell} in their commands and paths.
#[sweep]
# The sweep's name. Default: "sweep". Which stages: by default all
#name = "sweep"
#stages = ["train"]
# Every combination of these is a cell. Or one line of a file = one cell, cells = "queue.txt": lr=1e-3 seed=0
#grid = { lr = ["1e-3", "1e-4"], seed = "0..4" }
# How many cells run at once (default 1), or how many free GPUs each of them gets (default 0: none of its own)
#jobs = 2
#gpus = 1
# Give up when more cells than that have failed (default: never), or so many in a row in the same way (default 10)
#max_failures = 20
#same_failures = 10
# The numbers that a cell leaves: its JSON file, such as "runs/{cell}/metrics.json", or what its log says
#metrics = { regex = "accuracy (?P<accuracy>[0-9.]+)" }
# What orders `onbox sweep table` and names the best: "-accuracy" has the largest first. Default: as the cells come
#sort = "-accuracy"
# How long a cell waits for room, memory or a card before the sweep ends. Default: "7d"
#gate_wait = "7d"

# Why a stage failed, where onbox cannot know: a line of its log, the class that it proves, what to do, and whether a
# retry can help (default false). As many of these as you like.
#[[triage]]
#regex = "LicenseServerBusy"
#class = "license_busy"
#remedy = "Wait for a free licence, then resume."
#retry = true

# The engines that can run the stages as jobs.

@TABLES@
# The rest is for the local side: where runs live, and how to look at them.
#[boxes.gpu1]
# The host: an alias of ~/.ssh/config. Default: the box's name
#host = "gpu1"
# The project directory on the box
#project = "/root/@NAME@"
# @BACKENDS@. Default: "ssh"
#backend = "ssh"
# What may be done about a dead run: "never" (look only), or "resume" for failures that allow it. Default: "never"
#recover = "never"
# Where its runs lie, below the project unless absolute. Default: as [run] state_dir
#state_dir = ".onbox"
# Who answers for its runs. Default: nobody is named
#owner = "Ada"
# What ends or costs by itself there; the handbook shows it. Default: none is named
#clocks = ["released on Friday 18:00 UTC", "a stopped box still bills its disk", "below 5 USD the volume is purged"]
# How long this box may take in one look. Default: as [patrol] deadline
#deadline = "1m"
# A data set that is being copied: the box must hold as many files as the source here
#counts = [{ local = "data/train", remote = "data/train" }]
# Small files there that are shown as they are, once a run is done
#results = ["results/*.csv"]
# A run that onbox did not start. One table, or a list of tables with a name each
#[boxes.gpu1.watch]
#name = "watched"
# Its log, and a pattern of its process's command line, as for pgrep -f
#log = "train.log"
#process = "train.py"
# The tmux or screen session that it runs in
#session = "train"
# Its files; what says that it is done: a log line, a file, or so many of its files. Default: a log that ends with
# "Training completed" or "QUEUE DONE", with no process left
#artifacts = ["ckpt/*.npz"]
#done_regex = "^finished"
#done_file = "DONE"
#done_count = 10
# Where its watch ends, and you are told: at a step, a time (local, unless with an offset), or a loss; here or for all
# runs of the box. Nothing is stopped by it
#stop_at = { step = 4000, time = "2027-01-01 08:00", loss = 0.1 }
# Quiet for so long is stalled, and how long it should take. Default: 30 minutes; not known
#stall_after = "30m"
#expected = "6h"

# A cluster is asked over HTTP about jobs that you name: backend @CLUSTERS@
#[boxes.cluster]
@BOX@
#[patrol]
# When to look, as in a crontab. Default: "3,33 * * * *"
#schedule = "3,33 * * * *"
# How long one box may take in one look. Default: "30s"
#deadline = "30s"
# Boxes looked at at the same time, and logins in flight to one host. Default: 16 and 6
#at_once = 16
#per_host = 6
# Keep a connection open between looks (ssh's ControlMaster). Default: false
#multiplex = false
# A URL to call after each look that went well: a dead-man's switch. A reference, because it is a secret
#ping = "env:ONBOX_PING"
# A file for Prometheus' node_exporter
#textfile = "/var/lib/node_exporter/onbox.prom"
# How often a day a run may be resumed where `recover = "resume"`. Default: 3
#restarts_per_day = 3
# Numbers of the decision table, and changes of its rules: docs/patrol-rules.md names them all
#thresholds = { disk_free_warning_percent = 10 }
#rules = [{ name = "gpu-idle", enabled = false }]

#[ssh]
# The ssh command. The variable ONBOX_SSH_COMMAND overrides it. Default: "ssh"
#command = "ssh -F ./ssh_config"
"""


def render_template(run_name: str) -> str:
    """The text of a new onbox.toml for the run `run_name` (made a valid name if it is none)."""
    return _with_engines(_TEMPLATE).replace(_MARK, run_name_from(run_name))


def _with_engines(text: str) -> str:
    """What the engines' own modules say of their parts of the file."""
    parts = PARTS.values()
    filled = {
        "@ENGINES@": ", ".join(map(_quoted, NAMES)),
        "@BACKENDS@": _either(map(_quoted, BACKENDS)),
        "@CLUSTERS@": _either(f"{_quoted(name)} ({part.job_example})" for name, part in PARTS.items() if part.job_id),
        "@STAGE@": "".join(part.stage_template for part in parts),
        "@TABLES@": "\n".join(part.template for part in parts),
        "@BOX@": next(part.box_template for part in parts if part.box_template),
    }
    for mark, words in filled.items():
        text = text.replace(mark, words)
    return text


def _quoted(name: str) -> str:
    return f'"{name}"'


def _either(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
