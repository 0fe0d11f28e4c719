"""Which code runs: git commit, dirty or not, identity of the patch. Taken while the first stage already starts."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.contract.runfile import parse_head, replace_head
from onbox.digest import sha256_hex
from onbox.outside import safe_line
from onbox.system.files import StateNotWritten, read_file, replace_file
from onbox.system.git import ITS_OWN_TREE, QUIET, QUIET_DIFF, quiet_environment

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths

GIT_SECONDS = 20.0  # of a machine under load; a disk that hangs is not waited for
# Written by the handbook while runs go on; none of it can touch a training.
NOT_CODE = (":(exclude)HANDBOOK.md", ":(exclude)handbook.json", ":(exclude)logbook")
WHOLE = 1 << 50  # bytes: what is written back must not have been cut


def freeze_git(paths: RunPaths, project: str) -> None:
    """Look at the project's git state and write it into run.json's head. What cannot be looked at says why."""
    git = look_at_git(project)
    text = read_file(paths.manifest, WHOLE)
    if text is None:
        return
    head = dict(parse_head(text.split(b"\n", 1)[0]).data) | {"git": git}
    head.pop("schema", None)
    with suppress(StateNotWritten):  # the run goes on without it; run.json then says "not looked yet"
        replace_file(paths.manifest, replace_head(text, head))


def look_at_git(folder: str, *, looks: bool = False) -> dict[str, Any]:
    """{"commit", "dirty", "patch_sha256"}, or {"absent": why} where there is no commit, or {"unknown": why}.

    looks: nobody starts the project's stages by this: no program is run that the repository names.
    """
    if not _in_work_tree(folder):
        return {"absent": "not a git work tree"}

    environ = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}

    def git(*words: str) -> bytes:
        return subprocess.run(
            ["git", "-C", folder, *(QUIET if looks else ITS_OWN_TREE), *words],
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            env=environ,
        ).stdout

    try:
        if looks:
            environ = quiet_environment(folder, environ)
        commit = git("rev-parse", "HEAD").decode().strip()
        dirty = bool(git("status", "--porcelain", "--untracked-files=no", "--", ":/", *NOT_CODE).strip())
        patch = sha256_hex(git(*QUIET_DIFF, "HEAD", "--binary", "--", ":/", *NOT_CODE)) if dirty else None
    except FileNotFoundError:
        return {"unknown": "git is not installed here"}
    except subprocess.TimeoutExpired:
        return {"unknown": f"git did not answer within {GIT_SECONDS:g} s"}
    except subprocess.CalledProcessError as error:
        return _refused(error.stderr.decode("utf-8", "replace"))
    except OSError as error:
        return {"unknown": f"git could not be started: {error.strerror}"}
    return {"commit": commit, "dirty": dirty, "patch_sha256": patch}


def _refused(stderr: str) -> dict[str, Any]:
    """What git's own words say: before the first commit there is nothing wrong with it."""
    if "unknown revision" in stderr and "HEAD" in stderr:
        return {"absent": "its git work tree holds no commit yet"}
    said = next(filter(None, (line.strip() for line in stderr.splitlines())), "it said nothing")
    return {"unknown": f"git refused: {safe_line(said, 200)}"}


def patch_identity(folder: str, old: str, new: str) -> str | None:
    """The identity of what one commit changed against another, taken as a dirty tree's; None: git does not answer."""
    words = ["git", "-C", folder, *QUIET, *QUIET_DIFF, old, new, "--binary", "--", ":/", *NOT_CODE]
    try:
        done = subprocess.run(words, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=GIT_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return None
    return sha256_hex(done.stdout)


def _in_work_tree(folder: str) -> bool:
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return True
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent
