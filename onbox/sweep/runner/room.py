"""What the next cell needs before it starts: room, memory, and cards of its own. What could not be looked at is not
free.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.gates.resource_probe import sight_of
from onbox.chain.gates.start_gates import check_gates
from onbox.collectors.gpu.nvml import LostGpu, visible
from onbox.collectors.gpu.watch import read_once
from onbox.contract.readings import Absent, Unseen, observed
from onbox.model.manifest import Gates
from onbox.named_tuple import NamedTuple
from onbox.system.files import StateNotWritten, make_folders
from onbox.system.lock import LockUnsupported, try_lock
from onbox.system.process import high

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from onbox.collectors.gpu.nvml import GpuCard
    from onbox.contract.readings import Maybe
    from onbox.model.manifest import Stage

FREE_MIB = 1024  # what a driver holds on an idle card is less
_NO_GATES = Gates()


class RoomRefused(NamedTuple):
    """Why the next cell does not start now."""

    reason: str


class Cards(NamedTuple):
    """The cards for a cell, by their numbers; () where it gets none of its own. locks: descriptors that keep other
    sweeps of this user off them until the cell's runner ends; its command's memory shows by itself by then.
    """

    numbers: tuple[int, ...] = ()
    locks: tuple[int, ...] = ()

    @property
    def environ(self) -> dict[str, str]:
        if not self.numbers:
            return {}
        return {"CUDA_VISIBLE_DEVICES": ",".join(map(str, self.numbers)), "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def check_room(stage: Stage, root: str, folder: str) -> RoomRefused | None:
    """Whether disk, inodes and memory are free as the first stage's gates want it; its gate on GPUs is asked where the
    cell's own cards are known: by the cell.
    """
    gates = stage.gates._replace(gpu=None)
    if gates == _NO_GATES:
        return None

    findings = check_gates(gates, root, folder, sight_of(os.environ))
    return RoomRefused("; ".join(map(str, findings))) if findings else None


def find_cards(
    count: int, taken: Collection[int], environ: Mapping[str, str], max_used_mib: int | None
) -> Cards | RoomRefused:
    """Free cards, by a look at them now. taken: those of cells that run. environ: CUDA_VISIBLE_DEVICES says which are
    ours at all.
    """
    reading = read_once()
    ours = (
        reading if isinstance(reading, Absent | Unseen) else visible(reading.gpus, environ.get("CUDA_VISIBLE_DEVICES"))
    )
    return choose(count, ours, taken, FREE_MIB if max_used_mib is None else max_used_mib)


def hold(cards: Cards, environ: Mapping[str, str]) -> Cards | int:
    """The cards with their locks, or the first that another sweep has just handed out: a program that begins holds no
    memory yet, and two sweeps may look at the same moment. In a folder that cannot be written the look alone counts.
    """
    home = environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    locks: list[int] = []
    try:
        make_folders(os.path.join(home, "onbox", "cards"))
        for number in cards.numbers:
            fd = try_lock(os.path.join(home, "onbox", "cards", f"{os.uname().nodename}-{number}.lock"))
            if fd is None:
                release(Cards((), tuple(locks)))
                return number
            locks.append(high(fd))
    except (StateNotWritten, LockUnsupported):
        pass
    return Cards(cards.numbers, tuple(locks))


def release(cards: Cards) -> None:
    """In the process that started the cell: its runner holds them now, or nobody."""
    for fd in cards.locks:
        os.close(fd)


def cards_missing(count: int, environ: Mapping[str, str]) -> RoomRefused | None:
    """Why no cell can ever get so many cards here; None: they are here, free or not."""
    reading = read_once()
    if isinstance(reading, Absent | Unseen):
        refused = choose(count, reading, (), FREE_MIB)
        return refused if isinstance(refused, RoomRefused) else None
    ours = visible(reading.gpus, environ.get("CUDA_VISIBLE_DEVICES"))
    sound = [card for card in ours if not isinstance(card, LostGpu) and card.mig is not True]
    return None if len(sound) >= count else RoomRefused(f"{len(sound)} GPUs that can be handed out are here")


def choose(
    count: int, cards: Maybe[Sequence[GpuCard | LostGpu]], taken: Collection[int], max_used_mib: int
) -> Cards | RoomRefused:
    """The first cards that are free, in their order. Pure."""
    if isinstance(cards, Absent | Unseen):
        word = "could not look at the GPUs" if isinstance(cards, Unseen) else "there is no GPU"
        return RoomRefused(f"{word} ({cards.why})")
    others = [card for card in cards if card.number not in taken]
    why = {card.number: _why_not(card, max_used_mib) for card in others}
    free = [number for number, reason in why.items() if not reason]
    if len(free) >= count:
        return Cards(tuple(free[:count]))
    said = "; ".join(f"GPU {number} {reason}" for number, reason in why.items() if reason)
    wanted = "a free GPU" if count == 1 else f"{count} free GPUs"
    return RoomRefused(f"gpu: wanted {wanted}; {len(free)} of {len(cards)} free: {said}".rstrip(": "))


def _why_not(card: GpuCard | LostGpu, max_used_mib: int) -> str:
    """Why a card is not free; "": it is."""
    if isinstance(card, LostGpu):
        return f"cannot be looked at ({card.why})"
    if card.mig is True:
        return "is in MIG mode"
    used = observed(card.memory_used_bytes)
    if not isinstance(used, int):
        return "does not tell how much of its memory is in use"
    if used > max_used_mib << 20:
        return f"has {used >> 20} MiB in use"
    processes = observed(card.processes)
    return f"has {len(processes)} process{'es' if len(processes) > 1 else ''} on it" if processes else ""
