"""What the next step calls this box, where its own onbox.toml names it: a machine that is watched from itself."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

from onbox.runs.acts import Act

if TYPE_CHECKING:
    from onbox.project import Project


def with_own_box(data: dict[str, Any], project: Project) -> dict[str, Any]:
    """The status with the command that brings the results of a run that is done, where that can be typed here."""
    name = _own_name(project) if data["next_command"] is None else None
    if name is None:
        return data
    return {**data, "next_command": shlex.join(Act.PULL.commands(data["run"], box=name)[0])}


def _own_name(project: Project) -> str | None:
    here = os.path.realpath(project.folder)
    for box in project.config.boxes:
        folder = os.path.join(project.folder, os.path.expanduser(box.project or ""))
        if box.backend == "local" and box.project is not None and os.path.realpath(folder) == here:
            return box.name
    return None
