"""Where this user's runs on this machine lie: a link to each run directory below $XDG_STATE_HOME.

Only a help for `onbox runs --all`: what it lacks is found by its project, and what is gone is passed over.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.contract.paths import RunPaths
from onbox.digest import sha256_hex
from onbox.system.files import StateNotWritten, make_folders

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def _folder(environ: Mapping[str, str]) -> str:
    home = environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(home, "onbox", "runs")
