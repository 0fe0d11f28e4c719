"""What the program on the box looks at in a run directory (docs/format.md). A part of `lookout.py`: python 3.6."""

import errno
import fcntl
import glob
import json
import os
import re
import subprocess

from sentinels.box.lookout_items import (
    CONTENT_LIMIT,
    HEAD_LIMIT,
    SLOW_SECONDS,
    boot_id,
    full_path,
    hex_of,
    read_part,
    stamp_of,
    start_ticks,
)

JOURNAL_LIMIT = 1 << 16
STATUS_SECONDS = 30.0  # the usual time between two samples
PART_LIMIT = 1 << 15
NEIGHBOURS = 20
ORPHANS, ENVIRON_LIMIT = 20, 1 << 17
SEEK_SECONDS = 5.0  # between two looks through all processes for those of a run that is not there
FIRST_ASK_SECONDS = 0.5  # after its records changed an engine is asked soon, then at longer and longer intervals
ASK_SECONDS = 30.0
ASK_BOUND_SECONDS = 90.0  # its own commands are bounded: this is the end of a shell that hangs


class EngineAsker:
    """Asks an engine about a run's jobs, by a shell text that may take its time: nothing waits for it."""

    def __init__(self, ident, root, text):
        self.ident, self.root, self.text = ident, root, text
        self.child, self.fd = None, -1  # type: subprocess.Popen[bytes] | None, int
        self.asked_at, self.data, self.answer = 0.0, b"", b""
        self.next_at, self.pause = 0.0, FIRST_ASK_SECONDS

    def soon(self, now):
        """Something changed: ask again, and soon after that."""
        self.pause = FIRST_ASK_SECONDS
        self.next_at = min(self.next_at, now + self.pause)

    def look(self, now):
        """What there is to say; begins the next question when it is due."""
        if self.child is not None:
            return self._hear(now)
        if self.next_at - ASK_SECONDS <= now < self.next_at:
            return []
        self.asked_at, self.data = now, b""
        self.child = subprocess.Popen(
            ["sh", "-c", 'eval "$SENTINEL_ASK"; onbox_engine "$1"', "sh", self.root],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(os.environ, SENTINEL_ASK=self.text, SENTINEL_PROGRAM="", SENTINEL_WORDS=""),  # long, not needed
        )
        assert self.child.stdout is not None
        self.fd = self.child.stdout.fileno()
        os.set_blocking(self.fd, False)
        return []

    def _hear(self, now):
        try:
            data = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            if not 0 <= now - self.asked_at < ASK_BOUND_SECONDS:
                self.close()
                self.next_at = now + ASK_SECONDS
            return []
        if data:
            self.data += data
            return []
        self.close()
        if self.data != self.answer:
            self.answer, self.pause = self.data, FIRST_ASK_SECONDS
        self.next_at = now + self.pause
        self.pause = min(ASK_SECONDS, 2 * self.pause)
        return ["engine %s %.3f %s" % (self.ident, self.asked_at, hex_of(self.data))]

    def close(self):
        if self.child is not None:
            self.child.kill()
            if self.child.stdout is not None:
                self.child.stdout.close()
            self.child.wait()
            self.child = None


