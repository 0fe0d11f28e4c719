"""How schedulers, Kubernetes and container engines name the end of a job, and why they refuse one. Pure."""

from __future__ import annotations

from onbox.triage.rules.rows import ASKED, CAUSE, CONFIG, PEER, REASON, SUMMARY, RuleRow
from onbox.triage.rules.vocabularies.listed import Listed, rows

# JobState=X, `State: X (exit code 1)`, `|X|` of sacct, `, X, ExitCode` of its mails.
_STATE = (
    r"\b(?:job)?state[ :=]{1,3}(?-i:{})(?! ?\w{1,3}/)\b|\|(?-i:{})(?: by \d{1,10}|\+)?\||, (?-i:{}), exitcode\b"
    r"|\bended with state (?-i:{})\b"
)
SLURM_STATES: tuple[RuleRow, ...] = rows(
    _STATE,
    "state|exitcode|preempted|timeout|_fail|out_of_memory|cancelled|failed|deadline|revoked",
    "Slurm: states of a job in scontrol, sacct, seff and mails",
    Listed("state-limit", "time_limit", REASON, "TIMEOUT|DEADLINE", "JobState=DEADLINE Reason=None", True),
    Listed(
        "state-node",
        "preempted",
        REASON,
        "BOOT_FAIL|NODE_FAIL|PREEMPTED|REVOKED|REQUEUED?|LAUNCH_FAILED|RESIZING",
        "JobState=BOOT_FAIL Reason=None",
        True,
    ),
    Listed("state-memory", "host_oom", REASON, "OUT_OF_ME(?:MORY)?", "7|fit|gpu|OUT_OF_MEMORY|0:125", True),
    Listed("state-cancelled", "user_interrupt", ASKED + 5, "CANCELLED", "7|fit|gpu|CANCELLED|0:15", True),
    Listed("state-failed", "code_error", SUMMARY, "FAILED", "JobState=FAILED Reason=NonZeroExitCode", True),
)

LSF_ENDS: tuple[RuleRow, ...] = rows(
    r"\bTERM_(?:{})\b|=>> PBS: job killed: (?:{})\b|\b(?:failed|job)\b.{0,40}\bexceed(?:s|ed) (?:job )?(?:{})",
    "term_|pbs: job killed|exceed",
    "LSF, PBS, Grid Engine: why a job was ended",
    Listed(
        "batch-time",
        "time_limit",
        REASON,
        r"RUNLIMIT|CPULIMIT|DEADLINE|WINDOW|walltime|cput|hard limit \"[hs]_(?:rt|cpu)\"|hard (?:wallclock|run) time",
        "TERM_CPULIMIT: job killed after reaching LSF CPU usage limit.",
        True,
    ),
    Listed(
        "batch-memory",
        "host_oom",
        REASON,
        r"MEMLIMIT|SWAP|[pv]?v?mem|hard limit \"[hs]_(?:vmem|rss|data)\"|memory limit",
        "TERM_SWAP: job killed after reaching LSF swap usage limit.",
        True,
    ),
    Listed(
        "batch-preempted",
        "preempted",
        REASON,
        r"PREEMPT\w{0,12}|LOAD|RMS|CHKPNT|CSM\w{0,20}|MIGRATE|node \d{1,9}|REQUEUE_(?:ADMIN|RMS)",
        "TERM_LOAD: job killed after load exceeded threshold.",
        True,
    ),
    Listed(
        "batch-owner",
        "user_interrupt",
        ASKED + 5,
        r"OWNER|ADMIN|FORCE_\w{1,20}|BUCKET_KILL|REQUEUE_\w{1,20}|ORPHAN_SYSTEM|EXTERNAL_SIGNAL",
        "TERM_BUCKET_KILL: job killed with bkill -b.",
        True,
    ),
    Listed(
        "batch-limit",
        "config_error",
        REASON,
        r"THREADLIMIT|PROCESSLIMIT|ncpus|hard limit \"[hs]_(?:fsize|stack|core)\"",
        "TERM_THREADLIMIT: job killed after reaching LSF thread limit.",
        True,
    ),
)
CONDOR: tuple[RuleRow, ...] = (
    RuleRow(
        "condor-memory",
        "host_oom",
        REASON,
        "memory limit",
        r"\bjob has gone over memory limit\b",
        "HTCondor",
        "\tError from slot1@n4: Job has gone over memory limit of 32768 megabytes.",
        True,
    ),
    RuleRow(
        "condor-removed",
        "user_interrupt",
        ASKED + 5,
        "condor_rm",
        r"\bvia condor_rm\b",
        "HTCondor",
        "\tvia condor_rm (by user u)",
        True,
    ),
)
SUBMITTING: tuple[RuleRow, ...] = (
    RuleRow(
        "controller-unreachable",
        "network_blip",
        CAUSE,
        "slurm controller|cannot connect to server|slurmctld|batch daemon|connect to lsf",
        r"\bunable to contact slurm controller\b|^pbs_\w{1,20}: cannot connect to server\b"
        r"|\b(?:batch daemon|lim) (?:is )?(?:not responding|down)\b|cannot connect to (?:lsf|slurmctld)\b",
        "Slurm, PBS, LSF: the scheduler does not answer",
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
    ),
    RuleRow(
        "job-refused",
        "config_error",
        CONFIG,
        "qsub|qalter|qrsh|qlogin|qdel|qstat|bsub|condor_submit|not submitted|unable to run job|srun|salloc"
        "|enough slots|execve",
        r"^(?:qsub|qalter|qrsh|qlogin|qdel|qstat|bsub|condor_submit): (?!.{0,40}cannot connect)\S|\bjob not submitted\b"
        r"|^unable to run job: "
        r"|^srun: error: .{0,60}\b(?:launch failed: slurmd could not execve|invalid job id|already completing)"
        r"|^there are not enough slots available\b|^slurmstepd: error: execve\(\)(?!.{0,200}permission denied)",
        "PBS, LSF, Grid Engine, HTCondor, Slurm, Open MPI: what a job asks for, or is to start, is not there",
        'Unable to run job: unknown resource "gpus".',
    ),
    RuleRow(
        "step-ended",
        "code_error",
        PEER - 1,
        "due to task failure|node failure|reboot in progress",
        r"\bcancelled at.{0,40}due to task failure\b",
        "Slurm: one task of a step has failed",
        "slurmstepd: error: *** STEP 7.0 ON n4 CANCELLED AT 2026-03-02T10:12:31 DUE TO TASK FAILURE ***",
        True,
    ),
    RuleRow(
        "node-failed",
        "preempted",
        REASON,
        "node failure|reboot in progress|has been revoked|notready",
        r"^srun: error: node failure on \S|\*{3} reboot in progress \*{3}|^salloc: job allocation \d{1,12} has"
        r" been revoked"
        r"|(?-i:\bNodeNotReady\b|\bTaintManagerEviction\b)",
        "Slurm, Kubernetes",
        "srun: error: Node failure on node4",
        True,
    ),
    RuleRow(
        "task-memory",
        "host_oom",
        REASON,
        "task",
        r"^srun: error: \S{1,80}: tasks? [\d,-]{1,200}: out of memory\b",
        "Slurm",
        "srun: error: node4: task 3: Out Of Memory",
        True,
    ),
    RuleRow(
        "task-asked-to-end",
        "user_interrupt",
        ASKED - 5,
        "task",
        r"^srun: error: \S{1,80}: tasks? [\d,-]{1,200}: terminated$",
        "Slurm: of a task that somebody sent SIGTERM",
        "srun: error: node4: task 3: Terminated",
        rivals=("preempted", "time_limit"),
    ),
)

