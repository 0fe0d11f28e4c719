"""How this installation is started once more: its commands for a timer, its code in a child process. As data only."""

from __future__ import annotations

import os
import sys

_PACKAGES = {"sentinel": "sentinels"}
# PYTHONSAFEPATH may have kept the working directory off already, so it is not known to be the first.
_CLEAN = "import sys; sys.path[:] = [sys.argv.pop(1), *filter(None, sys.path)]"
# What a start imports is no garbage: to look for some every 700 objects costs 8% of it, and the end's last look 6 ms.
# Looking every 20,000 only, a runner would hold 1.4 MiB of garbage for weeks.
_NO_GARBAGE = "gc.set_threshold(8_000)"
_NO_LAST_LOOK = "gc.freeze(); sys.exit(code)"
PACKAGE_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def program_words(name: str) -> tuple[str, ...]:
    """The command `name` ("onbox", "patrol", ...) of this installation, by an absolute path: it needs no PATH.

    The script that is running, where that is the command; else the one beside the interpreter; else the interpreter
    itself, told where this installation lies: `python -m name` would look in the working directory first.
    """
    script = os.path.abspath(sys.argv[0])
    beside = os.path.join(os.path.dirname(sys.executable), name)
    for path in (script, beside):
        if os.path.basename(path) == name and os.path.isfile(path) and os.access(path, os.X_OK):
            return (path,)
    package = _PACKAGES.get(name, name)
    return (sys.executable, "-c", f"{_CLEAN}; from {package}.cli import entry; entry()", PACKAGE_ROOT)


def child_words(call: str, *arguments: str) -> tuple[str, ...]:
    """The argv of a child that runs `call` ("from handbook.cli import main; sys.exit(main(sys.argv[1:]))") with this
    installation and with site-packages, the user's own too (`pip install --user`): not -I, but -E. The working
    directory, where anybody's json.py may lie, is taken off the path. It finds `arguments` from `sys.argv[1]` on.
    """
    return (sys.executable, "-E", "-X", "utf8", "-c", f"{_CLEAN}; {call}", PACKAGE_ROOT, *arguments)


def bare_child_words(module: str, call: str, *arguments: str) -> tuple[str, ...]:
    """The argv of a child that runs `call` ("serve()") of a module of ours and ends with its value as exit code.

    It sees the standard library and this installation, no site-packages and nothing of the user's: half the start-up
    time. It finds `arguments` from `sys.argv[2]` on.
    """
    boot = f"import gc, sys; {_NO_GARBAGE}; sys.path.insert(0, sys.argv[1]); import {module} as m; code = m.{call}"
    return (sys.executable, "-I", "-S", "-X", "utf8", "-c", f"{boot}; {_NO_LAST_LOOK}", PACKAGE_ROOT, *arguments)
