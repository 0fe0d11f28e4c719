"""The folders of a run, made where there are none."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.contract.paths import DEFAULT_STATE_DIR
from onbox.system.files import StateNotWritten, make_folders, replace_file

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths


def make_run_folders(paths: RunPaths) -> None:
    """Raises StateNotWritten."""
    state_dir = os.path.dirname(paths.root)
    is_new = not os.path.isdir(state_dir)
    make_folders(paths.root, paths.markers, paths.logs)
    if is_new or os.path.basename(state_dir) == DEFAULT_STATE_DIR:
        keep_out_of_git(state_dir)


def keep_out_of_git(state_dir: str) -> None:
    """State is of one machine: no `git add .` takes it along, and no engine that packs the project for its workers.

    A state directory that was there before and has another name may hold more than ours: it is left as it is.
    """
    ignored = os.path.join(state_dir, ".gitignore")
    if not os.path.lexists(ignored):
        with suppress(StateNotWritten):
            replace_file(ignored, b"*\n", durable=False)
