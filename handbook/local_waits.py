"""What waits or transfers on this machine: claims beside processes. A claim alone is never believed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from handbook.page.phrases import safe
from onbox.contract.readings import Maybe, Unseen
from onbox.local.processes import running_of_user
from onbox.named_tuple import NamedTuple
from patrol.memory.transfers import Register as Transfers
from patrol.memory.transfers import transfer_line
from sentinels.register import WaitRegister, register_folder, standing_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onbox.local.processes import Running
    from sentinels.register import WaitStanding

TRANSFERS = ("rsync", "scp", "sftp", "rclone")
SHOWN = 10
_WORDS = {
    "waiting": "waits",
    "frozen": "IS FROZEN, over its limit: sentinel reap",
    "dead": "claims to wait, but its process is gone: start one again, once",
}


class LocalTransfer(NamedTuple):
    pid: int
    words: str


def find_waiters(environ: Mapping[str, str], now: float, state: str | None = None) -> Maybe[tuple[str, ...]]:
    """Sentinels by their register and what lives of them, and transfers that are alive; one line each. Those that ran
    out of their time wait for nothing until somebody types them again: they are counted. state: the patrol's folder,
    for transfers that did not come to their end, with the command that goes on.
    """
    standings = [standing_of(entry, now) for entry in WaitRegister(register_folder(environ)).entries()]
    try:
        transfers = transfers_among(running_of_user(os.geteuid()))
    except OSError as error:
        return Unseen(f"the process table could not be read: {error}")
    parked = sum(one.word == "parked" for one in standings)
    lines = [_sentinel(one) for one in standings if one.word not in ("parked", "over")]
    lines += [f"{parked} that ran out of their time: sentinel list"] if parked else []
    lines += [*(f"transfer pid {one.pid}: {one.words}" for one in transfers)]
    lines += _unfinished(state, now) if state is not None else []
    return tuple(lines[:SHOWN])


def _unfinished(state: str, now: float) -> list[str]:
    register = Transfers(state)
    found = [one for one in register.all() if one.done_at is None]
    return [transfer_line(one, now, runs=register.runs(one)) for one in found]


def _sentinel(standing: WaitStanding) -> str:
    entry = standing.entry
    targets = safe(" ".join(entry.texts), 100)
    return f"sentinel {entry.ident} pid {entry.waiter.pid} for {targets} {_WORDS.get(standing.word, standing.word)}"


def transfers_among(processes: Iterable[Running]) -> list[LocalTransfer]:
    """The transfers among these processes, by their program. Pure."""
    return [
        LocalTransfer(one.pid, safe(" ".join(one.words), 160))
        for one in processes
        if one.words and one.words[0].rpartition("/")[2] in TRANSFERS
    ]
