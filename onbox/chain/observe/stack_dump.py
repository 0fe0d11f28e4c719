"""What a stage that hangs was doing: the stacks of its Python processes, as py-spy sees them, if that is installed.

A child of its own writes them down, so that the runner waits for nothing; all of it is bounded.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.outside import safe_text
from onbox.system.process import Files, find_tree, start_detached
from onbox.system.self_exec import child_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.system.process import Identity

MOST_PROCESSES = 8
SECONDS_EACH = 10.0
LIMIT_BYTES = 1 << 16
_PYTHONS = ("python", "pypy")
_SHELLS = frozenset({"sh", "dash", "bash", "busybox", "zsh"})
_TOOLS = ((_PYTHONS, "py-spy dump --pid {pid}"), (("java",), "jstack {pid}"))
_ANY_TOOL = "gdb -p {pid} -batch -ex 'thread apply all bt'"
_CALL = "from onbox.chain.observe.stack_dump import main; main(sys.argv[1:])"


def find_program(environ: Mapping[str, str]) -> str | None:
    """py-spy beside this interpreter, else on PATH; None where it is not installed."""
    beside = os.path.join(os.path.dirname(sys.executable), "py-spy")
    return beside if os.access(beside, os.X_OK) else shutil.which("py-spy", path=environ.get("PATH"))


def start_dump(path: str, leader: Identity | None, assignment: bytes, environ: Mapping[str, str]) -> bool:
    """Begin to write the stacks of a stage's Python processes to `path`. False: there is no py-spy, or nothing to look
    at, or no room.
    """
    program = find_program(environ)
    if program is None:
        return False
    pids = [entry.identity.pid for entry in find_tree(leader, assignment)]
    ours = [str(pid) for pid in pids if _is_python(pid)][:MOST_PROCESSES]
    with suppress(OSError):  # no process can be started: then there is no dump
        if ours:
            start_detached(child_words(_CALL, program, path, *ours), dict(environ), Files(output=os.devnull))
            return True
    return False


def stack_command(assignment: bytes) -> str | None:
    """What a person types to see where an attempt stands: of its processes the one that has worked most, Python before
    others. None: there is none to look at.
    """
    found = [(_program(entry.identity.pid), entry) for entry in find_tree(None, assignment)]
    at_work = [(program, entry) for program, entry in found if program and program not in _SHELLS]
    if not at_work:
        return None
    program, entry = max(at_work, key=lambda one: (one[0].startswith(_PYTHONS), one[1].cpu_ticks))
    tool = next((tool for names, tool in _TOOLS if program.startswith(names)), _ANY_TOOL)
    return tool.format(pid=entry.identity.pid)


def _is_python(pid: int) -> bool:
    return _program(pid).startswith(_PYTHONS)


def _program(pid: int) -> str:
    """The name of its executable; "" where that cannot be seen."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def main(words: Sequence[str]) -> None:
    """The child: PROGRAM PATH PID..."""
    program, path, *pids = words
    text = "\n".join(_stack_of(program, pid) for pid in pids)
    with open(f"{path}.new", "w", opener=lambda name, flags: os.open(name, flags, 0o600), encoding="utf-8") as file:
        file.write(safe_text(text, LIMIT_BYTES))
    os.replace(f"{path}.new", path)


def _stack_of(program: str, pid: str) -> str:
    """Also where it cannot be had: why."""
    try:
        words, none = [program, "dump", "--pid", pid], subprocess.DEVNULL
        done = subprocess.run(words, check=False, capture_output=True, timeout=SECONDS_EACH, stdin=none)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"== pid {pid}: no stack ({error})\n"
    told = (done.stdout or done.stderr).decode("utf-8", "replace")
    return f"== pid {pid}\n{told[: LIMIT_BYTES // MOST_PROCESSES]}"
