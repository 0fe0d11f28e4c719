"""The program that looks on the box: it says at once when something changed, and beats meanwhile.

Its text is sent over the connection and run by whatever python the box has (3.6 or later; standard library only,
nothing installed, nothing written), and in the same way for targets on this machine. It only observes; what an
observation means is judged where the wait was started.

Words: HOLD BEAT PING TICK, then eight per item: KIND ID A B C D E F. Every line that it says begins with "@s"; texts
are in hex ("-" for an empty one). It ends when HOLD seconds are over, when nothing came from the other side (descriptor
3) for PING seconds (0: no such limit), at the end of that, when its parent has gone, and when it cannot speak: nothing
stays on the box.
"""

import json
import os
import select
import signal
import sys
import time

from sentinels.box.lookout_items import ArtifactItem, FileItem, LogItem, PidItem, boot_id, why
from sentinels.box.lookout_processes import ProcessesItem
from sentinels.box.lookout_run import RunItem

LINE = 3  # descriptor on which the other side speaks
LATE_SECONDS = 30  # so long an engine's answer that is on its way is waited for when the time is up
STUCK_SECONDS = 30  # a look that hangs for so long ends the program (a dead network mount)


def make_item(kind, ident, a, b, c, d, _e, _f):
    if kind == "file":
        return FileItem(ident, a, b)
    if kind == "log":
        return LogItem(ident, a, b, c, d)
    if kind == "artifact":
        since, _, known = d.partition(";")
        return ArtifactItem(ident, a, b, c, since, known)
    if kind == "pid":
        return PidItem(ident, a, b)
    if kind == "procs":
        return ProcessesItem(ident, a, b)
    return RunItem(ident, a, b, c)


def make_items(words):
    return [make_item(*words[at : at + 8]) for at in range(0, len(words) - 7, 8)]


def look_all(items, now, *, beats):
    """Every line that there is to say; beats: with what is told with a heartbeat only. The beat itself tells that all
    items were looked at to their ends: none is told while a long log is still being read.
    """
    said = []
    for item in items:
        said += looked(item, item.look, now)
    if beats:
        for item in items:
            if hasattr(item, "beat"):
                said += looked(item, item.beat, now)
        if not any(hasattr(item, "behind") and item.behind for item in items):
            said.append("beat %.3f" % now)
    return said


def looked(item, look, now):
    """What one item has to say; one that cannot be looked at (a stale mount) must not blind the others."""
    try:
        said, trouble = look(now), ""
    except OSError as error:
        trouble = item.UNSEEN % (item.ident, why(error))
        said = [] if trouble == getattr(item, "trouble", "") else [trouble]
    item.trouble = trouble
    return said


def is_busy(items):
    return any(hasattr(item, "busy") and item.busy() for item in items)


def say(lines):
    data = "".join("@s %s\n" % line for line in lines).encode("ascii", "replace")
    while data:
        data = data[os.write(1, data) :]


def main(words):
    hold, beat, ping, tick = (float(word) for word in words[:4])
    signal.alarm(STUCK_SECONDS)
    items, parent = make_items(words[4:]), os.getppid()
    began = heard = time.time()
    os.write(1, b"\n")  # what a start-up file of the account printed may lack its line's end
    say(["hello python %.3f %s %d" % (began, boot_id(), os.getpid())])
    next_beat, clock = began, time.time
    poller = select.poll()
    poller.register(LINE, select.POLLIN)
    # The first look comes with a beat: it tells that all items were looked at once.
    while True:
        now = clock()
        if not now < next_beat <= now + beat:
            signal.alarm(STUCK_SECONDS)
            lines = look_all(items, now, beats=True)
            say(lines)
            if lines[-1:] and lines[-1].startswith("beat "):
                next_beat = now + beat
            if os.getppid() != parent or (ping and not now - heard < ping):
                return None
        else:
            lines = look_all(items, now, beats=False)
            if lines:
                say(lines)
        if not 0 <= now - began < hold and not (0 <= now - began < hold + LATE_SECONDS and is_busy(items)):
            return say(["end held"])
        if not ping:
            time.sleep(tick)
        elif poller.poll(tick * 1000):
            if not os.read(LINE, 4096):
                return None
            heard = clock()


if __name__ == "__main__":
    try:
        main(json.loads(os.environ["SENTINEL_WORDS"]))
    except (OSError, KeyboardInterrupt):
        sys.exit(1)
