"""What a tick costs: `patrol.py [one] [fleet] [sick]`, over a real sshd on loopback that plays every box.

Beside it: `ssh true` (the floor), one ssh with greps over the whole log (what people write by hand), and one ssh per
check. Each as cron would start it; medians. The boxes share this machine's cores, so a load beside it counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))

from patrol.ssh.client_errors import SSH_FAILED
from tests.box import REPOSITORY
from tests.sshd import Link, Sshd

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 7
GREPS = (
    "tail -n 1 {log}; grep -c Traceback {log}; grep -cE 'CUDA out of memory|Killed' {log}; "
    "grep -cE 'Epoch [0-9]+' {log}; grep -c 'Training completed' {log}; pgrep -af train.py; "
    "df -P {folder}; df -iP {folder}"
)


class Cost(NamedTuple):
    """Medians: wall time, CPU of this side, CPU of the box's side, in seconds."""

    wall: float
    here: float
    there: float


class Lab:
    """A local side with N boxes, all of them this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sshd = Sshd(folder / "ssh", options=["MaxStartups 300:30:500", "MaxSessions 500"])
        self.local = folder / "local"
        self.local.mkdir()
        self.project = folder / "box"
        self.project.mkdir()
        self.log = self.project / "train.log"
        self.words = [*self.sshd.ssh(), "-o", "BatchMode=yes"]  # once: it writes the file that every client reads
        self.env = {
            **os.environ,
            "PYTHONPATH": os.fspath(REPOSITORY),
            "XDG_STATE_HOME": os.fspath(folder / "state"),
            "ONBOX_SSH_COMMAND": " ".join(self.words),
        }

    def write_log(self, size_bytes: int) -> None:
        line = b"Epoch 3: step 4600/5155 loss 0.4123 lr 1.0e-4 tokens/s 51234\n"
        block = line * ((1 << 20) // len(line))
        with self.log.open("wb") as file:
            while file.tell() < size_bytes:
                file.write(block[: size_bytes - file.tell()])
            file.write(b"\n" + line)

    def configure(self, boxes: int, patrol: str = "") -> None:
        watch = f'watch = {{ name = "run", log = "{self.log}", process = "train.py", stall_after = "99h" }}'
        tables = (f'[boxes.b{n}]\nhost = "b{n}"\nproject = "{self.project}"\n{watch}\n' for n in range(boxes))
        (self.local / "onbox.toml").write_text(f"[patrol]\n{patrol}\n" + "\n".join(tables))

    def tick(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "patrol", "tick", "--quiet", "--look-only", *words]
        return subprocess.run(
            command, env=self.env, cwd=self.local, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )

    def run_ssh(self, host: str, command: str) -> None:
        words = [*self.words, host, command]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120)
        assert done.returncode != SSH_FAILED, done.stderr

    def side_cpu(self) -> float:
        """CPU that ended children of sshd have used, in seconds."""
        assert self.sshd.process is not None
        fields = Path(f"/proc/{self.sshd.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def measure(lab: Lab, work: Callable[[], object], repeats: int = REPEATS) -> Cost:
    rows = []
    for _ in range(repeats):
        before, there, began = os.times(), lab.side_cpu(), time.monotonic()
        work()
        wall = time.monotonic() - began
        after = os.times()
        here = after.children_user + after.children_system - before.children_user - before.children_system
        time.sleep(0.05)  # sshd reaps its session a little later
        rows.append(Cost(wall, here, lab.side_cpu() - there))
    return Cost(*(statistics.median(column) for column in zip(*rows, strict=True)))


def show(name: str, cost: Cost, beside: Cost | None = None) -> None:
    ratio = f"  x{cost.wall / beside.wall:5.2f}  {1000 * (cost.wall - beside.wall):+6.0f} ms" if beside else ""
    cpu = f"cpu here {1000 * cost.here:5.0f} ms, box {1000 * cost.there:5.0f} ms"
    print(f"  {name:<44} {1000 * cost.wall:7.0f} ms   {cpu}{ratio}")


def bench_one(lab: Lab) -> None:
    """One box: beside other ways, by the log's size, over a live master."""
    greps = GREPS.format(log=lab.log, folder=lab.project)
    floor = measure(lab, lambda: lab.run_ssh("b0", "true"))
    ticks = {}
    for megabytes in (1, 1024):
        lab.write_log(megabytes << 20)
        print(f"one box, log of {megabytes} MB")
        lab.configure(1)
        lab.tick()
        show("ssh true", floor)
        ticks[megabytes] = measure(lab, lab.tick)
        show("patrol tick", ticks[megabytes], floor)
        show("one ssh, greps over the whole log", measure(lab, lambda: lab.run_ssh("b0", greps), 3), floor)
        show("one ssh per check (8)", measure(lab, lambda: _one_by_one(lab, greps.split("; ")), 3), floor)
    print(f"  1 GB / 1 MB: x{ticks[1024].wall / ticks[1].wall:.2f}")
    look = in_process(lab)
    print(f"  of a tick, the look alone (no start of Python): {1000 * look['wall']:.0f} ms,", end=" ")
    print(f"{look['sent']} bytes there, {look['received']} bytes back")
    lab.configure(1, "multiplex = true")
    lab.tick()
    warm = measure(lab, lab.tick)
    print("over a live master")
    show("patrol tick", warm)
    print(f"  the look alone: {1000 * in_process(lab)['wall']:.0f} ms")


