"""Remedies that name the case, where the line that proves a failure tells it; the class's own one fits all. Pure."""

from __future__ import annotations

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.classes import REMEDIES, RULE_REMEDIES
from onbox.triage.full_disk import full_folder

LIMIT = 80


class CaseRow(NamedTuple):
    """failure_class: that the row is asked for. pattern: in the proving line. remedy: its groups may be named in it."""

    failure_class: str
    pattern: str
    remedy: str


CASES: tuple[CaseRow, ...] = (
    CaseRow(
        "quota_exceeded",
        r"File too large|File size limit exceeded|\[Errno 27\]",
        "One file may not grow larger here: raise the limit (`ulimit -f`), or write smaller files; then resume.",
    ),
    CaseRow(
        "cuda_env",
        r"Torch not compiled with CUDA",
        "This torch wheel has no CUDA: install one that has (pytorch.org/get-started), or run it on the CPU.",
    ),
    CaseRow(
        "cuda_env",
        r"Found no NVIDIA driver|NVIDIA-SMI has failed|couldn't communicate with the NVIDIA driver|libcuda\.so",
        "No NVIDIA driver is seen here: start the container with its GPUs, or take a machine that has the driver.",
    ),
    CaseRow(
        "cuda_env",
        r"driver version is insufficient|driver on your system is too old|forward compatibility was attempted",
        "The driver is older than this CUDA needs: update the driver, or install a build for an older CUDA.",
    ),
    CaseRow(
        "cuda_env",
        r"no kernel image is available|not compatible with the current PyTorch installation",
        "This build has no kernels for this GPU: install one for its architecture.",
    ),
    CaseRow(
        "cuda_env",
        r"No CUDA GPUs are available|no CUDA-capable device|CUDA_VISIBLE_DEVICES",
        "No GPU is visible to it: look at CUDA_VISIBLE_DEVICES and at what was allocated.",
    ),
    CaseRow(
        "auth_error",
        r"(?i)certificate|x509|pkix path",
        "The server's certificate is not accepted, and a retry changes nothing: look at this machine's clock and at "
        "the CA bundle of the tool (SSL_CERT_FILE, REQUESTS_CA_BUNDLE, GIT_SSL_CAINFO, NODE_EXTRA_CA_CERTS); else its "
        "owner must renew it.",
    ),
    CaseRow(
        "code_error",
        r"No module named '(?P<what>(?:src|utils?|models?|modules|data|configs?|common|core|scripts|tools|train\w{0,8})"
        r"(?:\.[\w.]{1,80})?)'",
        "If {what} is a folder of this project, start it from the project's root or set PYTHONPATH; else install it.",
    ),
    *(
        CaseRow(
            "code_error",
            named,
            "Install {what} into the environment of this run, or correct the import; then start again.",
        )
        for named in (
            r"No module named '(?P<what>[\w.]{1,80})'",
            r"Package (?P<what>\w{1,80}) not found in current path",  # Julia
            r"no package called \W(?P<what>[\w.]{1,80})",  # R
            r"cannot load such file -- (?P<what>[\w./-]{1,80})",  # Ruby
            r"Cannot find module '(?P<what>[@\w./-]{1,80})'",  # Node
        )
    ),
    CaseRow(
        "code_error",
        r"database is locked|[Cc]ould not get lock|is held by process \d|lock is held|locked by another process",
        "Another process holds the lock: wait for it, or end it if it is stale; then start again.",
    ),
    CaseRow(
        "code_error",
        r"[Tt]oo many open files|\[Errno 24\]",
        "It ran out of open files: raise the limit (`ulimit -n`), or close what is done; then start again.",
    ),
    CaseRow(
        "code_error",
        r"can't start new thread|pthread_create failed|[Rr]esource temporarily unavailable",
        "It ran out of processes or threads: start fewer, or raise the limit (`ulimit -u`, the cgroup's pids.max).",
    ),
    CaseRow(
        "data_error",
        r"(?i)stale (?:nfs )?file handle",
        "A network file system went away under it: mount it anew, see that the files are there, then resume.",
    ),
    CaseRow(
        "permission_error",
        r"(?i)read-only file system",
        "The file system is mounted read-only, often after an error of the disk: look at `dmesg` and `mount`, make it "
        "writable or use another one; then resume.",
    ),
    CaseRow("config_error", r"(?P<what>[\w./-]{1,80}): unbound variable", "Set {what} before the run is started."),
    CaseRow("config_error", r"KeyError: '(?P<what>[A-Z][A-Z0-9_]{2,60})'", "Set {what} before the run is started."),
    CaseRow(
        "config_error",
        r"(?:exec: )?(?P<what>[\w./-]{1,80}): (?:command )?not found",
        "There is no program {what} here: correct the command, or install it.",
    ),
)


# What a class's remedy says of the disk, and what it says where the line names a file: that may lie on another one.
ON_DISK = {
    "disk_full": ("Make room,", "Make room on the disk of {folder},"),
    "inode_exhausted": ("(tar, shards),", "(tar, shards) on the disk of {folder},"),
    "quota_exceeded": ("under that quota or", "under the quota that {folder} counts for, or"),
}


def remedy_of(failure_class: str, rule: str, line: str | None) -> str:
    """What to do about this very failure. rule: that found the class. line: that proves it, as it was printed."""
    for row in CASES:
        found = lazy(row.pattern).search((line or "")[:1000]) if row.failure_class == failure_class else None
        if found is not None:
            return row.remedy.format_map({key: value[:LIMIT] for key, value in found.groupdict().items()})
    if failure_class in ON_DISK and rule not in RULE_REMEDIES and (folder := full_folder(line)):
        plain, named = ON_DISK[failure_class]
        return REMEDIES[failure_class].replace(plain, named.format(folder=folder))
    return RULE_REMEDIES.get(rule) or REMEDIES.get(failure_class, REMEDIES["unknown"])
