"""Ticks and deliverers that are killed while they tell people: what a real receiver got, against what happened.

    python scripts/bench/patrol_kills.py [--kills 200] [--seed 1] [--what ticks|deliverers]

ticks: a run fails and recovers in turns. Each tick that is to tell it is killed by SIGKILL after a random time, or at a
random operation on the disk; then comes a whole tick. deliverers: ticks are whole, and the deliverers that they start,
with their workers and tries, are killed after a random time, again and again. Delivery is the real one, over HTTP on
loopback. Counted at the receiver by id: lost, told twice, out of order; all three must be 0. What was sent again with
the same id died between the receiver's answer and the note of it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from onbox.notify.queue.outbox import Outbox
from patrol.tell import messages as speaking
from patrol.tell.messages import paths_of
from tests.fault_server import FaultServer
from tests.patrol.killed_ticks import KilledTicks

OPERATIONS = 16  # of one tick on the disk, about
LONGEST_SECONDS = 0.03
DELIVERY_SECONDS = 1.2  # from its start to its note that a message was taken, about


def soak(folder: Path, kills: int, seed: int) -> int:
    """How much was wrong."""
    random, server = Random(seed), FaultServer()
    (folder / "url").write_text(server.url())
    ticks = KilledTicks(folder, "file:url", dict(os.environ), time.time())
    ticks.speak(ticks.look())
    killed = tried = 0
    while killed < kills:
        judged = ticks.change()
        tried += 1
        if random.random() < 0.5:
            killed += ticks.killed_after(judged, random.uniform(0.0005, LONGEST_SECONDS))
        else:
            when = random.choice(("before", "after", "torn"))
            killed += ticks.killed_at(judged, random.randint(1, OPERATIONS), when)
        ticks.speak(ticks.look())
    return _report(server, ticks, killed, tried)


def soak_deliverers(folder: Path, kills: int, seed: int) -> int:
    """How much was wrong."""
    random, server = Random(seed), FaultServer()
    (folder / "url").write_text(server.url())
    ticks = KilledTicks(folder, "file:url", dict(os.environ), time.time())
    ticks.speak(ticks.look())
    speaking.WAIT_OF_PERSON_SECONDS = 0.0  # the tick does not wait for what is to be killed
    killed = tried = 0
    while killed < kills:
        ticks.speak(ticks.change())
        tried += 1
        time.sleep(random.uniform(0.0, DELIVERY_SECONDS))
        killed += _kill_deliverers(ticks)
        if random.random() < 0.5:
            ticks.speak(ticks.look())
            time.sleep(random.uniform(0.0, DELIVERY_SECONDS))
            killed += _kill_deliverers(ticks)
    return _report(server, ticks, killed, tried)


def _kill_deliverers(ticks: KilledTicks) -> int:
    """Every process that delivers for this state; how many there were."""
    root, killed = os.fsencode(paths_of(ticks.settings).root), 0
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if entry.joinpath("cmdline").read_bytes().rstrip(b"\0").split(b"\0")[-1] == root:
                os.kill(int(entry.name), signal.SIGKILL)
                killed += 1
    return killed


def _report(server: FaultServer, ticks: KilledTicks, killed: int, tried: int) -> int:
    outbox, end = Outbox(paths_of(ticks.settings)), time.monotonic() + 60
    while outbox.pending() and time.monotonic() < end:
        ticks.speak(ticks.look())
        time.sleep(0.1)
    got: dict[str, str] = {}
    for one in server.acknowledged:
        got.setdefault(one.id, one.json()["data"]["event"])
    events = list(got.values())
    wrong = sum(said != meant for said, meant in zip(events, ticks.changes, strict=False))
    lost, double = max(0, len(ticks.changes) - len(events)), max(0, len(events) - len(ticks.changes))
    again = len(server.acknowledged) - len(got)
    server.close()
    print(f"{killed} killed in {tried} rounds · {len(ticks.changes)} changes · {len(events)} messages received")
    print(f"lost {lost} · told twice {double} · wrong or out of order {wrong} · sent again with the same id {again}")
    return lost + double + wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--what", choices=("ticks", "deliverers"), default="ticks")
    args = parser.parse_args()
    work = soak if args.what == "ticks" else soak_deliverers
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return 1 if work(Path(folder), args.kills, args.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