def _one_by_one(lab: Lab, commands: list[str]) -> None:
    for command in commands:
        lab.run_ssh("b0", command)


LOOK = """
import json, os, statistics, sys, time
import patrol.collect as looking
from patrol.config.configured import settings_of
from patrol.memory.rows import Past
from patrol.memory.store import Memory
from onbox.project import load_project
settings = settings_of(load_project(None), os.environ)
past = Memory(settings.state).recall()
seen = {}
ask = looking.ask
def counted(target, stdin, **more):
    answer = ask(target, stdin, **more)
    seen.update(sent=len(stdin), received=len(answer.output))
    return answer
looking.ask = counted
list(looking.look_at_all(settings, settings.config.boxes, past))
times = []
for _ in range(7):
    began = time.monotonic()
    list(looking.look_at_all(settings, settings.config.boxes, past))
    times.append(time.monotonic() - began)
print(json.dumps({"wall": statistics.median(times), **seen}))
"""


def in_process(lab: Lab) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-c", LOOK], env=lab.env, cwd=lab.local, capture_output=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def bench_fleet(lab: Lab, boxes: int) -> None:
    """Many boxes, all of them this machine."""
    lab.write_log(1 << 20)
    lab.configure(boxes, f"at_once = 16\nper_host = {boxes}")

    def floor() -> None:
        with ThreadPoolExecutor(boxes) as pool:
            list(pool.map(lambda n: lab.run_ssh(f"b{n}", "true"), range(boxes)))

    print(f"{boxes} boxes")
    beside = measure(lab, floor, 3)
    show(f"{boxes} x ssh true, all at once", beside)
    lab.tick()
    show("patrol tick", measure(lab, lab.tick, 3), beside)
    print(f"  lines: {len(lab.tick().stdout.splitlines())}")


def bench_sick(lab: Lab, boxes: int) -> None:
    """One box that accepts and never speaks, among healthy ones."""
    lab.write_log(1 << 20)
    lab.configure(boxes, f'deadline = "10s"\nper_host = {boxes}')
    lab.tick()
    well = measure(lab, lab.tick, 3)
    link = Link(None, "silent")
    lab.env["ONBOX_SSH_COMMAND"] = " ".join(lab.sshd.ssh({"b3": link.port}))
    print(f"one silent box among {boxes}, deadline 10 s")
    show("all well", well)
    for number in (1, 2, 3):
        began = time.monotonic()
        done = lab.tick()
        fine = sum(" RUNNING " in line or " UNKNOWN " not in line for line in done.stdout.decode().splitlines())
        print(f"  tick {number} with it: {time.monotonic() - began:.1f} s, {fine} lines of others")
    link.close()
    lab.env["ONBOX_SSH_COMMAND"] = " ".join([*lab.sshd.ssh(), "-o", "BatchMode=yes"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["one", "fleet", "sick"], choices=["one", "fleet", "sick"])
    parser.add_argument("--boxes", type=int, default=100)
    args = parser.parse_args()
    # Otherwise every start would compile the sources anew, which no installed program does.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="patrol-bench-") as folder:
        lab = Lab(Path(folder))
        train = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(9999)", "train.py"])
        try:
            print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
            if "one" in args.what:
                bench_one(lab)
            if "fleet" in args.what:
                bench_fleet(lab, args.boxes)
            if "sick" in args.what:
                bench_sick(lab, 20)
        finally:
            train.kill()
            train.wait()
            lab.sshd.close()


if __name__ == "__main__":
    main()
