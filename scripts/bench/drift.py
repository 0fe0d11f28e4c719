#!/usr/bin/env python3
"""What a change costs: the figures of the last release beside those of this working tree, measured in turn.

usage: drift.py [--against COMMIT] [--rounds 7] [--stages 100] [--limit 1.25] [--only TEXT]

Both are installed in the same way, each into a virtual environment of its own below a temporary folder, and do the same
work. CPU time is what counts: it follows a load beside it least. Printed: minimum and median, the ratio of the minima,
and by how much the medians differ. Exits 1 if a ratio is above the limit. The default release is the newest tag.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REPOSITORY = Path(__file__).resolve().parents[2]
IDLE_SECONDS = 3.0  # the first look at box and log is over by then, and all is loaded that a long stage needs
# Run by the first stage: CPU nanoseconds of the viewer (its pid is in $VIEWER) and of the runner, which is the parent
# of the keeper, which is the parent of this shell.
COLD = """read -r _ _ _ runner _ < /proc/$PPID/stat
for pid in $VIEWER $runner; do read -r ns _ < /proc/$pid/schedstat; echo "$ns"; done > cold
"""


class Version(NamedTuple):
    """An installed version. programs: the folder of its commands. home: of nobody else."""

    programs: Path
    home: Path

    def run(self, folder: Path, *words: str) -> float:
        """CPU milliseconds of a command and of all that it waited for."""
        pid = os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", 'cd "$1" && shift && VIEWER=$$ && export VIEWER && exec "$@" >/dev/null', "sh", str(folder),
             str(self.programs / words[0]), *words[1:]],
            self._environment(),
        )  # fmt: skip
        _, status, used = os.wait4(pid, 0)
        # A tick and a page end with what they found of this machine, such as a disk that is nearly full.
        told = range(4) if words[0] in ("patrol", "handbook") else range(1)
        if os.waitstatus_to_exitcode(status) not in told:
            raise SystemExit(f"{self.programs / words[0]} {' '.join(words[1:])} failed in {folder}")
        return (used.ru_utime + used.ru_stime) * 1000

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "XDG_", "ONBOX_"))}
        return {**kept, "HOME": str(self.home), "PATH": f"{self.programs}:{os.environ['PATH']}"}


class Lab:
    """Projects for one version: one whose only stage is done, and fresh ones."""

    def __init__(self, version: Version, stages: int) -> None:
        self.version, self.stages = version, stages
        self.done = self.project("true")
        version.run(self.done, "onbox", "chain")

    def project(self, *commands: str) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self.version.home))
        tables = ['[run]\nname = "bench"\n[boxes.here]\nbackend = "local"\nproject = "."\n']
        tables += [f"[stages.s{at}]\ncmd = {json.dumps(command)}\n" for at, command in enumerate(commands)]
        (folder / "onbox.toml").write_text("".join(tables), encoding="utf-8")
        return folder

    def stage(self) -> float:
        return self._chain("true", self.stages)

    def short_stage(self) -> float:
        return self._chain("sleep 0.05", self.stages // 5)

    def _chain(self, command: str, stages: int) -> float:
        folder = self.project(*[command] * stages)
        took = self.version.run(folder, "onbox", "chain", "--inline")
        shutil.rmtree(folder)
        return took / stages

    def cold(self) -> float:
        folder = self.project("sh cold.sh")
        (folder / "cold.sh").write_text(COLD, encoding="ascii")
        self.version.run(folder, "onbox", "chain")
        took = sum(map(int, (folder / "cold").read_text().split())) / 1e6
        shutil.rmtree(folder)
        return took

    def idle(self) -> float:
        folder = self.project("sleep 60")
        self.version.run(folder, "onbox", "chain", "--detach", "--launch-check", "0")
        time.sleep(IDLE_SECONDS)
        runner = json.loads((folder / ".onbox/bench/lock").read_text())["pid"]
        status = dict(line.split(":", 1) for line in Path(f"/proc/{runner}/status").read_text().splitlines())
        self.version.run(folder, "onbox", "stop", "--now")
        shutil.rmtree(folder)
        return int(status["VmRSS"].split()[0]) / 1024

    def command(self, *words: str) -> float:
        return self.version.run(self.done, *words)


FIGURES: tuple[tuple[str, Callable[[Lab], float]], ...] = (
    ("chain: CPU a stage, ms", Lab.stage),
    ("chain: CPU a stage of 50 ms, ms", Lab.short_stage),
    ("chain: CPU to the first stage, ms", Lab.cold),
    ("runner, idle: memory, MiB", Lab.idle),
    ("onbox chain, all done: CPU, ms", lambda lab: lab.command("onbox", "chain")),
    ("onbox status: CPU, ms", lambda lab: lab.command("onbox", "status")),
    ("patrol tick, one box: CPU, ms", lambda lab: lab.command("patrol", "tick")),
    ("sentinel list: CPU, ms", lambda lab: lab.command("sentinel", "list")),
    ("handbook resume: CPU, ms", lambda lab: lab.command("handbook", "resume")),
)


def release_of(asked: str | None) -> str:
    """The commit to compare with. Ends with one line where none is known."""
    if asked:
        return asked
    done = subprocess.run(
        ["git", "describe", "--tags", "--abbrev=0"], cwd=REPOSITORY, check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise SystemExit("drift.py: no tag is known here: name the commit of a release with --against")
    return done.stdout.strip()


def copy_tree(folder: Path) -> Path:
    """This working tree as git sees it: an installation leaves its build folder there, and takes none from here."""
    for name in _run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0"):
        if name and (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, folder / name)
    return folder


def install(source: Path, folder: Path) -> Version:
    """As a user does, and compiled, which an installed package is."""
    folder.mkdir()
    _run(sys.executable, "-m", "venv", folder / "venv")
    programs = folder / "venv/bin"
    _run(programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", source)
    (folder / "home").mkdir()
    return Version(programs, folder / "home")


def _run(*words: str | Path) -> str:
    words = tuple(map(str, words))
    return subprocess.run(words, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def measure(labs: Sequence[Lab], figure: Callable[[Lab], float], rounds: int) -> list[list[float]]:
    """Per version its values. A first round, in which caches fill, is left out."""
    found = [[figure(lab) for lab in labs] for _ in range(rounds + 1)][1:]
    return [list(column) for column in zip(*found, strict=True)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="COMMIT", help="default: the newest tag")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--stages", type=int, default=100)
    parser.add_argument("--limit", type=float, default=1.25, help="above it a ratio is too much (default: 1.25)")
    parser.add_argument("--only", default="", metavar="TEXT", help="the figures whose name holds it")
    args = parser.parse_args()
    release = release_of(args.against)
    with tempfile.TemporaryDirectory(prefix="onbox-drift-") as name:
        folder = Path(name)
        before = folder / "release"
        _run("git", "worktree", "add", "--quiet", "--detach", before, release)
        try:
            installed = install(before, folder / "before"), install(copy_tree(folder / "tree"), folder / "now")
        finally:
            _run("git", "worktree", "remove", "--force", before)
        labs = [Lab(version, args.stages) for version in installed]
        print(f"{args.rounds} rounds, minimum/median{'':<12}{release:>18}{'now':>18}   ratio    more", flush=True)
        too_much = False
        for label, figure in (one for one in FIGURES if args.only in one[0]):
            then, now = measure(labs, figure, args.rounds)
            ratio = min(now) / min(then)
            too_much |= ratio > args.limit
            more = statistics.median(now) - statistics.median(then)
            texts = [f"{min(values):8.1f}/{statistics.median(values):<8.1f}" for values in (then, now)]
            verdict = f"{ratio:5.2f}{more:+8.1f}{' !' * (ratio > args.limit)}"
            print(f"{label:<40}{texts[0]:>18}{texts[1]:>18}   {verdict}", flush=True)
    return int(too_much)


if __name__ == "__main__":
    sys.exit(main())
