"""A runner's interpreter that loads while `onbox chain` loads, reads its words and freezes the definition: both take
about as long.

It holds nothing and knows of no run until it is handed one, with the run's lock, over a socket. Where the other end
closes first (nothing was to be started, or the command was killed), or nothing comes for a while, it ends. Without it
the runner is started when its turn has come.
"""

from __future__ import annotations

import _socket  # `socket` itself takes 2 ms and half a megabyte more
import os
import select
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.chain.command.environment import runner_environment
from onbox.named_tuple import NamedTuple
from onbox.system.files import open_own
from onbox.system.process import Files, high, start_orphan
from onbox.system.self_exec import bare_child_words

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths

MODULE = "onbox.chain.runner.runner_process"
SOCKET_FD = 6
WAITS_SECONDS = 10.0
PATH_LIMIT_BYTES = 4096  # of Linux
FD_BYTES = 4  # of a C int


class _Waiting(NamedTuple):
    pid: int
    socket: _socket.socket


class Handed(NamedTuple):
    """What makes a waiting runner that of a run."""

    run_dir: str
    log_fd: int
    lock_fd: int
    bell_fd: int


_waiting: list[_Waiting] = []  # of this process: one or none


def start_early() -> None:
    """Start one for the run that this process is about to start."""
    with suppress(OSError):  # a sandbox without such sockets, no process left: it is started when its turn has come
        ours, its = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        its_fd = high(its.detach())
        try:
            files = Files(inherited=((its_fd, SOCKET_FD),))
            pid = start_orphan(bare_child_words(MODULE, "wait_for_run()"), runner_environment(os.environ), files)
        finally:
            os.close(its_fd)
        _waiting.append(_Waiting(pid, ours))


def hand_over(paths: RunPaths, lock_fd: int, bell_fd: int) -> int | None:
    """Make the one that waits the runner of a run; its pid. None: none waits. Raises OSError: there is no log."""
    if not _waiting:
        return None
    pid, socket = _waiting.pop()
    log_fd = open_own(paths.runner_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    fds = b"".join(fd.to_bytes(FD_BYTES, sys.byteorder) for fd in (log_fd, lock_fd, bell_fd))
    try:
        socket.sendmsg([os.fsencode(paths.root)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, fds)])
        return pid
    except OSError:
        return None  # it did not wait so long, or was killed
    finally:
        os.close(log_fd)
        socket.close()


def receive() -> Handed | None:
    """In the one that waits: what it is handed. None: nothing."""
    socket = _socket.socket(fileno=SOCKET_FD)
    poller = select.poll()
    poller.register(SOCKET_FD, select.POLLIN)
    if not poller.poll(WAITS_SECONDS * 1000):
        socket.shutdown(_socket.SHUT_RD)  # what was sent before this is still read, and who sends later is told
    data, extra, _, _ = socket.recvmsg(PATH_LIMIT_BYTES, _socket.CMSG_SPACE(3 * FD_BYTES))
    socket.close()
    if not data or not extra:
        return None
    fds = extra[0][2]
    numbers = (int.from_bytes(fds[at : at + FD_BYTES], sys.byteorder) for at in range(0, len(fds), FD_BYTES))
    return Handed(os.fsdecode(data), *numbers)
