"""What the program on the box can look at: markers, logs, artifacts, processes. A part of `lookout.py`: python 3.6."""

import binascii
import errno
import glob
import json
import os
import re
import stat
import time
import zlib

CONTENT_LIMIT = 4096
HEAD_LIMIT = 1 << 18
LINE_LIMIT = 1 << 16
READ_LIMIT = 1 << 20
LOOK_LIMIT = 1 << 24  # of a long log, in one look: the others must not wait for it
SLOW_SECONDS = 1.0  # between two looks at what costs more than a stat
REST_SECONDS = 1.0  # a last line without its end counts when nothing was added for so long


def hex_of(data):
    if not isinstance(data, bytes):
        data = str(data).encode("utf-8", "surrogateescape")
    return binascii.hexlify(data).decode("ascii") or "-"


def full_path(path):
    return os.path.expanduser(path) if path[:2] == "~/" or path == "~" else path


def read_part(path, limit, *, tail=False):
    """The beginning (or the end) of a file; None where there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        offset = max(0, os.fstat(fd).st_size - limit) if tail else 0
        data = os.pread(fd, limit, offset)
        return data.partition(b"\n")[2] if offset else data
    except OSError:
        return None
    finally:
        os.close(fd)


def stamp_of(path):
    """What tells this file, as it is now, from any other one; None where there is none. Raises OSError otherwise."""
    try:
        seen = os.stat(path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        raise
    return "%d:%d:%d:%d:%d" % (seen.st_dev, seen.st_ino, seen.st_ctime_ns, seen.st_mtime_ns, seen.st_size)


def why(error):
    return hex_of(error.strerror or str(error))


class FileItem:
    """A marker: that it is there, which one it is, and what it holds. Known: the stamp that was told before."""

    UNSEEN = "file %s unseen %s"

    def __init__(self, ident, path, known):
        self.ident, self.path, self.known = ident, full_path(path), known or None

    def look(self, _now):
        try:
            stamp = stamp_of(self.path)
        except OSError as error:
            return self._told("unseen", "file %s unseen %s" % (self.ident, why(error)))
        if stamp is None:
            return self._told("absent", "file %s absent" % self.ident)
        if stamp == self.known:
            return []
        content = read_part(self.path, CONTENT_LIMIT) or b""
        text = "file %s present %s %s %s" % (self.ident, stamp, hex_of(content), hex_of(self._contract()))
        return self._told(stamp, text)

    def _told(self, state, text):
        if state == self.known:
            return []
        self.known = state
        return [text]

    def _contract(self):
        """Of a run's own marker: the head of its run.json and the line of its stage, to compare the marker with."""
        folder, name = os.path.split(self.path)
        if os.path.basename(folder) != "markers" or not name.endswith(("_DONE", "_FAILED")):
            return b""
        stage = name.rpartition("_")[0]
        try:
            with open(os.path.join(os.path.dirname(folder), "run.json"), "rb") as file:
                head = file.readline(HEAD_LIMIT)
                mark = b'{"name": ' + json.dumps(stage).encode("ascii")
                return head + next((line for line in file if line.startswith(mark)), b"")
        except OSError:
            return b""


