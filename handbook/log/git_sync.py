"""Keep one logbook in git: commit that file alone, and push it where nothing else would go along.

Only ever on somebody's word (`--commit`, `--push`, `[logbook] git`). What others staged stays staged, no branch is
made, nothing is forced, merged or fetched, and no remote is chosen: whatever is in the way is said; the entry stands.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from handbook.log.entry import parse_logbook
from handbook.page.phrases import safe
from onbox.named_tuple import NamedTuple
from onbox.system.command import NotRun, run_command
from onbox.system.files import read_file
from onbox.system.git import ITS_OWN_TREE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handbook.log.entry import LogEntry

LOCAL_SECONDS = 30.0  # a commit runs the repository's own hooks
PUSH_SECONDS = 60.0
# Set by a git that runs us as a hook; ours must find the repository of the file instead.
_OF_ANOTHER_GIT = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")
_AT_WORK = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply")


class KeptInGit(NamedTuple):
    """commit: the new one, shortened; "": none was made. pushed: where to; "": nowhere. trouble: what is in the way."""

    commit: str
    pushed: str
    trouble: str = ""


class _Refused(Exception):
    """What is in the way, in words."""


def keep_in_git(path: str, run: str, environ: Mapping[str, str], *, push: bool) -> KeptInGit:
    """Commit the logbook if it holds what the newest commit does not; push what is not pushed yet. Never raises for
    what git says.
    """
    git, commit = _git_of(path, environ), ""
    try:
        commit = _commit(git, run)
        return KeptInGit(commit, _push(git) if push else "")
    except _Refused as refused:
        return KeptInGit(commit, "", safe(refused, 300))


def committed_text(path: str, environ: Mapping[str, str]) -> str | None:
    """The file as the newest commit has it; None: it has none, or git does not answer."""
    git = _git_of(path, environ)
    return git.try_("show", f"HEAD:./{git.name}")


def is_rewritten(path: str, environ: Mapping[str, str]) -> bool:
    """Whether the file is not what was committed with something behind it."""
    earlier = committed_text(path, environ)
    if earlier is None:
        return False
    now = (read_file(path, 1 << 30) or b"").decode("utf-8", "replace")
    return not now.replace("\r\n", "\n").startswith(earlier.rstrip())


class _Git:
    """git, in a folder. name: of the file there that it is about; "": of none."""

    def __init__(self, folder: str, environ: Mapping[str, str], name: str = "") -> None:
        self.folder, self.name = os.path.abspath(folder), name
        kept = {name: value for name, value in environ.items() if name not in _OF_ANOTHER_GIT}
        self.env = {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C"}

    def __call__(self, *words: str, seconds: float = LOCAL_SECONDS) -> str:
        """Its output. Raises _Refused."""
        done = run_command(["git", *ITS_OWN_TREE, *words], timeout_seconds=seconds, env=self.env, folder=self.folder)
        if isinstance(done, NotRun):
            raise _Refused(done.why)
        if done.code != 0:
            raise _Refused(f"git {words[0]}: {_reason(done.err or done.out) or f'exit code {done.code}'}")
        return done.out

    def try_(self, *words: str) -> str | None:
        """Its output; None where it refuses."""
        try:
            return self(*words)
        except _Refused:
            return None


def _git_of(path: str, environ: Mapping[str, str]) -> _Git:
    """git, in the folder of one file."""
    folder, name = os.path.split(os.path.abspath(path))
    return _Git(folder, environ, name)


def _reason(text: str) -> str:
    """The line that says why: of git's own marked lines the first, else the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(("fatal:", "error:", "! "))]
    return (marked or lines[-1:] or [""])[0]


def tag_in_git(folder: str, name: str, commit: str, environ: Mapping[str, str], *, push: bool) -> tuple[str, str]:
    """An annotated tag, pushed alone if asked for: its name ("": none was made), and what is in the way. A tag of that
    name that is there already is never moved. folder: the project's: it must be held by the commit, because git finds
    the repository of any folder above, too.
    """
    git, made = _Git(folder, environ), ""
    try:
        if git.try_("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}") is None:
            raise _Refused(f"no tag: the repository of {_top(git)} does not know commit {commit}")
        if not git("ls-tree", commit).strip():  # of the folder that it is called in
            raise _Refused(f"no tag: commit {commit} of the repository {_top(git)} holds nothing of {git.folder}")
        there = git.try_("rev-parse", "--verify", "--quiet", f"refs/tags/{name}^{{commit}}")
        if there is None:
            git("tag", "-a", "-m", f"{name}: the code of the sealed run", name, commit)
        elif there != git("rev-parse", f"{commit}^{{commit}}"):
            raise _Refused(f"tag {name} is there already, at {there[:12]}")
        made = name
        if push:
            branch = git("symbolic-ref", "--short", "HEAD").strip()
            remote = git("for-each-ref", "--format=%(push:remotename)", f"refs/heads/{branch}").strip()
            if not remote:
                raise _Refused(f"tag {name} is made, not pushed: branch {branch} has no remote")
            _quiet_ssh(git)
            git("push", "--quiet", remote, f"refs/tags/{name}", seconds=PUSH_SECONDS)
        return made, ""
    except _Refused as refused:
        return made, safe(refused, 300)


