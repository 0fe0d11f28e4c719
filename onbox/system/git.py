"""git, asked about a repository that may be a stranger's: none of the programs that its own configuration names is run.

That configuration comes along in an archive (`.git/config`), or in a clone as a folder that looks like a bare
repository. Programs of the user's own and the system's configuration (git-lfs, say) run as always.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# A bare repository inside a work tree is what a clone can bring; one of the user's own has no files to look at.
ITS_OWN_TREE = ("-c", "safe.bareRepository=explicit")
QUIET = (*ITS_OWN_TREE, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
QUIET_DIFF = ("diff", "--no-ext-diff", "--no-textconv")
FILTERS = r"^filter\..*\.(clean|process|required)$"
LFS = frozenset({"git-lfs clean -- %f", "git-lfs filter-process", "true"})
_ITS_OWN = ("local", "worktree")
ASK_SECONDS = 5.0


def quiet_environment(folder: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment in which `git -C folder`, with the words of QUIET, runs no filter of the repository's own: files
    are compared as they lie there. Raises OSError, subprocess.TimeoutExpired.
    """
    words = ["git", "-C", folder, *QUIET, "config", "-z", "--show-scope", "--get-regexp", FILTERS]
    told = subprocess.run(
        words, capture_output=True, stdin=subprocess.DEVNULL, timeout=ASK_SECONDS, env=dict(environ), check=False
    )
    parts = told.stdout.decode("utf-8", "surrogateescape").split("\0")
    settings = zip(parts[::2], (one.partition("\n") for one in parts[1::2]), strict=False)
    own = [(name, value) for scope, (name, _, value) in settings if scope in _ITS_OWN]
    foreign = {name.rpartition(".")[0] for name, value in own if value not in LFS}
    names = [name for name, _ in own if name.rpartition(".")[0] in foreign]
    already = environ.get("GIT_CONFIG_COUNT", "")
    count = int(already) if already.isdecimal() else 0
    # By variables: in `-c NAME=VALUE` a name that holds a `=` would be another one.
    named = {f"GIT_CONFIG_KEY_{count + at}": name for at, name in enumerate(names)}
    empty = {f"GIT_CONFIG_VALUE_{count + at}": "" for at in range(len(names))}
    return {**environ, "GIT_OPTIONAL_LOCKS": "0", **named, **empty, "GIT_CONFIG_COUNT": str(count + len(names))}
