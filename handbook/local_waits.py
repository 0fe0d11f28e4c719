"""What waits or transfers on this machine: claims beside processes. A claim alone is never believed."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, NamedTuple

from handbook.page.phrases import safe
from onbox.contract.readings import Maybe, Unseen
from sentinels.register import Register, register_folder, standing_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sentinels.register import Standing

# Of this user only, whatever terminal they have; the same on Linux and macOS.
PS = ("ps", "-xwwo", "pid=,args=")  # ww: as wide as it is, whatever COLUMNS says
PS_SECONDS = 10.0
TRANSFERS = ("rsync", "scp", "sftp", "rclone")
SHOWN = 10
_WORDS = {
    "waiting": "waits",
    "frozen": "IS FROZEN, over its limit: sentinel reap",
    "dead": "claims to wait, and NO SUCH PROCESS lives: arm one anew, once",
}


class Transfer(NamedTuple):
    pid: int
    words: str


def find_waiters(environ: Mapping[str, str], now: float) -> Maybe[tuple[str, ...]]:
    """Sentinels by their register and what lives of them, and transfers that are alive; one line each. Those that ran
    out of their time wait for nothing until somebody types them again: they are counted.
    """
    standings = [standing_of(entry, now) for entry in Register(register_folder(environ)).entries()]
    try:
        done = subprocess.run(PS, check=True, capture_output=True, timeout=PS_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        return Unseen(f"`ps` did not answer: {type(error).__name__}")
    transfers = parse_ps(done.stdout.decode("utf-8", "replace"))
    parked = sum(one.word == "parked" for one in standings)
    lines = [_sentinel(one) for one in standings if one.word not in ("parked", "over")]
    lines += [f"{parked} that ran out of their time: sentinel list"] if parked else []
    lines += [*(f"transfer pid {one.pid}: {one.words}" for one in transfers)]
    return tuple(lines[:SHOWN])


def _sentinel(standing: Standing) -> str:
    entry = standing.entry
    targets = safe(" ".join(entry.texts), 100)
    return f"sentinel {entry.ident} pid {entry.waiter.pid} for {targets} {_WORDS.get(standing.word, standing.word)}"


def parse_ps(text: str) -> list[Transfer]:
    """The transfers among the lines of `ps -xwwo pid=,args=`, in order of their pids. Pure."""
    found = []
    for line in text.splitlines():
        pid, _, args = line.strip().partition(" ")
        program = (args.split() or [""])[0].rpartition("/")[2]
        if pid.isdigit() and program in TRANSFERS:
            found.append(Transfer(int(pid), safe(args.strip(), 160)))
    return sorted(found)