class RunItem:
    """A run directory: what its records say, and whether runner and stage live. Told when any of it changed."""

    UNSEEN = "run %s unseen=%s"
    FAST = ("markers/CHAIN_DONE", "markers/CHAIN_FAILED", "events.jsonl", "run.json")

    def __init__(self, ident, root, ask, engines):
        self.ident, self.root = ident, full_path(root)
        self.asker = EngineAsker(ident, self.root, ask)
        self.engines = engines.encode().split(b",")  # names of those that are asked here
        self.engine = False  # whether the run was handed to one of them
        self.fast = [os.path.join(self.root, name) for name in self.FAST]
        self.folder, self.quick = os.path.join(self.root, "markers"), None
        self.status, self.status_at = os.path.join(self.root, "status.json"), 0.0  # and when it was told
        self.stamp = None  # type: str | None
        self.sought_at, self.orphans = -SEEK_SECONDS, []  # type: float, list[int]
        self.key, self.alive, self.next_at, self.told = (), ("", ""), 0.0, ("", "")  # type: tuple[str | None, ...], tuple[str, str], float, tuple[str, str]

    def look(self, now):
        # Two looks are enough between the thorough ones: a marker is renamed into its folder after its journal line.
        said = self._records(now)
        return said + self.asker.look(now) if self.engine else said

    def busy(self):
        """Whether an engine's answer is still to come."""
        return self.engine and self.asker.child is not None

    def _records(self, now):
        quick = (self._stamp(self.folder), self._stamp(self.fast[2]))
        slow = not now < self.next_at <= now + SLOW_SECONDS
        if quick == self.quick and not slow:
            return []
        self.quick = quick
        key = tuple(self._stamp(path) for path in self.fast)
        if slow:
            self.next_at = now + SLOW_SECONDS
            self.alive = self._life()
        if key == self.key and self.alive == self.told and self.alive[0] != "gone" and not self._moved_on(now):
            return []
        if key != self.key:
            self.asker.soon(now)
        self.key, self.told = key, self.alive
        return [self._tell(now)]

    def _moved_on(self, now):
        """Whether its progress is to be told again: it is renewed with every sample, and nothing else changes."""
        return not self.status_at <= now < self.status_at + STATUS_SECONDS and self._stamp(self.status) != self.stamp

    @staticmethod
    def _stamp(path):
        try:
            return stamp_of(path)
        except OSError as error:
            return "! %s" % (error.strerror or error)

    def beat(self, now):
        """For how long log and journal have been quiet."""
        times = []
        for name in [*glob.glob(os.path.join(glob.escape(self.root), "logs", "*.log")), self.fast[2]]:
            try:
                times.append(os.stat(name).st_mtime)
            except OSError:
                continue
        return ["quiet %s %.1f" % (self.ident, max(0.0, now - max(times)))] if times else []

    def _tell(self, now):
        parts = [("runner", self.alive[0]), ("stage", self.alive[1]), ("boot", boot_id()), ("now", "%.3f" % now)]
        trouble = [stamp[2:] for stamp in self.key if stamp is not None and stamp[:1] == "!"]
        if trouble:
            parts.append(("unseen", trouble[0]))
        head = (read_part(self.fast[3], HEAD_LIMIT) or b"").partition(b"\n")[0]
        self.engine = any(b'"%s"' % name in head for name in self.engines)
        parts += [("head", head), ("journal", read_part(self.fast[2], JOURNAL_LIMIT, tail=True) or b"")]
        parts += [
            ("done", read_part(self.fast[0], PART_LIMIT) or b""),
            ("ended", read_part(self.fast[1], PART_LIMIT) or b""),
        ]
        self.status_at, self.stamp = now, self._stamp(self.status)
        parts += [("status", read_part(self.status, PART_LIMIT) or b"")]
        parts += [("lock", self._lock()), ("failed", self._failed())]
        parts.append(("room", self._room()))
        if not head:
            parts.append(("orphans", self._orphans(now)))
            parts.append(("runs", "\n".join(self._neighbours())))
        return "run %s %s" % (self.ident, " ".join("%s=%s" % (name, hex_of(text)) for name, text in parts))

    def _orphans(self, now):
        """Processes that were started in this directory, which is not there: their pids. They are sought for seldom."""
        if not 0 <= now - self.sought_at < SEEK_SECONDS:
            own, cells = (b"ONBOX_RUN_DIR=" + os.fsencode(self.root) + end for end in (b"", b"/"))
            self.sought_at, found = now, []
            for name in glob.glob("/proc/[0-9]*/environ"):
                words = (read_part(name, ENVIRON_LIMIT) or b"").split(b"\0")
                if any(word == own or word.startswith(cells) for word in words):
                    found.append(int(name.split("/")[2]))
            self.orphans = sorted(found)[:ORPHANS]
        return " ".join(str(pid) for pid in self.orphans)

    def _room(self):
        """Bytes and inodes that are free where it writes; `-` where they are not counted, "" where that is not told."""
        try:
            seen = os.statvfs(self.root)
        except OSError:
            return ""
        if not 0 < seen.f_blocks * seen.f_frsize < 1 << 63:
            return ""
        blocks = seen.f_bfree if os.geteuid() == 0 else seen.f_bavail  # what is kept for root is free to root
        counted = 0 < seen.f_files < 1 << 63 and seen.f_favail <= seen.f_files
        return "%d %s" % (blocks * seen.f_frsize, seen.f_favail if counted else "-")

    def _neighbours(self):
        """Names of the runs that lie where this one should."""
        folder = os.path.dirname(self.root)
        found = glob.glob(os.path.join(glob.escape(folder), "*", "run.json"))
        return sorted(os.path.basename(os.path.dirname(path)) for path in found)[:NEIGHBOURS]

    def _failed(self):
        """The newest FAILED marker of a stage."""
        names = glob.glob(os.path.join(glob.escape(self.root), "markers", "*_FAILED"))
        names = [name for name in names if os.path.basename(name) != "CHAIN_FAILED"]
        try:
            return read_part(max(names, key=os.path.getmtime), PART_LIMIT) or b"" if names else b""
        except OSError:
            return b""

    def _lock(self):
        return read_part(os.path.join(self.root, "lock"), CONTENT_LIMIT) or b""

    def _life(self):
        """(runner, stage): alive, gone, or why it cannot be told. The lock is only tried when the pid says "gone".

        A stage is `alive alone` where its keeper, which would continue the chain, has gone too; of a sweep whose runner
        has gone it is `alive cells` where a cell goes on.
        """
        if self._runner_by_pid():
            return "alive", "-"
        locked = is_locked(os.path.join(self.root, "lock"))
        if locked != "free":
            return {"held": "alive", "none": "gone"}.get(locked, locked), "-"
        slots = glob.glob(os.path.join(glob.escape(self.root), "markers", ".*.slot"))
        found = {path: is_locked(path) for path in slots}
        held = [path for path, state in found.items() if state == "held"]
        if held:
            return "gone", "alive alone" if all(map(has_lost_keeper, held)) else "alive"
        cells = glob.iglob(os.path.join(glob.escape(self.root), "cells", "*", "markers", ".*.slot"))
        if any(is_locked(path) == "held" for path in cells):
            return "gone", "alive cells"
        odd = [state for state in found.values() if state not in ("free", "none")]
        return "gone", odd[0] if odd else "gone"

    def _runner_by_pid(self):
        try:
            signed = json.loads(self._lock().decode("ascii", "replace") or "{}")
            ticks = start_ticks(int(signed["pid"]))
            return ticks is not None and ticks == int(signed["start_ticks"]) and signed["boot_id"] == boot_id()
        except (ValueError, KeyError, TypeError):
            return False


def has_lost_keeper(path):
    """Whether the slot names a keeper that lives no more, and holds no end that it has written."""
    text = read_part(path, CONTENT_LIMIT) or b""
    found = re.search(rb"^keeper (\d+)", text, re.MULTILINE)
    if found is None or re.search(rb"^exit ", text, re.MULTILINE):
        return False
    return start_ticks(int(found.group(1))) is None


def is_locked(path):
    """held, free, none (no such file), or why it cannot be told."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        return "none" if error.errno == errno.ENOENT else "? %s" % (error.strerror or error)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return "free"
    except OSError as error:
        held = error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)
        return "held" if held else "? %s" % (error.strerror or error)
    finally:
        os.close(fd)