class LogItem:
    """Lines of a log that came after the cursor. Cursor: device:inode:offset:size of the piece before:its checksum;
    empty: lines from now on; "all": also what is there, of which the last line that matches tells how it stands.
    """

    UNSEEN = "log %s unseen %s"

    def __init__(self, ident, path, cursor, regex, fail_regex):
        self.ident, self.path = ident, full_path(path)
        self.done = re.compile(regex.encode("utf-8", "surrogateescape")) if regex else None
        self.fail = re.compile(fail_regex.encode("utf-8", "surrogateescape")) if fail_regex else None
        self.fd, self.where, self.offset, self.rest, self.grew_at = -1, (0, 0), 0, b"", 0.0
        self.wanted = self._parse(cursor)
        self.told = cursor
        self.first, self.odd = True, False
        self.mtime = None
        self.all, self.behind, self.last = cursor == "all", False, []  # type: bool, bool, list[str]

    @staticmethod
    def _parse(cursor):
        """As five numbers; None: none. A checksum of the shell's kind ("c...") cannot be compared here: left out."""
        parts = cursor.split(":")
        if len(parts) != 5:
            return None
        if not parts[4].isdigit():
            parts[3:] = ["0", "0"]
        return tuple(int(part) for part in parts)

    def look(self, now):
        said = []
        if self.fd >= 0:
            said += self._read(now)
        try:
            seen = os.stat(self.path)
        except OSError as error:
            if self.first and self.wanted is None:
                self.wanted = (0, 0, 0, 0, 0)  # it was not there when the wait began: all of it will be new
            self.all = self.behind = False
            if self.first or self.fd >= 0:
                absent = error.errno in (errno.ENOENT, errno.ENOTDIR)
                said.append("log %s %s" % (self.ident, "absent" if absent else "unseen %s" % why(error)))
            self._leave()
            self.first = False
            return said + self._cursor_line()
        if not stat.S_ISREG(seen.st_mode):
            return said + self._not_a_file()
        self.mtime, self.odd = seen.st_mtime, False
        if self.fd < 0 or (seen.st_dev, seen.st_ino) != self.where:
            self._leave()
            said += self._enter(now)
        self.first = False
        return said

    def _not_a_file(self):
        """A folder or a pipe has the name; a log that takes its place will be new."""
        self._leave()
        self.wanted, self.first, self.mtime = self.wanted or (0, 0, 0, 0, 0), False, None
        said = [] if self.odd else ["log %s unseen %s" % (self.ident, hex_of("not a regular file"))]
        self.odd = True
        return said

    def busy(self):
        """Whether there is more to read at once."""
        return self.behind

    def beat(self, now):
        """The cursor, to go on from after a lost link, and how long the log has been quiet by the box's own clock."""
        said = self._cursor_line()
        if self.mtime is not None:
            said.append("quiet %s %.1f" % (self.ident, max(0.0, now - self.mtime)))
        return said

    def _cursor_line(self):
        if self.all:
            return ["log %s cursor all" % self.ident]  # also a sign of life: a long log takes its time
        place = self.wanted if self.fd < 0 else self._place()
        if place is None:
            return []
        text = "%d:%d:%d:%d:%d" % place
        if text == self.told:
            return []
        self.told = text
        return ["log %s cursor %s" % (self.ident, text)]

    def _place(self):
        start = max(0, self.offset - len(self.rest))
        piece = min(256, start)
        check = zlib.crc32(os.pread(self.fd, piece, start - piece)) & 0xFFFFFFFF
        return (self.where[0], self.where[1], start, piece, check)

    def _leave(self):
        """Let go of the file; its place is kept, since what has the name next may be a copy of it."""
        if self.fd >= 0:
            self.wanted = self._place()
            os.close(self.fd)
        self.fd, self.where, self.rest, self.behind = -1, (0, 0), b"", False

    def _enter(self, now):
        """Open the file that has the name now, and find the place to read on from."""
        wanted, self.wanted = self.wanted, None
        said = self._older(wanted, now) if wanted is not None else []
        try:
            self.fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            self.wanted = wanted
            return [*said, "log %s unseen %s" % (self.ident, why(error))]
        seen = os.fstat(self.fd)
        self.where, self.grew_at = (seen.st_dev, seen.st_ino), now
        if wanted is None:
            self.offset = seen.st_size if self.first and not self.all else 0
            self.last = []
        else:
            self.offset = wanted[2] if self._continues(self.fd, wanted, seen) else 0
        return said + self._read(now)

    @staticmethod
    def _continues(fd, wanted, seen):
        """Whether this file holds, before the cursor, what the file of the cursor held there (a copy counts too)."""
        offset, piece, check = wanted[2:]
        if seen.st_size < offset or (not piece and (seen.st_dev, seen.st_ino) != wanted[:2]):
            return False
        return zlib.crc32(os.pread(fd, piece, offset - piece)) & 0xFFFFFFFF == check

    def _older(self, wanted, now):
        """The rest of a file that was rotated away while nobody looked: it has a neighbouring name."""
        if not wanted[1]:
            return []
        for name in sorted(glob.glob(glob.escape(self.path) + ".*")) + sorted(glob.glob(glob.escape(self.path) + "-*")):
            try:
                seen = os.stat(name)
                if (seen.st_dev, seen.st_ino) != wanted[:2]:
                    continue
                self.fd = os.open(name, os.O_RDONLY)
            except OSError:
                continue
            self.where, self.offset = wanted[:2], wanted[2]
            said = self._read(now) if self._continues(self.fd, wanted, seen) else []
            self._leave()
            self.wanted = None
            return said
        return []

    def _read(self, now):
        self.behind = False
        for _ in range(LOOK_LIMIT // READ_LIMIT):
            try:
                size = os.fstat(self.fd).st_size
                if size < self.offset:
                    self.offset, self.rest = 0, b""  # cut to nothing and written anew
                if size == self.offset:
                    break
                data = os.pread(self.fd, READ_LIMIT, self.offset)
            except OSError as error:
                return ["log %s unseen %s" % (self.ident, why(error))]
            if not data:
                break
            self.offset += len(data)
            self.grew_at = now
            said = self._match(data)
            if said and not self.all:
                return said
            self.last = said or self.last
        else:
            self.behind = True
            return []
        if self.all:
            self.all, said, self.last = False, self.last, []
            return said
        return self._try(self.rest) if self.rest and now - self.grew_at >= REST_SECONDS else []

    def _match(self, data):
        """The first line that matches; of what was there already the last one."""
        lines = re.split(b"[\r\n]", self.rest + data)
        self.rest = lines.pop()[-LINE_LIMIT:]
        for line in reversed(lines) if self.all else lines:
            said = self._try(line[:LINE_LIMIT])
            if said:
                return said
        return []

    def _try(self, line):
        for word, pattern in (("fail", self.fail), ("match", self.done)):
            if pattern is not None and pattern.search(line):
                written = os.fstat(self.fd).st_mtime
                return ["log %s %s %s %.3f" % (self.ident, word, hex_of(line[:1000]), written)]
        return []


class ArtifactItem:
    """Files of a pattern that changed after `since` (the box's clock), are big enough, and have stopped growing.

    Known: `stamp of a file:seconds it was stable` from an earlier connection, so that a lost link costs no time.
    """

    UNSEEN = "artifact %s unseen %s"

    def __init__(self, ident, pattern, min_bytes, stable, since, known):
        self.ident, self.pattern = ident, full_path(pattern)
        self.min_bytes, self.stable = int(min_bytes), float(stable)
        self.since = time.time() if since == "now" else float(since or 0)  # before anybody is told that it waits
        self.seen = {}
        self.known = dict(pair.rsplit("=", 1) for pair in known.split(",") if "=" in pair)
        self.next_at, self.state = 0.0, None

    def look(self, now):
        if now < self.next_at <= now + SLOW_SECONDS:
            return []
        self.next_at = now + min(SLOW_SECONDS, max(0.05, self.stable / 10))
        found, growing, names = {}, 0, glob.glob(self.pattern, recursive=True)
        ready = []  # the newest is told: where that one is too old, all are
        for name in names:
            try:
                seen = os.stat(name)
            except OSError:
                continue
            if max(seen.st_ctime, seen.st_mtime) < self.since - 0.02:
                continue
            stamp = stamp_of_seen(seen)
            first = self.seen.get(name)
            if first is None or first[0] != stamp:
                first = (stamp, now - float(self.known.get(stamp, 0)))
            found[name] = first
            if seen.st_size < self.min_bytes or now - first[1] < self.stable:
                growing += 1
            else:
                ready.append((max(seen.st_ctime, seen.st_mtime), name, seen.st_size))
        self.seen = found
        state = "artifact %s waits %d %d" % (self.ident, len(names), growing)
        if ready:
            changed_at, name, size = max(ready)
            state = "artifact %s ready %s %d %.3f" % (self.ident, hex_of(name), size, changed_at)
        changed, self.state = state != self.state, state
        return [state] if changed else []

    def beat(self, now):
        newest = sorted(self.seen.values(), key=lambda one: one[1])[-20:]
        text = ",".join("%s=%.1f" % (stamp, now - at) for stamp, at in newest)
        return ["artifact %s known %s" % (self.ident, text or "-")]


def stamp_of_seen(seen):
    return "%d:%d:%d:%d" % (seen.st_dev, seen.st_ino, seen.st_mtime_ns, seen.st_size)


def start_ticks(pid):
    """Start time of a live process, in ticks since boot; None: there is none (or only a zombie)."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            fields = file.read().rpartition(b") ")[2].split()
    except OSError:
        return None
    return None if len(fields) < 20 or fields[0] in (b"Z", b"X") else int(fields[19])


def age_of(ticks):
    """For how many seconds a process lives that started so many ticks after the boot."""
    with open("/proc/uptime", "rb") as file:
        return max(0.0, float(file.read().split()[0]) - ticks / os.sysconf("SC_CLK_TCK"))


def boot_id():
    text = read_part("/proc/sys/kernel/random/boot_id", 64)
    return text.decode("ascii", "replace").strip() if text else "-"


class PidItem:
    """A process, known by pid and start time. Known: `start time:boot id` from an earlier connection."""

    UNSEEN = "pid %s unseen %s"

    def __init__(self, ident, pid, known):
        self.ident, self.pid, self.known = ident, int(pid), known
        self.next_at, self.state = 0.0, None

    def look(self, now):
        if now < self.next_at <= now + SLOW_SECONDS:
            return []
        self.next_at = now + SLOW_SECONDS / 2
        ticks = None
        if not os.path.isdir("/proc/self"):
            state = "unseen %s" % hex_of("no /proc")
        else:
            ticks = start_ticks(self.pid)
            stamp = "-" if ticks is None else "%d:%s" % (ticks, boot_id())
            if not self.known and ticks is not None:
                self.known = stamp
            state = "alive %s" % stamp if ticks is not None and stamp == self.known else "gone"
        if state == self.state and state != "gone":
            return []
        self.state = state
        age = " %.2f" % age_of(ticks) if ticks is not None and state != "gone" else ""
        return ["pid %s %s%s" % (self.ident, state, age)]