CONTAINERS: tuple[RuleRow, ...] = (
    RuleRow(
        "container-device",
        "cuda_env",
        CAUSE,
        "devices unavailable|unexpectedadmissionerror|nvidia.com/|amd.com/",
        r"\bUnexpectedAdmissionError\b|\bdevices unavailable for (?:nvidia|amd)\.com",
        "Kubernetes: the node has not the devices that it promised",
        "Warning  UnexpectedAdmissionError  2s  kubelet  Allocate failed",
    ),
    RuleRow(
        "cluster-refused",
        "auth_error",
        CAUSE,
        "error from server|pull access denied|requested access|error fetching image",
        r"\berror from server \((?:forbidden|unauthorized)\)|\bpull access denied\b"
        r"|\berror fetching image: unauthorized\b|\brequested access to the resource is"
        r" denied",
        "kubectl, docker",
        "Error from server (Forbidden): pods is forbidden",
    ),
    RuleRow(
        "cluster-unreachable",
        "network_blip",
        CAUSE,
        "error from server|connection to the server|toomanyrequests",
        r"\berror from server \((?:internalerror|serviceunavailable|timeout|toomanyrequests|gatewaytimeout)\)"
        r"|^the connection to the server \S{1,120} was refused\b|\btoomanyrequests: ",
        "kubectl, docker",
        "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
    ),
    RuleRow(
        "container-setting",
        "config_error",
        CONFIG,
        "imageneverpull|containererror|cannotrun|starterror|hookerror|failedmount|failedattach|from server"
        "|from daemon|reference format|invalidimage|short-name|connect to the"
        "|no matches for kind|containerconfig|admission webhook",
        r"(?-i:\bErrImageNeverPull\b|\b(?:Create|Run)Container(?:Config)?Error\b|\bContainerCannotRun\b|\bStartError\b"
        r"|\bPostStartHookError\b|\bPreCreateHookError\b|\bFailedMount\b|\bFailedAttachVolume\b|\bImageInspectError\b)"
        r"|\berror from server \((?:notfound|badrequest|invalid|alreadyexists|conflict|methodnotallowed)\)"
        r"|\berror response from daemon: (?!.{0,300}\b(?:denied|already (?:allocated|in use)|timeout|refused"
        r"|unreachable"
        r"|rate limit|no space))"
        r"|\bcannot connect to the (?:docker|podman|containerd) daemon\b"
        r"|\binvalid reference format\b|\bshort-name \"\S{1,200}\" did not resolve\b",
        "Kubernetes, docker, podman: a container that cannot start as it is described",
        "docker: Error response from daemon: No such container: x.",
    ),
    RuleRow(
        "job-gave-up",
        "code_error",
        SUMMARY,
        "backofflimit|backoff limit|podfailurepolicy",
        r"(?-i:\bBackoffLimitExceeded\b|\bPodFailurePolicy\b)",
        "Kubernetes: a job whose pods have failed too often",
        "Warning  BackoffLimitExceeded  2s  job-controller  Job has reached the specified backoff limit",
        True,
    ),
)
