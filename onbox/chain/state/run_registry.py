"""Where this user's runs on this machine lie: a link to each run directory below $XDG_STATE_HOME.

Only a help: what it lacks is found by its project, and what is gone is passed over.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.contract.paths import RunPaths
from onbox.contract.runfile import parse_head
from onbox.digest import sha256_hex
from onbox.system.files import LINE_LIMIT_BYTES, StateNotWritten, make_folders, open_plain
from onbox.system.lock import LockUnsupported, is_locked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST = 1000


def note_run(paths: RunPaths, environ: Mapping[str, str]) -> None:
    """Remember where a run lies. A home that cannot be written keeps no run from starting."""
    folder = _folder(environ)
    name = sha256_hex(os.fsencode(paths.root))[:16]
    with suppress(OSError, StateNotWritten):
        make_folders(folder)
        os.symlink(paths.root, os.path.join(folder, name))  # there already: it is the same place


def known_runs(environ: Mapping[str, str]) -> list[RunPaths]:
    """The runs that are still there, by their place; of very many those that were started last."""
    roots = []
    with suppress(OSError), os.scandir(_folder(environ)) as entries:
        for entry in entries:
            with suppress(OSError):  # not a link, or gone meanwhile
                roots.append((-entry.stat(follow_symlinks=False).st_mtime, os.readlink(entry.path)))
    newest = sorted({root for _, root in sorted(roots)[:MOST]})
    return [paths for paths in map(RunPaths, newest) if os.path.exists(paths.manifest)]


def live_outside(state_dir: str, environ: Mapping[str, str], name: str | None = None) -> Iterator[RunPaths]:
    """The known runs (of this name) that are alive and lie in another state directory."""
    own = os.path.realpath(state_dir)
    for paths in known_runs(environ):
        if name not in (None, os.path.basename(paths.root)):
            continue
        if os.path.realpath(os.path.dirname(paths.root)) != own and is_live(paths):
            yield paths


def live_of_project_outside(
    project: str, state_dir: str, environ: Mapping[str, str], name: str | None = None
) -> list[RunPaths]:
    """Those of one project: its `state_dir` was changed while they run."""
    home = os.path.realpath(project)
    return [paths for paths in live_outside(state_dir, environ, name) if _project_of(paths) == home]


def is_live(paths: RunPaths) -> bool:
    """Whether its runner lives, or a stage that was left by one."""
    with suppress(OSError, LockUnsupported):
        if is_locked(paths.lock):
            return True
        slots = [entry.path for entry in os.scandir(paths.markers) if entry.name.endswith(".slot")]
        return any(is_locked(slot) for slot in slots)
    return False


def _project_of(paths: RunPaths) -> str | None:
    try:
        with open_plain(paths.manifest) as file:
            return os.path.realpath(parse_head(file.readline(LINE_LIMIT_BYTES)).project)
    except (OSError, ValueError):
        return None  # its definition is being written, or cannot be read


def _folder(environ: Mapping[str, str]) -> str:
    home = environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(home, "onbox", "runs")
