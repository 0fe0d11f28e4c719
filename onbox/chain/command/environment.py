"""The environment of a stage: the caller's, what the configuration adds, and the run's own variables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.model.engines import VARIABLES
from onbox.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ATTEMPT_VARIABLE = "ONBOX_ATTEMPT_ID"
SET_PREFIX = "ONBOX_SET_"

# Set by the job of an engine for the onbox that it runs: `ENGINE:ID`.
JOB_VARIABLE = "ONBOX_JOB"

# Where programs and libraries are found. Frozen into run.json, so that `onbox resume` from cron or after a reboot runs
# the same interpreter as the shell that started the run. Nothing here is a secret.
FROZEN_VARIABLES = (
    "PATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "CUDA_HOME",
    "CUDA_VISIBLE_DEVICES",
    "HF_HOME",
    "HOME",
    "LANG",
    "LC_ALL",
    "TZ",
    *VARIABLES,
)


def frozen_environment(head: Mapping[str, Any]) -> dict[str, str]:
    """What is taken over of a run.json's environment: nothing but what a launch puts there."""
    found = head.get("environment")
    kept = found if isinstance(found, dict) else {}
    return {name: kept[name] for name in FROZEN_VARIABLES if isinstance(kept.get(name), str)}


class VariableMissing(Exception):
    """A configured variable points to an environment name or file that is not there."""


def resolve(name: str, value: str, environ: Mapping[str, str], folder: str) -> str:
    """The value of a configured variable: itself, or what `env:NAME` or `file:PATH` names. Raises VariableMissing."""
    if value.startswith("env:"):
        if value[4:] not in environ:
            raise VariableMissing(f"env {name}: the variable {value[4:]} is not set where the runner was started")
        return environ[value[4:]]
    if value.startswith("file:"):
        path = os.path.join(folder, os.path.expanduser(value[5:]))
        try:
            text = read_file(path, 65536)
        except OSError as error:
            raise VariableMissing(f"env {name}: {path} cannot be read ({error.strerror})") from error
        if text is None:
            raise VariableMissing(f"env {name}: there is no file {path}")
        if b"\0" in text:
            raise VariableMissing(f"env {name}: {path} holds a NUL byte, which no variable can")
        return os.fsdecode(text).rstrip("\r\n")
    return value


def stage_environment(
    configured: Iterable[tuple[str, str]], own: Mapping[str, str], environ: Mapping[str, str], folder: str
) -> dict[str, str]:
    """The environment of an attempt's keeper. `own` are the ONBOX_* variables of the attempt. Raises VariableMissing.

    What is configured is not set yet: the keeper does that for the command only (see `keeper.py`).
    """
    env = {"PYTHONUNBUFFERED": "1", **environ}
    pairs = [(name, resolve(name, value, environ, folder)) for name, value in configured]
    env.update((SET_PREFIX + name, value) for name, value in pairs)
    env["ONBOX_SETS"] = " ".join(name for name, _ in pairs)
    env.update(own)
    return env


def runner_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for a runner that is started from here: without what belongs to one attempt."""
    return {
        name: value
        for name, value in environ.items()
        if name not in (ATTEMPT_VARIABLE, JOB_VARIABLE, "ONBOX_SETS") and not name.startswith(SET_PREFIX)
    }


def attempt_id(run_id: str, stage: str, attempt: int) -> str:
    """The value of ATTEMPT_VARIABLE, by which every process of an attempt can be found again."""
    return f"{run_id}/{stage}/{attempt}"


def run_dir_assignment(root: str) -> bytes:
    """The variable by which every process of any stage of the run at `root` can be found."""
    return b"ONBOX_RUN_DIR=" + os.fsencode(root)


def attempt_assignment(run_id: str, stage: str, attempt: int) -> bytes:
    """The variable as it stands in /proc/<pid>/environ."""
    return f"{ATTEMPT_VARIABLE}={attempt_id(run_id, stage, attempt)}".encode("ascii")