def _top(git: _Git) -> str:
    """Where the repository begins. Raises _Refused: there is none."""
    return git("rev-parse", "--show-toplevel").strip()


# -- commit


def _commit(git: _Git, run: str) -> str:
    """The new commit, shortened; "" where there is nothing to commit."""
    stands = git("status", "--porcelain", "--ignored", "--untracked-files=all", "--", git.name)
    if not stands.strip():
        return ""
    _refuse_others_repository(git)
    _refuse_bad_moment(git)
    if stands.startswith("!!"):
        raise _Refused(f"git ignores {git.name}: take it out of .gitignore")
    earlier = git.try_("show", f"HEAD:./{git.name}")
    text = (read_file(os.path.join(git.folder, git.name), 1 << 30) or b"").decode("utf-8", "replace")
    known = git.try_("ls-files", "--error-unmatch", "--", git.name) is not None
    if not known:
        git("add", "--intent-to-add", "--", git.name)
    try:
        git("commit", "--quiet", "--only", "-m", message_for(run, earlier, text), "--", git.name)
    except _Refused:
        if not known:
            git.try_("rm", "--quiet", "--cached", "--", git.name)
        raise
    return git("rev-parse", "--short", "HEAD").strip()


def _refuse_others_repository(git: _Git) -> None:
    """git finds the repository of any folder above; one that holds nothing of the project is about something else."""
    top, project = _top(git), os.path.dirname(git.folder)
    if os.path.realpath(top) != os.path.realpath(project) and not git("ls-files", "--", project).strip():
        raise _Refused(f"the repository {top} holds nothing of {project}: git add onbox.toml there first")


def _refuse_bad_moment(git: _Git) -> None:
    """A commit in the middle of somebody's merge or rebase, or on no branch, would be lost or in the way."""
    folder = git("rev-parse", "--absolute-git-dir").strip()
    busy = next((name for name in _AT_WORK if os.path.exists(os.path.join(folder, name))), None)
    if busy is not None:
        raise _Refused(f"a {busy.partition('_')[0].partition('-')[0].lower()} is under way in this repository")
    if git.try_("symbolic-ref", "-q", "HEAD") is None:
        raise _Refused("HEAD is on no branch: a commit there is soon lost")


def message_for(run: str, earlier: str | None, text: str) -> str:
    """`<run>: start logbook`, `<run>: log relaunch`, ...: by what is new in it. Pure."""
    if earlier is None:
        return f"{run}: start logbook"
    last = max((entry.seq for entry in parse_logbook(earlier).entries), default=0)
    return f"{run}: log {_subject([entry for entry in parse_logbook(text).entries if entry.seq > last])}"


_SUBJECTS = (("seal", "final seal"), ("escalation", "escalation"), ("launch", "launch"), ("decision", "decision"))


def _subject(new: Sequence[LogEntry]) -> str:
    for kind, words in _SUBJECTS:
        found = [entry for entry in new if entry.kind == kind]
        if found:
            return f"re{words}" if kind == "launch" and max(entry.attempt for entry in found) > 1 else words
    return new[-1].kind if new else "update"


# -- push


def _push(git: _Git) -> str:
    """Push the branch to where it is pushed by default; where that is. "" where nothing is to be pushed."""
    branch = git("symbolic-ref", "--short", "HEAD").strip()
    form = "--format=%(push:remotename)|%(push)|%(push:remoteref)|%(upstream:remoteref)"
    remote, tracking, ref, upstream = git("for-each-ref", form, f"refs/heads/{branch}").strip().split("|")
    ref = ref or upstream or f"refs/heads/{branch}"  # git tells the first only where a push is configured apart
    if not (remote and tracking):
        raise _Refused(f"branch {branch} is pushed nowhere yet: once, by hand: git push -u REMOTE {branch}")
    _refuse_others_work(git, tracking)
    if not git("rev-list", "--max-count=1", f"{tracking}..HEAD").strip():
        return ""
    _quiet_ssh(git)
    git("push", "--quiet", "--no-follow-tags", remote, f"HEAD:{ref}", seconds=PUSH_SECONDS)
    return f"{remote} {ref.removeprefix('refs/heads/')}"


def _quiet_ssh(git: _Git) -> None:
    """Nobody is there to be asked for a password; whoever has set an ssh for git is not overruled."""
    if not ("GIT_SSH_COMMAND" in git.env or "GIT_SSH" in git.env or git.try_("config", "core.sshCommand")):
        git.env["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes -o ConnectTimeout=15"


def _refuse_others_work(git: _Git, tracking: str) -> None:
    """A push takes the whole branch along; commits of something else are their authors' to push."""
    folder = git("rev-parse", "--show-prefix").strip()
    touched = git("log", "-m", "--no-renames", "-z", "--format=", "--name-only", f"{tracking}..HEAD")
    others = sorted({name for name in touched.replace("\n", "\0").split("\0") if name and not name.startswith(folder)})
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        raise _Refused(f"not pushed: commits of {others[0]}{more} would go along; git push, if they may")
