"""How fast `patrol pull` is beside plain scp and rsync, what memory it takes, and whether it survives cuts.

python scripts/bench/pull.py [--gigabytes 5] [--files 100000] [--rounds 3] rates, in turns python scripts/bench/pull.py
--cuts 100 a soak: a link that is cut at random bytes

A real sshd on loopback, so that both ends share the cores: ratios travel, rates do not. rsync is measured where it is
installed. The large file is sparse on the box; over the link and here it is whole.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))

from tests.patrol.transfer.places import Cutter, finish, through
from tests.patrolled import Patrolled
from tests.sshd import Sshd

if TYPE_CHECKING:
    from collections.abc import Callable

MEASURE = (
    "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL);"
    "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)


def measured(words: list[str], place: Patrolled) -> tuple[float, int]:
    """Seconds, and the peak of the largest process in KiB."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *words],
        check=True,
        capture_output=True,
        text=True,
        env=place.env,
        cwd=place.local,
    )
    seconds = time.perf_counter() - began
    code, peak = map(int, done.stdout.split())
    assert code == 0, (words, done.stderr)
    return seconds, peak


def programs(place: Patrolled, what: str) -> dict[str, Callable[[Path], list[str]]]:
    config = os.fspath(place.sshd.folder / "ssh_config")
    project = place.boxes["gpu1"].project
    found: dict[str, Callable[[Path], list[str]]] = {
        "scp": lambda to: ["scp", "-qr", "-F", config, f"gpu1:{project}/{what}", os.fspath(to)],
        "pull": lambda to: [sys.executable, "-m", "patrol", "pull", "gpu1/digits", os.fspath(to)],
    }
    if shutil.which("rsync", path=place.env["PATH"]):
        remote = shutil.which("rsync", path=place.env["PATH"])
        ssh = f"ssh -F {config}"
        found["rsync"] = lambda to: [
            "rsync", "-r", "-t", "-W", "-e", ssh, f"--rsync-path={remote}", f"gpu1:{project}/{what}", f"{to}/",
        ]  # fmt: skip
    return found


def compare(place: Patrolled, what: str, size: int, rounds: int) -> None:
    """Medians, in turns, so that a busy minute of the machine strikes all."""
    works = programs(place, what)
    times: dict[str, list[float]] = {name: [] for name in works}
    peaks = dict.fromkeys(works, 0)
    for number in range(rounds):
        for name, words in works.items():
            to = place.folder / "to" / f"{name}.{number}"
            to.mkdir(parents=True)
            seconds, peak = measured(words(to), place)
            times[name].append(seconds)
            peaks[name] = max(peaks[name], peak)
            shutil.rmtree(to)
    medians = {name: statistics.median(found) for name, found in times.items()}
    best = min(seconds for name, seconds in medians.items() if name != "pull")
    for name, seconds in medians.items():
        print(
            f"{what:<6} {name:<6} {seconds:8.2f} s {size / seconds / 1e6:8.1f} MB/s  peak {peaks[name] / 1024:6.1f} MiB"
        )
    print(f"{what:<6} pull has {100 * best / medians['pull']:.0f} % of the faster one's rate")


def rates(place: Patrolled, gigabytes: float, files: int, rounds: int) -> None:
    box = place.add_box("gpu1")
    size = int(gigabytes * 1e9)
    (box.project / "big").mkdir()
    with (box.project / "big" / "best.bin").open("wb") as file:
        file.truncate(size)
    done_with(place, "big")
    compare(place, "big", size, rounds)
    shutil.rmtree(box.project / "big")
    many = box.project / "many"
    for number in range(files):
        folder = many / f"{number // 1000:03d}"
        if number % 1000 == 0:
            folder.mkdir(parents=True)
        (folder / f"{number:06d}.txt").write_bytes(b"x" * 1000)
    done_with(place, "many")
    compare(place, "many", files * 1000, rounds)


def done_with(place: Patrolled, what: str) -> None:
    """A run that is done with what lies there; its stage only says so."""
    box = place.boxes["gpu1"]
    shutil.rmtree(box.project / ".onbox", ignore_errors=True)
    (box.project / "onbox.toml").write_text(f"[stages.train]\ncmd = 'touch {what}'\nartifacts = ['{what}']\n")
    box.onbox("chain")


def soak(place: Patrolled, cuts: int, seed: int) -> None:
    """Cut at random bytes until so many cuts have struck, over several whole pulls; each ends with a right manifest."""
    box = place.add_box("gpu1")
    (box.project / "out").mkdir()
    chance = random.Random(seed)
    for number in range(40):
        (box.project / "out" / f"file {number}.bin").write_bytes(os.urandom(chance.randrange(1, 400_000)))
    finish(box, "out")
    link = Cutter(place.sshd.port)
    through(place, link)
    struck = pulls = 0
    while struck < cuts:
        folder = place.local / f"home.{pulls}"
        while True:
            link.after_bytes = int(10 ** chance.uniform(2.5, 6.7))
            done = place.patrol("pull", "gpu1/digits", os.fspath(folder), "--tries", "1")
            if done.returncode == 0:
                break
            assert done.returncode == 3, done.stdout + done.stderr
            struck += 1
        head, *entries = map(json.loads, (folder / "onbox-manifest.jsonl").read_text().splitlines())
        assert head["files"] == len(entries) >= 40
        for entry in entries:
            here, there = (folder / entry["path"]).read_bytes(), (box.project / entry["path"]).read_bytes()
            assert here == there, entry
            assert entry["sha256"] == hashlib.sha256(here).hexdigest(), entry
        pulls += 1
        print(f"{struck} cuts, {pulls} pulls, each byte the same", flush=True)
        shutil.rmtree(folder)
    link.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=5.0)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cuts", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="onbox-pull-") as folder:
        sshd = Sshd(Path(folder) / "ssh", options=["Subsystem sftp internal-sftp"])
        os.environ.setdefault("ONBOX_TRUST", "all")
        place = Patrolled(Path(folder), sshd)
        try:
            if args.cuts:
                soak(place, args.cuts, args.seed)
            else:
                rates(place, args.gigabytes, args.files, args.rounds)
        finally:
            place.end_everything()
            sshd.close()


if __name__ == "__main__":
    main()
