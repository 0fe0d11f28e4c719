"""What `onbox chain` is about to freeze, and what speaks against starting it at all."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

from onbox import __version__
from onbox.chain.command.crlf_check import find_crlf_scripts
from onbox.chain.command.environment import FROZEN_VARIABLES
from onbox.chain.command.syntax_check import why_unreadable
from onbox.chain.launch import Definition
from onbox.chain.runner.awaited_process import with_processes
from onbox.chain.state.frozen_run import read_head
from onbox.commands.shared.project import Project, run_names
from onbox.config.parse import run_name_from
from onbox.contract.exits import Exit
from onbox.contract.fingerprint import chain_fingerprint, stage_fingerprint
from onbox.contract.notify_targets import notify_to_dict
from onbox.contract.runfile import NOT_LOOKED_YET
from onbox.errors import Trouble
from onbox.model.detect import DetectSettings, detect_to_dict
from onbox.model.manifest import WARN
from onbox.model.origin import origin_to_dict
from onbox.model.tracker import intent_to_dict
from onbox.outside import safe_line
from onbox.system.clock import utc_text, wall
from onbox.system.lock import is_locked
from onbox.system.process import boot_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.paths import RunPaths
    from onbox.model.manifest import Stage


def check_run_name(name: str) -> None:
    if name != run_name_from(name):
        raise Trouble(Exit.USAGE, f"--run {name!r}: letters, digits, '.', '_' and '-' only, e.g. {run_name_from(name)}")


def refuse_renamed(project: Project) -> None:
    """Without a configured name a renamed directory would be another run beside the one that lives in it."""
    for name in run_names(project.state_dir):
        other = project.paths(name)
        head = read_head(other)
        if is_locked(other.lock) and head is not None and head.project != project.folder:
            raise Trouble(
                Exit.ANOTHER_RUNNER,
                f"run {name} is alive in this directory, which was called {head.project} when it began: "
                f"onbox chain --run {name} …",
            )


def refuse_other_project(paths: RunPaths, project: str) -> None:
    """A state directory that two projects share: a DONE of one says nothing of the files of the other.

    A project that was moved takes its state along, or its old folder is gone: that is the same one.
    """
    try:
        head = read_head(paths)
    except (OSError, ValueError):
        return  # told where the definition is needed
    if head is None or os.path.realpath(head.project) == os.path.realpath(project):
        return
    moved_along = os.path.realpath(paths.root).startswith(os.path.realpath(project) + os.sep)
    if moved_along or not os.path.isdir(head.project):
        return
    name = os.path.basename(paths.root)
    raise Trouble(
        Exit.CONFIG,
        f"run {name} in {os.path.dirname(paths.root)} is of another project\n"
        f"  its folder is  {head.project}\n  this one is    {project}\n"
        f"  give this project's run another name: onbox chain --run {name}-2 …, or [run] name",
    )


def define(project: Project, paths: RunPaths, stages: Sequence[Stage], backend: str = "local") -> Definition:
    """The definition to freeze: stages with fingerprints, and what is worth knowing about where it starts.

    backend: the engine that the run is handed to, with its settings; "local": none.
    """
    _refuse_unreadable(stages)
    _refuse_crlf(project, stages)
    stages = with_processes(stages, paths, backend)
    pairs = [(stage, stage_fingerprint(stage)) for stage in stages]
    fingerprint = chain_fingerprint((stage.name, print_) for stage, print_ in pairs)
    head = {
        "run": os.path.basename(paths.root),
        "run_id": _run_id(paths),
        "project": project.folder,
        "chain_fingerprint": fingerprint,
        "stage_count": len(pairs),
        "settings": project.config.settings.to_plain(),
        "frozen_at": utc_text(wall()),
        "config": project.config_path,
        "host": os.uname().nodename,
        "boot_id": boot_id(),
        "kernel": os.uname().release,
        "onbox": __version__,
        "python": sys.executable or None,
        "environment": {name: os.environ[name] for name in FROZEN_VARIABLES if name in os.environ},
        "progress": dict(project.config.progress),
        "triage": [dict(row) for row in project.config.triage],
        "git": dict(NOT_LOOKED_YET),
    }
    if project.config.code_changed != WARN:
        head["code_changed"] = project.config.code_changed
    if project.config.notify.targets:
        head["notify"] = notify_to_dict(project.config.notify)
    if project.config.detect != DetectSettings():
        head["detect"] = detect_to_dict(project.config.detect)
    if intent := intent_to_dict(project.config.tracker):
        head["tracker"] = intent
    if origin := origin_to_dict(project.config.contract.origin):
        head["origin"] = origin
    if backend != "local":
        head["backend"] = {"name": backend, **_settings(project, backend)}
    return Definition(paths, head, pairs, fingerprint)


def _settings(project: Project, backend: str) -> dict[str, object]:
    """Of the engine, without what stands in the stages themselves. References to secrets, never a secret."""
    kept = {key: value for key, value in project.config.backends[backend].items() if key != "sbatch"}
    return {**kept, "grace_seconds": project.config.settings.grace_seconds}


def _refuse_unreadable(stages: Sequence[Stage]) -> None:
    lines = [f"stage {stage.name}: {safe_line(why)}" for stage in stages if (why := why_unreadable(stage.cmd))]
    if len(lines) == 1:
        raise Trouble(Exit.CONFIG, f"nothing was started: {lines[0]}")
    if lines:
        raise Trouble(Exit.CONFIG, "nothing was started\n  " + "\n  ".join(lines))


def _refuse_crlf(project: Project, stages: Sequence[Stage]) -> None:
    lines = [
        f"stage {stage.name}: {path} has Windows line ends (CRLF), which a shell takes for part of the words; "
        f"convert it: sed -i 's/\\r$//' {shlex.quote(path)}"
        for stage in stages
        for path in find_crlf_scripts(stage, os.path.join(project.folder, stage.cwd))
    ]
    if lines:
        raise Trouble(Exit.CONFIG, "nothing was started\n  " + "\n  ".join(lines))


def _run_id(paths: RunPaths) -> str:
    """The run's id: kept for the life of its directory."""
    try:
        head = read_head(paths)
    except PermissionError:
        raise  # somebody else's run, perhaps alive: nothing is to be moved
    except (OSError, ValueError) as error:
        says = getattr(error, "strerror", None) or error
        raise Trouble(
            Exit.CONFIG, f"{paths.manifest}: {says}; move {paths.root} away to start again (nothing is deleted)"
        ) from error
    return head.run_id if head is not None else f"{utc_text(wall())[:10].replace('-', '')}-{os.urandom(4).hex()}"
