"""How this installation is started once more: its commands for a timer, its code in a child process. As data only."""

from __future__ import annotations

import os
import sys

PACKAGE_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def program_words(name: str) -> tuple[str, ...]:
    """The command `name` ("onbox", "patrol", ...) of this installation, by an absolute path: it needs no PATH.

    The script that is running, where that is the command; else the one beside the interpreter; else `python -m name`.
    """
    script = os.path.abspath(sys.argv[0])
    beside = os.path.join(os.path.dirname(sys.executable), name)
    for path in (script, beside):
        if os.path.basename(path) == name and os.path.isfile(path) and os.access(path, os.X_OK):
            return (path,)
    return (sys.executable, "-m", name)


def bare_child_words(module: str, call: str, *arguments: str) -> tuple[str, ...]:
    """The argv of a child that runs `call` ("serve()") of a module of ours and ends with its value as exit code.

    It sees the standard library and this installation, no site-packages and nothing of the user's: half the start-up
    time. It finds `arguments` from `sys.argv[2]` on.
    """
    boot = f"import sys; sys.path.insert(0, sys.argv[1]); import {module} as m; sys.exit(m.{call})"
    return (sys.executable, "-I", "-S", "-X", "utf8", "-c", boot, PACKAGE_ROOT, *arguments)
