"""Which cards a cell gets: by what was read of them, never by guess."""

from __future__ import annotations

import pytest

from onbox.collectors.gpu.nvml import GpuCard, GpuProcess, LostGpu
from onbox.contract.readings import Absent, Unseen
from onbox.sweep.runner.room import Cards, RoomRefused, choose

NOT_TOLD = Absent("not supported here")


def card(number: int, *, used_mib: int | None = 400, processes: int = 0, mig: bool = False) -> GpuCard:
    fields = dict.fromkeys(GpuCard._fields, NOT_TOLD)
    told = {
        "number": number,
        "memory_used_bytes": NOT_TOLD if used_mib is None else used_mib << 20,
        "processes": tuple(GpuProcess(pid, NOT_TOLD) for pid in range(processes)),
        "mig": mig,
    }
    return GpuCard(**{**fields, **told})  # type: ignore[arg-type]


def test_the_first_free_cards_that_no_cell_has() -> None:
    cards = [card(0), card(1, used_mib=9000), card(2), card(3), card(4)]
    assert choose(2, cards, {0}, 1024) == Cards((2, 3))


def test_what_a_cell_is_told() -> None:
    assert Cards((2, 3)).environ == {"CUDA_VISIBLE_DEVICES": "2,3", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert Cards().environ == {}


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (card(0, used_mib=9000), "GPU 0 has 9000 MiB in use"),
        (card(0, used_mib=None), "GPU 0 does not tell how much of its memory is in use"),
        (card(0, processes=1), "GPU 0 has 1 process on it"),
        (card(0, mig=True), "GPU 0 is in MIG mode"),
        (LostGpu(0, "it has fallen off the bus"), "GPU 0 cannot be looked at (it has fallen off the bus)"),
    ],
)
def test_a_card_that_is_not_known_to_be_free_is_not_handed_out(one: GpuCard | LostGpu, says: str) -> None:
    refused = choose(1, [one], (), 1024)
    assert isinstance(refused, RoomRefused)
    assert says in refused.reason


@pytest.mark.parametrize(
    ("reading", "says"),
    [(Absent("no NVIDIA device"), "there is no GPU"), (Unseen("the driver is away"), "could not look")],
)
def test_without_a_reading_no_card_is_handed_out(reading: Absent | Unseen, says: str) -> None:
    refused = choose(1, reading, (), 1024)
    assert isinstance(refused, RoomRefused)
    assert says in refused.reason
