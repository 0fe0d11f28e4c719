"""Our commands without the time that their modules take to load, which is most of what a short command costs.

One process of each pytest worker loads them once and is then only forked: each command is a process of its own, with
its own directory, environment, output and exit code. What starts cold, or is asked for in another language, is tested
by an interpreter of its own: `can_run` says which.
"""

from __future__ import annotations

import array
import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REPOSITORY = Path(__file__).resolve().parent.parent
PROGRAMS = ("onbox", "patrol", "sentinels", "handbook")
SCRIPTS = (str(REPOSITORY / "tests" / "fakes" / "die_at.py"),)
MOST_BYTES = 100_000  # of one request; what is longer is passed to an interpreter of its own
FDS = 3  # that come with a request: its output, its errors, and where its pid and its exit code are written to
_READ_AT_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "COVERAGE")  # by the interpreter itself


# -- the side of the tests


def run(words: Sequence[str], *, timeout: float, **settings: Any) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` with captured text and no standard input. settings: the environment and the directory, and
    what else `subprocess.run` takes.
    """
    if settings.keys() == {"env", "cwd"} and can_run(words, settings["env"]):
        arguments = words[2 if words[1] == "-m" else 1 :]
        request = json.dumps([arguments, os.fspath(settings["cwd"]), dict(settings["env"])]).encode()
        if len(request) <= MOST_BYTES:
            return _ask(words, request, timeout)
    settings.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(words, check=False, capture_output=True, text=True, timeout=timeout, **settings)


def can_run(words: Sequence[str], env: Mapping[str, str]) -> bool:
    """Whether nothing in its words or its environment asks for an interpreter of its own."""
    if words[0] != sys.executable or (words[1] not in SCRIPTS and (words[1] != "-m" or words[2] not in PROGRAMS)):
        return False
    return _of_start(env) == _of_start({**os.environ, "PYTHONPATH": str(REPOSITORY)})


def _of_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(_READ_AT_THE_START)}


def _ask(words: Sequence[str], request: bytes, timeout: float) -> subprocess.CompletedProcess[str]:
    pipes = [os.pipe() for _ in range(FDS)]
    _server().sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [end for _, end in pipes]))])
    for _, end in pipes:
        os.close(end)
    said = _read_all([end for end, _ in pipes], timeout)
    if said is None:
        raise subprocess.TimeoutExpired(words, timeout)
    pid_and_code = said[2].split()
    assert len(pid_and_code) == 2, f"{words} did not start: {said}"
    return subprocess.CompletedProcess(list(words), int(pid_and_code[1]), _text(said[0]), _text(said[1]))


def _text(raw: bytes) -> str:
    return io.TextIOWrapper(io.BytesIO(raw)).read()


def _read_all(ends: list[int], timeout: float) -> list[bytes] | None:
    """What comes from each until all are closed; None: that took too long, and the process is killed."""
    said = dict.fromkeys(ends, b"")
    deadline = time.monotonic() + timeout
    with selectors.DefaultSelector() as waiting:
        for end in ends:
            waiting.register(end, selectors.EVENT_READ)
        while waiting.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in waiting.select(left):
                piece = os.read(key.fd, 65536)
                said[key.fd] += piece
                if not piece:
                    waiting.unregister(key.fd)
        late = bool(waiting.get_map())
    for end in ends:
        os.close(end)
    if late:
        with suppress(ProcessLookupError, IndexError):
            os.kill(int(said[ends[2]].split()[0]), signal.SIGKILL)
        return None
    return [said[end] for end in ends]


_servers: list[socket.socket] = []  # of this process; one is enough


def _server() -> socket.socket:
    """The end of a running server; it ends by itself when this process does."""
    if not _servers:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        words = [sys.executable, "-m", "tests.warm", str(its.fileno())]
        env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        started = subprocess.Popen(words, env=env, cwd=REPOSITORY, stdin=subprocess.DEVNULL, pass_fds=[its.fileno()])
        its.close()
        _servers.append(ours)
        atexit.register(_end, ours, started)
    return _servers[0]


def _end(ours: socket.socket, started: subprocess.Popen[bytes]) -> None:
    ours.close()
    started.terminate()
    started.wait()


# -- the process that is forked


def serve(requests: socket.socket) -> None:
    """Fork for each request; returns in the process that is to become its command, or does not return."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those in between
    while True:
        try:
            request, control, _, _ = requests.recvmsg(MOST_BYTES, socket.CMSG_SPACE(4 * FDS), socket.MSG_CMSG_CLOEXEC)
        except KeyboardInterrupt:
            sys.exit()
        if not request:
            sys.exit()
        fds = array.array("i", control[0][2])
        if not os.fork():
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            start(request, *fds)
            return
        for fd in fds:
            os.close(fd)


def start(request: bytes, output: int, errors: int, answer: int) -> None:
    """Fork once more; returns in the command's process, while the other waits for its end."""
    pid = os.fork()
    if pid:
        os.close(output)
        os.close(errors)
        os.write(answer, b"%d " % pid)
        _, status = os.waitpid(pid, 0)
        with suppress(BrokenPipeError):  # the asker no longer waits
            os.write(answer, b"%d" % os.waitstatus_to_exitcode(status))
        os._exit(0)
    os.close(answer)
    become(request, output, errors)


def become(request: bytes, output: int, errors: int) -> None:
    """The words, the directory, the environment and the output of a command."""
    words, directory, env = json.loads(request)
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.close(output)
    os.close(errors)
    for name in ("stdout", "stderr"):  # what was opened before may have been a file, not a pipe
        setattr(sys, name, _as_new(getattr(sys, name)))
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    os.chdir(directory)
    sys.path[0] = directory
    sys.argv = words


def _as_new(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = io.BufferedWriter(io.FileIO(stream.fileno(), "wb", closefd=False))
    return io.TextIOWrapper(raw, stream.encoding, stream.errors, line_buffering=stream.fileno() == 2)


def load() -> None:
    """The modules of every command, which no collection is to walk through in each fork."""
    for name in ("onbox.cli.app", "patrol.cli", "sentinels.cli", "handbook.cli", "filelock"):
        importlib.import_module(name)
    with suppress(ImportError):  # Python 3.10 has another one
        importlib.import_module("tomllib")
    for program in PROGRAMS:
        package = importlib.import_module(f"{program}.commands")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)
    gc.collect()
    gc.freeze()


def main() -> NoReturn:
    requests = socket.socket(fileno=int(sys.argv[1]))
    load()
    serve(requests)
    code: object = None
    try:
        if sys.argv[0] in SCRIPTS:
            runpy.run_path(sys.argv[0], run_name="__main__")
        else:
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code
    if code is not None and not isinstance(code, int):
        sys.exit(code)  # type: ignore[arg-type]
    end(code or 0)


def end(code: int) -> NoReturn:
    """As an interpreter ends, without taking all modules apart again, which takes as long as a short command."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
