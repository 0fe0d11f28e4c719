"""What is said to ssh: the words of a connection, and what goes over its stdin. Pure."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

CONNECT_SECONDS = 15
REMOTE_COMMAND = "exec sh -s"  # means the same to sh, bash, zsh, fish, csh and tcsh
NO_MASTER = "none"  # as a control_path: not even a master of the user's own
MASTER_SECONDS = 2400  # how long a master of ours stays when nobody uses it: past the next tick of the usual half hour


class SshTarget(NamedTuple):
    """Where to. ssh_command: the client's words. host: as ssh takes it; None: this machine, without ssh.

    control_path: socket of a master connection to use (and to open if need be); None: none of ours, but the user's own
    where one is open; NO_MASTER: none at all.
    """

    box: str
    host: str | None
    ssh_command: tuple[str, ...] = ("ssh",)
    control_path: str | None = None


def ssh_argv(target: SshTarget, *, connect_seconds: int = CONNECT_SECONDS) -> list[str]:
    """The argv of a connection whose remote command is always `exec sh -s`: the same in every login shell (sh, fish,
    csh). Everything else, script and values, goes over stdin. Pure.
    """
    if target.host is None:
        return ["sh", "-s"]
    options = [*_OPTIONS, f"ConnectTimeout={connect_seconds}", *master_options(target.control_path)]
    words = [word for option in options for word in ("-o", option)]
    # Of two values ssh takes the first: what the user's own words say goes before ours.
    return [*target.ssh_command, "-T", "-a", "-x", *words, "--", target.host, REMOTE_COMMAND]


_OPTIONS = (
    "BatchMode=yes",  # never ask
    "ServerAliveInterval=10",
    "ServerAliveCountMax=3",
    "ClearAllForwardings=yes",  # a forward of the user's would fight with the user's own connection for the port
    "PermitLocalCommand=no",
    "Compression=yes",  # script and answer shrink to less than half; they are text
    "RemoteCommand=none",  # one in the configuration forbids any other
    "LogLevel=DEBUG1",  # tells how far the login came, also where the configuration says QUIET
)


def master_options(control_path: str | None) -> tuple[str, ...]:
    """The options that say whose master connection is used; the last one names its socket."""
    if control_path is None:
        return ("ControlMaster=no",)
    if control_path == NO_MASTER:
        return ("ControlMaster=no", "ControlPath=none")
    quoted = control_path.replace("%", "%%")
    return ("ControlMaster=auto", f"ControlPersist={MASTER_SECONDS}", f'ControlPath="{quoted}"')


def script_with_values(script: str, values: Sequence[str], *, line: bool = False) -> bytes:
    """What goes over stdin: `set -- VALUES` in POSIX quotes and the script as a function, in one group `{ }`, which a
    shell runs only when it has read all of it: a cut link runs nothing. Values may hold anything but NUL. Pure. Raises
    ValueError on a NUL.

    The script's own stdin is /dev/null: no command in it can eat what follows. It may `return`. line: what is said
    later (`Connection.say`), and the end of it, can be read from descriptor 3.
    """
    if "\0" in script or any("\0" in value for value in values):
        raise ValueError("a value for the remote shell holds a NUL character")
    quoted = " ".join(shlex.quote(value) for value in values)
    streams = "3<&0 </dev/null" if line else "</dev/null"
    text = f'{{ set -- {quoted}\nonbox_script() {{\n:\n{script}\n}}\nonbox_script "$@"\nexit\n}} {streams}\n'
    return text.encode("utf-8", "surrogateescape")


def client_environment() -> dict[str, str]:
    """The caller's, without any way to ask: there is no terminal, and the window that asks is not a window."""
    return {**os.environ, "SSH_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "never"}
