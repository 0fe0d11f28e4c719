"""Processes whose command line matches a pattern, as the program on the box looks at them: a part of `lookout.py`."""

import os

from sentinels.box.lookout_items import SLOW_SECONDS, hex_of

SCAN_SECONDS = 10.0  # between two looks at all processes
SURE_SECONDS = 60.0  # while those that were found live
SCAN_LIMIT_SECONDS = 20


class ProcessesItem:
    """Who matches, in the words of the shell text that looks: told whenever it was looked, also if nothing changed."""

    UNSEEN = "procs %s unseen %s"

    def __init__(self, ident, pattern, script):
        self.ident, self.pattern, self.script = ident, pattern, script
        self.next_at, self.scanned_at, self.pids = 0.0, None, []

    def look(self, now):
        if now < self.next_at <= now + SLOW_SECONDS:
            return []
        self.next_at = now + SLOW_SECONDS
        since = SURE_SECONDS if self.scanned_at is None else now - self.scanned_at
        all_live = bool(self.pids) and all(os.path.isdir("/proc/" + pid) for pid in self.pids)
        if 0 <= since < (SURE_SECONDS if all_live else SCAN_SECONDS):
            return []
        self.scanned_at = now
        return [self._scan()]

    def _scan(self):
        import subprocess  # noqa: PLC0415 - few waits need it

        words = ["sh", "-c", self.script + '\np_processes "$1"', "sh", self.pattern]
        try:
            done = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                check=False,
                timeout=SCAN_LIMIT_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return self.UNSEEN % (self.ident, hex_of("its processes took too long to be listed"))
        rows = done.stdout.partition(b"\n@")[0] if not done.stdout.startswith(b"@") else b""
        self.pids = [row.split(b" ")[0].decode("ascii", "replace") for row in rows.splitlines()]
        return "procs %s %d %s" % (self.ident, done.returncode, hex_of(done.stdout))
