"""What a connection costs: `ssh true` beside one question and its answer, cold and over a master, one box and many.

    python scripts/bench/patrol_links.py [--boxes 100] [--rounds 15]

A real sshd on loopback plays all boxes, so that box and client share the cores: ratios travel, times do not.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))

from patrol.ssh.client import Answer, NoAnswer, SshTarget, ask, discard_master, script_with_values
from patrol.ssh.control_sockets import control_path
from patrol.ssh.run_parallel import Limits, find_gates, visit_all
from tests.sshd import Link, Sshd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MARK = b"<<<end>>>"
STDIN = script_with_values("echo '<<<begin>>>'; echo '<<<end>>>'", [])


def put(target: SshTarget) -> Answer | NoAnswer:
    found = ask(target, STDIN, end_mark=MARK, deadline_seconds=60.0)
    assert isinstance(found, Answer), found
    return found


def ssh_true(target: SshTarget) -> None:
    """The floor: the plain client, with the same words and the same master."""
    master = ["-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-o", f"ControlPath={target.control_path}"]
    words = [*target.ssh_command, "-o", "BatchMode=yes", *(master if target.control_path else []), target.host or ""]
    null = subprocess.DEVNULL
    subprocess.run([*words, "true"], check=True, stdin=null, stdout=null, stderr=null)


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def compare(rounds: int, works: dict[str, Callable[[], object]]) -> None:
    """Medians, taken in turns, so that a busy minute of the machine strikes all."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(timed(work))
    for name, found in times.items():
        low, high = min(found), max(found)
        print(f"{name:44} {statistics.median(found) * 1000:7.0f} ms   (min {low * 1000:.0f}, max {high * 1000:.0f})")


def one_box(server: Sshd, rounds: int) -> None:
    target = server.target()
    squeezed = target._replace(ssh_command=(*target.ssh_command, "-C"))
    path = control_path("bench", "gpu1", target.ssh_command)
    warm = target._replace(control_path=path)
    put(warm)
    compare(
        rounds,
        {
            "ssh true, cold": lambda: ssh_true(target),
            "question and answer, cold": lambda: put(target),
            "question and answer, cold, compressed": lambda: put(squeezed),
            "ssh true, over a master": lambda: ssh_true(warm),
            "question and answer, over a master": lambda: put(warm),
            "ssh -G": lambda: find_gates([target._replace(box="a"), target._replace(box="b")], Limits(1, 1)),
        },
    )
    discard_master(warm)


def many_boxes(server: Sshd, boxes: int, rounds: int) -> None:
    words = server.ssh()
    targets = [SshTarget(f"gpu{number}", f"gpu{number}", words) for number in range(boxes)]

    def floor() -> None:
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(ssh_true, targets))

    def patrol(gates: dict[SshTarget, str]) -> None:
        visits = list(visit_all(targets, put, Limits(16, 6), gates=gates))
        assert all(visit.error is None and not visit.overdue for visit in visits), visits

    compare(
        max(1, rounds // 5),
        {
            f"{boxes} x ssh true, 16 at once": floor,
            f"{boxes} boxes, 16 at once": lambda: patrol({}),
            f"{boxes} boxes, the gates looked up, 6 through one": lambda: patrol(find_gates(targets, Limits(16, 6))),
        },
    )


def with_a_sick_one(server: Sshd, boxes: int) -> None:
    """One of them accepts and never speaks: when are all the others done?"""
    words = server.ssh({"sick": Link(None, "silent").port})
    targets = [
        SshTarget("sick", "sick", words),
        *(SshTarget(f"gpu{number}", f"gpu{number}", words) for number in range(boxes)),
    ]

    def look(target: SshTarget) -> Answer | NoAnswer:
        return ask(target, STDIN, end_mark=MARK, deadline_seconds=15.0)

    began, others = time.perf_counter(), 0.0
    for visit in visit_all(targets, look, Limits(16, 6, 15.0)):
        if visit.item.box != "sick":
            others = time.perf_counter() - began
    whole = time.perf_counter() - began
    print(f"{boxes} boxes and a silent one, 15 s: the others done after {others:.1f} s, all after {whole:.1f} s")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boxes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args(words)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    options = ["MaxStartups 1000", "MaxSessions 200"]
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as place,
        closing(Sshd(Path(place) / "ssh", options=options)) as server,
    ):
        one_box(server, args.rounds)
        many_boxes(server, args.boxes, args.rounds)
        with_a_sick_one(server, args.boxes)


if __name__ == "__main__":
    main()
