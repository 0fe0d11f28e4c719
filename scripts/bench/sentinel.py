"""How fast, how dear, how many: `sentinel wait` beside plain polling and a held `inotifywait`, over a real sshd.

    python scripts/bench/sentinel.py reaction [-n 50]     marker landed -> waiter ended; p50, p99
    python scripts/bench/sentinel.py idle [--window 60]   connections and CPU seconds per idle hour, both sides
    python scripts/bench/sentinel.py storm [-n 100]       so many waits at once against MaxStartups 10:30:100
    python scripts/bench/sentinel.py one-box [-n 200]     so many markers on one box in one wait: its connections

Everything listens on loopback and is ended by pid. Polling rows run at a tenth of their tick, with the factor told: a
median of 0.9 s at a tick of 2 s stands for 9 s at 20 s. The idle hour is scaled from a window without the first login;
connections an hour follow from the time that a connection is held.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from onbox.system.process import TICKS_PER_SECOND

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from onbox.system.process import ProcessEntry, process_table
from sentinels.link.schedule import LinkPace
from tests.sentinels.waiter import SENTINEL, land
from tests.sshd import Sshd, descendants

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REPOSITORY = Path(__file__).resolve().parents[2]


class Waiting(NamedTuple):
    """One way to wait. words: its argv for a marker. scale: its tick is so many times shorter than in use."""

    name: str
    words: Callable[[Sshd, Path], list[str]]
    scale: float = 1.0
    engine: str = "any"


def sentinel(_: Sshd, marker: Path) -> list[str]:
    return [*SENTINEL, "wait", f"gpu1:{marker}", "--timeout", "10m"]


def local(_: Sshd, marker: Path) -> list[str]:
    return [*SENTINEL, "wait", str(marker), "--timeout", "10m"]


def polling(tick: float) -> Callable[[Sshd, Path], list[str]]:
    def words(sshd: Sshd, marker: Path) -> list[str]:
        ssh = shlex.join([*sshd.ssh(), "-n", "-o", "BatchMode=yes", "gpu1"])
        return ["sh", "-c", f"until {ssh} test -e {marker} 2>/dev/null; do sleep {tick}; done"]

    return words


def held(sshd: Sshd, marker: Path) -> list[str]:
    remote = f"test -e {marker} || inotifywait -qq -t 600 -e create,moved_to {marker.parent}"
    return [*sshd.ssh(), "-n", "-o", "BatchMode=yes", "gpu1", remote]


WAYS = (
    Waiting("sentinel, python on the box", sentinel, engine="python"),
    Waiting("sentinel, no python on the box", sentinel, engine="sh"),
    Waiting("sentinel, this machine", local),
    Waiting("plain poll every 20 s, at 2 s", polling(2.0), scale=10),
    Waiting("held inotifywait", held),
)


class Scene:
    """A box, and a user of it."""

    def __init__(self, options: Sequence[str] = ()) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sentinel-bench-"))
        self.sshd = Sshd(self.folder / "ssh", options=options)
        self.env = {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "ONBOX_SSH_COMMAND": shlex.join(self.sshd.ssh()),
        }

    def start(self, way: Waiting, marker: Path) -> subprocess.Popen[bytes]:
        env = {**self.env, "SENTINEL_ENGINE": way.engine}
        quiet = subprocess.DEVNULL
        return subprocess.Popen(way.words(self.sshd, marker), env=env, stdin=quiet, stdout=quiet, stderr=quiet)

    def close(self) -> None:
        self.sshd.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def began(scene: Scene, way: Waiting) -> None:
    """Until a wait stands in its register: on a busy machine a marker could land before it, and would not count."""
    deadline = time.time() + 30
    while "sentinel" in way.name and time.time() < deadline:
        if any((scene.folder / "state/onbox/sentinels").glob("*.json")):
            return
        time.sleep(0.02)


def quantiles(values: Sequence[float]) -> str:
    ordered = sorted(values)
    p99 = ordered[min(len(ordered) - 1, round(0.99 * (len(ordered) - 1)))]
    return f"p50 {statistics.median(ordered):.3f} s  p99 {p99:.3f} s  (n={len(ordered)})"


def reaction(args: argparse.Namespace) -> None:
    scene, chance = Scene(), random.Random(args.seed)
    for way in [way for way in WAYS if args.only in way.name]:
        if way.words is held and shutil.which("inotifywait") is None:
            print(f"{way.name:<32} no inotifywait here")
            continue
        taken = []
        for number in range(args.number if way.scale == 1 else max(5, args.number // 3)):
            folder = scene.folder / f"{way.name.replace(' ', '-').replace(',', '')}-{number}"
            folder.mkdir()
            waiter = scene.start(way, folder / "DONE")
            began(scene, way)
            time.sleep(1.0 + chance.random() * (2.0 if way.scale > 1 else 0.25))
            end = os.pidfd_open(waiter.pid)  # `wait` with a limit would look every 50 ms
            landed = land(folder / "DONE")
            select.select([end], [], [], 60)
            taken.append(time.time() - landed)
            os.close(end)
            waiter.wait(1)
        real = f"  in use x{way.scale:g}" if way.scale > 1 else ""
        print(f"{way.name:<32} {quantiles(taken)}{real}", flush=True)
    scene.close()


def cpu_seconds(entries: Sequence[ProcessEntry]) -> float:
    return sum(entry.cpu_ticks for entry in entries) / TICKS_PER_SECOND


def tree_of(pid: int) -> list[ProcessEntry]:
    """The process and its family."""
    return [*(entry for entry in process_table() if entry.identity.pid == pid), *descendants(pid)]


def children_seconds(pid: int) -> float:
    """CPU time of the ended and waited-for children of a family: what a shell's forks used."""
    total = 0
    for entry in tree_of(pid):
        try:
            fields = Path(f"/proc/{entry.identity.pid}/stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        total += int(fields[13]) + int(fields[14])
    return total / TICKS_PER_SECOND


def idle(args: argparse.Namespace) -> None:
    for way in [way for way in WAYS[:4] if args.only in way.name]:
        scene = Scene()
        waiter = scene.start(way, scene.folder / "DONE")
        assert scene.sshd.process is not None
        time.sleep(3)
        sides = {"here": waiter.pid, "box": scene.sshd.process.pid}
        before = {side: cpu_seconds(tree_of(pid)) + children_seconds(pid) for side, pid in sides.items()}
        time.sleep(args.window)
        hour = 3600 / args.window
        used = {s: (cpu_seconds(tree_of(p)) + children_seconds(p) - before[s]) * hour for s, p in sides.items()}
        memory = sum(entry.rss_pages for entry in process_table() if entry.identity.pid == waiter.pid) * 4096 / 2**20
        box = "" if way.words is local else f"  box CPU {used['box']:.1f} s/h"
        rate = 3600 / LinkPace().renew
        line = f"{rate:.1f} connections/h  own CPU {used['here']:.2f} s/h{box}  own RSS {memory:.0f} MiB"
        print(f"{way.name:<32} {line}", flush=True)
        waiter.terminate()
        waiter.wait()
        scene.close()


def storm(args: argparse.Namespace) -> None:
    scene = Scene(options=["MaxStartups 10:30:100"])
    way, waiters, began = WAYS[0], [], time.time()
    for number in range(args.number):
        (scene.folder / str(number)).mkdir()
        waiters.append(scene.start(way, scene.folder / str(number) / "DONE"))
    started = time.time() - began
    register = scene.folder / "state/onbox/sentinels"
    while len(list(register.glob("*.json"))) < args.number:
        time.sleep(0.1)
    for number in range(args.number):
        land(scene.folder / str(number) / "DONE")
    codes = [waiter.wait(300) for waiter in waiters]
    refused = scene.sshd.log.count("drop connection")
    print(
        f"{codes.count(0)} of {args.number} right; started within {started:.1f} s, ended {time.time() - began:.1f} s on"
    )
    print(f"{refused} connections refused by sshd, {scene.sshd.logins()} logins")
    scene.close()


def one_box(args: argparse.Namespace) -> None:
    scene = Scene()
    markers = [scene.folder / f"M{number}" for number in range(args.number)]
    words = [*SENTINEL, "wait", *(f"gpu1:{marker}" for marker in markers), "--timeout", "5m"]
    waiter = subprocess.Popen(words, env=scene.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    time.sleep(2)
    for marker in markers:
        landed = land(marker)
    code = waiter.wait(60)
    after = time.time() - landed
    print(f"{args.number} markers: exit {code}, {scene.sshd.logins()} connection(s), {after:.3f} s after the last")
    scene.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["reaction", "idle", "storm", "one-box"])
    parser.add_argument("-n", "--number", type=int, default=50)
    parser.add_argument("--window", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="ways whose names hold this")
    args = parser.parse_args()
    {"reaction": reaction, "idle": idle, "storm": storm, "one-box": one_box}[args.what](args)


if __name__ == "__main__":
    main()
