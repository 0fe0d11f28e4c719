"""Processes: start one in its own session, tell it from a later one of the same pid, find and end a whole tree.

`root` is where /proc lies below ("/" but in tests).
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic
from onbox.system.files import read_file, write_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

LONGEST_POLL_SECONDS = 86400.0  # poll(2) takes no more than 24 days
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")  # of `cpu_ticks` and `start_ticks`
BOOT_ID_FILE = "proc/sys/kernel/random/boot_id"


class Identity(NamedTuple):
    """One process, for ever: the pid alone is reused, pid and start time are not within one boot (proc(5))."""

    pid: int
    start_ticks: int


class ProcessEntry(NamedTuple):
    """A line of the process table: who it is, its parent, group and session, and whether it has already ended.

    cpu_ticks: user and system time of the process itself. rss_pages: resident pages, those shared with others included.
    """

    identity: Identity
    parent: int
    group: int
    session: int
    is_zombie: bool
    state: str
    cpu_ticks: int
    threads: int = 1
    rss_pages: int = 0
    name: str = ""


def boot_id(root: str = "/") -> str | None:
    """The kernel's id of this boot; None when it cannot be read (no /proc)."""
    try:
        with open(os.path.join(root, BOOT_ID_FILE), encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None


def look_up(pid: int, root: str = "/") -> ProcessEntry | None:
    """The process that has `pid` now; None if there is none, or none that may be looked at."""
    try:
        return parse_stat(read_file(os.path.join(root, f"proc/{pid}/stat")) or b"")
    except OSError:
        return None


def parse_stat(text: bytes) -> ProcessEntry | None:
    """A /proc/<pid>/stat line (proc(5)). The name in it may hold spaces and parentheses: cut at the last one."""
    pid, _, rest = text.partition(b" (")
    name, _, after = rest.rpartition(b") ")
    fields = after.split()
    if not pid.isdigit() or len(fields) < 22:
        return None
    state = fields[0].decode("ascii", "replace")
    return ProcessEntry(
        Identity(int(pid), int(fields[19])),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        is_zombie=state in "ZX",
        state=state,
        cpu_ticks=int(fields[11]) + int(fields[12]),
        threads=int(fields[17]),
        rss_pages=max(0, int(fields[21])),
        name=name.decode("utf-8", "replace"),
    )


def is_alive(identity: Identity, root: str = "/") -> bool:
    """Whether exactly this process still runs (a zombie has ended)."""
    entry = look_up(identity.pid, root)
    return entry is not None and entry.identity == identity and not entry.is_zombie


def process_table(root: str = "/") -> Iterator[ProcessEntry]:
    """Every process that can be seen now."""
    for pid in _pids(root):
        if entry := look_up(pid, root):
            yield entry


def _pids(root: str) -> list[int]:
    return [int(name) for name in os.listdir(os.path.join(root, "proc")) if name.isdigit()]


def holder_of(pid: int, fd: int, path: str, root: str = "/") -> Identity | None:
    """The process `pid`, if its descriptor `fd` is open on the file at `path`: proof that it is the one that was given
    the file, and not a later one of the same pid. None if it is not, or cannot be looked at.
    """
    entry = look_up(pid, root)
    try:
        opened, named = os.stat(os.path.join(root, "proc", str(pid), "fd", str(fd))), os.stat(path)
    except OSError:
        return None
    same = (opened.st_dev, opened.st_ino) == (named.st_dev, named.st_ino)
    return entry.identity if same and entry is not None else None


def has_open(pid: int, path: str, root: str = "/") -> bool | None:
    """Whether the process has the file at `path` open, by whatever descriptor; None where that cannot be seen."""
    folder = os.path.join(root, "proc", str(pid), "fd")
    try:
        named, numbers = os.stat(path), os.listdir(folder)
    except OSError:
        return None
    for number in numbers:
        with suppress(OSError):  # it was closed meanwhile
            opened = os.stat(os.path.join(folder, number))
            if (opened.st_dev, opened.st_ino) == (named.st_dev, named.st_ino):
                return True
    return False


def has_variable(pid: int, assignment: bytes, root: str = "/") -> bool:
    """Whether the process was started with `NAME=value` in its environment. False where it may not be read."""
    try:
        return assignment in (read_file(os.path.join(root, f"proc/{pid}/environ")) or b"").split(b"\0")
    except OSError:
        return False


def carriers_below(prefix: bytes, root: str = "/") -> dict[bytes, list[int]]:
    """The processes that were started with a variable that begins so (`NAME=val`), by the rest of its value."""
    found: dict[bytes, list[int]] = {}
    for pid in _pids(root):
        try:
            words = (read_file(os.path.join(root, f"proc/{pid}/environ")) or b"").split(b"\0")
        except OSError:
            continue  # it ended, or is another user's
        for word in words:
            if word.startswith(prefix):
                found.setdefault(word[len(prefix) :], []).append(pid)
    return found


def find_tree(leader: Identity | None, assignment: bytes, root: str = "/") -> list[ProcessEntry]:
    """The live processes of an attempt, wherever they went. Never this process or its parents.

    Three nets: the session that `leader` leads (if the leader still is that process: a later one of the same pid is
    not ours), every process that carries the attempt's own variable with the session it is in (a child may leave
    session, group and parent, but rarely cleans its environment), and all their descendants.
    """
    carriers = {pid for pid in _pids(root) if has_variable(pid, assignment, root)}
    if leader is None and not carriers:
        return []
    table = {entry.identity.pid: entry for entry in process_table(root)}
    spared = _ancestors(os.getpid(), table)
    members = carriers & table.keys() - spared
    sessions = {table[pid].session for pid in members} - {table[pid].session for pid in spared if pid in table}
    if leader is not None and leader.pid in table and table[leader.pid].identity == leader:
        sessions.add(leader.pid)
    members |= {pid for pid, entry in table.items() if entry.session in sessions} - spared
    grew = True
    while grew:
        born = {pid for pid, entry in table.items() if entry.parent in members} - members - spared
        members |= born
        grew = bool(born)
    return [table[pid] for pid in sorted(members) if not table[pid].is_zombie]


def find_family(leader: Identity, root: str = "/") -> list[ProcessEntry]:
    """The live processes of the session that `leader` leads, and their descendants: one read per process of the table.

    Cheaper than `find_tree`, for looking at: a process that left the session and lost its parent is not among them.
    """
    table = {entry.identity.pid: entry for entry in process_table(root)}
    if leader.pid not in table or table[leader.pid].identity != leader:
        return []
    members = {pid for pid, entry in table.items() if entry.session == leader.pid}
    grew = True
    while grew:
        born = {pid for pid, entry in table.items() if entry.parent in members} - members
        members |= born
        grew = bool(born)
    return [table[pid] for pid in sorted(members) if not table[pid].is_zombie]


def _ancestors(pid: int, table: Mapping[int, ProcessEntry]) -> set[int]:
    found = {0, 1}
    while pid not in found:
        found.add(pid)
        pid = table[pid].parent if pid in table else 1
    return found


def send_signal(entries: Iterable[ProcessEntry], number: int) -> None:
    """Signal each process that is still the same one. One that ended meanwhile is not an error."""
    for entry in entries:
        if is_alive(entry.identity):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(entry.identity.pid, number)


def never() -> bool:
    """The default of `urged`: nobody asks for haste."""
    return False


def wait_for_ends(
    identities: Iterable[Identity],
    timeout_seconds: float,
    *,
    wake_fd: int | None = None,
    urged: Callable[[], bool] = never,
) -> bool:
    """Wait until none of these processes runs any more, on kernel events (pidfd), not by looking again and again.

    False if some still runs after `timeout_seconds`, or when `urged()` holds after `wake_fd` became readable.
    Zombies count as ended.
    """
    deadline = monotonic() + timeout_seconds
    for identity in identities:
        while is_alive(identity):
            left = deadline - monotonic()
            if left <= 0 or urged():
                return False
            _wait_one(identity, left, wake_fd)
    return True


def _wait_one(identity: Identity, timeout_seconds: float, wake_fd: int | None) -> None:
    fd = open_pidfd(identity)
    poller = select.poll()
    if wake_fd is not None:
        poller.register(wake_fd, select.POLLIN)
    if fd is None:
        poller.poll(min(timeout_seconds, 0.05) * 1000)  # no pidfd here (Linux < 5.3, gVisor): look again
        return
    try:
        poller.register(fd, select.POLLIN)
        poller.poll(max(1.0, min(timeout_seconds, LONGEST_POLL_SECONDS) * 1000))
    finally:
        os.close(fd)


def open_pidfd(identity: Identity) -> int | None:
    """A descriptor that becomes readable when the process ends; None if it ended already or the kernel has no pidfd."""
    try:
        fd = os.pidfd_open(identity.pid)
    except (OSError, AttributeError):
        return None
    if is_alive(identity):
        return fd
    os.close(fd)
    return None


def end_tree(
    leader: Identity | None,
    assignment: bytes,
    grace_seconds: float,
    *,
    wake_fd: int | None = None,
    urged: Callable[[], bool] = never,
) -> list[ProcessEntry]:
    """End every process of a stage: SIGTERM, up to `grace_seconds`, then SIGKILL until none is left (bounded).

    `urged` cuts the grace short. Returns those that could not be ended (D state: the kernel holds them); normally an
    empty list.
    """
    tree = find_tree(leader, assignment)
    if grace_seconds > 0:
        send_signal(tree, signal.SIGTERM)
        send_signal(tree, signal.SIGCONT)  # a stopped process would take the SIGTERM only when continued
        wait_for_ends([entry.identity for entry in tree], grace_seconds, wake_fd=wake_fd, urged=urged)
    for patience_seconds in (0.5, 1.0, 2.0, 4.0):  # killed processes may have forked in between: look again
        tree = find_tree(leader, assignment)
        if not tree:
            return []
        send_signal(tree, signal.SIGKILL)
        wait_for_ends([entry.identity for entry in tree], patience_seconds)
    return find_tree(leader, assignment)


class Files(NamedTuple):
    """Standard streams of a new process, and descriptors to hand down as (descriptor here, number there)."""

    stdin: str = os.devnull
    output: str = os.devnull
    inherited: tuple[tuple[int, int], ...] = ()


def high(fd: int) -> int:
    """Move a descriptor to a number of 10 or more, clear of those that are handed down by number. Closes `fd`."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(fd)
    return moved


def high_pipe() -> tuple[int, int]:
    """A pipe, (reading end, writing end), with numbers of 10 or more."""
    reading, writing = os.pipe2(os.O_CLOEXEC)
    return high(reading), high(writing)


def nameless_file(data: bytes) -> int:
    """A descriptor (10 or more) of a file that has no name, holds `data`, and is read from its beginning."""
    try:
        fd = os.memfd_create("onbox", os.MFD_CLOEXEC)
    except (AttributeError, OSError):  # a kernel or a sandbox without it
        path = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"onbox-{os.getpid()}-{os.urandom(8).hex()}")
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        os.unlink(path)
    write_all(fd, data)
    return high(fd)


def close_others(first: int, keep: Iterable[int]) -> None:
    """Close every descriptor from `first` on but those to keep: whatever the caller's shell had open (a lock, the pipe
    of an SSH session) must not live as long as a training.
    """
    kept = set(keep)
    try:
        found = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        found = list(range(first, 256))
    for fd in found:
        if fd >= first and fd not in kept:
            with suppress(OSError):
                os.close(fd)


def start_detached(argv: Sequence[str], env: Mapping[str, str], files: Files) -> int:
    """Start `argv` in a session of its own, with default signals and no terminal; its pid. Raises OSError."""
    actions: list[tuple[object, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, files.stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, files.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    actions += [(os.POSIX_SPAWN_DUP2, here, there) for here, there in files.inherited]
    return os.posix_spawn(
        argv[0],
        list(argv),
        env,
        file_actions=actions,
        setsid=True,
        setsigmask=[],
        setsigdef=_RESETTABLE_SIGNALS,
    )


def start_orphan(argv: Sequence[str], env: Mapping[str, str], files: Files) -> int:
    """As `start_detached`, by a process in between that ends at once, so that the new one is not a descendant of ours.
    Raises OSError.
    """
    reading, writing = os.pipe2(os.O_CLOEXEC)
    middle = os.fork()
    if not middle:
        answer = b""
        try:
            answer = b"%d" % start_detached(argv, env, files)
        except OSError as error:
            answer = b"-%d" % (error.errno or errno.EIO)
        finally:
            os.write(writing, answer)
            os._exit(0)
    os.close(writing)
    os.waitpid(middle, 0)
    with open(reading, "rb") as answers:
        pid = int(answers.read() or -errno.EIO)
    if pid < 0:
        raise OSError(-pid, os.strerror(-pid), argv[0])
    return pid


# Python itself ignores SIGPIPE and SIGXFSZ, the runner ignores SIGHUP: none of that may leak into a training job.
_RESETTABLE_SIGNALS = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
