"""Whether what is started from this session outlives it: logind, a batch job, the shells at hand.

Sources: logind.conf(5) (KillUserProcesses, KillExcludeUsers), loginctl(1) (enable-linger), systemd.unit(5) (drop-ins).
"""

from __future__ import annotations

import getpass
import os
from typing import TYPE_CHECKING

from onbox.chain.command.keeper import find_program
from onbox.collectors.reading import read_text
from onbox.preflight.report import CheckResult, failed, passed, unseen, warned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.preflight.report import CheckFacts

CONFIG_FOLDERS = ("usr/lib/systemd", "usr/local/lib/systemd", "run/systemd", "etc/systemd")  # the last one wins
_TRUE = frozenset({"yes", "true", "1", "on"})
# A variable that says: this shell is part of a job, which ends with the job.
JOBS = (("SLURM_JOB_ID", "Slurm"), ("PBS_JOBID", "PBS"), ("LSB_JOBID", "LSF"), ("JOB_ID", "Grid Engine"))


def check_session(facts: CheckFacts) -> Iterator[CheckResult]:
    if facts.engine != "local":
        return  # what an engine runs does not hang on this session
    for variable, system in JOBS:
        if facts.environ.get(variable):
            seen = f"this shell is part of a {system} job ({variable}): a run started here ends with it"
            yield warned(
                "session", seen, "give the job enough time; `onbox chain --inline` in the batch script is the plain way"
            )
            return
    yield from _judge_logind(facts)


def _judge_logind(facts: CheckFacts) -> Iterator[CheckResult]:
    group = read_text(os.path.join(facts.root, "proc/self/cgroup"))
    if not isinstance(group, str):
        yield unseen("session", group.why)
    elif "session-" not in group or ".scope" not in group:
        yield passed("session", f"not a logind session: a run lives as long as {_first_process(facts)}")
    else:
        settings = read_logind(facts.root)
        user = _user(facts)
        if settings.get("KillUserProcesses", "no").lower() not in _TRUE or _is_spared(settings, user):
            yield passed("session", "logind leaves processes alone at logout")
        else:
            remedy = (
                f"start it outside the session: loginctl enable-linger {user} && "
                "systemd-run --user --scope onbox chain -d …; or KillUserProcesses=no in /etc/systemd/logind.conf"
            )
            yield failed("session", f"KillUserProcesses=yes: logind ends the run when {user} logs out", remedy)


def _first_process(facts: CheckFacts) -> str:
    """What this container, or this machine, ends with."""
    name = read_text(os.path.join(facts.root, "proc/1/comm"))
    if not isinstance(name, str) or name.strip() in ("systemd", "init"):
        return "this machine is up"
    return f"the first process of this container ({name.strip()})"


def _user(facts: CheckFacts) -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return facts.environ.get("USER", str(os.getuid()))


def _is_spared(settings: dict[str, str], user: str) -> bool:
    """root is spared by default; KillOnlyUsers, if set, spares everybody else."""
    only = settings.get("KillOnlyUsers", "").split()
    return user in settings.get("KillExcludeUsers", "root").split() or bool(only and user not in only)


def read_logind(root: str) -> dict[str, str]:
    """The settings of logind.conf and its drop-ins, in the order in which systemd reads them."""
    found: dict[str, str] = {}
    for folder in CONFIG_FOLDERS:
        found |= parse_settings(read_text(os.path.join(root, folder, "logind.conf")))
    drop_ins: dict[str, str] = {}
    for folder in CONFIG_FOLDERS:
        place = os.path.join(root, folder, "logind.conf.d")
        names = os.listdir(place) if os.path.isdir(place) else []
        drop_ins |= {name: os.path.join(place, name) for name in names if name.endswith(".conf")}
    for name in sorted(drop_ins):
        found |= parse_settings(read_text(drop_ins[name]))
    return found


def parse_settings(text: object) -> dict[str, str]:
    """`Key=value` lines, comments passed over. Pure."""
    if not isinstance(text, str):
        return {}
    pairs = (line.partition("=") for line in text.splitlines() if line.strip() and line.lstrip()[0] not in "#;[")
    return {key.strip(): value.strip() for key, separator, value in pairs if separator}


def check_shells(facts: CheckFacts) -> Iterator[CheckResult]:
    """Shell lines run under `bash -eo pipefail`; without bash a failing part of a pipe stays unseen."""
    piped = [stage.name for stage in facts.stages if isinstance(stage.cmd, str) and "|" in stage.cmd]
    if find_program("bash") is not None:
        yield passed("shell", "bash: `a | tee log` fails when a fails")
    elif piped:
        yield warned(
            "shell", f"no bash, and stages with a pipe: {', '.join(piped)}", "install bash: sh sees the last part only"
        )
    else:
        yield passed("shell", "no bash; no stage needs it")
