"""The keeper: a few lines of POSIX sh that start a stage's command, outlive the runner and record the exit code.

The keeper holds the lock on the attempt's slot (descriptor 9) and hands it down to the command, so the kernel knows
that the stage lives even when runner and keeper are both gone. When its command ends it writes `exit N` into the slot
without needing new space. If the runner died meanwhile, the keeper itself starts a new one: the chain goes on.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SLOT_FD = 9
LIFE_FD = 8
GO_FD = 7
SCRIPT_FD = 6
GO = b"go\n"
KEEPER_ARGV = ("/bin/sh", f"/proc/self/fd/{SCRIPT_FD}", "onbox-keeper")
WORD_LIMIT_BYTES = 128 << 10

# Read from a file without a name, so that neither the script nor the stage's command stands in the keeper's own command
# line: `pgrep -f train.py` and `pkill -f train.py` meet the training alone.
# It waits for the runner's word first; the end of the pipe instead means that the runner died before it said it.
# $1: folder to run in. $2: number of words of the command that resumes the chain; then these; then the stage's words.
# The traps keep the keeper alive while a signal to its group ends the command; they are not inherited by it.
# What the configuration sets comes as ONBOX_SET_<name> and is put in its place for the command only, so that a runner
# started from here has the environment that the first one had.
# Its own variables begin with onbox_: one of a name that the caller exports would reach the command changed.
# What the shell itself has to say of its command ("Killed") is not a word of the program and goes nowhere: it would be
# the last line of the log.
# Whether the runner lives is asked by writing into a pipe that only the runner can read: that fails for a runner of
# which but a zombie is left, where `kill -0` would not (in many containers nobody reaps).
KEEPER_SCRIPT = f"""
exec {SCRIPT_FD}<&-
read -r onbox_word <&{GO_FD} || exit 0
exec {GO_FD}<&-
trap : HUP INT QUIT TERM USR1 USR2 ALRM
echo "keeper $$" >&{SLOT_FD}
cd -- "$1" 2>/dev/null || {{ echo "onbox: cannot enter the stage's cwd: $1"; echo "exit 66" >&{SLOT_FD}; exit 66; }}
onbox_words=$2
shift 2
resume() {{ exec "$1" "$2" "$3" "$4" "$5" "$6" "$7" "$8" "$9" </dev/null >/dev/null 2>&1 {LIFE_FD}>&- {SLOT_FD}>&-; }}
run_stage() {{
  shift "$onbox_words"
  for onbox_name in $ONBOX_SETS; do
    eval "export $onbox_name=\"\\$ONBOX_SET_$onbox_name\"; unset ONBOX_SET_$onbox_name"
  done
  unset ONBOX_SETS
  if ! command -v "$1" >/dev/null 2>&1; then
    [ -e "$1" ] && {{ echo "onbox: $1: permission denied (not executable)"; exit 126; }}
    echo "onbox: $1: command not found"
    exit 127
  fi
  exec "$@"
}}
exec 2>/dev/null
(run_stage "$@" 2>&1) {LIFE_FD}>&-
onbox_code=$?
echo "exit $onbox_code" >&{SLOT_FD}
trap '' PIPE
echo . >&{LIFE_FD} || resume "$@"
exit "$onbox_code"
"""

RESUME_WORDS = 9

# Words that a shell runs itself: they would act on the keeper instead of on a child, or need a shell at all.
_SHELL_WORDS = frozenset(
    """
    . : [ alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare
    dirs disown do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash
    help history if in jobs kill let local logout mapfile newgrp popd printf pushd pwd read readarray readonly
    return select set shift shopt source suspend test then time times trap true type typeset ulimit umask unalias
    unset until wait while resume run_stage
    """.split()
)
_PLAIN_LINE = r"[A-Za-z0-9_@%+:,./-]+(?: +[A-Za-z0-9_@%+=:,./-]+)*"


def command_argv(cmd: str | tuple[str, ...], find: Callable[[str], str | None]) -> list[str]:
    """The words to run for a stage's `cmd`.

    A list runs as it is. A plain line (no quotes, no variables, nothing that a shell would interpret) is split at its
    blanks. Any other line goes to `bash -eo pipefail`, so that neither `a; b` nor `a | tee log` can hide a failed
    `a`; where there is no bash, to `sh -e`. Without `--norc` a bash that finds itself below sshd (a resume over `ssh
    box …`) would source ~/.bashrc first, and `-e` would end the stage at its first failing line.
    `find` answers where a program lies (None: nowhere).
    """
    if isinstance(cmd, tuple):  # through env(1) where the keeper's shell would take the first word for its own
        return ["env", *cmd] if cmd[0] in _SHELL_WORDS else list(cmd)
    line = cmd.strip()
    if re.fullmatch(_PLAIN_LINE, line) and line.split()[0] not in _SHELL_WORDS:
        return line.split()
    bash = find("bash")
    if bash:
        return [bash, "--norc", "-eo", "pipefail", "-c", cmd]
    return ["/bin/sh", "-e", "-c", cmd]


def keeper_text(folder: str, resume: Sequence[str], command: Sequence[str]) -> bytes:
    """What the keeper reads. `resume` (exactly RESUME_WORDS words) starts a new runner for the chain."""
    assert len(resume) == RESUME_WORDS
    words = shlex.join([folder, str(RESUME_WORDS), *resume, *command])
    return f"set -- {words}\n{KEEPER_SCRIPT}".encode("utf-8", "surrogateescape")


def longest_word(command: Sequence[str]) -> str | None:
    """The word that the kernel would refuse; None: it takes them all (execve(2): MAX_ARG_STRLEN)."""
    return next((word for word in command if len(os.fsencode(word)) >= WORD_LIMIT_BYTES), None)


def find_program(name: str) -> str | None:
    """Where `name` lies on the PATH of this process; None if nowhere."""
    for folder in os.get_exec_path():
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    return None
