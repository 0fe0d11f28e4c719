#!/usr/bin/env python3
"""What a quiet look costs the box: bytes each way, CPU, wall time, processes; and whether the log's size matters.

usage: patrol_probe.py [--rounds 20] [--large-mb 1024]

No ssh is in these numbers: the script runs under the shells of this machine. Rounds of all cases are interleaved;
medians are printed. CPU is that of the shell and all its children.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from onbox.model.boxes import BoxSettings, Watch
from patrol.memory.run_memory import nothing_remembered
from patrol.probe.plan import plan
from patrol.probe.script import build
from patrol.ssh.client import script_with_values
from tests.patrol.probe.local_sh import SHELLS, LocalBox

STEP = b"step %09d/999999999 loss 0.4123\n"
MIB = 1 << 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--large-mb", type=int, default=1024)
    args = parser.parse_args()
    shells = {name: words for name, words in SHELLS.items() if shutil.which(words[0])}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = chain_in(folder / "digits")
        for megabytes in (1, args.large_mb):
            write_log(folder / f"{megabytes}.log", megabytes)
        try:
            quiet(folder, project, shells, args.rounds)
            by_size(folder, shells, args.rounds, args.large_mb)
            burst(folder, args.large_mb)
            processes(folder, project)
        finally:
            subprocess.run([sys.executable, "-m", "onbox", "stop"], cwd=project, capture_output=True, check=False)


def chain_in(project: Path) -> Path:
    """A real run that goes on."""
    project.mkdir()
    command = "while :; do echo step 1/1000 loss 0.4; sleep 0.2; done"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    subprocess.run(
        [sys.executable, "-m", "onbox", "chain", "-d", "--launch-check", "0", f"train={command}"],
        cwd=project,
        env=environment,
        check=True,
        capture_output=True,
    )
    return project


def write_log(path: Path, megabytes: int) -> None:
    block = b"".join(STEP % at for at in range(MIB // len(STEP % 0)))
    with path.open("wb") as file:
        for _ in range(megabytes):
            file.write(block)


def quiet(folder: Path, project: Path, shells: dict[str, tuple[str, ...]], rounds: int) -> None:
    """One run that onbox started, whose log grew by a few lines since the last look."""
    boxes = {name: LocalBox(folder, words) for name, words in shells.items()}
    settings = BoxSettings("b", "b", project=str(project))
    first = {}
    for name, box in boxes.items():
        box.look(settings)
        first[name] = box.traffic
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in boxes}
    for _ in range(rounds):
        for name, box in boxes.items():
            box.look(settings)
            rows[name].append((*box.traffic, len(zlib.compress(box.answer))))
    script, values = build(plan(settings, ".onbox", nothing_remembered()).calls, "0" * 10, 18)
    packed = len(zlib.compress(script_with_values(script, values)))
    print(f"quiet look, one run of onbox (a compressed link would carry {packed} bytes up)")
    print(f"{'shell':10}{'up':>8}{'down':>8}{'packed':>8}{'CPU ms':>8}{'wall ms':>9}{'first look down':>17}")
    for name, found in rows.items():
        up, down, cpu, wall, small = (statistics.median(column) for column in zip(*found, strict=True))
        print(f"{name:10}{up:8.0f}{down:8.0f}{small:8.0f}{cpu * 1e3:8.1f}{wall * 1e3:9.1f}{first[name].down_bytes:17}")


def by_size(folder: Path, shells: dict[str, tuple[str, ...]], rounds: int, large: int) -> None:
    """A watched log that grew by ten lines, small and large."""
    print(f"\nwatched log, ten new lines: 1 MB against {large} MB")
    for shell, words in shells.items():
        boxes = {size: LocalBox(folder, words) for size in (1, large)}
        times: dict[int, list[float]] = {size: [] for size in boxes}
        for at in range(rounds + 1):
            for size, box in boxes.items():
                log = folder / f"{size}.log"
                with log.open("ab") as file:
                    file.write(STEP % at * 10)
                box.look(BoxSettings("b", "b", watches=(Watch("w", log=str(log)),)))
                times[size] += [box.traffic.seconds] if at else []
        small, big = (statistics.median(times[size]) * 1e3 for size in (1, large))
        print(f"{shell:10}{small:8.1f} ms{big:8.1f} ms   ratio {big / small:.2f}")


def burst(folder: Path, large: int) -> None:
    """All of the large log is new."""
    box = LocalBox(folder)
    log = folder / "burst.log"
    log.write_bytes(STEP % 0)
    settings = BoxSettings("b", "b", watches=(Watch("w", log=str(log)),))
    box.look(settings)
    with log.open("ab") as file, (folder / f"{large}.log").open("rb") as source:
        shutil.copyfileobj(source, file, MIB)
    seen = box.look(settings)
    print(f"\nburst of {large} MB: {box.traffic.down_bytes} bytes down, {box.traffic.seconds * 1e3:.0f} ms", end="; ")
    print(f"skipped {seen.runs[0].log.skipped_bytes} bytes")  # type: ignore[union-attr]


def processes(folder: Path, project: Path) -> None:
    """Forks and programs of one quiet look, counted by strace."""
    if shutil.which("strace") is None:
        print("\nno strace: processes are not counted")
        return
    box = LocalBox(folder)
    settings = BoxSettings("b", "b", project=str(project))
    box.look(settings)
    box.shell = ("strace", "-f", "-qq", "-e", "trace=clone,clone3,fork,vfork,execve", "-o", str(folder / "trace"), "sh")
    box.look(settings)
    lines = (folder / "trace").read_text().splitlines()
    forks = sum(1 for line in lines if any(f" {call}(" in line for call in ("clone", "clone3", "fork", "vfork")))
    tried = [line.partition('execve("')[2].partition('"')[0] for line in lines if "ENOENT" not in line]
    programs = [name for name in tried if name and os.path.exists(name)]
    print(f"\nprocesses of a quiet look: {forks} forks, {len(programs)} programs:", *map(os.path.basename, programs))


if __name__ == "__main__":
    main()
